"""What the rows of `learner-scaling` say: examples to each error, slopes, growth a head, and the exponent ledger."""

from collections.abc import Iterable, Mapping, Sequence
from math import exp, log
from typing import Any

import numpy as np

from hardness.engine.store import Row
from learner.last_fit import counting_floor
from learner.studies.curves import Mean, mean
from learner.studies.learner_scaling.trials import INJECT, PAPER, PHASES, TARGETS

Cell = tuple[int, int, int]  # k, d, m
Runs = dict[int, dict[int, Mapping[str, Any]]]  # repetition -> examples -> detail

LEAST_RUNS = 3  # with fewer an interval says nothing


def gathered(rows: Iterable[Row]) -> dict[tuple[str, Cell], Runs]:
    """Details of the trials that ended by themselves, by learner, cell, repetition and examples."""
    found: dict[tuple[str, Cell], Runs] = {}
    for row in rows:
        if row.outcome is None or row.outcome.status not in ("solved", "wrong", "refused"):
            continue
        p, solver = row.task.params, row.task.solver
        cell = int(p["tokens"]), int(p["dim"]), int(p["heads"])
        at = solver["size"] if solver["learner"] == INJECT else int(row.task.budget["samples"])
        runs = found.setdefault((solver["learner"], cell), {})
        runs.setdefault(row.task.repetition, {})[at] = row.outcome.detail
    return found


def crossing(errors: Mapping[int, float | None], target: float) -> float | None:
    """Examples at which a run first has this error, between two sizes by a power law; None if it never has.

    >>> crossing({1000: 0.4, 4000: 0.1}, 0.2)
    2000.0
    """
    before: tuple[int, float] | None = None
    for count, error in sorted(errors.items()):
        if error is not None and error <= target:
            if before is None or before[1] <= error:
                return float(count)
            share = log(before[1] / target) / log(before[1] / max(error, 1e-300))
            return float(round(before[0] * (count / before[0]) ** share, 6))
        before = (count, error) if error is not None else None
    return None


