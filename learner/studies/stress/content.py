"""What the rows of `stress` say: who solves which instances, at what price, and who ranks where in each tier."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil, floor, inf, log2
from statistics import median_high
from typing import TYPE_CHECKING, Any

import numpy as np

from hardness import families, registry
from hardness.attacks.estimates.low_degree import monomials
from hardness.engine.store import Row
from hardness.engine.task import Task
from hardness.evaluation.effort import MULTIPLY_ADDS
from hardness.families.concepts import ParityConcepts
from hardness.families.parity import Parity
from hardness.instance import suite
from hardness.io.rounding import bounded
from hardness.report import Content, Field, HeatMap, lines_of
from hardness.report.rounding import cell_text, short
from hardness.sq.bounds.parity import adversary_bounds
from hardness.sq.game import class_of, strategy_of
from learner.studies import stress as grid
from learner.studies.stress import HANDED, OPTIONS, TOLERANCE

if TYPE_CHECKING:
    from pandas import DataFrame, Series

# How trials end, in words: a crash, a time limit or a refusal is no failure to learn, and each is counted apart; nor is
# a budget of multiply-adds below one fit on the fewest examples, where nothing was tried.
ENDINGS = {
    "solved": "solved",
    "budget": "stopped at a budget",
    "unfitted": "never fitted",
    "timeout": "timed out",
    "error": "crashed",
    "killed": "crashed",
    "refused": "refused",
    "wrong": "wrong",
}
WORDS = list(dict.fromkeys(ENDINGS.values()))
CURRENCIES = ("examples", "gradient examples", "multiply-adds", "reference seconds")
COLUMNS = (
    *("place", "task", "kind", "tier", "instance", "cell", "solver", "status", "ending", "solved"),
    *("aided", "heads known"),
    *(*CURRENCIES, "counted", "limit", "seconds", "examples allowed", "queries allowed", "work"),
)
STOPPED, UNFITTED, REFUSED = ENDINGS["budget"], ENDINGS["unfitted"], ENDINGS["refused"]
# A game that is not won ended at its limit of queries, or where its strategy gave up.
PLAYED = {"solved": "won", STOPPED: "not won"}
PRICE = {"learner": "examples", "attack": "informative rows", "game": "queries"}
FORMED = ("diagonal",)  # is handed the form of the gadget: its inputs are the bits in which two tokens differ
STUDENTS = ("student", *grid.SAME)
SET_ON_PARITIES = (*FORMED, *STUDENTS, "mlp")  # rates and other defaults were the best on hidden parities
# What built-in learners know beside examples.
LAYER, HEADS, SET = "form of the layer", "form of the layer, number of heads", "set on parities"
BUILT_IN = {
    "diagonal": f"form of the gadget, {SET}",
    "sgd": "products of the tokens",
    **dict.fromkeys(STUDENTS, f"{LAYER}, rate {SET}"),
    **dict.fromkeys(("adam", "direct", "lbfgs"), HEADS),
    "provable": f"{HEADS}, general position",
    "linear-attention": "form of linear attention",
    "random-features": "form of attention with ReLU",
    "low-degree": "nothing",
    "mlp": f"rate {SET}",
}
SECOND = 2  # the best rank of a learner that does not count its work
COUNTED = {True: "yes", False: "no"}  # otherwise its rows do not tell


def content(rows: Sequence[Row]) -> Content:
    """Numbers, figures and tables of the rows."""
    ended = trials(rows)
    kinds = {kind: ended[ended["kind"] == kind] for kind in PRICE}
    learned, standing = kinds["learner"], ranks(kinds["learner"])
    apart = standing["counted"] == COUNTED[False]
    work = float(learned["work"].max()) if len(learned) else 0.0
    numbers = {
        "tiers": lines_of(tiers(ended)),
        "runs": len(learned),
        "ended": _counts(learned),
        "examples": int(learned["examples allowed"].max()) if len(learned) else 0,
        "fewest_examples": int(learned["examples allowed"].min()) if len(learned) else 0,
        "work": work,
        "reference_seconds": work / MULTIPLY_ADDS,
        "attacks": len(kinds["attack"]),
        "uncounted": int(apart.sum()),
        "attacks_ended": _counts(kinds["attack"]),
        "attack_rows": attack_rows(kinds["attack"]),
        "refusing": refusing(kinds["attack"]),
        "attack_seconds": slowest(kinds["attack"]),
        "beyond": lines_of(beyond(learned)),
        "nulls": nulls(learned),
        "games": len(kinds["game"]),
        "strategies": kinds["game"]["solver"].nunique(),
        "queries": [*kinds["game"]["queries allowed"].dropna().astype(int)],
        "allowed": lines_of(allowed(learned)),
        "what": suite.TIERS,
    }
    figures = [board(kind, solvers) for kind, solvers in kinds.items()]
    absent = [word for word, runs in _counts(learned).items() if not runs and word != "solved"]
    tables = {"ranks": standing[~apart], "uncounted": standing[apart], "cells": cells(learned)}
    tables = {name: table.drop(columns=absent) for name, table in tables.items()}
    tables |= {"predicted": predicted(ended), "solvers": described(ended)}
    return Content(numbers, figures, tables, "" if len(learned) else "No learner has been run.", grid)


def trials(rows: Iterable[Row]) -> "DataFrame":
    """One line per trial that ended, in the order of the suite: who, where, how it ended and what it paid."""
    from pandas import DataFrame

    table = DataFrame([_trial(row) for row in rows if row.outcome], columns=[*COLUMNS])
    table[[*CURRENCIES]] = table[[*CURRENCIES]].astype(float)
    table = table.astype(dict.fromkeys(("solved", "aided", "heads known"), bool))
    return table.sort_values("place", kind="stable", ignore_index=True)


def _trial(row: Row) -> dict[str, Any]:
    task, outcome = row.task, row.outcome
    assert outcome is not None
    instance, detail = str(task.params["instance"]), outcome.detail
    idle = outcome.status == "budget" and not outcome.cost and detail.get("limit") == "multiply-adds"
    status = "unfitted" if idle else outcome.status
    places = list(suite.entries())
    return {
        "place": places.index(instance) if instance in places else len(places),
        "task": task,
        "kind": task.solver["kind"],
        "tier": task.params["tier"],
        "instance": instance,
        "cell": instance.rpartition("-")[0],
        "solver": solver_of(task),
        "status": status,
        "ending": ENDINGS[status],
        "solved": outcome.status == "solved",
        "aided": aided(task),
        "heads known": HEADS in (built_in(task) or ""),
        "examples": outcome.cost,
        **{name: detail.get(name.replace(" ", "_").replace("-", "_")) for name in CURRENCIES[1:]},
        "counted": _counted(row),
        "limit": detail.get("limit"),
        "seconds": outcome.seconds,
        "examples allowed": task.budget.get("samples"),
        "queries allowed": task.budget.get("queries"),
        "work": task.budget.get("work"),
    }


def _counted(row: Row) -> bool | None:
    """Whether a learner counted its work; of rows that do not say it, it shows where it was judged, or met a limit.

    >>> from hardness.engine.outcome import Outcome
    >>> task = Task("parity", {}, {"kind": "learner"}, {}, 0)
    >>> details = ({"counted": False}, {"open_error": 0.5, "multiply_adds": 9}, {"open_error": 0.5}, {})
    >>> [_counted(Row(task, Outcome("budget", 0, detail))) for detail in details]
    [False, True, False, None]
    """
    detail = row.outcome.detail if row.outcome else {}
    if "counted" in detail or row.task.solver["kind"] != "learner":
        return detail.get("counted")
    if detail.get("multiply_adds") is not None or detail.get("limit") == "multiply-adds":
        return True
    judged = detail.get("open_error") is not None or detail.get("explained") is not None
    return False if judged else None


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


def aided(task: Task) -> bool:
    """Whether a learner is handed structure of the hidden labels, or has settings that were chosen on hidden parities.

    >>> [aided(Task("parity", {}, {"learner": name}, {}, 0)) for name in ("lbfgs", "mlp", "sgd")]
    [False, True, True]
    """
    return task.solver.get("learner") in (*HANDED, *SET_ON_PARITIES)


def built_in(task: Task) -> str | None:
    """What a learner knows beside examples, None of another's.

    >>> built_in(Task("parity", {}, {"learner": "student", "setting": "tuned"}, {}, 0))
    'form of the layer, tuned on parities'
    """
    if "setting" in task.solver:
        return f"{LAYER}, tuned on parities"
    return BUILT_IN.get(str(task.solver.get("learner")))


def null(task: Task) -> int | None:
    """The learner's own null on parities: features of at most the label's degree in the inputs that it is handed.

    >>> task = Task("parity", {"dim": 16, "heads": 2, "tier": "easy"}, {"learner": "mlp"}, {}, 0)
    >>> null(task), *(null(Task(task.family, task.params, {"learner": name}, {}, 0)) for name in ("sgd", "diagonal"))
    (242825, 242, 121)
    """
    family = _family(task)
    if not isinstance(family, Parity):
        return None
    s, d, learner = family.size, family.dim, task.solver["learner"]
    if learner in FORMED:
        return monomials(d - 1, s)
    return 2 * monomials(d - 1, s) if learner in HANDED else monomials(2 * d, 2 * s + 1)


def _family(task: Task) -> families.Family:
    named = ("instance", "tier", "digest")
    params = {name: value for name, value in task.params.items() if name not in named}
    return families.build(task.family, params)


def endings(table: "DataFrame", *keys: str) -> "DataFrame":
    """By `keys`, in order of appearance: how many runs there are, and how many ended in each way."""
    ways = table.assign(runs=1, **{word: table["ending"] == word for word in WORDS})
    return ways.groupby([*keys], sort=False)[["runs", *WORDS]].sum().astype(int)


def _counts(table: "DataFrame") -> dict[str, int]:
    """How many runs ended in each way, in all."""
    return {word: int((table["ending"] == word).sum()) for word in WORDS}


def tiers(ended: "DataFrame") -> "DataFrame":
    """By tier its instances: all, and those solved by some learner, by one without aid, and by one that does not know
    the number of heads either; those that attacks met, and solved; learner runs, and those that fitted anything; the
    seconds of the quickest learner, and attack, on the solved instance where it took longest."""
    from pandas import DataFrame

    learned, attacks = (ended[ended["kind"] == kind] for kind in ("learner", "attack"))
    won = learned[learned["solved"]]
    unaided = won[~won["aided"]]
    broken = attacks[attacks["solved"]]
    parts = {
        "instances": ended,
        "learners": won,
        "unaided": unaided,
        "uninformed": unaided[~unaided["heads known"]],
        "structured": attacks,
        "attacks": broken,
    }
    counts = {name: part.groupby("tier")["instance"].nunique() for name, part in parts.items()}
    counts["runs"] = learned.groupby("tier").size()
    counts["fitted"] = learned[~learned["ending"].isin((UNFITTED, REFUSED))].groupby("tier").size()
    table = DataFrame(counts).reindex(ended["tier"].unique()).fillna(0).astype(int)
    times = {"learner_seconds": _slowest_by_tier(won), "attack_seconds": _slowest_by_tier(broken)}
    return table.assign(**times).rename_axis("name").reset_index()


def _slowest_by_tier(solved: "DataFrame") -> "Series[Any]":
    """By tier: the seconds of the quickest run on the instance where they are most; missing if any is not known."""
    quickest = solved.groupby(["tier", "instance"])["seconds"].min()
    return quickest.groupby("tier").agg(lambda seconds: seconds.max() if seconds.min() > 0 else np.nan)


def slowest(attacks: "DataFrame") -> float | None:
    """The most seconds of a solved run; None if there is none, or where one is not known."""
    seconds = attacks["seconds"][attacks["solved"]].astype(float)
    return float(seconds.max()) if len(seconds) and seconds.min() > 0 else None


def refusing(attacks: "DataFrame") -> list[str]:
    """The tiers of the instances that no attack solved, if all attacks refused all of these."""
    solved = attacks.groupby("instance")["solved"].transform("any").astype(bool)
    missed = attacks[~solved]
    return list(missed["tier"].unique()) if (missed["ending"] == REFUSED).all() else []


def beyond(learned: "DataFrame") -> "DataFrame":
    """By learner: runs within its count of multiply-adds that took more CPU time than one without a count may."""
    allowed_seconds = learned["work"].astype(float) / MULTIPLY_ADDS
    longer = learned[learned["counted"].eq(True) & (learned["reference seconds"] > allowed_seconds)]
    return (
        longer.groupby("solver")
        .agg(runs=("cell", "size"), low=("reference seconds", "min"), high=("reference seconds", "max"))
        .reset_index()
    )


def medians(table: "DataFrame", currency: str, *keys: str) -> "Series[float]":
    """By `keys` the upper median of a cost over all runs; missing where it lies among those that were not solved."""
    costs = table.assign(cost=table[currency].where(table["solved"]).fillna(inf))
    return costs.groupby([*keys], sort=False)["cost"].agg(median_high).astype(float).replace(inf, np.nan)


def means(learned: "DataFrame") -> "DataFrame":
    """By tier and solver the geometric means of what solved runs paid; missing where one of them is not known."""
    solved = learned[learned["solved"]]
    logs = solved[[*CURRENCIES]].where(solved[[*CURRENCIES]] > 0).map(np.log)
    groups = logs.assign(tier=solved["tier"], solver=solved["solver"]).groupby(["tier", "solver"], sort=False)
    return groups.agg(lambda costs: np.exp(costs.mean(skipna=False)))


def counting(learned: "DataFrame") -> "Series[Any]":
    """By tier and solver whether it counts its work: "yes", "no", or "not recorded" where no row of it tells."""

    def agreed(answers: "Series[Any]") -> str:
        known = answers.dropna()
        return COUNTED[bool(known.astype(bool).all())] if len(known) else "not recorded"

    return learned.groupby(["tier", "solver"], sort=False)["counted"].agg(agreed).astype(object)


def ranks(learned: "DataFrame") -> "DataFrame":
    """Solvers by tier, those that solved most first: how runs ended, the rank in every currency and its mean."""
    table = (
        endings(learned, "tier", "solver")
        .join(means(learned))
        .assign(counted=counting(learned))
        .reset_index()
    )
    for currency in CURRENCIES:
        table[f"rank by {currency}"] = shared(table, ranked(table, currency))
    known = learned.drop_duplicates(["tier", "solver"])["task"].map(built_in)
    table["built in"] = known.tolist()
    places = [name for currency in CURRENCIES for name in (f"rank by {currency}", currency)]
    order = {tier: number for number, tier in enumerate(learned["tier"].unique())}
    lines = table[["tier", "solver", "built in", "runs", *WORDS, *places, "counted"]]
    lines = lines.assign(order=lines["tier"].map(order), missed=-lines["solved"])
    return lines.sort_values(["order", "missed", "solver"], ignore_index=True).drop(
        columns=["order", "missed"]
    )


def ranked(table: "DataFrame", currency: str) -> "Series[Any]":
    """Ranks in a currency within a tier, by instances solved, then by the mean cost over them; equal ones share a rank.

    A learner that does not count its work stands behind all that do and solved as many, and is never first; for those
    that count it is not there. Missing for those that solved nothing, or whose cost is not known.

    >>> from pandas import DataFrame
    >>> lines = {"tier": "easy", "solved": [2, 3, 0, 2, 3], "examples": [9.0, 99.0, None, 1.0, 1.0]}
    >>> ranked(DataFrame(lines | {"counted": ["yes", "yes", "yes", "no", "no"]}), "examples").tolist()
    [2, 1, <NA>, 4, 2]
    """
    apart = table["counted"] == COUNTED[False]
    keys = table.assign(apart=apart, missed=-table["solved"])[["tier", "missed", "apart", currency]]

    def places(some: "DataFrame") -> "Series[float]":
        known = some[some[currency].notna()]
        order = known.groupby(["missed", "apart", currency], sort=True).ngroup()
        return order.groupby(known["tier"]).rank(method="min")

    return (
        places(keys[~apart])
        .combine_first(places(keys).clip(lower=SECOND))
        .reindex(table.index)
        .astype("Int64")
    )


def shared(table: "DataFrame", places: "Series[Any]") -> "Series[Any]":
    """Ranks of a currency, with a mark on those that several learners of one table have.

    >>> from pandas import DataFrame, Series
    >>> lines = DataFrame({"tier": "easy", "counted": ["yes", "yes", "no", "yes"]})
    >>> shared(lines, Series([1, 1, 4, None], dtype="Int64")).tolist()
    ['1=', '1=', 4, None]
    """
    apart = table["counted"] == COUNTED[False]
    keys = places.to_frame("place").assign(tier=table["tier"], apart=apart)
    tied = keys.duplicated(keep=False) & places.notna()
    plain = places.astype(object).where(places.notna(), None)
    return plain.where(~tied, places.astype(str) + "=")


def cells(learned: "DataFrame") -> "DataFrame":
    """Every learner on every kind of instance: how runs ended, what they paid, and the learner's null."""
    keys = ("cell", "solver")
    groups = learned.groupby([*keys], sort=False)
    lines = endings(learned, *keys)
    met = learned.assign(limit=learned["limit"].where(learned["ending"].isin((STOPPED, UNFITTED))))
    limits = met.groupby([*keys], sort=False)["limit"].agg(
        lambda by: ", ".join(sorted(by.dropna().unique())) or None
    )
    paid, spent = medians(learned, "examples", *keys), _stopped_after(learned, "examples")
    lines["examples"] = _shown(paid, spent, "{:,.0f}".format, "{:,.0f}".format)
    lines["limit met"] = limits
    lines["examples allowed"] = groups["examples allowed"].first()
    lines["multiply-adds"] = medians(learned, "multiply-adds", *keys)
    took = medians(learned, "reference seconds", *keys), _stopped_after(learned, "reference seconds")
    lines["reference seconds"] = _shown(*took, cell_text, lambda cost: bounded(cost, up=False))
    lines["null model"] = groups["task"].first().map(null)
    bounds = lines["null model"].astype(float)
    lines["examples / null"] = _shown(paid / bounds, spent / bounds, cell_text, _three_places)
    lines["seconds"] = groups["seconds"].mean().where(lambda seconds: seconds > 0)
    return lines.rename_axis(["instances", "learner"]).reset_index()


