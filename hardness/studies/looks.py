"""What the pages of the studies of statistical queries share: how strategies look, their curves, legend and counts."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hardness.report.drawing import INK, LINES, MARKERS, MUTED, RAMP, Drawing
from hardness.report.report import thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Table = Sequence[Mapping[str, Any]]
NOTHING = "no trial has been run."
# Colour, marker and line of everyone who is drawn: the same on all pages.
NAMES = (
    "sign-batch",
    "adaptive",
    "bent",
    "characters",
    "mlp-gradient",
    "low-degree",
    "attention-gradient",
    "gradient",
    "flat",
    "spread",
)
LOOKS = {name: (RAMP[i % 7], MARKERS[i % 7], LINES[i % len(LINES)]) for i, name in enumerate(NAMES)}
LOOKS["gradient"], LOOKS["flat"] = LOOKS["mlp-gradient"], LOOKS["characters"]
FLOOR: dict[str, Any] = {"color": INK, "linestyle": (0, (5, 2)), "linewidth": 1.1}  # a proven lower bound
CEILING: dict[str, Any] = {"color": MUTED, "linestyle": (0, (1.2, 1.5)), "linewidth": 1.1}  # an upper bound


def counted(line: Mapping[str, Any]) -> dict[str, Any]:
    """A line whose counts are written out."""
    counts = ("queries", "least", "low", "high", "gave up at", "left", "concepts", "exhaustive", "proven bound")
    return {key: thousands(value) if key in counts else value for key, value in line.items()}


def curve(
    drawing: Drawing, axes: "Axes", name: str, lines: Table, variable: str = "tolerance", symbol: str = "τ"
) -> None:
    """Mean queries of strategy `name` against a `variable` of its lines, with intervals and tips."""
    color, marker, dash = LOOKS[name]
    solved = [line for line in lines if line["queries"] is not None]
    axes.plot([e[variable] for e in solved], [e["queries"] for e in solved], color=color, linestyle=dash)
    for line in lines:
        x, at = line[variable], f"{name}, {symbol} = {line[variable]:g}, {line['runs']} runs identified"
        if line["queries"] is not None:
            whole = line["runs"].split("/")[0] == line["runs"].split("/")[1]
            look = {"marker": marker} | ({} if whole else {"markerfacecolor": "none"})
            bar(axes, x, line, color)
            tip = f"{at}: {line['queries']:,.0f} queries{spread(line)}"
            drawing.point(axes, x, line["queries"], tip, color=color, **look)


def bar(axes: "Axes", x: float, line: Mapping[str, Any], color: str) -> None:
    """The 95 % interval of a point, if it has one."""
    if line["low"] is not None:
        axes.vlines(x, max(line["low"], 1e-9), line["high"], color=color, linewidth=1.4)


def spread(line: Mapping[str, Any]) -> str:
    """The same interval in words."""
    return "" if line["low"] is None else f" (95 %: {line['low']:.4g} to {line['high']:.4g})"


def legend(
    drawing: Drawing, shown: Sequence[str], extra: Sequence[tuple[str, Mapping[str, Any]]], columns: int = 4
) -> None:
    """The legend above a figure: the strategies `shown`, then the lines in `extra`."""
    from matplotlib.lines import Line2D

    looks = [(name, dict(zip(("color", "marker", "linestyle"), LOOKS[name], strict=True))) for name in shown]
    handles = [Line2D([], [], label=label, **look) for label, look in [*looks, *extra]]
    drawing.figure.legend(handles=handles, loc="outside upper center", ncols=columns, handlelength=3, columnspacing=1.6)
