"""The study `stress`, the board: who solves the named instances of `hardness.instance.suite`, and what it costs."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import floor, inf, log2
from pathlib import Path
from statistics import median_high
from typing import TYPE_CHECKING, Any

import numpy as np

from hardness import families, registry
from hardness.engine.outcome import Outcome, TrialEnded, outcome_of
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.evaluation.limits import MULTIPLY_ADDS
from hardness.evaluation.solver import make
from hardness.evaluation.until import LEAST, Life, at_sizes, lives, multiply_adds, stream, until_solved
from hardness.evaluation.worker import opening
from hardness.instance import suite
from hardness.report import plots
from hardness.scores import EXPLAINED, OPEN, fresh
from hardness.studies.trials import solver_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame, Series

EXAMPLES, WORK = 1 << 18, 6_000_000_000  # what every learner may spend at most: examples, and multiply-adds
SIGNS = 1 << 23  # of a token, in all examples: this many fit into a gigabyte for any learner
SMALL_WORK = 1_000_000_000
HANDED = ("sgd",)  # is handed the products of the tokens: a best case, for structured families alone
# Searches make one start a fit, and ridges are told their penalty: both then reach further.
OPTIONS: dict[str, dict[str, Any]] = {
    "direct": {"starts": 1},
    "provable": {"polish": False},
    "lbfgs": {"starts": 1, "iterations": 1000},
    "adam": {"iterations": 1000},
    "low-degree": {"alpha": 1e-3},
    "random-features": {"alpha": 1e-3, "n_heads": 150},
    "linear-attention": {"alpha": 1e-6},
}
ATTACKED = 40_000  # examples of an attack
ATTACKS = ("batch-gradient", "bkw", "gaussian", "lattice", "search")
# Budgets of attacks, each in steps of its own.
WORKS = {"bkw": 1 << 22, "gaussian": 2_000_000, "lattice": 100, "search": 1 << 34}
TOLERANCE = 0.1  # of the queries that are proved to be needed
JUDGED = 2048  # fresh inputs to judge on
RANDOM = "nondegenerate"  # the family of layers that hide nothing


def tasks(quick: bool) -> list[Task]:
    """Return trials of all built-in learners and attacks on the suite's named instances, or on a few if `quick`."""
    learners = registry.names("learner", builtin=True)
    planned = [task for name in learners for task in user_learner_tasks(quick, name)]
    hiding = [entry for entry in _instances(quick) if entry.family != RANDOM]
    attacks = [{"kind": "attack", "attack": name} for name in ATTACKS]
    return [*planned, *(_task(entry, attack, quick) for entry in hiding for attack in attacks)]


def user_learner_tasks(quick: bool, learner: str) -> list[Task]:
    """Return trials of one learner, registered or ``package.module:Class``, on the suite's named instances."""
    options = {"params": OPTIONS[learner]} if learner in OPTIONS else {}
    solver = {"kind": "learner", "learner": learner, **options}
    layers = [each for each in _instances(quick) if each.family != RANDOM or learner not in HANDED]
    return [_task(each, solver, quick) for each in layers]


def _instances(quick: bool) -> list[suite.Entry]:
    return [each for each in suite.tier("easy" if quick else None) if not quick or each.name.endswith("-0")]


def _task(entry: suite.Entry, solver: Mapping[str, Any], quick: bool) -> Task:
    """Return the task of `solver` on the suite's instance `entry`, by name and hash; less budget if `quick`."""
    most, work = min(EXAMPLES, _examples_in_memory(entry.params["dim"])), WORK
    if quick:
        most, work = most // 4, SMALL_WORK
    if "attack" in solver:
        most, work = ATTACKED, WORKS.get(solver["attack"], 1 << 30)
    named = {"instance": entry.name, "tier": entry.tier, "digest": f"sha256:{entry.digest[:16]}"}
    number, budget = int(entry.name.rpartition("-")[2]), {"samples": most, "work": work}
    return Task(entry.family, {**entry.params, **named}, solver, budget, number)