def _stopped_after(learned: "DataFrame", currency: str) -> "Series[float]":
    """By cell and solver the upper median of what was spent, where more than half of the runs were stopped."""
    groups = learned.groupby(["cell", "solver"], sort=False)
    stopped = groups["ending"].agg(lambda endings_of_runs: (endings_of_runs == STOPPED).mean() > 0.5)
    return groups[currency].agg(_upper).where(stopped)


def _shown(
    paid: "Series[float]",
    spent: "Series[float]",
    exact: Callable[[float], str],
    below: Callable[[float], str],
) -> "Series[Any]":
    """Costs as text: what was paid, or "> " and what was spent in vain."""
    bounds = spent.map(below, na_action="ignore").astype(object).map("> {}".format, na_action="ignore")
    return paid.map(exact, na_action="ignore").astype(object).where(paid.notna(), bounds)


def _three_places(ratio: float) -> str:
    """A ratio from below."""
    return f"{floor(1000 * ratio) / 1000:.3f}"


def nulls(learned: "DataFrame") -> dict[str, Any]:
    """The fields of parities where most runs were stopped: how many, and which after more examples than their null."""
    keys = ["cell", "solver"]
    tasks = learned.groupby(keys, sort=False)["task"].first()
    ratios = (_stopped_after(learned, "examples") / tasks.map(null).astype(float)).dropna()
    above = [f"{solver} on {cell}" for (cell, solver), ratio in ratios.items() if ratio > 1]
    return {"fields": len(ratios), "above": above}


