"""Drawings of all pages: one style, readable in grey, every point with its words."""

import io
import re
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from hardness.report.content import Figure

# Placeholders: on the page every one becomes a CSS variable, which dark mode redefines. Ink differs from any default.
INK, MUTED, GRID = "#1b1b1c", "#69696a", "#dcdcdd"
RAMP = ("#482878", "#31688e", "#178573", "#48872a", "#85790a", "#b05c0b", "#a02c28")  # all 4:1 on white
MARKERS, LINES = "osDPX*h", ("-", (0, (6, 1.5)), (0, (3, 1.2)), (0, (6, 1.5, 1, 1.5)), (0, (1.2, 1)))
STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlesize": 10,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "text.color": INK,
    "text.parse_math": False,  # a name with two dollars is no formula
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.7,
    "lines.markersize": 5.2,
    "legend.frameon": False,
}


class Drawing:
    """A figure with the words under it, and those that hovering over its points shows."""

    def __init__(self, drawn: "Figure", width: float, height: float) -> None:
        from matplotlib import figure

        self.name, self.kinds, self.alt_summary = drawn.name, drawn.kinds, drawn.alt_summary
        self.figure: figure.Figure = figure.Figure(figsize=(width, height), layout="constrained")
        self.caption = ""  # of the template
        self.tips: dict[str, str] = {}
        self._saved: dict[str, bytes] = {}

    def add_tooltip(self, artist: "Artist", tip: str) -> None:
        """Hovering over `artist` shows `tip`."""
        identity = f"tip-{self.name}-{len(self.tips)}"
        self.tips[identity] = tip
        artist.set_gid(identity)

    def point(self, axes: "Axes", x: float, y: float, tip: str, **style: Any) -> None:
        """One point with its tooltip."""
        (mark,) = axes.plot([x], [y], linestyle="none", **style)
        self.add_tooltip(mark, tip)

    @property
    def alt(self) -> str:
        """The alternative text: what is seen, the caption, what the panels, axes and keys say."""
        panels = [axes for axes in self.figure.axes if axes.get_visible()]
        parts = [self.alt_summary, self.caption]
        for name, texts in (
            ("Panels", [axes.get_title() for axes in panels]),
            ("Across", [axes.get_xlabel() for axes in panels]),
            ("Up", [axes.get_ylabel() for axes in panels]),
            ("Key", [text.get_text() for legend in self.figure.legends for text in legend.get_texts()]),
        ):
            values = list(dict.fromkeys(text.replace("\n", " ") for text in texts if text))
            parts += [f"{name}: {'; '.join(values)}."] if values else []
        return " ".join(filter(None, parts))

    def save(self, kind: str) -> bytes:
        """The figure as `svg` or `pdf`, the same bytes every time."""
        if kind not in self._saved:
            undated = dict.fromkeys(
                {"svg": ("Date", "Creator"), "pdf": ("CreationDate", "Creator", "Producer")}[kind]
            )
            stream = io.BytesIO()
            with style(self.name):
                self.figure.savefig(stream, format=kind, metadata=undated)
            self.figure.set_layout_engine("none")  # laid out once: another format keeps the places
            self._saved[kind] = stream.getvalue()
            if kind == "svg":
                text = _counted(stream.getvalue().decode(), self.name)
                text = text.replace("<svg ", f'<svg role="img" aria-label="{escape(self.alt)}" ', 1)
                self._saved[kind] = text.encode()
        return self._saved[kind]

    def inline(self) -> str:
        """The figure for a page: no XML head, colours as CSS variables, a title on every point."""
        text = self.save("svg").decode()
        text = text[text.index("<svg") :]
        for identity, tip in self.tips.items():
            text = text.replace(
                f'<g id="{identity}">', f'<g id="{identity}" class="tip"><title>{escape(tip)}</title>'
            )
        head, rest = text.split(">", 1)
        head = re.sub(r' height="[^"]*"', "", head)
        head = re.sub(r' width="([\d.]+pt)"', r' style="width:\1;min-width:min(\1,46rem)"', head)
        return re.sub(r"#[0-9a-f]{6}", lambda m: f"var(--c{m[0][1:]}, {m[0]})", f"{head}>{rest}")


def _counted(svg: str, name: str) -> str:
    """An SVG whose identifiers are numbers after `name`: matplotlib's are hashes of places to their last bit, which
    differs between processors.

    >>> _counted('<path id="m3594aed568"/><use href="#m3594aed568"/>', "costs")
    '<path id="costs-1"/><use href="#costs-1"/>'
    """
    hashes = dict.fromkeys(re.findall(r'id="([a-z][0-9a-f]{10})"', svg))
    names = {identity: f"{name}-{i}" for i, identity in enumerate(hashes, 1)}
    return re.sub(r"\b[a-z][0-9a-f]{10}\b", lambda match: names.get(match[0], match[0]), svg)


def style(salt: str) -> Any:
    """The style of every figure, as a matplotlib context; `salt` makes the identifiers of an SVG repeatable."""
    import matplotlib as mpl

    settings: Any = {**STYLE, "svg.hashsalt": salt}
    return mpl.rc_context(settings)
