"""The figures of `exponential-in-m`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import comb, exp, floor, log, nan
from typing import TYPE_CHECKING, Any, Literal

from hardness.engine.store import Row
from hardness.report import Axis, Curves, Panel, Point, Series, frame, line, lines_of
from learner.studies.exponential_in_m import laws, settings
from learner.studies.exponential_in_m.arms import CONTROLS, HARD, WIDE
from learner.studies.exponential_in_m.cells import LINES, RAYS
from learner.studies.exponential_in_m.frames import (
    dense_runs,
    far_cells,
    of_arm,
    on_ray,
    summarised,
    work_a_set,
)

if TYPE_CHECKING:
    import pandas as pd

ALONG = (HARD, *CONTROLS)
NAMES = {HARD: "hidden parity of m bits"}  # of arms, where the figure says more
BESIDE: dict[str, Callable[[int, int], float]] = {
    "C(d−1, m−1)": lambda s, d: float(comb(d - 1, s - 1)),
    "lookup table": lambda s, d: settings.LOOKUP * 2.0 ** (d - 1),
}
ONE_BIT = 2 * (1 - 0.1**0.5) ** 2  # examples a set, proved for P = .9: half of all inform, N large
DENSE = (14, 16)  # dimensions at which the dense student is shown
EXAMPLES = Axis("examples", log=True)
BESIDE_EACH_OTHER = 0.15  # between the cells of one learner in the panel
TICKS = {
    "ReLU network": "ReLU",
    "absolute loss": "abs. loss",
    "pool of 4096": "pool 4096",
    "sign of the gradient": "sign grad.",
}


def _points(part: "pd.DataFrame", x: str, y: str = "median") -> list[Point]:
    return [_point(cell, x, y) for cell in lines_of(part.sort_values(x))]


def _point(cell: Mapping[str, Any], x: str, y: str) -> Point:
    """A median, or its work, with the order statistics around it in the same units."""
    scale = cell[y] / cell["median"]
    tip = f"s = {cell['s']}, d = {cell['d']}: {cell['shown']} examples ({cell['share']} solved)"
    low, high = cell["low"] * scale, cell["high"] * scale
    hollow = cell["solved"] < cell["runs"]
    return Point(cell[x], cell[y], low, high, "above" if cell["censored"] else "", hollow, tip)


def costs(cells: "pd.DataFrame", eliminated: Mapping[laws.Place, float]) -> Curves:
    """Examples against m along the rays, and what else grows there."""
    panels = []
    for ray, sizes in RAYS.items():
        parts = [(arm, on_ray(of_arm(cells, arm), ray)) for arm in ALONG]
        measured = [
            Series(NAMES.get(arm, arm), _points(part, "s"), style=i, dashed=arm != HARD)
            for i, (arm, part) in enumerate(parts)
            if len(part)
        ]
        if measured:
            heads = sorted({int(s) for _, part in parts for s in part["s"]})
            top = 30 * max(point.y for series in measured for point in series.points)
            beside = _beside(ray, heads, top, eliminated)
            panels.append(Panel(f"d = {ray}m", measured + beside, x=Axis("heads m", ticks=list(sizes))))
    examples = Axis("median examples until error .1", log=True)
    return Curves("costs", panels, Axis("heads m"), examples, height=4.0)


def _beside(
    ray: int, heads: Sequence[int], top: float, eliminated: Mapping[laws.Place, float]
) -> list[Series]:
    """What else grows along a ray: laws up to `top`, the bound of one bit an example, Gaussian elimination."""
    series = []
    for i, (label, law) in enumerate(BESIDE.items()):
        drawn = [(float(s), law(s, ray * s)) for s in heads if law(s, ray * s) <= top]
        series.append(line(label, drawn, "law", style=4 + i))
    bound = [(float(s), ONE_BIT * comb(ray * s - 1, s)) for s in heads]
    proved = f"{floor(100 * ONE_BIT) / 100} N, proved of one-bit learners"
    series.append(line(proved, bound, "lower bound"))
    solved = [(float(s), eliminated[s, ray * s]) for s in heads if (s, ray * s) in eliminated]
    return [*series, line("Gaussian elimination", solved, "law", style=6)] if solved else series


def weights(cells: "pd.DataFrame") -> Curves:
    """Examples x weights against N."""
    hard = of_arm(cells)
    ratio, remainder = hard["d"] // hard["s"], hard["d"] % hard["s"]
    ray = ratio.where((remainder == 0) & ratio.isin([*RAYS]), 0)  # 0: on none
    parts = {f"d = {c}m" if c else "other d": hard[ray == c] for c in (*RAYS, 0)}
    parts["64 heads"] = of_arm(cells, WIDE)
    styles = dict(zip(parts, (0, 1, 2, 3, 5), strict=True))
    series = [
        Series(label, _points(part, "sets", "work"), join=False, style=styles[label])
        for label, part in parts.items()
        if len(part)
    ]
    panels = [Panel("", series + _in_proportion(hard))] if series else []
    axes = Axis("N, sets that could be hidden", log=True), Axis("examples × weights", log=True)
    return Curves("weights", panels, *axes, height=4.0)


def _in_proportion(hard: "pd.DataFrame") -> list[Series]:
    """The line of the median of examples x weights over N, of the cells that are not censored."""
    if len(hard) <= 2:
        return []
    ratio = work_a_set(hard)
    ends = (float(hard["sets"].min()), float(hard["sets"].max()))
    return [line(f"{ratio:,.0f} N", [(x, ratio * x) for x in ends], "law", style=6)]


def at_fixed_size(cells: "pd.DataFrame") -> Curves:
    """Examples against d at fixed s, with multiples of C(d-1, s-1)."""
    series, hard = [], of_arm(cells)
    for i, s in enumerate(LINES):
        part = hard[hard["s"] == s]
        if len(part) >= 3:
            series.append(Series(f"s = {s}", _points(part, "d"), join=False, style=i))
            series += _subsets(far_cells(part[~part["censored"].astype(bool)]), s, i)
    panels = [Panel("", series)] if series else []
    return Curves("lines", panels, Axis("d", log=True, ticks=(8, 16, 32, 64, 128)), EXAMPLES, height=4.0)


def _subsets(far: "pd.DataFrame", s: int, style: int) -> list[Series]:
    """The multiple of C(d-1, s-1) that is nearest to cells."""
    if len(far) < 2:
        return []
    sets = far["d"].map(lambda d: comb(d - 1, s - 1))
    level = exp(float((far["median"].map(log) - sets.map(log)).mean()))
    dims = range(int(far["d"].min()), int(far["d"].max()) + 1)
    curve = [(float(d), level * comb(d - 1, s - 1)) for d in dims]
    return [line(f"C(d−1, {s - 1}), scaled", curve, "law", style=style)]


def panel(table: "pd.DataFrame") -> Curves:
    """Examples x weights of other learners over those of `diagonal`."""
    names = list(dict.fromkeys(table["learner"]))
    series = []
    groups = list(table.groupby(["s", "d"]))
    for i, ((s, d), cell) in enumerate(groups):
        aside = BESIDE_EACH_OTHER * (i - (len(groups) - 1) / 2)
        points = [
            _ratio(line, names.index(line["learner"]) + aside)
            for line in lines_of(cell)
            if not (line["censored"] and line["censored diagonal"])
        ]
        series += [Series(f"s = {s}, d = {d}", points, join=False, style=i)] if points else []
    equal = line("diagonal", [(-0.5, 1.0), (len(names) - 0.5, 1.0)], "law", style=6)
    panels = [Panel("", [*series, equal])]
    shown = [TICKS.get(name, name).replace(" ", "\n", 1) for name in names]
    across = Axis("learner", ticks=range(len(names)), names=shown)
    up = Axis("examples × weights, ratio", log=True)
    return Curves("panel", panels if names else [], across, up, height=3.6)


def _ratio(line: Mapping[str, Any], x: float) -> Point:
    """Examples x weights over those of `diagonal`, with the order statistics of the learner."""
    ratio, spread = line["ratio"], line["ratio"] / line["examples"]
    censored: Literal["", "above", "below"] = (
        "above" if line["censored"] else "below" * line["censored diagonal"]
    )
    hollow = not line["solved"].startswith(f"{line['runs']} ")
    return Point(x, ratio, line["low"] * spread, line["high"] * spread, censored, hollow)


def gap(rows: Sequence[Row]) -> Curves:
    """The error along one run, and n_1 of its weights."""
    runs = frame(rows, kind="diagonal", series="gap").reindex(columns=["gaps"]).dropna()
    if runs.empty:
        return Curves("gap", [], Axis("examples"), Axis(""))
    points = runs["gaps"].iloc[0]
    error = line("mean squared error", [(n, e) for n, e, _ in points if e is not None], style=0)
    gaps = line("n₁", [(n, g) for n, _, g in points], style=1)
    informative = Axis("informative examples", log=True)
    panels = [
        Panel("error", [error], y=Axis("over the labels' variance")),
        Panel("n₁ of the best head", [gaps], y=informative),
    ]
    return Curves("gap", panels, EXAMPLES, Axis(""), columns=2)


def dense(rows: Sequence[Row]) -> Curves:
    """The dense student's cost at fixed d, from the rows of the second plan, and N there."""
    medians, series = summarised(dense_runs(rows), "s", "d"), []
    for i, d in enumerate(DENSE):
        cells = medians[medians["d"] == d]
        if len(cells):
            known = {int(point.x): replace(point, tip="") for point in _points(cells, "s")}  # the usual tip
            points = [known.get(s, Point(s, nan)) for s in range(min(known), max(known) + 1)]
            series.append(Series(f"dense student, d = {d}", points, style=i))
            sets = [(float(s), float(comb(d - 1, s))) for s in range(cells["s"].min(), cells["s"].max() + 1)]
            series.append(line(f"N at d = {d}", sets, style=i, dashed=True))
    panels = [Panel("", series)] if series else []
    return Curves("dense", panels, Axis("s", ticks=(2, 3, 4, 5, 6)), EXAMPLES, height=3.0)
