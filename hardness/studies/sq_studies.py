"""The studies of statistical queries: their tasks, trials and tables."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import product
from math import comb, log2, sqrt
from statistics import NormalDist, mean
from time import perf_counter
from typing import Any

import numpy as np

from hardness.concepts import ParityConcepts, RoundingConcepts
from hardness.sq.bounds.parity import entropy_floor
from hardness.study.growth.fit import mean_half_width
from hardness.study.store import Row
from hardness.study.task import Task
from hardness.study.trial import Outcome, hidden_size

Line = dict[str, Any]

TOLERANCES = (0.03, 0.05, 0.0624, 0.08, 0.1, 0.1249, 0.16, 0.2)  # those of bent blocks lie just below 2^-r/4
FRONTIER_DIM = 21
PLAYED = ("characters", "sign-batch", "bent", "adaptive")
ROUNDING_PLAYED = ("characters", "sign-batch", "adaptive")
ROUNDING_QUERIES = 20_000
RUNS = 5  # of whatever draws its queries; on parities these strategies do not
DETERMINISTIC = ("characters", "bent", "low-degree")

NEED_QUERIES = 1500
# Heads a strategy affords.
NEED_UP_TO = {
    "sign-batch": 6, "bent": 4, "mlp-gradient": 4, "attention-gradient": 4, "characters": 6, "low-degree": 6,
}  # fmt: skip
PRECISION = 0.05

BUDGET_DIM, BUDGET_TOLERANCES = 256, (0.1, 0.01, 0.001)
MODULUS, LEVELS = 97, 2
SDA_LARGEST = 128  # n up to which the SDA convolution takes about a second


def frontier_tasks(quick: bool) -> list[Task]:
    """Games against the window adversary: parity at d = 21, and rounding with q = 5 in small n."""
    tasks = []
    for m in range(2, 5 if quick else 6):
        params = {"dim": FRONTIER_DIM, "heads": m, "gadget": "diag"}
        budget = {"queries": 2 * comb(FRONTIER_DIM - 1, m) + 64}
        for strategy, tau in product(PLAYED, TOLERANCES):
            if _affordable(strategy, m, tau, quick):
                solver = {"kind": "frontier", "strategy": strategy, "tolerance": tau}
                tasks += [Task("parity", params, solver, budget, r) for r in range(_runs(strategy, quick))]
    for n in (3, 4) if quick else (4, 5):
        params = {"dim": n + 1, "modulus": 5, "levels": 5}
        for strategy, tau in product(ROUNDING_PLAYED, TOLERANCES):
            solver = {"kind": "frontier", "strategy": strategy, "tolerance": tau}
            runs = 1 if quick else RUNS
            tasks += [Task("rounding", params, solver, {"queries": ROUNDING_QUERIES}, r) for r in range(runs)]
    return tasks


def _runs(strategy: str, quick: bool) -> int:
    return 1 if strategy in DETERMINISTIC else 2 if quick else RUNS


def _affordable(strategy: str, m: int, tau: float, quick: bool) -> bool:
    """Games of seconds: exact losses of many candidates on many sets take minutes at small tolerance."""
    if strategy == "adaptive":
        return tau >= 0.05 if m == 2 else m == 3 and tau in ((0.1249,) if quick else (0.1, 0.1249, 0.16))
    return strategy != "bent" or m <= (3 if quick else 4)


def need_tasks(quick: bool) -> list[Task]:
    """Bisections at n = 14 (quick) or 18 public bits and 1500 queries, one a seed; theory 3.3 asks n >= 18."""
    n, heads = (14, range(1, 6)) if quick else (18, range(1, 7))
    return [
        Task("parity", {"dim": n + 1, "heads": m, "gadget": "diag"}, {"kind": "need", "strategy": strategy},
             {"queries": NEED_QUERIES}, r)
        for m in heads for strategy, largest in NEED_UP_TO.items() if m <= largest
        for r in range(_runs(strategy, quick))
    ]  # fmt: skip


def budget_tasks(quick: bool) -> list[Task]:
    """What m heads buy: no game, only the bounds; one task a family, m and tolerance."""
    heads = (2, 4, 8, 16, 32, 64, 128) if quick else (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
    tasks = []
    for tau in BUDGET_TOLERANCES:
        for m in heads:
            solver = {"kind": "budget", "tolerance": tau}
            parity = {"dim": BUDGET_DIM, "heads": m, "gadget": "diag"}
            tasks.append(Task("parity", parity, solver, {}, 0))
            tasks.append(Task("rounding", {"modulus": MODULUS, "levels": LEVELS, "heads": m}, solver, {}, 0))
    return tasks


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    m, solver = int(task.params.get("heads", 1)), task.solver
    match solver["kind"], solver.get("strategy"):
        case "frontier", strategy if task.family == "rounding":
            n = int(task.params["dim"]) - 1
            return {"adaptive": 150.0, "sign-batch": 40.0, "characters": 20.0}.get(str(strategy), 5.0) * 4.0 ** (n - 8)
        case "frontier", "adaptive":
            return 3.0
        case "frontier", "bent":
            return 0.1 * 4.0 ** (m - 2)
        case "need", "mlp-gradient" | "attention-gradient":
            return 12.0 * float(2 ** (task.params["dim"] - 19))
        case "need", "sign-batch" | "bent":
            return 0.5 * m * float(2 ** (task.params["dim"] - 15) / 4)
    return 0.5


def trial(task: Task, root: int, guard: float) -> Outcome:
    """One trial of any of them. Deterministic in the task and the root seed.

    >>> solver = {"kind": "frontier", "strategy": "sign-batch", "tolerance": 0.1}
    >>> outcome = trial(Task("parity", {"dim": 15, "heads": 4}, solver, {"queries": 4000}, 0), 0, 60.0)
    >>> outcome.status, outcome.detail["bound"] <= outcome.cost <= outcome.detail["exhaustive"]
    ('solved', True)
    """
    begin = perf_counter()
    outcome = _TRIALS[task.solver["kind"]](task, root)
    return replace(outcome, seconds=perf_counter() - begin)


def concepts_of(task: Task) -> ParityConcepts | RoundingConcepts:
    """The concept class a game of this task is played on."""
    n = int(task.params["dim"]) - 1
    if task.family == "rounding":
        return RoundingConcepts(n, int(task.params["modulus"]), int(task.params["levels"]))
    return ParityConcepts(n, hidden_size(task.params))


def _frontier(task: Task, root: int) -> Outcome:
    from hardness.sq.game import play

    concepts, solver = concepts_of(task), task.solver
    seed, limit = task.seed(root, "solver"), int(task.budget["queries"])
    result = play(concepts, solver["strategy"], "window", float(solver["tolerance"]), seed=seed, max_queries=limit)
    detail = {"bound": result.bound, "concepts": result.concepts, "remaining": result.remaining}
    if task.family == "parity":
        detail["exhaustive"] = result.concepts - 1
    return Outcome(result.status, result.queries, detail)


def _need(task: Task, root: int) -> Outcome:
    from hardness.sq.frontier import size_floor, tolerance_need

    concepts, queries = concepts_of(task), int(task.budget["queries"])
    assert isinstance(concepts, ParityConcepts)
    need = tolerance_need(
        concepts,
        task.solver["strategy"],
        max_queries=queries,
        seed=task.seed(root, "solver"),
        smallest=size_floor(concepts.n) / 4,
        precision=PRECISION,
    )
    detail = {
        "tolerance": need.tolerance,
        "floor": need.floor,
        "meaningful": need.meaningful,
        "ceiling": ceiling(concepts.size, queries),
    }
    return Outcome("budget" if need.tolerance is None else "solved", queries, detail)


def ceiling(concepts: int, queries: int) -> float:
    """No strategy identifies within `queries` at a larger tolerance: 8 tau^2 (N-1) > Q (theory 2.5d). At most 1.

    >>> round(ceiling(8008, 1500), 3)
    0.153
    """
    return min(1.0, sqrt(queries / (8 * (concepts - 1)))) if concepts > 1 else 1.0


def _budget(task: Task, root: int) -> Outcome:
    from hardness.sq.bounds import head_budget
    from hardness.sq.bounds.parity import sda_tolerance
    from hardness.sq.bounds.rounding import label_log2_sda

    m, tau = int(task.params["heads"]), float(task.solver["tolerance"])
    if task.family == "parity":
        dim = int(task.params["dim"])
        exact = head_budget.exact_parity(m, dim, tau)
        best = head_budget.truncated_parity(m, dim, tau, (dim - 1) // 2)
        return Outcome("solved", None, {
            "exact": exact.log2_queries, "truncated": best.log2_queries, "s": best.size, "leak": best.leak,
            "reference": head_budget.reference(m, dim),
        })  # fmt: skip
    q, p = int(task.params["modulus"]), int(task.params["levels"])
    bought = head_budget.rounding(m, tau, q, p)
    detail: Line = {"n": bought.size, "rounding": bought.log2_queries} | _estimated(m, p, tau)
    average = sda_tolerance(tau)
    if average and 0 < bought.size <= SDA_LARGEST:
        detail["sda"] = label_log2_sda(RoundingConcepts(bought.size, q, p), average)
    return Outcome("solved", None, detail)


def _estimated(m: int, p: int, tau: float) -> Line:
    """n = 12 (m/(lambda p))^2 at a normal tail mass of tau/2 (theory 1.4), and the bound 8 (tau/2)^2 2^n there."""
    n = int(12 * (m / (NormalDist().inv_cdf(1 - tau / 4) * p)) ** 2)
    return {"n_estimated": n, "estimated": max(0.0, n + log2(8 * (tau / 2) ** 2))}


_TRIALS: dict[str, Callable[[Task, int], Outcome]] = {"frontier": _frontier, "need": _need, "budget": _budget}


def interval(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % interval of a mean (`mean_half_width`); none for fewer than two values.

    >>> [round(x, 2) for x in interval([1.0, 2.0, 3.0])]
    [-0.48, 4.48]
    """
    if len(values) < 2:
        return None
    half = float(mean_half_width(np.asarray(values)))
    return mean(values) - half, mean(values) + half


