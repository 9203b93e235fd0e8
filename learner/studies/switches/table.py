"""What the rows of `switches` come to: costs by cell, exponents with intervals, and what was predicted beside them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb, log2
from typing import Any

from hardness.attacks.estimates.low_degree import low_degree_rows
from hardness.engine.store import Row
from hardness.sq.bounds.parity import window_bound
from hardness.sq.bounds.switches import bias_degree, biased_bound, biased_enough
from learner.studies.curves import Mean, mean, spread
from learner.studies.switches.tasks import (
    BIAS_BITS,
    BIAS_SIZE,
    BIAS_TOLERANCE,
    BIASES,
    BLOCKS,
    CHAIN_PLAYED,
    FLIPS,
    NOISY_BITS,
    NOISY_SIZE,
    NOISY_TOLERANCE,
)
from learner.studies.switches.trial import elimination_tries

Line = dict[str, Any]
Costs = dict[Any, list[tuple[float, bool]]]  # cost of each run of a cell, and whether it was solved


@dataclass(frozen=True)
class Slope:
    """The exponent of d in cost ~ d^a: least squares of log cost on log d over all runs, with its t interval at 95 %;
    none where costs are deterministic or the runs are too few."""

    value: float
    low: float | None
    high: float | None

    def __str__(self) -> str:
        limits = "" if self.low is None else f" [{self.low:.2f}, {self.high:.2f}]"
        return f"{self.value:.2f}{limits}"


def slope(points: Sequence[tuple[float, float]], exact: bool = False) -> Slope | None:
    """The exponent of points (d, cost); None for fewer than two sizes. `exact` costs carry no interval.

    >>> str(slope([(8, 64.0), (16, 256.0), (32, 1024.0)], exact=True))
    '2.00'
    """
    from scipy.stats import linregress, t

    if len({d for d, _ in points}) < 2:
        return None
    fit = linregress([log2(d) for d, _ in points], [log2(cost) for _, cost in points])
    if exact or len(points) < 4:
        return Slope(float(fit.slope), None, None)
    half = float(t.ppf(0.975, len(points) - 2) * fit.stderr)
    return Slope(float(fit.slope), float(fit.slope) - half, float(fit.slope) + half)


def costs(rows: Iterable[Row], kind: str, *keys: str) -> Costs:
    """Costs of the runs of a kind that ended by themselves, by the task's parameters `keys` (of the solver too)."""
    found: Costs = {}
    for row in rows:
        if row.outcome is None or row.task.solver["kind"] != kind or row.outcome.cost is None:
            continue
        known = {"bias": 0, "flip": 0, **row.task.params, **row.task.solver}
        if all(key in known for key in keys) and row.outcome.status in ("solved", "budget"):
            cell = found.setdefault(tuple(known[key] for key in keys), [])
            cell.append((float(row.outcome.cost), row.outcome.status == "solved"))
    return found


def student_slope(cells: Costs) -> Slope | None:
    """The exponent over the cells (d,) all of whose runs were solved; a censored cell has no part in it."""
    whole = {d: runs for (d,), runs in cells.items() if all(solved for _, solved in runs)}
    return slope([(d, cost) for d, runs in whole.items() for cost, _ in runs])


def said(runs: Sequence[tuple[float, bool]]) -> str:
    """What the runs of a cell cost: the mean with its interval, or that they are censored."""
    if not runs:
        return ""
    if all(solved for _, solved in runs):
        return str(mean([cost for cost, _ in runs], logarithmic=True))
    solved = sum(done for _, done in runs)
    return f"censored: {solved} of {len(runs)} by {max(cost for cost, _ in runs):,.0f}"


def chain_cells(rows: Sequence[Row], g: int) -> Costs:
    """Costs of the students of chains with blocks of g, by (d,)."""
    return {(d,): runs for (block, d), runs in sorted(costs(rows, "learner", "block", "dim").items()) if block == g}


def chain_table(rows: Sequence[Row]) -> list[Line]:
    """Exponents of d by block size: proved, of the games, of the student."""
    games, lines = costs(rows, "chain", "block", "strategy", "dim"), []
    for g in BLOCKS:
        line: Line = {"block g": g, "exponent proved": g}
        for name in CHAIN_PLAYED:
            played = [(d - 1, runs[0][0]) for (block, who, d), runs in games.items() if (block, who) == (g, name)]
            found = slope(played, exact=True)
            line[f"{name}"] = None if found is None else str(found)
        cells = chain_cells(rows, g)
        line["student"] = None if (taught := student_slope(cells)) is None else str(taught)
        line["examples"] = {f"d = {d}": said(runs) for (d,), runs in cells.items()}
        if cells or played:
            lines.append(line)
    return lines


def biased_cells(rows: Sequence[Row], mu: float) -> Costs:
    """Costs of the students on products of bias μ, by (d,)."""
    found = costs(rows, "learner", "bias", "dim", "heads")
    return {(d,): runs for (bias, d, _), runs in sorted(found.items()) if bias == mu}


