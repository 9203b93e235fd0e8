"""What the rows of `nice-layers` say: examples to an error as brackets, slopes, rarity and paths."""

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from statistics import median
from typing import Any

from scipy.stats import binomtest

from hardness.engine.store import Row
from hardness.report import Axis, Content, Curves, Panel, Point, Series, grouped, line, records
from hardness.statistics.means import Mean, mean, slope
from learner.base import SOLVED
from learner.last_fit import counting_floor
from learner.studies import nice_layers as grid
from learner.studies.nice_layers import LITERAL, PHASES, trials
from learner.studies.nice_layers.trials import ETAS

Line = dict[str, Any]

TARGETS = (0.3, 0.1, 0.03)  # relative errors
AIM = TARGETS[1]
NEEDED = f"examples to {AIM:g}"
ENDED = ("solved", "wrong", "refused")  # by itself: only such a trial says anything of a learner
LAST_FACTOR = 16  # in the examples, over which the slope of the error is taken
LEAST_RUNS = 3  # layers with fewer of which an interval says nothing
FEW = 30  # certified rows of a layer below which nothing is estimated
LEARNERS = (PHASES, LITERAL, grid.RANDOM, grid.LBFGS)


@dataclass(frozen=True)
class Bracket:
    """Numbers of examples: the largest up to which no layer is learned, and the least from which on all are.

    None where no number that was tried is one; `most` is the largest that was. Nothing is interpolated between.
    """

    none: int | None
    all: int | None
    most: int

    def __str__(self) -> str:
        if self.none is None:
            return f"at most {self.all:,}" if self.all else f"mixed up to {self.most:,}"
        if self.none == self.most:
            return f"more than {self.most:,}"
        return f"{self.none:,} to {self.all:,}" if self.all else f"{self.none:,} to more than {self.most:,}"


def content(rows: Sequence[Row]) -> Content:
    """All that the page shows."""
    examples, rare, layers = scaling(rows), rarity(rows), paths(rows)
    spread, needs = wide(rows, grid.SATURATED), _needs(examples)
    if not (needs and rare and layers and spread["layers"]):
        return Content(missing="Some of the questions of this study have no rows yet.")
    solved, unfound = [one for one in layers if one["solved"]], [one for one in layers if not one["random start"]]
    refused = [one for one in layers if one["refused"]]
    numbers = needs | {
        "slopes": _sides((one.get("slope"), one.get("law")) for one in examples if one["learner"] == PHASES),
        "rarity": {spread: _sides((one["farthest slope"], one["law"]) for one in own)
                   for spread, own in grouped(rare, "spread").items()},
        "paths": {
            "layers": len(layers), "certified": sum(one["certified"] for one in layers), "solved": len(solved),
            "both": sum(one["random start"] for one in solved), "refused": len(refused),
            "refused_found": sum(one["random start"] for one in refused), "unfound": len(unfound),
            "unfound_hard": sum(one["rho"] == 0 for one in unfound),
        },
        "certificates": certificates(rows), "wide": spread, "aim": f"{AIM:g}".lstrip("0"), "last_factor": LAST_FACTOR,
        "few": FEW, "least_runs": LEAST_RUNS,
    }  # fmt: skip
    figures = [_examples(examples), _path_figure(layers), _rarity_figure(rare)]
    return Content(numbers, figures, {"examples": examples}, grid=ChainMap(vars(trials), vars(grid)))


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


def examples_to(own: Sequence[Line], target: float) -> Bracket:
    """The bracket of a relative error over the fits of a cell; a refused layer is not learned."""
    return bracket({
        count: [fit["error"] is not None and fit["error"] <= target for fit in some]
        for count, some in grouped(own, "samples").items()
    })  # fmt: skip


def slope_of(own: Sequence[Line]) -> Mean | None:
    """Slope of log error on log examples over the last factor, a layer at a time: mean and interval."""
    slopes = []
    for layer in grouped(own, "repetition").values():
        least = max(fit["samples"] for fit in layer) / LAST_FACTOR
        points = [(fit["samples"], fit["error"]) for fit in layer if fit["error"] and fit["samples"] >= least]
        if len(points) >= LEAST_RUNS and (found := slope(points, exact=True)):
            slopes.append(found.value)
    return mean(slopes) if slopes else None


