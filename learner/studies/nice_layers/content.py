"""What the rows of `nice-layers` say: examples to an error as brackets, slopes, rarity and paths."""

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from scipy.stats import binomtest

from hardness.engine.store import Row
from hardness.report import Axis, Content, Curves, Panel, Point, Series, frame, line
from hardness.scores import EXPLAINED
from hardness.statistics.means import Mean, mean, slope
from learner.base import SOLVED
from learner.last_fit import counting_floor
from learner.studies import nice_layers as grid
from learner.studies.nice_layers import LITERAL, PHASES, trials
from learner.studies.nice_layers.trials import ETAS

if TYPE_CHECKING:
    from pandas import DataFrame

Line = dict[str, Any]

TARGETS = (0.3, 0.1, 0.03)  # relative errors
AIM = TARGETS[1]
NEEDED = f"examples to {AIM:g}"
ENDED = ("solved", "wrong", "refused")  # by itself: only such a trial says anything of a learner
LAST_FACTOR = 16  # in the examples, over which the slope of the error is taken
LEAST_RUNS = 3  # layers with fewer of which an interval says nothing
FEW = 30  # certified rows of a layer below which nothing is estimated
LEARNERS = (PHASES, LITERAL, grid.RANDOM, grid.LBFGS)
FIT = ("tokens", "dim", "heads", "learner", "scale", "samples", "repetition", "error", "certified", "trusted")
RARE = ("scale", "heads", "tokens", "rows", "certified")
PATH = ("heads", "path", "rho", "status", "certified", "polished_error", "random_start_error")
LINEAR = ("tokens", "dim", "heads", "explained")
SHORT = {"tokens": "k", "dim": "d", "heads": "m", "scale": "spread"}


@dataclass(frozen=True)
class Bracket:
    """Numbers of examples: the largest up to which no layer is learned, and the least from which on all are.

    None where no number that was tried is one; `largest_tried` is the largest that was. Nothing is interpolated.
    """

    none: int | None
    all: int | None
    largest_tried: int

    def __str__(self) -> str:
        if self.none is None:
            return f"at most {self.all:,}" if self.all else f"mixed up to {self.largest_tried:,}"
        if self.none == self.largest_tried:
            return f"more than {self.largest_tried:,}"
        return (
            f"{self.none:,} to {self.all:,}"
            if self.all
            else f"{self.none:,} to more than {self.largest_tried:,}"
        )


def content(rows: Sequence[Row]) -> Content:
    """All that the page shows."""
    table = fits(rows)
    examples, rare, layers, linear = scaling(table), rarity(rows), paths(rows), linear_maps(rows)
    saturated, needs = wide(table, grid.SATURATED), _needs(examples)
    if not (needs and len(rare) and len(layers) and len(linear) and saturated["layers"]):
        return Content(missing="Some of the questions of this study have no rows yet.")
    phases = examples[examples["learner"] == PHASES]
    numbers = needs | {
        "slopes": _sides(phases["slope"], phases["law"]),
        "rarity": {
            spread: _sides(part["farthest slope"], part["law"]) for spread, part in rare.groupby("spread")
        },
        "paths": path_numbers(layers),
        "linear": linear_numbers(linear),
        "certificates": certificates(table),
        "wide": saturated,
        "aim": f"{AIM:g}".lstrip("0"),
        "last_factor": LAST_FACTOR,
        "few": FEW,
        "least_runs": LEAST_RUNS,
    }
    figures = [_examples(examples), _path_figure(layers), _rarity_figure(rare)]
    return Content(numbers, figures, {"examples": examples}, grid=ChainMap(vars(trials), vars(grid)))


def _table(rows: Iterable[Row], kind: str, columns: Sequence[str]) -> "DataFrame":
    """The trials of a kind that ended by themselves, with the short names of their parameters."""
    return frame(rows, *ENDED, kind=kind).reindex(columns=[*columns]).rename(columns=SHORT)


def fits(rows: Iterable[Row]) -> "DataFrame":
    """One line per fit of a learner; a refused layer has an infinite error."""
    table = _table(rows, grid.SCALING, FIT)
    table["error"] = table["error"].astype(float).fillna(float("inf"))
    flags = ["certified", "trusted"]
    table[flags] = table[flags] == True  # noqa: E712 - None is not certified
    return table