def bias_table(rows: Sequence[Row]) -> list[Line]:
    """By bias: both bounds and the game at the largest n, the exponents, and the student."""
    games, n, lines = costs(rows, "biased", "bias", "dim"), BIAS_BITS[-1], []
    for mu in BIASES:
        played = [(d - 1, runs[0][0]) for (bias, d), runs in sorted(games.items()) if bias == mu]
        cells = biased_cells(rows, mu)
        if not played and not cells:
            continue
        needed = {m: biased_bound(m, BIAS_SIZE, BIAS_TOLERANCE, mu) for m in BIAS_BITS}
        k, taught = bias_degree(BIAS_SIZE, BIAS_TOLERANCE, mu), student_slope(cells)
        lines.append(
            {
                "μ": mu,
                "needed": round(needed[n], 1),
                "asked": int(dict(played)[n]) if n in dict(played) else None,
                "suffice": biased_enough(n, BIAS_SIZE, BIAS_TOLERANCE, mu),
                "exponent needed": str(slope(list(needed.items()), exact=True)),
                "exponent asked": str(slope(played, exact=True)),
                "exponent that suffices": k,
                "student": None if taught is None else str(taught),
                "examples": {f"d = {d}": said(runs) for (d,), runs in cells.items()},
            }
        )
    return lines


def membership_table(rows: Sequence[Row]) -> list[Line]:
    """By cell: queries, what was predicted, what counting demands, and the error of random layers."""
    groups: dict[tuple[str, int, str], list[Row]] = {}
    for row in rows:
        if row.task.solver["kind"] == "membership" and row.outcome is not None:
            p = row.task.params
            what = {
                "parity": f"s = {p.get('heads')}",
                "rounding": f"q = {p.get('modulus')}, p = {p.get('levels')}",
                "nondegenerate": f"m = {p.get('heads')}, k = {p.get('tokens')}",
            }[row.task.family]
            groups.setdefault((row.task.family, int(p["dim"]), what), []).append(row)
    lines = []
    for (family, d, what), group in groups.items():
        ends = [row.outcome for row in group if row.outcome is not None]
        done = [end for end in ends if end.status == "solved"]
        errors = [end.detail["layer_error"] for end in done if "layer_error" in end.detail]
        lines.append(
            {
                "family": family, "d": d, "size": what,
                "queries": spread([int(end.cost or 0) for end in done]) if done else None,
                "predicted": ends[0].detail["predicted"], "counting demands": round(ends[0].detail["floor"], 1),
                "solved": f"{len(done)}/{len(ends)}", "largest error": f"{max(errors):.0e}" if errors else None,
            }
        )  # fmt: skip
    return sorted(lines, key=lambda line: (line["family"], line["size"], line["d"]))


def noise_table(rows: Sequence[Row]) -> list[Line]:
    """By flip probability: four models of computation, predicted beside run."""
    size = comb(NOISY_BITS, NOISY_SIZE)
    found = {model: costs(rows, model, "flip") for model in ("sq", "low degree", "elimination")}
    lattice = [row.outcome for row in rows if row.task.solver["kind"] == "lattice" and row.outcome]
    lines = []
    for eta in FLIPS:
        runs = {model: [cost for cost, _ in cells.get((eta,), [])] for model, cells in found.items()}
        if not any(runs.values()):
            continue
        lines.append(
            {
                "η": eta,
                "queries needed": round(window_bound(size, NOISY_TOLERANCE, flip=eta), 1),
                "queries asked": spread([int(x) for x in runs["sq"]]) if runs["sq"] else None,
                "low-degree rows predicted": round(low_degree_rows(NOISY_BITS, NOISY_SIZE, eta)),
                "low-degree rows run": str(mean(runs["low degree"])) if runs["low degree"] else None,
                "tries predicted": round(elimination_tries(eta), 1),
                "tries run": str(mean(runs["elimination"])) if runs["elimination"] else None,
                "lattice": ", ".join(sorted({end.status for end in lattice})) or None,
            }
        )
    return lines


def games_inside(rows: Iterable[Row]) -> tuple[int, int]:
    """Games on chains and on biased products that ended between what is needed and what suffices, and all of them."""
    ends = [row.outcome for row in rows if row.outcome and row.task.solver["kind"] in ("chain", "biased")]
    within = [end for end in ends if end.status == "solved" and end.cost is not None
              and end.detail["needed"] <= end.cost <= (end.detail["suffice"] or float("inf"))]  # fmt: skip
    return len(within), len(ends)


def means(rows: Sequence[Row], model: str) -> dict[float, Mean]:
    """Mean cost of a model by flip probability."""
    return {eta: mean([cost for cost, _ in runs]) for (eta,), runs in sorted(costs(rows, model, "flip").items())}
