"""The rows of `wall` as cells: what every run cost, solved or censored; medians, ratios with intervals, the table."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.attacks.estimates.low_degree import monomials
from hardness.engine.outcome import Outcome
from hardness.engine.store import Row
from hardness.engine.task import Task
from hardness.statistics.cells import Cell
from hardness.studies.wall.tasks import STUDENT, WIDTH

ENDED = ("solved", "budget", "wrong")  # a crash, a refusal and a guard are no data
REPLICATES, SEED = 2000, 0  # of the bootstrap: the same rows give the same page
HARD, NICE, CONTROL = "parity", "random layer", "random labels"


@dataclass(frozen=True)
class Kind:
    """What is learned and by whom: cells of one kind make one series over (d, m)."""

    layers: str
    learner: str = STUDENT


@dataclass(frozen=True)
class Runs:
    """The runs of one kind at one (d, m): what they spent and whether they met the target, and how they ended."""

    cell: Cell
    outcomes: tuple[Outcome, ...]

    @property
    def cost(self) -> NDArray[np.float64]:
        return self.cell.cost

    @property
    def solved(self) -> NDArray[np.bool_]:
        return self.cell.solved

    @property
    def median(self) -> float | None:
        """The median cost; None if fewer than half of the runs met the target."""
        return None if self.cell.censored else self.cell.median

    @property
    def bound(self) -> float:
        """What the median is, or at least is."""
        return self.cell.median

    def second(self, share: str) -> float | None:
        """The upper median of the examples to another share of the variance; None if it is among runs without it."""
        found = sorted(float(o.detail["reached"][share] or np.inf) for o in self.outcomes if "reached" in o.detail)
        middle = found[len(found) // 2] if found else np.inf
        return middle if np.isfinite(middle) else None

    def mean(self, name: str) -> float | None:
        """The mean of a number of the rows' details over the runs that have it."""
        found = [float(o.detail[name]) for o in self.outcomes if o.detail.get(name) is not None]
        return float(np.mean(found)) if found else None


Cells = Mapping[Kind, Mapping[tuple[int, int], Runs]]


def kind_of(task: Task) -> Kind:
    """Layers and learner of a task in words.

    >>> solver = {"learner": "student", "params": {"heads": 8}, "labels": "teacher"}
    >>> kind_of(Task("parity", {"dim": 12, "heads": 2}, solver, {}, 0))
    Kind(layers='parity', learner='student, M = 4m')
    """
    solver, params = task.solver, task.params
    names = {
        "parity": HARD,
        "nondegenerate": NICE,
        "rounding": f"rounding q = {params.get('modulus')}, p = {params.get('levels')}",
    }
    layers = names.get(task.family, f"{task.family}, ρ = {params.get('rho', 0):g}")
    m, known = int(params["heads"]), dict(solver["params"])
    said = [solver["learner"].rpartition(":")[2]]
    if "heads" in known:
        width = int(known.pop("heads"))
        said.append(f"M = {'' if width == m else width // m}m" if width % m == 0 else f"M = {width}")
    said += [f"{name} {value}" for name, value in known.items()]
    return Kind(CONTROL if solver["labels"] == "independent" else layers, ", ".join(said))


def cells(rows: Iterable[Row]) -> Cells:
    """Every kind's runs by (d, m), of the trials that ended by themselves."""
    found: dict[Kind, dict[tuple[int, int], list[Row]]] = {}
    for row in rows:
        if row.outcome and row.outcome.status in ENDED and row.outcome.cost:
            place = int(row.task.params["dim"]), int(row.task.params["heads"])
            found.setdefault(kind_of(row.task), {}).setdefault(place, []).append(row)
    return {
        kind: {place: _runs(*place, own) for place, own in sorted(places.items())} for kind, places in found.items()
    }


def places(found: Cells, layers: str) -> Mapping[tuple[int, int], Runs]:
    """The runs of the student as it is on one kind of layers, by (d, m)."""
    return found.get(Kind(layers), {})


def _runs(dim: int, size: int, rows: list[Row]) -> Runs:
    outcomes = tuple(row.outcome for row in rows if row.outcome)
    cost, solved = np.array([float(o.cost or 0) for o in outcomes]), np.array([o.status == "solved" for o in outcomes])
    return Runs(Cell(dim, size, cost, solved, max(float(row.task.budget["samples"]) for row in rows)), outcomes)


@dataclass(frozen=True)
class Ratio:
    """Median examples on one kind of layer over those on another, with its 95 % interval, whose upper end is infinite
    where runs were censored; `bounded` says that the ratio itself is only known to be at least that."""

    value: float
    low: float
    high: float
    bounded: bool

    def __str__(self) -> str:
        high = f"{self.high:.3g}" if np.isfinite(self.high) else "∞"
        return f"{'at least ' * self.bounded}{self.value:.3g} [{self.low:.3g}, {high}]"