def scaling(rows: Iterable[Row]) -> list[Line]:
    """Per learner and cell of k, d and m: examples to each error, the counting floor, the phases' slope and verdict."""
    usual = (fit for fit in records(rows, *ENDED, kind=grid.SCALING)
             if fit["scale"] == grid.SPREAD and fit["dim"] != grid.WIDE[2])  # fmt: skip
    cells = grouped(usual, "tokens", "dim", "heads", "learner")
    lines = []
    for (k, d, m, name), own in sorted(cells.items(), key=lambda item: (item[0][:3], item[0][3] != PHASES)):
        law, layers = (m - 1) * (k - 1), len(grouped(own, "repetition"))
        found: Line = {"learner": name, "k": k, "d": d, "m": m, "layers": layers, "floor": counting_floor(m, k, d)}
        found |= {f"examples to {target:g}": examples_to(own, target) for target in TARGETS}
        if name in (PHASES, LITERAL):
            most = max(fit["samples"] for fit in own)
            ends = [fit for fit in own if fit["samples"] == most]
            found |= {"most examples": most, "error there": median(end["error"] for end in ends)}
            found |= {"certified there": f"{sum(end['certified'] for end in ends)} of {len(ends)}"}
        if name == PHASES:
            found |= {"slope": slope_of(own), "law": -1 / law if law else None}
        lines.append(found)
    return lines


def wide(rows: Iterable[Row], spread: float) -> Line:
    """How many layers of a spread of the scores are certified, and the errors of the others, at one size."""
    fits = records(rows, *ENDED, kind=grid.SCALING)
    own = [fit for fit in fits if fit["dim"] == grid.WIDE[2] and fit["scale"] == spread]
    errors = {verdict: sorted(1.0 if fit["error"] is None else fit["error"] for fit in some)
              for verdict, some in grouped(own, "certified").items()}  # fmt: skip
    return {"layers": len(own), "certified": errors.get(True, []), "others": errors.get(False, [])}


def certificates(rows: Iterable[Row]) -> Line:
    """Of all fits of the phases: how many are certified or only trusted, and the largest errors on fresh examples."""
    found = [fit for fit in records(rows, *ENDED, kind=grid.SCALING) if fit["learner"] in (PHASES, LITERAL)]
    certified = [fit["error"] for fit in found if fit["certified"]]
    missed = [fit["error"] for fit in found if fit.get("trusted") and not fit["certified"]]
    return {"fits": len(found), "certified": len(certified), "worst": max(certified, default=None),
            "trusted_only": len(missed), "trusted_worst": max(missed, default=None)}  # fmt: skip


def rarity(rows: Iterable[Row]) -> list[Line]:
    """Per (spread, m, k): the law's exponent, the farthest slope over layers, and the shares by η."""
    lines = []
    groups = grouped(records(rows, *ENDED, kind=grid.RARITY), "scale", "heads", "tokens")
    for (spread, m, k), layers in sorted(groups.items()):
        local, seen = [*slopes(layers).values()], sum(layer["rows"] for layer in layers)
        lines.append({
            "spread": spread, "m": m, "k": k, "law": (m - 1) * (k - 1), "layers": len(layers),
            "farthest slope": local[-1] if local else None,
            "shares": {eta: sum(layer["certified"][str(eta)] for layer in layers) / seen for eta in ETAS},
        })  # fmt: skip
    return lines


def slopes(layers: Sequence[Line]) -> dict[float, Mean]:
    """Slope of log share on log η between neighbouring η, by the upper one, where every layer has rows enough.

    Rows of one layer share its bias, and are one observation; from a handful of rows nothing is estimated.
    """
    found = {}
    for high, low in pairwise(ETAS):
        counts = [(layer["certified"][str(high)], layer["certified"][str(low)]) for layer in layers]
        if len(layers) >= LEAST_RUNS and min(less for _, less in counts) >= FEW:
            found[high] = mean([log(more / less) / log(high / low) for more, less in counts])
    return found


def paths(rows: Iterable[Row]) -> list[Line]:
    """Per layer of the paths: was it refused, certified, solved by the polish, solved from a random start?"""
    return [
        {"m": layer["heads"], "refused": layer["status"] == "refused"}
        | {name: layer[name] for name in ("path", "rho", "certified")}
        | {"solved": _exact(layer["polished_error"]), "random start": _exact(layer["random_start_error"])}
        for layer in records(rows, *ENDED, kind=grid.PATH)
    ]


def _exact(error: float | None) -> bool:
    """Whether an error is that of an exact layer: 0.0 is, and what was not run is not."""
    return error is not None and error <= SOLVED


