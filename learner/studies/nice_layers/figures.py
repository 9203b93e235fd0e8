"""The figures of `nice-layers`."""

from typing import TYPE_CHECKING

from scipy.stats import binomtest

from hardness.report import Axis, Curves, Panel, Point, Series, line
from hardness.statistics.means import Mean
from learner.studies import nice_layers as grid
from learner.studies.nice_layers import LBFGS, LITERAL, PHASES, RANDOM
from learner.studies.nice_layers.brackets import Bracket

if TYPE_CHECKING:
    from pandas import DataFrame
    from pandas import Series as Column

# Of learners; no marker of these is taken for a triangle of a bound
STYLES = {PHASES: 0, LITERAL: 1, RANDOM: 2, LBFGS: 4}
LAW = 6
DODGE = 0.1  # between the marks of learners, or heads, at one place, so that none hides another


def examples_figure(examples: "DataFrame", needed: str) -> Curves:
    """The brackets of the column `needed` against m, and the counting floor."""
    panels = []
    cells = sorted(examples.groupby(["k", "d"]), key=lambda item: (item[0] != grid.MAIN, item[0]))
    for (k, d), cell in cells:
        series = [
            Series(name, _points(cell[cell["learner"] == name], needed, shift), join=False, style=style)
            for (name, style), shift in zip(STYLES.items(), (-DODGE, 2 * DODGE, 0.0, DODGE), strict=True)
            if (cell["learner"] == name).any()
        ]
        floor = sorted({*zip(cell["m"].tolist(), cell["floor"].tolist(), strict=True)})
        panels.append(Panel(f"k = {k}, d = {d}", [*series, line("counting floor", floor, "lower bound")]))
    return Curves(
        "nice-layers-examples",
        panels,
        Axis("m", ticks=grid.HEADS),
        Axis(f"{needed} error", log=True),
        columns=2,
    )


def _points(cell: "DataFrame", needed: str, shift: float) -> list[Point]:
    """The brackets of a learner, moved a little to the side."""
    return [
        _point(m + shift, bracket, f"{name}, m = {m}: {bracket}")
        for name, m, bracket in zip(cell["learner"], cell["m"], cell[needed], strict=True)
    ]


def _point(x: float, bracket: Bracket, tip: str) -> Point:
    if bracket.all is None:
        return Point(x, bracket.largest_tried, censored="above", tip=tip)
    if bracket.all == bracket.smallest_tried:
        return Point(x, bracket.all, censored="below", tip=tip)
    return Point(x, bracket.all, bracket.none or bracket.smallest_tried, bracket.all, tip=tip)


def path_figure(layers: "DataFrame") -> Curves:
    """Layers certified, and solved from a random start, against ρ."""
    shown = {"certified": "certified by the phases", "random_start": "solved from a random start"}
    where = {"theta": "Θ", "w": "W", "both": "Θ and W"}
    panels = []
    for (m, path), part in layers.groupby(["m", "path"]):
        shares = part.groupby("rho")
        series = [
            Series(
                label,
                [_chance(rho, shift, int(cell[key].sum()), len(cell)) for rho, cell in shares],
                join=False,
            )
            for shift, (key, label) in zip((-DODGE / 4, DODGE / 4), shown.items(), strict=True)
        ]
        panels.append(Panel(f"m = {m}, {where[path]}", series))
    return Curves("nice-layers-path", panels, Axis("ρ"), Axis("share of layers", low=-0.05, high=1.05))


def _chance(x: float, shift: float, successes: int, tried: int) -> Point:
    """A share with its exact 95 % interval (Clopper and Pearson), moved a little to the side."""
    low, high = binomtest(successes, tried).proportion_ci(method="exact")
    return Point(x + shift, successes / tried, float(low), float(high), tip=f"{x:g}: {successes} of {tried}")


def rarity_figure(rare: "DataFrame") -> Curves:
    """Exponents of rarity over the law's, with intervals: a panel for each spread and a series for each m."""
    known = rare[rare["farthest slope"].notna()]
    known = known.assign(place=_beside(known))
    panels = [
        Panel(
            f"score spread {spread:g}", [*(_exponents(m, some) for m, some in cells.groupby("m")), _law(rare)]
        )
        for spread, cells in known.groupby("spread")
    ]
    ticks = sorted({*rare["law"].tolist()})
    up = Axis("farthest slope / (m−1)(k−1)")
    return Curves("nice-layers-rarity", panels, Axis("(m−1)(k−1)", ticks=ticks), up, columns=2)


def _beside(cells: "DataFrame") -> "Column[float]":
    """The exponents of the law, those of one exponent and spread moved a little to the sides of it."""
    same = cells.groupby(["spread", "law"])["m"]
    middle = (same.transform("size") - 1) / 2
    return cells["law"] + DODGE * (same.rank() - 1 - middle)


def _exponents(m: int, cells: "DataFrame") -> Series:
    """The exponents of m heads over the law's, moved a little to the side."""
    points = [
        Point(place, at.value / law, *_over(at, law), tip=f"m = {m}, k = {k}: {at}")
        for place, law, k, at in zip(
            cells["place"], cells["law"], cells["k"], cells["farthest slope"], strict=True
        )
    ]
    return Series(f"m = {m}", points, join=False, style=m - 2)


def _over(at: Mean, law: float) -> tuple[float | None, float | None]:
    """The interval over the law's exponent, where there is one."""
    return (None, None) if at.low is None or at.high is None else (at.low / law, at.high / law)


def _law(rare: "DataFrame") -> Series:
    ends = rare["law"].min(), rare["law"].max()
    return line("the law", [(float(at), 1.0) for at in ends], "law", style=LAW)