def _upper(costs: "Series[float]") -> float:
    return float(median_high(costs.fillna(0.0)))


def cheapest(ended: "DataFrame") -> "DataFrame":
    """By cell, a column a kind of solver: those with the smallest median, and that median.

    Of several with one median those that solved more runs. What attacks count differs: all that solved most runs.
    """
    keys, order = ["cell", "kind", "solver"], ["cost", "missed"]
    missed = -ended.groupby(keys, sort=False)["solved"].sum()
    costs = medians(ended, "examples", *keys).rename("cost").to_frame().assign(missed=missed)
    costs = costs.dropna(subset="cost").reset_index().sort_values([*order, "solver"])
    best = costs[order] == costs.groupby(["cell", "kind"])[order].transform("first")
    named = costs[best.all(axis=1) | (costs["kind"] == "attack")].groupby(["cell", "kind"])
    table = named.agg(names=("solver", lambda solvers: "; ".join(sorted(solvers))), cost=("cost", "first"))
    table = table.reset_index()
    table["text"] = [
        names if kind == "attack" else f"{names}: {ceil(cost):,}"
        for kind, names, cost in zip(table["kind"], table["names"], table["cost"], strict=True)
    ]
    return table.pivot(index="cell", columns="kind", values="text").reindex(columns=[*PRICE])