def _needs(examples: Sequence[Line]) -> Line:
    """Examples to the aimed error by heads, in the main cell (or the first there is); {} if two heads are not there."""
    cells = grouped(examples, "k", "d")
    k, d = min(cells, key=lambda cell: (cell != grid.MAIN, cell), default=grid.MAIN)
    own = grouped(cells.get((k, d), []), "learner")
    phases, random = ({one["m"]: str(one[NEEDED]) for one in own.get(name, [])} for name in (PHASES, grid.RANDOM))
    if 2 not in phases or not random:
        return {}
    return {"k": k, "d": d, "phases": phases, "most_heads": max(phases), "random": random[max(random)]}


def _sides(pairs: Iterable[tuple[Mean | None, float | None]]) -> dict[str, int]:
    """How many intervals hold the law's value, lie below it, lie above it; and for how many cells there is none."""
    sides = [slope.side(law) if slope is not None else None for slope, law in pairs if law is not None]
    return {"inside": sides.count(0), "below": sides.count(-1), "above": sides.count(1), "none": sides.count(None)}


def _examples(examples: Sequence[Line]) -> Curves:
    """Examples to the aimed error against m: brackets, and the counting floor."""
    panels = []
    for (k, d), own in sorted(grouped(examples, "k", "d").items(), key=lambda item: (item[0] != grid.MAIN, item[0])):
        found = grouped(own, "learner")
        series = [Series(name, [_point(one) for one in found[name]], style=style)
                  for style, name in enumerate(LEARNERS) if name in found]  # fmt: skip
        floor = sorted({(one["m"], one["floor"]) for one in own})
        panels.append(Panel(f"k = {k}, d = {d}", [*series, line("counting floor", floor, "lower bound")]))
    return Curves("nice-layers-examples", panels, Axis("m", ticks=grid.HEADS), Axis("examples", log=True), columns=2)


def _point(entry: Line) -> Point:
    found = entry[NEEDED]
    if found.all is None:
        return Point(entry["m"], found.most, censored="above", tip=f"{entry['learner']}, m = {entry['m']}: {found}")
    if found.none is None:
        return Point(entry["m"], found.all, censored="below")
    return Point(entry["m"], found.all, found.none, found.all)


def _path_figure(layers: Sequence[Line]) -> Curves:
    """Layers certified, and solved from a random start, against ρ."""
    shown = {"certified": "certified by the phases", "random start": "solved from a random start"}
    where = {"theta": "Θ", "w": "W", "both": "Θ and W"}
    panels = [
        Panel(f"m = {m}, {where[path]}",
              [Series(name, [_chance(rho, sum(one[key] for one in some), len(some))
                             for rho, some in sorted(grouped(own, "rho").items())])
               for key, name in shown.items()])
        for (m, path), own in sorted(grouped(layers, "m", "path").items())
    ]  # fmt: skip
    return Curves("nice-layers-path", panels, Axis("ρ"), Axis("share of layers", low=-0.05, high=1.05))


def _chance(x: float, found: int, tried: int) -> Point:
    """A share with its exact 95 % interval (Clopper and Pearson)."""
    low, high = binomtest(found, tried).proportion_ci(method="exact")
    return Point(x, found / tried, float(low), float(high), tip=f"{x:g}: {found} of {tried}")


def _rarity_figure(rare: Sequence[Line]) -> Curves:
    """Share of certified rows against η, a panel for each law."""
    panels = []
    for law, cells in sorted(grouped(rare, "law").items()):
        series = []
        for one in cells:
            enough = FEW / (grid.ROWS * one["k"] * one["layers"])
            points = [Point(eta, share, tip=f"m = {one['m']}, k = {one['k']}, η = {eta:g}: {share:.3g}")
                      for eta, share in one["shares"].items() if share >= enough]  # fmt: skip
            series.append(Series(f"score spread {one['spread']:g}", points, style=int(one["spread"] > 1)))
            if points:
                x, y = points[-1].x, points[-1].y
                ends = (x, min(8 * x, x * y ** (-1 / law)))  # a share is at most 1
                series.append(line("the law", [(end, y * (end / x) ** law) for end in ends], "law", style=5))
        panels.append(Panel(f"exponent {law}", series))
    return Curves("nice-layers-rarity", panels, Axis("η", log=True, ticks=ETAS[::-2]), Axis("share of rows", log=True))