def bracket(learned: Mapping[int, Sequence[bool]]) -> Bracket:
    """The bracket of which layers are learned at which number of examples.

    >>> print(bracket({154: [False, False], 192: [True, True], 256: [True, True]}))
    154 to 192
    >>> print(bracket({100: [True, False], 200: [True, True]}), bracket({100: [True], 200: [False]}), sep="; ")
    at most 200; mixed up to 200
    """
    some = [count for count, layers in learned.items() if any(layers)]
    missed = [count for count, layers in learned.items() if not all(layers)]
    none = max((count for count in learned if count < min(some, default=count + 1)), default=None)
    every = min((count for count in learned if count > max(missed, default=count - 1)), default=None)
    return Bracket(none, every, max(learned))


def examples_to(cell: "DataFrame", target: float) -> Bracket:
    """The bracket of a relative error over the fits of a cell; a refused layer is not learned."""
    learned = (cell["error"] <= target).groupby(cell["samples"]).agg(list)
    return bracket({int(count): layers for count, layers in learned.items()})


def slope_of(cell: "DataFrame") -> Mean | None:
    """Slope of log error on log examples over the last factor, a layer at a time: mean and interval."""
    slopes = []
    for _, layer in cell.groupby("repetition", sort=False):
        late = layer[
            (layer["samples"] >= layer["samples"].max() / LAST_FACTOR) & (layer["error"] < float("inf"))
        ]
        late = late[late["error"] > 0]
        points = [*zip(late["samples"].tolist(), late["error"].tolist(), strict=True)]
        fit = slope(points, exact=True) if len(points) >= LEAST_RUNS else None
        slopes += [fit.value] if fit else []
    return mean(slopes) if slopes else None


def scaling(table: "DataFrame") -> "DataFrame":
    """Per learner and cell of k, d and m: examples to each error, the counting floor, the phases' slope and verdict."""
    from pandas import DataFrame

    usual = table[(table["spread"] == grid.SPREAD) & (table["d"] != grid.WIDE[2])]
    cells = usual.groupby(["k", "d", "m", "learner"])
    lines = [_cell(k, d, m, name, cell) for (k, d, m, name), cell in cells]
    lines.sort(key=lambda cell: (cell["k"], cell["d"], cell["m"], LEARNERS.index(cell["learner"])))
    columns = [
        "learner",
        "k",
        "d",
        "m",
        "layers",
        "floor",
        *(f"examples to {target:g}" for target in TARGETS),
    ]
    more = ["most examples", "error there", "certified there", "slope", "law"]
    return DataFrame(lines, columns=columns + more)


def _cell(k: int, d: int, m: int, name: str, cell: "DataFrame") -> Line:
    """The line of a learner in a cell."""
    entry: Line = {"learner": name, "k": k, "d": d, "m": m, "layers": cell["repetition"].nunique()}
    entry["floor"] = counting_floor(m, k, d)
    entry |= {f"examples to {target:g}": examples_to(cell, target) for target in TARGETS}
    if name in (PHASES, LITERAL):
        ends = cell[cell["samples"] == cell["samples"].max()]
        entry |= {"most examples": int(cell["samples"].max()), "error there": float(ends["error"].median())}
        entry |= {"certified there": f"{ends['certified'].sum()} of {len(ends)}"}
    if name == PHASES:
        law = (m - 1) * (k - 1)
        entry |= {"slope": slope_of(cell), "law": -1 / law if law else None}
    return entry


def wide(table: "DataFrame", spread: float) -> Line:
    """How many layers of a spread of the scores are certified, and the errors of the others, at one size."""
    layers = table[(table["d"] == grid.WIDE[2]) & (table["spread"] == spread)]
    errors = layers.assign(error=layers["error"].clip(upper=1.0)).sort_values("error")
    sure = errors["certified"]
    return {
        "layers": len(layers),
        "certified": errors["error"][sure].tolist(),
        "others": errors["error"][~sure].tolist(),
    }


def certificates(table: "DataFrame") -> Line:
    """Of all fits of the phases: how many are certified or only trusted, and the largest errors on fresh examples."""
    phases = table[table["learner"].isin((PHASES, LITERAL))]
    certified = phases["error"][phases["certified"]]
    missed = phases["error"][phases["trusted"] & ~phases["certified"]]
    return {
        "fits": len(phases),
        "certified": len(certified),
        "worst": certified.max() if len(certified) else None,
        "trusted_only": len(missed),
        "trusted_worst": missed.max() if len(missed) else None,
    }