def attack_rows(attacks: "DataFrame") -> dict[str, list[int]] | None:
    """The least and the most rows of solved runs: `read` by eliminations on exact labels, `handed` to all others but
    those that count whole batches."""
    solved = attacks[attacks["solved"]]
    exact = solved["task"].map(lambda task: not task.params.get("flip"))
    reading = (solved["solver"] == "gaussian") & exact
    read = solved["examples"][reading]
    handed = solved["examples"][~reading & (solved["solver"] != "batch-gradient")]
    ends = {
        name: [int(some.min()), int(some.max())]
        for name, some in (("read", read), ("handed", handed))
        if len(some)
    }
    return ends if len(ends) > 1 else None


def allowed(learned: "DataFrame") -> "DataFrame":
    """By tier: the fewest and the most examples that a learner may have."""
    examples = learned.groupby("tier", sort=False)["examples allowed"].agg(["min", "max"])
    return examples.rename_axis("tier").reset_index()


def described(ended: "DataFrame") -> "DataFrame":
    """What the lab's own solvers do, by the first lines of their descriptions, and on how many instances they run."""
    lines = ended.groupby(["kind", "solver"], sort=False).agg(
        task=("task", "first"), instances=("instance", "nunique")
    )
    options = ended.groupby(["kind", "solver"], sort=False)["task"].agg(_options)
    lines = lines.assign(options=options, **{"what it does": lines["task"].map(_described)})
    return lines.drop(columns="task").reset_index().sort_values(["kind", "solver"], key=_kinds_first)