def ratio(hard: Runs, nice: Runs) -> Ratio | None:
    """How many times as many examples; the interval is a bootstrap over the runs of both. None if `nice` is censored.

    >>> yes = np.ones(3, dtype=bool)
    >>> one, ten = (Runs(Cell(8, 2, cost * np.array([1.0, 2.0, 3.0]), yes), ()) for cost in (100, 1000))
    >>> print(ratio(ten, one))
    10 [3.33, 30]
    """
    if nice.median is None:
        return None
    rng, ends = np.random.default_rng(SEED), []
    drawn = [rng.integers(len(runs.cost), size=(REPLICATES, len(runs.cost))) for runs in (hard, nice)]
    for beyond in (1.0, np.inf):  # a censored run cost its cap at least, and nobody knows how much at most
        costs = [np.where(runs.solved, runs.cost, beyond * runs.cost) for runs in (hard, nice)]
        ranked = [np.sort(c[d], axis=1) for c, d in zip(costs, drawn, strict=True)]
        medians = [np.sqrt(r[:, (r.shape[1] - 1) // 2] * r[:, r.shape[1] // 2]) for r in ranked]
        medians[1] = np.minimum(medians[1], nice.cost.max())
        ends.append(np.sort(medians[0] / medians[1]))
    low, high = ends[0][int(0.025 * REPLICATES)], ends[1][int(0.975 * REPLICATES)]
    return Ratio(hard.bound / nice.bound, float(low), float(high), hard.median is None)


def width_effect(rows: Iterable[Row]) -> tuple[float, float, float] | None:
    """Does the student's width M change the exponent of d? By how much a doubling of M does, with its 95 % interval.

    Fitted to the runs on parities in cells that were solved in every run, at those (d, m) where several widths were,
    since a bend in d elsewhere would pass for an effect of the width: log cost = a_m + α_m log d + b_m log M +
    c log d log2 M; c is returned, and its interval is a bootstrap over runs. None with fewer than two widths or
    dimensions.
    """
    cells: dict[tuple[float, float, float], list[Outcome]] = {}
    for row in rows:
        params, own = row.task.params, row.task.solver["params"]
        plain = kind_of(row.task).layers == HARD and row.task.solver["learner"] == STUDENT and set(own) <= {"heads"}
        if plain and row.outcome and row.outcome.status in ENDED:
            place = float(params["dim"]), float(params["heads"]), float(own.get("heads", WIDTH))
            cells.setdefault(place, []).append(row.outcome)
    whole = {place: found for place, found in cells.items() if all(o.status == "solved" for o in found)}
    widths = Counter((d, m) for d, m, _ in whole)
    data = [(d, m, M, float(o.cost or 1)) for (d, m, M), found in whole.items() for o in found if widths[d, m] > 1]
    if len({d for d, *_ in data}) < 2 or len({w for _, _, w, _ in data}) < 2:
        return None
    d, m, width, cost = np.array(data).T
    member = (m[:, None] == np.unique(m)).astype(float)
    logs = [np.log(d)[:, None], np.log(width)[:, None]]
    X = np.hstack([member, member * logs[0], member * logs[1], logs[0] * np.log2(width)[:, None]])
    rng = np.random.default_rng(SEED)
    draws = [np.arange(len(d)), *rng.integers(len(d), size=(REPLICATES // 4, len(d)))]
    slopes = [float(np.linalg.lstsq(X[draw], np.log(cost)[draw], rcond=None)[0][-1]) for draw in draws]
    low, high = np.quantile(slopes[1:], [0.025, 0.975])
    return slopes[0], float(low), float(high)


def null(kind: Kind, d: int, m: int) -> int | None:
    """Monomials of at most the label's degree, 2m + 1 of a parity of m, in the 2d signs that are seen; else None.

    >>> null(Kind(HARD), 16, 2), null(Kind(NICE), 16, 2)
    (242825, None)
    """
    return monomials(2 * d, 2 * m + 1) if kind.layers == HARD else None


def table(found: Cells) -> list[dict[str, Any]]:
    """A line a cell: runs, medians to both targets, the range of the solved runs, what a linear fit explains, null."""
    lines = []
    for kind, cells in found.items():
        for (d, m), runs in cells.items():
            won = runs.cost[runs.solved]
            lines.append(
                {"layers": kind.layers, "learner": kind.learner, "d": d, "m": m, "N": comb(d - 1, m)}
                | {"runs solved": f"{len(won)}/{len(runs.cost)}"}
                | {"examples to .1": ("" if runs.median else "> ") + f"{runs.bound:,.0f}"}
                | {"solved runs": f"{won.min():,.0f} to {won.max():,.0f}" if len(won) else None}
                | {"examples to .02": f"{second:,.0f}" if (second := runs.second("0.98")) else None}
                | {"linear fit explains": runs.mean("linear"), "error mass": runs.mean("error_mass")}
                | {"null model": None if (count := null(kind, d, m)) is None else f"{count:,}"}
            )
    return lines
