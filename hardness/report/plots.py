"""Figures of the lab in plain matplotlib: its style, bounds as arrows, labels at the ends of lines, repeatable files.

A study makes its figures with `panels`, draws on the axes as anybody does, and returns the figures by name; they are
drawn and saved in the style of lab.mplstyle.
"""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

WIDTH = 7.2  # inches: a column of text on the page, so that labels keep their size
APART = 11.0  # points between two labels at the ends of lines
GREY = "#69696a"  # of the axes
UNDATED = {"svg": ("Date", "Creator"), "pdf": ("CreationDate", "Creator", "Producer"), "png": ("Software",)}


def style() -> AbstractContextManager[None]:
    """Return a context manager within which matplotlib draws in the style of the lab."""
    from matplotlib import style as styles

    return styles.context(Path(__file__).with_name("lab.mplstyle"))


def panels(rows: int = 1, columns: int = 1, height: float = 2.6, **options: Any) -> "tuple[Figure, Any]":
    """Return a figure as wide as the page, and its axes: one, or an array of them.

    `height` is that of a row, in inches; `options` are those of `Figure.subplots`, such as sharey=True.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height * rows))
    return figure, figure.subplots(rows, columns, **options)


def bound(
    axes: "Axes", x: Any, y: float, color: Any, side: Literal["above", "below"] = "above", **options: Any
) -> "Line2D":
    """Draw a value that is only known to lie above or below y: a hollow triangle and an arrow to that side.

    `options` are those of `Axes.plot`, such as another marker. Returns the mark.
    """
    marker, length = ("^", 13) if side == "above" else ("v", -13)
    look = {"marker": marker, "linestyle": "none", "markerfacecolor": "white", "zorder": 3, **options}
    (mark,) = axes.plot([x], [y], color=color, **look)
    arrow = {"arrowstyle": "<-", "color": color, "linewidth": 1.0, "shrinkA": 0, "shrinkB": 3}
    axes.annotate("", (x, y), (0, length), textcoords="offset points", arrowprops=arrow)
    return mark


def label_ends(axes: "Axes", labels: "Sequence[tuple[Line2D, str]]", apart: float = APART) -> None:
    """Write each label to the right of its line's last point, in its colour, labels at least `apart` points apart.

    Call it after all lines are drawn and scales are set: it places labels on the axes as they then are.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    ends = [(tuple(np.asarray(line.get_xydata())[-1]), line, text) for line, text in labels]
    heights = [axes.transData.transform(end)[1] * 72 / figure.dpi for end, _, _ in ends]
    order = sorted(range(len(ends)), key=lambda i: heights[i])
    for i, height in zip(order, _spread([heights[i] for i in order], apart), strict=True):
        end, line, text = ends[i]
        axes.annotate(
            text,
            end,
            (7, height - heights[i]),
            textcoords="offset points",
            va="center",
            color=line.get_color(),
            annotation_clip=False,
            parse_math=False,  # a name with two dollars is no formula
        )


def _spread(heights: Sequence[float], apart: float) -> list[float]:
    """Return ascending heights moved to be at least `apart` from each other; a group that is moved keeps its mean.

    >>> _spread([0.0, 1.0, 30.0], 10.0)
    [-4.5, 5.5, 30.0]
    """
    groups: list[list[float]] = []

    def bottom(group: list[float]) -> float:
        return sum(group) / len(group) - apart * (len(group) - 1) / 2

    for height in heights:
        groups.append([height])
        while len(groups) > 1 and bottom(groups[-2]) + apart * len(groups[-2]) > bottom(groups[-1]):
            last = groups.pop()
            groups[-1] += last
    return [bottom(group) + apart * i for group in groups for i in range(len(group))]


def saved(figure: "Figure", name: str, kind: str = "svg") -> bytes:
    """Return a figure as svg, pdf or png (`kind`), equal on all runs; `name` prefixes the identifiers in an SVG."""
    import matplotlib as mpl

    stream = BytesIO()
    with style(), mpl.rc_context({"svg.hashsalt": name}):
        figure.savefig(stream, format=kind, metadata=dict.fromkeys(UNDATED[kind]))
    if kind != "svg":
        return stream.getvalue()
    # Identifiers of matplotlib are hashes of places to their last bit, which differs between processors: number them.
    svg = stream.getvalue().decode()
    hashes = dict.fromkeys(re.findall(r'id="([a-z][0-9a-f]{10})"', svg))
    names = {identity: f"{name}-{i}" for i, identity in enumerate(hashes, 1)}
    return re.sub(r"\b[a-z][0-9a-f]{10}\b", lambda match: names.get(match[0], match[0]), svg).encode()
