"""What the rows of `stress` say: who solves which instances, at what price, and who ranks where in each tier."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil, exp, log, log2
from statistics import fmean, median_high
from typing import Any

from hardness import families
from hardness.attacks.estimates.low_degree import monomials
from hardness.engine.outcome import Outcome
from hardness.engine.store import Row
from hardness.engine.task import Task
from hardness.families.parity import Parity
from hardness.instance import suite
from hardness.report import Content, Field, HeatMap, grouped
from hardness.report.rounding import short
from hardness.sq.bounds.parity import adversary_bounds
from hardness.sq.game import class_of
from learner.studies import stress as grid
from learner.studies.stress import HANDED, OPTIONS, TOLERANCE

Line = dict[str, Any]
# How trials end, in words: a crash, a time limit or a refusal is no failure to learn, and each is counted apart.
ENDINGS = {
    "solved": ("solved",),
    "gave up within budget": ("budget",),
    "timed out": ("timeout",),
    "crashed": ("error", "killed"),
    "refused": ("refused",),
    "wrong": ("wrong",),
}
CURRENCIES: dict[str, Callable[[Outcome], float | None]] = {
    "examples": lambda outcome: outcome.cost,
    "gradient examples": lambda outcome: outcome.detail.get("gradient_examples"),
    "multiply-adds": lambda outcome: outcome.detail.get("multiply_adds"),
}
PRICE = {"learner": "examples", "attack": "examples", "game": "queries"}


def content(rows: Sequence[Row]) -> Content:
    """Numbers, figures and tables of the rows."""
    ended = [row for row in rows if row.outcome]
    kinds = {kind: [row for row in ended if row.task.solver["kind"] == kind] for kind in PRICE}
    learned = kinds["learner"]
    tiers = list(dict.fromkeys(row.task.params["tier"] for row in sorted(ended, key=_place)))
    budgets = {(row.task.budget["samples"], row.task.budget["work"]) for row in learned}
    numbers = {
        "tiers": [_tier(name, kinds) for name in tiers],
        "runs": len(learned),
        "ended": counted(_outcomes(learned)),
        "examples": max((most for most, _ in budgets), default=0),
        "work": max((work for _, work in budgets), default=0),
        "attacks": len(kinds["attack"]),
        "attacks_ended": counted(_outcomes(kinds["attack"])),
        "games": len(kinds["game"]),
    }
    figures = [_board(kind, trials) for kind, trials in kinds.items()]
    tables = {
        "ranks": _ranks(learned),
        "cells": _cells(learned),
        "predicted": _predicted(ended),
    }
    return Content(numbers, figures, tables, "" if learned else "No learner has been run.", grid)


def counted(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Trials by how they ended, every word of `ENDINGS` in order.

    >>> counted([Outcome("error"), Outcome("killed"), Outcome("timeout")])["crashed"]
    2
    """
    ended = [outcome.status for outcome in outcomes]
    return {word: sum(ended.count(status) for status in statuses) for word, statuses in ENDINGS.items()}


def solver_of(task: Task) -> str:
    """A solver as figures and tables name it.

    >>> solver_of(Task("parity", {}, {"learner": "student", "setting": "tuned", "passes": 64}, {}, 0))
    'student, tuned, pool'
    """
    solver = task.solver
    name = str(solver.get("learner") or solver.get("attack") or solver.get("strategy"))
    options = {} if "setting" in solver else solver.get("params", {})
    marks = [
        " (products)" if name in HANDED else "",
        ", tuned" if "setting" in solver else "",
        ", pool" if "passes" in solver else "",
        *(f", {key} {value}" for key, value in options.items() if value != OPTIONS.get(name, {}).get(key)),
    ]
    return name.rpartition(":")[2] + "".join(marks)


def null(task: Task) -> int | None:
    """The learner's own null on parities: features of at most the label's degree in the inputs that it is handed.

    >>> task = Task("parity", {"dim": 16, "heads": 2, "tier": "easy"}, {"learner": "mlp"}, {}, 0)
    >>> null(task), null(Task(task.family, task.params, {"learner": "sgd"}, {}, 0))
    (242825, 242)
    """
    family = _family(task)
    if not isinstance(family, Parity):
        return None
    s, d = family.size, family.dim
    return 2 * monomials(d - 1, s) if task.solver["learner"] in HANDED else monomials(2 * d, 2 * s + 1)