def _spread(values: Sequence[float], exact: bool) -> Line:
    """Columns of an interval; a deterministic point has none to give."""
    low, high = (None, None) if exact else interval(values) or (None, None)
    return {"low": low, "high": high, "exact": "yes" if exact else ""}


def frontier_table(rows: Iterable[Row]) -> list[Line]:
    """One line a class, strategy and tolerance: mean queries of the solved runs beside the proven bound."""
    groups: dict[tuple[str, int, str, float], list[Row]] = defaultdict(list)
    for row in rows:
        if row.outcome:
            task = row.task
            size = hidden_size(task.params) if task.family == "parity" else int(task.params["dim"]) - 1
            key = (task.family, size, str(task.solver["strategy"]), float(task.solver["tolerance"]))
            groups[key].append(row)
    table = []
    for (family, size, strategy, tau), found in sorted(groups.items()):
        ended = [row.outcome for row in found if row.outcome]
        costs = [float(o.cost) for o in ended if o.status == "solved" and o.cost is not None]
        detail = next((o.detail for o in ended if "bound" in o.detail), {})
        bound, queries = detail.get("bound"), mean(costs) if costs else None
        table.append({
            "family": family, "m or n": size, "strategy": strategy, "tolerance": tau,
            "runs": f"{len(costs)}/{len(ended)}", "queries": queries, "least": min(costs, default=None),
            **_spread(costs, family == "parity" and strategy in DETERMINISTIC),
            "gave up at": None if costs else max((o.cost or 0 for o in ended), default=None),
            "left": None if costs else min((o.detail.get("remaining", 0) for o in ended), default=None),
            "concepts": detail.get("concepts"), "proven bound": bound, "exhaustive": detail.get("exhaustive"),
            "entropy": entropy_floor(detail["concepts"], tau) if detail.get("concepts") else None,
            "ratio": queries / bound if queries and bound else None,
        })  # fmt: skip
    return table


