"""What the page of a contest tabulates: who solved what, what it needed beside what was foreseen, bounds, prices."""

from collections import Counter, defaultdict
from functools import cache
from math import inf, log2
from statistics import median
from typing import Any

from scipy.stats import binomtest

from hardness.attacks.estimates.prices import Estimate, cheapest, estimates
from hardness.engine.store import Row
from hardness.engine.task import Task
from hardness.errors import InputError
from hardness.sq.bounds.adversaries import adversary_bounds
from hardness.studies.agreement import FLOOR
from hardness.studies.contest.tasks import TOLERANCE
from hardness.studies.trials import concepts_of

SHOWN = ("exhaustive", "meet in the middle", "gaussian", "lpn pooled gauss", "lf2", "bkw", "lattice")
# log2 of the estimate's operations in a second of one core, measured: elimination packs 64 bits, halves meet in memory.
SECOND = {"gaussian": 34.0, "search": 24.0}
OUT_OF_REACH = 56.0  # log2 of operations: two years of one core
# Whose estimate foresees an attack that makes no forecast of its own.
LINES = {"gaussian": ("gaussian", "lpn pooled gauss"), "search": ("meet in the middle", "lf2")}

Place = tuple[str, int]
Cells = dict[str, dict[Place, list[Row]]]


def family_of(task: Task) -> str:
    """The column group of a task.

    >>> family_of(Task("parity", {"dim": 9, "heads": 2, "flip": 0.1}, {}, {}, 0))
    'parity, flip 0.1'
    """
    if task.family == "rounding":
        return f"rounding, q {task.params['modulus']}, p {task.params['levels']}"
    return f"parity, flip {task.params['flip']:g}" if task.params.get("flip") else task.family


def solver_of(task: Task) -> str:
    """The row of a task.

    >>> solver_of(Task("parity", {}, {"kind": "attack", "attack": "search"}, {}, 0))
    'attack search'
    """
    solver = task.solver
    match solver["kind"]:
        case "game":
            return f"SQ {solver['strategy']}"
        case "attack":
            return f"attack {solver['attack']}"
        case "cryptanalysis":
            return f"attack {solver['attack']}, stream"
    return f"learner {solver['learner'].rpartition(':')[2].lower()}"


def place_of(task: Task) -> Place:
    """The column of a task: its family and heads."""
    return family_of(task), int(task.params.get("heads", 1))


def cells_of(rows: list[Row]) -> Cells:
    """Rows that ended, by solver and column."""
    found: Cells = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.outcome:
            found[solver_of(row.task)][place_of(row.task)].append(row)
    return found


def ended(rows: list[Row]) -> tuple[int, str]:
    """Runs solved, and the most frequent status."""
    statuses = Counter(row.outcome.status for row in rows if row.outcome)
    return statuses["solved"], max(sorted(statuses), key=lambda status: statuses[status])


def share(solved: int, runs: int) -> str:
    """Runs solved with the exact 95 % interval of the share.

    >>> share(10, 10)
    '10/10 [0.69, 1.00]'
    """
    low, high = binomtest(solved, runs).proportion_ci(method="exact")
    return f"{solved}/{runs} [{low:.2f}, {high:.2f}]"


def spread(values: list[float]) -> str | None:
    """Median, least and most.

    >>> spread([3.0, 1.0, 2.25])
    '2.2 [1, 3]'
    """
    return f"{median(values):.2g} [{min(values):.2g}, {max(values):.2g}]" if values else None


def needed(cells: Cells) -> list[dict[str, Any]]:
    """A line for every attack and instance that was solved once: what it was foreseen to take, took and needed."""
    lines = []
    for solver in sorted(name for name in cells if name.startswith("attack")):
        for place, rows in sorted(cells[solver].items()):
            if ended(rows)[0]:
                lines.append(_line(solver, place, rows))
    return lines