def _family(task: Task) -> families.Family:
    params = {
        name: value for name, value in task.params.items() if name not in ("instance", "tier", "digest")
    }
    return families.build(task.family, params)


def _cell_of(task: Task) -> str:
    return str(task.params["instance"]).rpartition("-")[0]


def _place(row: Row) -> int:
    """Where its instance stands in the suite; others come last."""
    return (
        list(suite.entries()).index(name)
        if (name := row.task.params["instance"]) in suite.entries()
        else 10**6
    )


def _groups(rows: Iterable[Row], *keys: Callable[[Task], str]) -> dict[Any, list[Row]]:
    return grouped(sorted(rows, key=_place), lambda row: tuple(key(row.task) for key in keys))


def _outcomes(rows: Iterable[Row]) -> list[Outcome]:
    return [row.outcome for row in rows if row.outcome]


def _solved(rows: Iterable[Row]) -> list[Outcome]:
    return [outcome for outcome in _outcomes(rows) if outcome.status == "solved"]


def _tier(name: str, kinds: Mapping[str, Sequence[Row]]) -> Line:
    """Instances of a tier that a learner, or an attack, has solved."""

    def instances(rows: Iterable[Row]) -> set[str]:
        return {row.task.params["instance"] for row in rows if row.task.params["tier"] == name}

    def won(kind: str) -> int:
        return len(instances(row for row in kinds[kind] if row.outcome and row.outcome.status == "solved"))

    tried = [row for rows in kinds.values() for row in rows]
    return {
        "name": name,
        "instances": len(instances(tried)),
        "learners": won("learner"),
        "attacks": won("attack"),
    }