def need_table(rows: Iterable[Row]) -> list[Line]:
    """One line a strategy and m: the largest tolerance seen to work, between the floor and the proven ceiling."""
    groups: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        if row.outcome and "floor" in row.outcome.detail:
            groups[row.task.solver["strategy"], hidden_size(row.task.params)].append(row)
    table = []
    for (strategy, m), found in sorted(groups.items()):
        task, details = found[0].task, [row.outcome.detail for row in found if row.outcome]
        works = [float(detail["tolerance"]) for detail in details if detail["tolerance"] is not None]
        tolerance, floor = mean(works) if works else None, details[0]["floor"]
        table.append({
            "strategy": strategy, "m": m, "n": task.params["dim"] - 1, "concepts": concepts_of(task).size,
            "queries": task.budget["queries"], "runs": f"{len(works)}/{len(details)}", "tolerance": tolerance,
            **_spread(works, strategy in DETERMINISTIC), "floor": floor, "ceiling": details[0]["ceiling"],
            "reading": "fails" if tolerance is None
            else "" if tolerance > floor else "meaningless: below the finite-size floor",
        })  # fmt: skip
    return table


def budget_table(rows: Iterable[Row]) -> list[Line]:
    """One line a tolerance and m: log2 of the proven query bounds, and what stands beside them."""
    found: dict[tuple[float, int], Line] = defaultdict(dict)
    for row in rows:
        if row.outcome and row.outcome.status == "solved":
            found[float(row.task.solver["tolerance"]), int(row.task.params["heads"])] |= row.outcome.detail
    return [
        {
            "tolerance": tau, "m": m, "exact parity": d.get("exact"), "truncated parity": d.get("truncated"),
            "best s": d.get("s"), "leak": d.get("leak"), "rounding": d.get("rounding"), "n": d.get("n"),
            "SDA, ideal labels": d.get("sda"), "rounding, estimated": d.get("estimated"),
            "n estimated": d.get("n_estimated"), "m log2 d, reference": d.get("reference"),
        }
        for (tau, m), d in sorted(found.items(), key=lambda item: (-item[0][0], item[0][1]))
    ]  # fmt: skip