def _options(tasks: "Series[Any]") -> str:
    """The options that the study sets, in the order of the instances; those that it leaves alone are not named."""
    settings = [task.solver.get("params", {}) for task in tasks]
    texts = [", ".join(f"{name} {value}" for name, value in options.items()) for options in settings]
    return "; ".join(filter(None, dict.fromkeys(texts)))


def _kinds_first(values: "Series[Any]") -> "Series[Any]":
    return values.map([*PRICE].index) if values.name == "kind" else values


def _described(task: Task) -> str | None:
    """The first line of the description of a built-in solver; nothing of another's, which may not be here."""
    kind = task.solver["kind"]
    if kind == "game":
        return _first_line(strategy_of(ParityConcepts(2, 1), task.solver["strategy"]))
    name = str(task.solver[kind])
    return _first_line(registry.get(kind, name)) if registry.is_builtin(kind, name) else None


def _first_line(thing: object) -> str:
    return (thing.__doc__ or "").partition("\n")[0]


def predicted(ended: "DataFrame") -> "DataFrame":
    """What each kind of instance is predicted to cost, beside what solved it."""
    lines = ended.groupby("cell", sort=False)[["tier", "task", "instance"]].first()
    entries = [suite.entries().get(name) for name in lines["instance"]]
    lines["log₂ secrets"] = [entry and entry.log2_concepts for entry in entries]
    lines["proved"] = lines["task"].map(_queries)
    lines["attack"] = [entry and entry.predicted["attack"] for entry in entries]
    lines["log₂ operations"] = [entry and entry.predicted["log2_time"] for entry in entries]
    solved = {"learner": "solved by a learner", "attack": "by an attack", "game": "by queries"}
    lines = lines.join(cheapest(ended).rename(columns=solved))
    return lines.drop(columns=["task", "instance"]).rename_axis("instances").reset_index()