def _middle(rows: Sequence[Row], currency: str = "examples") -> float | None:
    """The upper median of a cost over all runs; None where it lies among those that were not solved."""
    costs = sorted(cost for outcome in _solved(rows) if (cost := CURRENCIES[currency](outcome)) is not None)
    return costs[len(rows) // 2] if len(rows) // 2 < len(costs) else None


def _board(kind: str, rows: Sequence[Row]) -> HeatMap:
    """A panel per tier, a row per solver, a column per five instances."""
    panels: dict[str, list[Field]] = {}
    for (tier, cell, solver), trials in _groups(
        rows, lambda task: task.params["tier"], _cell_of, solver_of
    ).items():
        counts, middle = counted(_outcomes(trials)), _middle(trials)
        failed = [outcome.status for outcome in _outcomes(trials) if outcome.status != "solved"]
        status = max(failed, key=failed.count, default="solved")
        share = f"{counts['solved']}/{len(trials)}"
        endings = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        price = "" if middle is None else f"; median {middle:,.0f} {PRICE[kind]}"
        panels.setdefault(tier, []).append(
            Field(
                solver,
                cell.replace("-", "\n"),
                "some" if counts["solved"] and status != "solved" else status,
                text=share if middle is None else f"{share}\n{short(middle)}",
                tip=f"{solver} on {cell}: {endings}{price}",
            )
        )
    won = {solver: len(_solved(trials)) for (solver,), trials in _groups(rows, solver_of).items()}
    seen = "; ".join(
        f"{tier}: {len(_solved(trials))} of {len(trials)} runs solved"
        for (tier,), trials in _groups(rows, lambda task: task.params["tier"]).items()
    )
    return HeatMap(kind, panels, f"{seen}.", rows=sorted(won, key=lambda solver: (-won[solver], solver)))


def ranked(lines: Sequence[Line], currency: str) -> list[int | None]:
    """Ranks of solvers of a tier in a currency: by instances solved, then by the mean cost over them; equal ones share
    a rank. None for those that have solved nothing, or do not count that currency.

    >>> ranked([{"solved": 2, "examples": 9.0}, {"solved": 3, "examples": 99.0}, {"solved": 0, "examples": None}],
    ...        "examples")
    [2, 1, None]
    """
    keys = [None if line[currency] is None else (-line["solved"], line[currency]) for line in lines]
    return [
        None if key is None else 1 + sum(other is not None and other < key for other in keys) for key in keys
    ]


def _ranks(rows: Sequence[Row]) -> list[Line]:
    """Solvers by tier, those that solved most first: how runs ended, the rank in every currency and its mean."""
    lines: list[Line] = []
    for (tier,), trials in _groups(rows, lambda task: task.params["tier"]).items():
        within = [_line(tier, solver, each) for (solver,), each in _groups(trials, solver_of).items()]
        for name in CURRENCIES:
            for one, rank in zip(within, ranked(within, name), strict=True):
                # Beside each other, behind what is there
                one |= {f"rank by {name}": rank, name: one.pop(name)}
        lines += sorted(within, key=lambda line: (-line["solved"], line["rank by examples"] or len(within)))
    return lines


def _line(tier: str, solver: str, rows: Sequence[Row]) -> Line:
    """One solver in one tier: counts of endings, and the geometric mean of each currency over its solved runs."""
    means: dict[str, float | None] = {}
    for name, of in CURRENCIES.items():
        costs = [of(outcome) for outcome in _solved(rows)]
        known = [cost for cost in costs if cost]
        means[name] = exp(fmean(map(log, known))) if known and len(known) == len(costs) else None
    return {"tier": tier, "solver": solver, "runs": len(rows), **counted(_outcomes(rows)), **means}


def _cells(rows: Sequence[Row]) -> list[Line]:
    lines: list[Line] = []
    for (cell, solver), trials in _groups(rows, _cell_of, solver_of).items():
        middle, model = _middle(trials), null(trials[0].task)
        spent = median_high(sorted(float(outcome.cost or 0) for outcome in _outcomes(trials)))
        limits = sorted({str(o.detail["limit"]) for o in _outcomes(trials) if "limit" in o.detail})
        lines.append(
            {
                "instances": cell,
                "learner": solver,
                "runs": len(trials),
                **counted(_outcomes(trials)),
                "examples": f"{middle:,.0f}" if middle is not None else f"> {spent:,.0f}" if limits else None,
                "limit met": ", ".join(limits) or None,
                "multiply-adds": _middle(trials, "multiply-adds"),
                "null model": model,
                "examples / null": middle / model if middle and model else None,
                "seconds": fmean(outcome.seconds for outcome in _outcomes(trials)) or None,
            }
        )
    return lines


def _predicted(rows: Sequence[Row]) -> list[Line]:
    """What each kind of instance is predicted to cost, beside what solved it."""
    lines: list[Line] = []
    for (cell,), trials in _groups(rows, _cell_of).items():
        each = suite.entries().get(str(trials[0].task.params["instance"]))
        best = {kind: _cheapest([row for row in trials if row.task.solver["kind"] == kind]) for kind in PRICE}
        lines.append(
            {
                "instances": cell,
                "tier": trials[0].task.params["tier"],
                "log₂ secrets": each and each.log2_concepts,
                "proved": _queries(trials[0].task),
                "attack": each and each.predicted["attack"],
                "log₂ operations": each and each.predicted["log2_time"],
                "solved by a learner": best["learner"],
                "by an attack": best["attack"],
                "by queries": best["game"],
            }
        )
    return lines


def _queries(task: Task) -> float | None:
    """log2 of the queries that theory 2.5 and 2.6 prove to be needed; None where nothing is proved."""
    if task.family not in ("parity", "rounding"):
        return None
    bound = adversary_bounds(class_of(_family(task)), TOLERANCE, float(task.params.get("flip", 0.0))).get(
        "window", 0.0
    )
    return log2(bound) if bound > 1 else None


def _cheapest(rows: Sequence[Row]) -> str | None:
    prices = {
        solver: cost
        for (solver,), trials in _groups(rows, solver_of).items()
        if (cost := _middle(trials)) is not None
    }
    best = min(prices, key=lambda solver: (prices[solver], solver), default=None)
    return best and f"{best}, {ceil(prices[best]):,}"