def _examples_in_memory(dim: int) -> int:
    return 1 << int(log2(SIGNS / dim))


def within(task: Task, examples: int | None, work: float | None) -> Task:
    """Return a learner's task with other budgets (None: unchanged), capped by memory; an attack's task unchanged."""
    if task.solver["kind"] != "learner":
        return task
    cap = task.budget["samples"] if examples is None else examples
    samples = min(cap, _examples_in_memory(task.params["dim"]))
    return replace(task, budget={"samples": samples, "work": task.budget["work"] if work is None else work})


def seconds(task: Task) -> float:
    """Return the predicted seconds of a trial; a learner is taken to spend its whole budget."""
    return 0.1 + float(task.budget["work"]) / WORK if task.solver["kind"] == "learner" else 0.5


def trial(task: Task, root: int, guard: float) -> Outcome:
    """Run one learner or attack on a named instance of the suite.

    Trials that differ in the solver alone meet the same instance, examples and fresh inputs. A learner runs until it
    meets the criterion or would exceed a budget; its status is then `budget`, and `limit` says which. Its cost is the
    number of distinct examples at its last evaluation. A learner that does not count multiply-adds is limited in CPU
    time (`hardness.evaluation.limits`). An attack costs the examples that it used; its secret is judged likewise.

    >>> params = {"instance": "parity-s2-d8-0", "digest": f"sha256:{suite.entry('parity-s2-d8-0').digest[:16]}"}
    >>> never = {"kind": "learner", "learner": "low-degree"}
    >>> outcome = trial(Task("parity", params, never, {"samples": 2000, "work": 1e12}, 0), root=0, guard=60.0)
    >>> outcome.status, outcome.cost, outcome.detail["limit"], outcome.detail["criterion"]
    ('budget', 1024, 'examples', 'open_error <= 0.1')
    """
    each = suite.entries().get(str(task.params.get("instance")))
    if each is None or task.params.get("digest") != f"sha256:{each.digest[:16]}":
        raise TrialEnded("refused", "this version's suite has no such instance")
    instance, shared, most = suite.instance(each.name), task.shared(), int(task.budget["samples"])
    judged, sampling = fresh(instance, JUDGED, shared.seed(root, "fresh")), shared.seed(root, "examples")
    # Of structured families, on rows that tell of the secret
    rule = EXPLAINED if judged.values is None else OPEN
    given, solver = stream(instance, sampling), solver_of(task, instance, sampling)
    opened, learns = opening(solver, task.seed(root, "solver"), guard), task.solver["kind"] == "learner"
    attempts: Iterable[Life] = at_sizes([most], streamed=False)
    allowance, detail = inf, dict[str, Any](criterion=rule.name)
    if learns:
        made, work = make(solver, 0), float(task.budget["work"])
        detail["counted"] = multiply_adds(instance, made, most) is not None
        attempts = lives(made, instance, most, work)
        allowance = inf if detail["counted"] else work / MULTIPLY_ADDS
    ending = until_solved(opened, given, attempts, solver.streamed, judged, rule, allowance)
    last, spent = ending.last, dict[str, float | None]()
    if last:
        spent[rule.score] = last.scores[rule.score]
    if last and learns:
        spent["multiply_adds"] = ending.multiply_adds
    if learns:
        spent["reference_seconds"] = ending.reference_seconds or None
    detail |= {name: round(value, 4) for name, value in spent.items() if value is not None}
    cost = ending.distinct if learns else last.work["examples"] if last else None
    if ending.error is not None:
        failure = outcome_of(ending.error, guard)
        reasons = {name: value for name, value in failure.detail.items() if name in ("reason", "limit")}
        return Outcome(failure.status, cost, detail | reasons)
    if ending.solved or not learns:
        return Outcome("solved" if ending.solved else "wrong", cost, detail)
    more = ending.distinct + 1 if solver.streamed else 2 * ending.distinct
    return Outcome("budget", cost, detail | {"limit": "examples" if more > most else "multiply-adds"})