def _line(solver: str, place: Place, rows: list[Row]) -> dict[str, Any]:
    task = rows[0].task
    outcomes = [row.outcome for row in rows if row.outcome and row.outcome.status == "solved"]
    details = [dict(outcome.detail) for outcome in outcomes]
    took = [log2(max(float(d.get("seconds", o.seconds)), FLOOR)) for d, o in zip(details, outcomes, strict=True)]
    before = foreseen(task, details)
    tries = [d[name] for d in details for name in ("tries", "trials", "rounds") if name in d]
    expected = [d["log2_expected_tries"] for d in details if "log2_expected_tries" in d]
    masses = [d["error_mass"] for d in details if "error_mass" in d]

    def middle(name: str) -> float | None:
        values = [d[name] for d in details if name in d]
        return median(values) if values else None

    used = [float(d.get("examples") or o.cost or 0) for d, o in zip(details, outcomes, strict=True)]
    return {
        "attack": solver.removeprefix("attack "), "instance": place[0], "m": place[1], "d": task.params["dim"],
        "runs solved": share(len(outcomes), len(rows)), "error mass": spread(masses),
        "predicted, log₂ s": before, "measured, log₂ s": spread(took),
        "difference, bits": None if before is None else median(took) - before,
        "tries": spread(tries), "log₂ tries expected": median(expected) if expected else None,
        "difference in tries, bits": median(map(log2, tries)) - median(expected) if expected else None,
        "log₂ examples": log2(median(used)) if all(used) else None,
        "log₂ rows held": middle("log2_rows"), "steps": middle("steps"),
        "block size": middle("block_size"), "log₂ nodes": middle("log2_nodes"),
    }  # fmt: skip


def foreseen(task: Task, details: list[dict[str, Any]]) -> float | None:
    """log2 of the seconds foreseen, at least those of the floor: the attack's own forecast, or the estimate of its
    kind.
    """
    own: list[float] = [d[name] for d in details for name in ("predicted_seconds", "forecast_seconds") if name in d]
    if own:
        return log2(max(median(own), FLOOR))
    lines = {line.name: line for line in prices(task)}
    able = [lines[name].log2_time for name in LINES.get(task.solver["attack"], ()) if name in lines]
    known = [bits for bits in able if bits is not None]
    return max(min(known) - SECOND[task.solver["attack"]], log2(FLOOR)) if known else None


def prices(task: Task) -> list[Estimate]:
    """The estimates of all attacks on a task's instance; none for a family without a hidden linear secret."""
    return _prices(task.family, tuple(sorted(task.params.items())))


@cache
def _prices(family: str, params: tuple[tuple[str, Any], ...]) -> list[Estimate]:
    try:
        return estimates({"gadget": "diag", **dict(params), "family": family}, TOLERANCE)
    except InputError:
        return []


def predicted(rows: list[Row]) -> list[dict[str, Any]]:
    """Every structured instance of the rows once: the proved bound on queries, and log2 of operations by attack."""
    tasks = {place_of(row.task): row.task for row in rows}
    solved = {place_of(row.task) for row in rows if row.outcome and row.outcome.status == "solved"}
    out = []
    for place, task in sorted(tasks.items()):
        lines = {line.name: line for line in prices(task)}
        if not lines:
            continue
        best = cheapest(list(lines.values()))
        bits = best.log2_time if best is not None and best.log2_time is not None else inf
        line: dict[str, Any] = {
            "instance": place[0], "m": place[1], "d": task.params["dim"],
            "SQ bound, log₂ queries": sq_bound(task),
            "cheapest attack": best.name if best else "", "log₂ operations": bits,
            "here": "solved" if place in solved else "out of reach" if bits > OUT_OF_REACH else "not solved",
        }  # fmt: skip
        for name in SHOWN:
            known = lines.get(name)
            if known is not None:
                line[name] = known.status if known.log2_time is None else f"{known.log2_time:.0f}"
        out.append(line)
    return out


def sq_bound(task: Task) -> float | str:
    """log2 of the queries that `adversary_bounds` proves for these labels and heads, or that it proves none."""
    bound = adversary_bounds(concepts_of(task), TOLERANCE, float(task.params.get("flip", 0.0))).get("window", 0.0)
    return log2(bound) if bound > 1 else "none"