def _queries(task: Task) -> float | None:
    """log2 of the queries that theory 2.5 and 2.6 prove to be needed; None where nothing is proved."""
    if task.family not in ("parity", "rounding"):
        return None
    flip = float(task.params.get("flip", 0.0))
    bound = adversary_bounds(class_of(_family(task)), TOLERANCE, flip).get("window", 0.0)
    return log2(bound) if bound > 1 else None


def board(kind: str, solvers: "DataFrame") -> HeatMap:
    """A panel per tier, a row per solver, a column per five instances."""
    by_tier = solvers.groupby("tier", sort=False)["solved"].agg(["sum", "size"])
    verb = "games won" if kind == "game" else "runs solved"
    shares = [
        f"{tier}: {won} of {runs} {verb}{_untried(solvers[solvers['tier'] == tier])}"
        for tier, won, runs in by_tier.itertuples()
    ]
    rows = solvers.groupby("solver", sort=True)["solved"].sum().sort_values(ascending=False, kind="stable")
    table = fields(kind, solvers)
    panels = {tier: list(some) for tier, some in table.groupby(level="tier", sort=False)}
    labels = {"budget": STOPPED, "unfitted": f"{UNFITTED}: budget too small"}
    if kind == "game":
        labels = {"solved": PLAYED["solved"], "budget": PLAYED[STOPPED]}
    return HeatMap(kind, panels, f"{'; '.join(shares)}.", rows=list(rows.index), labels=labels)