AIDED = ("diagonal", "sgd", "student", "mlp")  # handed structure, or settings chosen on hidden parities
CELL = ["layers", "solver"]


def board(rows: "DataFrame", kind: str) -> "DataFrame":
    """Return the trials of a `kind`, "learner" or "attack", in the order of the suite's instances, with more columns.

    `solver` is the name of the learner or attack, `layers` that of the instance without its number. `ending` is the
    status, or "never fitted" if the budget does not allow one fit on the fewest examples.
    """
    part = rows[rows.kind == kind]
    idle = (part.status == "budget") & (part.cost == 0) & (part.limit == "multiply-adds")
    places = {name: place for place, name in enumerate(suite.entries())}
    table = part.assign(
        solver=part[kind],
        layers=part.instance.str.rpartition("-")[0],
        ending=part.status.mask(idle, "never fitted"),
        solved=part.status == "solved",
        place=part.instance.map(places),
    )
    return table.sort_values("place", kind="stable")


def medians(table: "DataFrame") -> "Series[float]":
    """Return the upper median cost by `layers` (kind of instance) and `solver`; a run that did not solve costs inf."""
    costs = table.assign(paid=table.cost.astype(float).where(table.solved, inf))
    return costs.groupby(CELL, sort=False).paid.agg(median_high)


def stopped_after(learners: "DataFrame") -> "Series[float]":
    """Return the upper median examples by `layers` (kind of instance) and `solver`, where budgets ended most runs."""
    groups = learners.groupby(CELL, sort=False)
    most = groups.ending.agg(lambda endings: (endings == "budget").mean() > 0.5)
    return groups.cost.agg(lambda costs: float(median_high(costs)))[most]


def numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return by name every number that the article prints."""
    learners, attacks = board(rows, "learner"), board(rows, "attack")
    provable = learners[learners.learner == "provable"]
    hidden = provable[provable.family != RANDOM]
    by_rank = hidden.reason.str.contains("projection matrices sum to")
    solved = {}
    for tier in learners.tier.unique():
        here, broken = learners[learners.tier == tier], attacks[(attacks.tier == tier) & attacks.solved]
        won = here[here.solved]
        parts = {"instances": here, "learners": won, "plain": won[~won.learner.isin(AIDED)]}
        solved[tier] = {name: int(part.instance.nunique()) for name, part in parts.items()}
        solved[tier]["anybody"] = len({*won.instance, *broken.instance})
    return {
        "provable": {
            "hidden": len(hidden),
            "refused": int((hidden.status == "refused").sum()),
            "rank": int(by_rank.sum()),
            "few": int((~by_rank).sum()),
            "random": len(provable) - len(hidden),
            "solved": int(provable.solved.sum()),
        },
        "solved": solved,
        "attacks": {
            "solved": int(attacks[attacks.solved].instance.nunique()),
            "instances": int(attacks.instance.nunique()),
            "handed": ATTACKED,
        },
        "runs": {"all": len(learners), **learners.ending.str.replace(" ", "_").value_counts().to_dict()},
        "examples": [int(learners.samples.min()), int(learners.samples.max())],
        "work": WORK // 10**9,
        "judged": JUDGED,
        "tau": TOLERANCE,
        "least": LEAST,
    }


def tables(rows: "DataFrame") -> "dict[str, DataFrame]":
    """Return one line per kind of instance: costs proved and predicted, the cheapest learner, attacks that solve it."""
    import pandas as pd

    learners = board(rows, "learner")
    learning, breaking = medians(learners), medians(board(rows, "attack"))
    lines = []
    for layers, tier in learners.groupby("layers", sort=False).tier.first().items():
        entry, paid = suite.entry(f"{layers}-0"), learning[layers]
        least, best = float(paid.min()), ", ".join(sorted(paid[paid == paid.min()].index))
        attack = sorted(breaking[layers][breaking[layers] < inf].index) if layers in breaking else []
        line = {"layers": layers, "tier": tier}
        line["learner with the fewest examples"] = f"{best}: {least:,.0f}" if least < inf else "–"
        line["attacks that solve it"] = ", ".join(attack) or "–"
        line["log₂ of queries, at least"] = _queries(entry)
        line["log₂ of operations"] = entry.predicted["log2_time"]
        lines.append(line)
    return {"by_kind": pd.DataFrame(lines)}


def _queries(entry: suite.Entry) -> float | None:
    """Return log2 of the queries proved necessary for an instance, rounded down; None for random layers."""
    from hardness.sq.bounds.parity import adversary_bounds
    from hardness.sq.game import class_of

    if entry.family == RANDOM:
        return None
    concepts = class_of(families.build(entry.family, entry.params))
    bound = adversary_bounds(concepts, TOLERANCE, float(entry.params.get("flip", 0.0))).get("window", 0.0)
    return floor(10 * log2(bound)) / 10 if bound > 1 else None


SHADES = {"all": "C0", "some": "0.72", "budget": "0.9", "refused": "white", "never fitted": "white"}


def figures(rows: "DataFrame") -> "dict[str, Figure]":
    """Return the figure of which learner solves which kind of instance, and after how many examples it ended."""
    from matplotlib.patches import Rectangle

    learners = board(rows, "learner")
    paid, spent = medians(learners), stopped_after(learners)
    fields = learners.groupby(CELL, sort=False)
    tiers = learners.groupby("layers", sort=False).tier.first()
    gap = dict(zip(tiers.unique(), np.arange(0.0, 9.0, 0.35), strict=False))  # between tiers
    places = {layers: place + gap[tier] for place, (layers, tier) in enumerate(tiers.items())}
    names = learners.groupby("solver").solved.sum().sort_values(ascending=False, kind="stable").index
    figure, axis = plots.panels(height=4.6)
    for (layers, solver), runs in fields:
        won = int(runs.solved.sum())
        ending = "all" if won == len(runs) else "some" if won else runs.ending.value_counts().index[0]
        text = {"refused": "refused", "never fitted": "never\nfitted"}.get(ending, f"{won} of {len(runs)}")
        if (layers, solver) in spent.index and not won:
            text = f"> {_short(spent[layers, solver])}"
        elif paid[layers, solver] < inf:
            text = _short(paid[layers, solver])
        x, y, color = places[layers], names.get_loc(solver), "white" if ending == "all" else "0.1"
        axis.add_patch(Rectangle((x - 0.47, y - 0.46), 0.94, 0.92, color=SHADES[ending], linewidth=0))
        axis.text(x, y, text, ha="center", va="center", fontsize=6.3, color=color, linespacing=0.9)
    axis.set(xlim=(-0.6, max(places.values()) + 0.6), ylim=(len(names) - 0.4, -0.6))
    axis.set_yticks(range(len(names)), list(names))
    axis.set_xticks(list(places.values()), [layers.replace("-", "\n") for layers in places], fontsize=6.3)
    axis.tick_params(length=0)
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)
    for tier, kinds in learners.groupby("tier", sort=False).layers.unique().items():
        middle = float(np.mean([places[layers] for layers in kinds]))
        axis.text(middle, -0.75, tier, ha="center", fontsize=9)
    return {"board": figure}


def _short(count: float) -> str:
    return f"{count / 1000:.3g}k" if count >= 1000 else f"{count:g}"


STUDY = Study(
    "stress",
    "Which learners and attacks solve which named layers, and at what price?",
    tasks,
    seconds,
    trial,
    guard=300.0,
    user_learner_tasks=user_learner_tasks,
    within=within,
    numbers=numbers,
    tables=tables,
    figures=figures,
    page=Path(__file__).with_name("page.md"),
    timed=True,
)