def linear_maps(rows: Iterable[Row]) -> "DataFrame":
    """The share of a random layer's variance that a linear map of all tokens explains, a line per layer."""
    return _table(rows, grid.LINEAR, LINEAR)


def linear_numbers(linear: "DataFrame") -> Line:
    """Least and most that a linear map explains of a layer, and what the targets ask of the rest, on the mean layer."""
    explained = linear["explained"]
    rest = 1 - explained.mean()
    return {
        "least": float(explained.min()),
        "most": float(explained.max()),
        "target": EXPLAINED.threshold,
        "share": 1 - (1 - EXPLAINED.threshold) / rest,
        "aim_share": 1 - AIM**2 / rest,
    }


def rarity(rows: Iterable[Row]) -> "DataFrame":
    """Per (spread, m, k): the law's exponent, the farthest slope over layers, and the shares by η."""
    from pandas import DataFrame

    lines = []
    for (spread, m, k), layers in _table(rows, grid.RARITY, RARE).groupby(["spread", "m", "k"]):
        counts = layers["certified"].tolist()
        seen, local = layers["rows"].sum(), [*slopes(counts).values()]
        lines.append(
            {
                "spread": spread,
                "m": m,
                "k": k,
                "law": (m - 1) * (k - 1),
                "layers": len(layers),
                "farthest slope": local[-1] if local else None,
                "shares": {eta: sum(count[str(eta)] for count in counts) / seen for eta in ETAS},
            }
        )
    return DataFrame(lines, columns=["spread", "m", "k", "law", "layers", "farthest slope", "shares"])


def slopes(counts: Sequence[Mapping[str, int]]) -> dict[float, Mean]:
    """Slope of log share on log η between neighbouring η, by the upper one, where every layer has rows enough.

    `counts` are a layer's certified rows by η. Rows of one layer share its bias, and are one observation; from a
    handful of rows nothing is estimated.
    """
    from math import log

    exponents = {}
    for high, low in pairwise(ETAS):
        pairs = [(layer[str(high)], layer[str(low)]) for layer in counts]
        if len(pairs) >= LEAST_RUNS and min(less for _, less in pairs) >= FEW:
            exponents[high] = mean([log(more / less) / log(high / low) for more, less in pairs])
    return exponents


def paths(rows: Iterable[Row]) -> "DataFrame":
    """Per layer of the paths: was it refused, certified, solved by the polish, solved from a random start?"""
    table = _table(rows, grid.PATH, PATH)
    return table.assign(
        refused=table["status"] == "refused",
        certified=table["certified"] == True,  # noqa: E712 - None is not certified
        solved=table["polished_error"].astype(float) <= SOLVED,  # no number is not exact
        random_start=table["random_start_error"].astype(float) <= SOLVED,
    )


def path_numbers(layers: "DataFrame") -> Line:
    """What the phases certify, refuse and solve on the paths, and what a random start solves of these."""
    alone = layers["random_start"]
    return {
        "layers": len(layers),
        "certified": int(layers["certified"].sum()),
        "solved": int(layers["solved"].sum()),
        "both": int((layers["solved"] & alone).sum()),
        "refused": int(layers["refused"].sum()),
        "refused_found": int((layers["refused"] & alone).sum()),
        "unfound": int((~alone).sum()),
        "unfound_hard": int((~alone & (layers["rho"] == 0)).sum()),
    }


def _needs(examples: "DataFrame") -> Line:
    """Examples to the aimed error by heads, in the main cell (or the first there is); {} if two heads are not there."""
    cells = sorted(
        {*zip(examples["k"], examples["d"], strict=True)}, key=lambda cell: (cell != grid.MAIN, cell)
    )
    if not cells:
        return {}
    k, d = cells[0]
    main = examples[(examples["k"] == k) & (examples["d"] == d)]
    needs = {
        name: dict(zip(part["m"].tolist(), part[NEEDED].map(str), strict=True))
        for name, part in main.groupby("learner")
    }
    phases, random, lbfgs = (needs.get(name, {}) for name in (PHASES, grid.RANDOM, grid.LBFGS))
    if 2 not in phases or not random or not lbfgs:
        return {}
    most = {"most_heads": max(phases), "random": random[max(random)], "lbfgs": lbfgs[max(lbfgs)]}
    return {"k": int(k), "d": int(d), "phases": phases} | most


