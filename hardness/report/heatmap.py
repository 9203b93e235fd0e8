"""Heat maps: categories against categories, every field told by its shade, its pattern and its words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hardness.report.content import Field, HeatMap
from hardness.report.curves import CHARACTER, WIDTH, _across
from hardness.report.drawing import MUTED, Drawing, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LIGHT, DARK = "#fdfdfd", "#1a1a1b"  # of words on fields, which keep their shade in dark mode
TALL, GAP = 0.42, 0.75  # inches of a field, and around a panel
SMALLEST = 8  # points of the words in a field


@dataclass(frozen=True)
class Fill:
    """How a status looks: shades differ in grey, and where they do not, patterns do."""

    words: str
    face: str
    ink: str = DARK
    hatch: str | None = None


FILLS = {
    "solved": Fill("all runs solved", "#2a5f86", LIGHT),
    "some": Fill("some runs solved", "#9cc3de"),
    "budget": Fill("budget spent", "#f3f3f0"),
    "unfitted": Fill("budget below a first fit", "#f3f3f0", hatch="----"),
    "wrong": Fill("wrong answer", "#f3f3f0", hatch="\\\\\\\\"),
    "timeout": Fill("time limit met", "#f3f3f0", hatch="...."),
    "refused": Fill("refused", "#cbcbc8", hatch="////"),
    "error": Fill("ended in an error", "#f0cdb8", hatch="xxxx"),
    "killed": Fill("killed", "#f0cdb8", hatch="++++"),
}


def shaded(shade: float) -> Fill:
    """The fill of a number from 0 (light) to 1 (dark).

    >>> shaded(0).face, shaded(1).face, shaded(1).ink == LIGHT
    ('#f4f1f8', '#3f2a70', True)
    """
    # No color of `drawing.RAMP`, which dark mode would lighten under the words.
    ends = ((0xF4, 0x3F), (0xF1, 0x2A), (0xF8, 0x70))
    face = "#" + "".join(f"{round(a + (b - a) * min(max(shade, 0.0), 1.0)):02x}" for a, b in ends)
    return Fill("", face, LIGHT if shade > 0.5 else DARK)


def heatmap(figure: HeatMap) -> Drawing:
    """The drawing of a heat map: panels side by side as far as the page is wide, then below."""
    fields = [field for panel in figure.panels.values() for field in panel]
    order = list(figure.rows) or list(dict.fromkeys(field.row for field in fields))
    margin = 0.3 + CHARACTER * max((len(name) for name in order), default=1)
    widest = max((len(part) for field in fields for part in field.text.split("\n")), default=1)
    wide = min(max(0.5, 0.25 + CHARACTER * widest), 1.1)
    bands = _bands(figure, int((WIDTH - margin) / wide))
    shown = [
        [row for row in order if any(f.row == row for name in band for f in figure.panels[name])]
        for band in bands
    ]
    heights = [GAP + TALL * max(len(rows), 1) for rows in shown]
    drawing = Drawing(figure, WIDTH, sum(heights) + 0.45)
    with style(figure.name):
        grids = drawing.figure.add_gridspec(len(bands), 1, height_ratios=heights)
        for number, (band, rows) in enumerate(zip(bands, shown, strict=True)):
            counts = [len(_columns(figure.panels[name])) for name in band]
            line = grids[number].subgridspec(1, len(band), width_ratios=counts)
            for i, name in enumerate(band):
                axes = drawing.figure.add_subplot(line[0, i])
                _panel(drawing, axes, name, figure.panels[name], rows)
                axes.set_xlabel(figure.x)
                if i:
                    axes.tick_params(labelleft=False)
        _legend(drawing, figure, fields)
    return drawing


def _columns(fields: Sequence[Field]) -> list[str]:
    return list(dict.fromkeys(field.column for field in fields))


def _bands(figure: HeatMap, width: int) -> list[list[str]]:
    """The panels, cut into lines of at most so many columns."""
    bands: list[list[str]] = []
    free = 0
    for name, fields in figure.panels.items():
        count = len(_columns(fields))
        if not bands or count > free:
            bands.append([])
            free = width
        bands[-1].append(name)
        free -= count
    return bands


def _panel(drawing: Drawing, axes: "Axes", name: str, fields: Sequence[Field], rows: Sequence[str]) -> None:
    from matplotlib.patches import Rectangle

    columns = _columns(fields)
    for field in fields:
        x, y = columns.index(field.column), list(rows).index(field.row)
        fill = FILLS[field.status] if field.shade is None else shaded(field.shade)
        patch = axes.add_patch(
            Rectangle(
                (x - 0.47, y - 0.45),
                0.94,
                0.9,
                facecolor=fill.face,
                edgecolor="#b8b8b6",
                linewidth=0.5,
                hatch=fill.hatch,
            )
        )
        words = field.text.replace("\n", ", ")
        tip = field.tip or ": ".join(filter(None, [f"{field.row}, {field.column}", words or fill.words]))
        drawing.add_tooltip(patch, f"{name}, {tip}" if name else tip)
        box = {"facecolor": fill.face, "edgecolor": "none", "pad": 0.8} if fill.hatch and field.text else None
        axes.text(
            x,
            y,
            field.text,
            ha="center",
            va="center",
            fontsize=SMALLEST,
            color=fill.ink,
            linespacing=1.05,
            bbox=box,
        )
    axes.set(title=name, xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _legend(drawing: Drawing, figure: HeatMap, fields: Sequence[Field]) -> None:
    from matplotlib.patches import Patch

    used = [status for status in FILLS if any(f.status == status and f.shade is None for f in fields)]
    handles: list[Any] = [
        Patch(
            facecolor=FILLS[s].face,
            edgecolor=MUTED,
            linewidth=0.5,
            hatch=FILLS[s].hatch,
            label=figure.labels.get(s, FILLS[s].words),
        )
        for s in used
    ]
    if handles:
        across = _across([str(handle.get_label()) for handle in handles], drawing.figure.get_figwidth())
        drawing.figure.legend(handles=handles, loc="outside upper center", ncols=across)