def examples_to(runs: Runs, target: float) -> Mean | None:
    """Examples to an error over the runs: geometric mean and interval.

    The median alone if a few runs never get there, or are there at the least size tried. None if half or more never
    are: nothing is extrapolated.
    """
    found = [crossing({n: d["error"] for n, d in run.items()}, target) for run in runs.values()]
    reached = [n for n in found if n is not None]
    if 2 * len(reached) <= len(found):
        return None
    inside = all(n is not None and n > min(run) for n, run in zip(found, runs.values(), strict=True))
    if inside and len(found) >= LEAST_RUNS:
        return mean(reached, logarithmic=True)
    # Those that never get there would come last.
    return Mean(sorted(reached)[(len(found) - 1) // 2], None, None, len(found))


def slope_of(runs: Runs, name: str) -> Mean | None:
    """Slope of log `name` on log examples over the last factor of 16, a run at a time: mean and interval over runs."""
    slopes = []
    for run in runs.values():
        points = [(n, d.get(name)) for n, d in sorted(run.items()) if d.get(name)]
        points = [(n, value) for n, value in points if n >= points[-1][0] / 16]
        if len(points) >= 3:
            x, y = np.log(np.array(points, dtype=np.float64)).T
            slopes.append(float(np.polyfit(x, y, 1)[0]))
    return mean(slopes) if slopes else None


def blow_up(runs: Runs) -> Mean | None:
    """Final error over the relative error injected into the hull, at errors that are small."""
    ratios = [d["error"] / size for run in runs.values() for size, d in run.items() if size <= 0.1 and d["error"]]
    return mean(ratios, logarithmic=True) if ratios else None


def ledger(runs: Runs, cell: Cell, target: float = 0.1) -> tuple[Mean | None, float | None]:
    """The exponent of k·d in the examples, as the phases pay it, and the tolerance at which the error is `target`.

    Rows certified at η are a share η^a; as a fixed number of them is kept, η falls as examples^(−1/a). The exponent
    is a · log(1/η) / log(k·d), a run at a time.
    """
    k, d, _ = cell
    exponents, etas = [], []
    for run in runs.values():
        points = [(n, v["eta"], v["error"]) for n, v in sorted(run.items()) if v.get("eta") and v["error"]]
        if len(points) < 3:
            continue
        n, eta, error = np.array(points, dtype=np.float64).T
        a = -1 / np.polyfit(np.log(n), np.log(eta), 1)[0]
        # η against error is a power law too; read it at the target where that lies inside.
        if not error.min() <= target <= error.max():
            continue
        order = np.argsort(error)
        at = exp(float(np.interp(log(target), np.log(error[order]), np.log(eta[order]))))
        etas.append(at)
        exponents.append(float(a * log(1 / at) / log(k * d)))
    return (mean(exponents), float(np.median(etas))) if exponents else (None, None)


def table(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """A line a learner and cell, in the order of k, d, m."""
    found = gathered(rows)
    lines = []
    for (name, cell), runs in sorted(found.items(), key=lambda item: (item[0][1], item[0][0] != PHASES, item[0][0])):
        if name == INJECT:
            continue
        k, d, m = cell
        law = (m - 1) * (k - 1)
        last = max(max(run) for run in runs.values())
        ends = [run[last]["error"] for run in runs.values() if last in run and run[last]["error"] is not None]
        line: dict[str, Any] = {"learner": name, "k": k, "d": d, "m": m, "runs": len(runs)}
        line |= {f"examples to {target:g}": examples_to(runs, target) for target in TARGETS}
        line |= {
            "least examples": min(min(run) for run in runs.values()),
            "most examples": last,
            "error there": float(np.median(ends)) if ends else None,
            "certified there": _certified(runs, last) if name in (PHASES, PAPER) else None,
        }
        line |= {"floor": counting_floor(m, k, d), "distinct inputs": _distinct(runs, last)}
        if name == PHASES:
            exponent, eta = ledger(runs, cell)
            line |= {"slope": slope_of(runs, "error"), "law": -1 / law if law else None}
            line |= {f"eta at error {TARGETS[1]:g}": eta, "exponent of kd": exponent}
            line |= {"blow-up": blow_up(found.get((INJECT, cell), {})), "refused": _refused(runs)}
        lines.append(line)
    return lines


def _distinct(runs: Runs, last: int) -> float:
    return next(float(run[last]["distinct"]) for run in runs.values() if last in run)


def _certified(runs: Runs, at: int) -> str | None:
    """How many runs are certified at this number of examples, and the largest error of these."""
    details = [run[at] for run in runs.values() if at in run]
    errors = [float(d["error"]) for d in details if d.get("certified") and d["error"] is not None]
    return f"{len(errors)} of {len(details)}" + (f", errors up to {max(errors):.2g}" if errors else "")


def _refused(runs: Runs) -> int:
    return sum(bool(detail.get("refused")) for run in runs.values() for detail in run.values())


def growth(lines: Sequence[Mapping[str, Any]], target: float = 0.1) -> list[dict[str, Any]]:
    """Factor in the examples of the phases from m to m + 1 heads, with its interval (of two independent means)."""
    name, found = f"examples to {target:g}", []
    # At the least number tried there is only an upper bound.
    own = [e for e in lines if e["learner"] == PHASES and e[name] and e[name].value > e["least examples"]]
    phases = {(e["k"], e["d"], e["m"]): e[name] for e in own}
    for (k, d, m), less in phases.items():
        more = phases.get((k, d, m + 1))
        if not more or less.low is None or more.low is None:
            continue
        half = (log(less.value / less.low) ** 2 + log(more.value / more.low) ** 2) ** 0.5
        factor = more.value / less.value
        found.append({"k": k, "d": d, "m": m, "factor": factor, "low": factor / exp(half), "high": factor * exp(half)})
    return found