def _sides(slopes: Iterable[Mean | None], laws: Iterable[float | None]) -> dict[str, int]:
    """How many intervals hold the law's value, lie below it, lie above it; and for how many cells there is none."""
    sides = [
        slope.side(law) if isinstance(slope, Mean) else None
        for slope, law in zip(slopes, laws, strict=True)
        if law is not None and law == law
    ]
    return {
        "inside": sides.count(0),
        "below": sides.count(-1),
        "above": sides.count(1),
        "none": sides.count(None),
    }


def _examples(examples: "DataFrame") -> Curves:
    """Examples to the aimed error against m: brackets, and the counting floor."""
    panels = []
    cells = sorted(examples.groupby(["k", "d"]), key=lambda item: (item[0] != grid.MAIN, item[0]))
    for (k, d), cell in cells:
        series = [
            Series(
                name, [_point(entry) for _, entry in cell[cell["learner"] == name].iterrows()], style=style
            )
            for style, name in enumerate(LEARNERS)
            if (cell["learner"] == name).any()
        ]
        floor = sorted({*zip(cell["m"].tolist(), cell["floor"].tolist(), strict=True)})
        panels.append(Panel(f"k = {k}, d = {d}", [*series, line("counting floor", floor, "lower bound")]))
    return Curves(
        "nice-layers-examples", panels, Axis("m", ticks=grid.HEADS), Axis("examples", log=True), columns=2
    )


def _point(entry: Any) -> Point:
    m, needed = int(entry["m"]), entry[NEEDED]
    if needed.all is None:
        return Point(m, needed.largest_tried, censored="above", tip=f"{entry['learner']}, m = {m}: {needed}")
    if needed.none is None:
        return Point(m, needed.all, censored="below")
    return Point(m, needed.all, needed.none, needed.all)


def _path_figure(layers: "DataFrame") -> Curves:
    """Layers certified, and solved from a random start, against ρ."""
    shown = {"certified": "certified by the phases", "random_start": "solved from a random start"}
    where = {"theta": "Θ", "w": "W", "both": "Θ and W"}
    panels = []
    for (m, path), part in layers.groupby(["m", "path"]):
        shares = part.groupby("rho")
        series = [
            Series(label, [_chance(rho, int(cell[key].sum()), len(cell)) for rho, cell in shares])
            for key, label in shown.items()
        ]
        panels.append(Panel(f"m = {m}, {where[path]}", series))
    return Curves("nice-layers-path", panels, Axis("ρ"), Axis("share of layers", low=-0.05, high=1.05))


def _chance(x: float, successes: int, tried: int) -> Point:
    """A share with its exact 95 % interval (Clopper and Pearson)."""
    low, high = binomtest(successes, tried).proportion_ci(method="exact")
    return Point(x, successes / tried, float(low), float(high), tip=f"{x:g}: {successes} of {tried}")


def _rarity_figure(rare: "DataFrame") -> Curves:
    """Share of certified rows against η, a panel for each law."""
    panels = [
        Panel(f"exponent {law}", [series for _, cell in cells.iterrows() for series in _shares(cell)])
        for law, cells in rare.groupby("law")
    ]
    return Curves(
        "nice-layers-rarity", panels, Axis("η", log=True, ticks=ETAS[::-2]), Axis("share of rows", log=True)
    )


def _shares(cell: Any) -> list[Series]:
    """The shares of a cell where enough rows are certified, and the law through the last of them."""
    enough = FEW / (grid.ROWS * cell["k"] * cell["layers"])
    points = [
        Point(eta, share, tip=f"m = {cell['m']}, k = {cell['k']}, η = {eta:g}: {share:.3g}")
        for eta, share in cell["shares"].items()
        if share >= enough
    ]
    series = [Series(f"score spread {cell['spread']:g}", points, style=int(cell["spread"] > 1))]
    if points:
        x, y, law = points[-1].x, points[-1].y, cell["law"]
        ends = (x, min(8 * x, x * y ** (-1 / law)))  # a share is at most 1
        series.append(line("the law", [(end, y * (end / x) ** law) for end in ends], "law", style=5))
    return series