def _untried(solvers: "DataFrame") -> str:
    """How many runs tried nothing, as a part of a sentence."""
    counts = _counts(solvers)
    return "".join(f", {counts[word]} {word}" for word in (UNFITTED, REFUSED) if counts[word])


def fields(kind: str, solvers: "DataFrame") -> "Series[Any]":
    """The field of a heat map by tier, cell and solver."""
    from pandas import Series

    keys = ("tier", "cell", "solver")
    failed = solvers[~solvers["solved"]].groupby([*keys], sort=False)["status"]
    lines = endings(solvers, *keys).assign(middle=medians(solvers, "examples", *keys))
    lines["failed"] = failed.agg(lambda statuses: statuses.value_counts(sort=True).index[0])
    places = [(str(tier), str(cell), str(solver)) for tier, cell, solver in lines.index]
    made = [_field(kind, *at, line) for at, line in zip(places, lines.to_dict("records"), strict=True)]
    return Series(made, index=lines.index, dtype=object)


def _field(kind: str, tier: str, cell: str, solver: str, line: Mapping[Any, Any]) -> Field:
    won, runs, middle = line["solved"], line["runs"], line["middle"]
    known = middle == middle  # no nan
    status = "solved" if won == runs else "some" if won else line["failed"]
    share = f"{won}/{runs}"
    words = PLAYED if kind == "game" else {}
    ways = ", ".join(f"{line[word]} {words.get(word, word)}" for word in WORDS if line[word])
    price = f"; median {middle:,.0f} {PRICE[kind]}" if known else ""
    text = f"{share}\n{short(middle)}" if known else share
    column = cell.replace("-", "\n").replace("rounding", "round-\ning")  # as wide as the others
    return Field(solver, column, status, text=text, tip=f"{solver} on {cell}: {ways}{price}")
