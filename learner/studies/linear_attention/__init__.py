"""The study `linear-attention`: what Yau et al. (arXiv 2410.10101) claim of linear attention and regression.

From the top: the grid, the numbers of the article, its tables and its figures. The four trials are in `heads`,
`memory`, `automata` and `machine`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.report import plots
from hardness.statistics import Mean, mean, slope
from learner.studies.recorded import TINY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from pandas import DataFrame, Series

# Families of tasks
HEAD, MEMORY, AUTOMATA, MACHINE = "linear-attention", "associative-memory", "automata", "machine"

LENGTH, ADAM_ROWS = 100, 8192  # tokens of a sequence; rows of which Adam learns a head
RATIOS = (0.5, 0.8, 0.95, 1.0, 1.05, 1.25, 2.0, 4.0, 16.0)  # rows to features
FEW = (0.5, 1.0, 1.25, 2.0)  # the same at d = 16, where a regression takes a quarter of a minute
# Rows to features, by d, where labels are no head's
AGNOSTIC = {4: (0.5, 1.0, 4.0, 16.0, 64.0, 256.0), 8: (0.5, 1.0, 4.0, 16.0, 64.0)}
HEADS = {2: (1, 2, 4), 4: (1, 2, 4, 8, 16), 8: (1, 4, 8, 16, 32, 64)}  # that Adam trains, by d

SIZE = 4  # keys, values, and their dimension
MIXTURES = (0.0, 0.9, 0.95, 0.99, 0.995, 0.998, 1.0)  # shares of orthonormal examples
MEMORY_HEADS = (1, 2, 4, 8)

AUTOMATON_SIZES = ((2, 2), (3, 2), (4, 2), (4, 4), (6, 3))  # states and letters
AUTOMATON_RATIOS = (0.5, 0.75, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0)  # rows to the rank of the span

MACHINE_SIZES = ((3, 2), (4, 2), (6, 3))  # states and symbols
FRESH = 2000  # sequences to judge on
EPOCHS, RATE, NOISE = 60, 0.01, 0.1  # of Adam on one head; of the standard deviation of the labels
MEMORY_STEPS, MEMORY_NOISE = 60 * 16_384, 0.01  # examples that Adam sees, repeated
UNSEEN, WORD = 200, 20  # automata, and letters of their words
MAX_STEPS = 200  # of a program
MACHINE_RATIOS = (0.5, 0.8, 1.0, 1.1, 1.2, 1.36, 1.5, 1.7)


def tasks(quick: bool) -> list[Task]:
    """Return regressions from too few rows to more than enough of each, and Adam where the paper trains by descent."""
    return [*_heads(quick), *_memories(quick), *_automata(quick), *_machines(quick)]


def _heads(quick: bool) -> list[Task]:
    from learner.linear.features import feature_count

    solvers: list[tuple[int, dict[str, Any], int]] = []
    for d in (2, 4, 8) if quick else (2, 4, 8, 16):
        rows = {round(ratio * feature_count(d)) for ratio in (RATIOS if d < 16 else FEW)}
        solvers += [(d, {"method": "regression"}, n) for n in sorted(rows) if n >= 10]
    for d in (4,) if quick else AGNOSTIC:
        counts = (round(ratio * feature_count(d)) for ratio in AGNOSTIC[d])
        solvers += [(d, {"method": "agnostic"}, n) for n in counts]
    for d in (2, 4) if quick else HEADS:
        solvers += [(d, {"method": "Adam", "heads": h}, ADAM_ROWS) for h in HEADS[d]]
    return [
        Task(HEAD, {"dim": d}, solver, {"samples": n}, r)
        for d, solver, n in solvers
        for r in range(3 if quick else 4 if d == 16 else 10)
    ]


def _memories(quick: bool) -> list[Task]:
    """Return regression on every mixture, and Adam on the ends, in full also between."""
    count, runs = (4096, 3) if quick else (16_384, 6)
    mixtures, sizes = ((0.0, 1.0), (1, 4)) if quick else ((0.0, 0.95, 0.99, 1.0), MEMORY_HEADS)
    solvers: list[dict[str, Any]] = [{"method": "regression", "unitary": share} for share in MIXTURES]
    solvers += [{"method": "Adam", "heads": h, "unitary": share} for share in mixtures for h in sizes]
    return [
        Task(MEMORY, {"size": SIZE}, solver, {"samples": count}, r) for solver in solvers for r in range(runs)
    ]


def _automata(quick: bool) -> list[Task]:
    from learner.studies.linear_attention.automata import span_rank

    return [
        Task(AUTOMATA, {"states": Q, "letters": A}, {"method": "regression"}, {"samples": n}, r)
        for Q, A in AUTOMATON_SIZES[: 4 if quick else 5]
        for n in sorted({max(10, round(ratio * span_rank(Q, A))) for ratio in AUTOMATON_RATIOS})
        for r in range(8 if quick else 20)
    ]


def _machines(quick: bool) -> list[Task]:
    from learner.studies.linear_attention.machine import Machine

    return [
        Task(MACHINE, {"states": Q, "symbols": A}, {"method": "regression"}, {"samples": n}, r)
        for Q, A in MACHINE_SIZES[: 2 if quick else 3]
        for n in (round(ratio * Machine(Q, A).span_rank) for ratio in MACHINE_RATIOS)
        for r in range(4 if quick or Q == 6 else 20)
    ]


def seconds(task: Task) -> float:
    """Return the predicted seconds of a trial."""
    from learner.linear.features import feature_count
    from learner.studies.linear_attention.machine import Machine

    n, heads, params = float(task.budget["samples"]), int(task.solver.get("heads", 0)), task.params
    match task.family:
        case "linear-attention":
            d = int(params["dim"])
            return (
                0.2 + 1e-6 * n * d * heads
                if heads
                else 0.15 + 1e-5 * n * d + 9e-10 * n * feature_count(d) ** 2
            )
        case "associative-memory":
            return 0.3 + 0.2 * heads if heads else 0.1 + n * 1.2e-4
        case "automata":
            return 0.01 + 8e-5 * n
    return 0.05 + n * (5e-5 + 6e-9 * Machine(int(params["states"]), int(params["symbols"])).dim ** 2)


def trial(task: Task, root: int, guard: float) -> Outcome:
    """Run a trial of the task's family, deterministic in the task and the root seed.

    >>> task = Task("automata", {"states": 2, "letters": 2}, {"method": "regression"}, {"samples": 100}, 0)
    >>> trial(task, 0, 60.0).status
    'solved'
    """
    from learner.studies.linear_attention import (
        automata,
        heads,
        machine,
        memory,
    )  # learners take a second to import

    trials = {HEAD: heads.trial, MEMORY: memory.trial, AUTOMATA: automata.trial, MACHINE: machine.trial}
    return trials[task.family](task, root)


SETTLED = 16  # rows over features from which on a rate is read off
REGRET = 0.05  # squared error beyond that of the best head, over the variance of the labels, of a solved run
EXACT_ERROR = 1e-12  # squared, over the variance: that of a solved run
TINY_ERROR = 1e-24  # errors below this are recorded as this
PROGRAMS = ("addition", "palindrome", "busy beaver", "random")
COUNTS = ("jobs", "whole", "blind", "steps", "wrong")


def heads_of(rows: "DataFrame", method: str) -> "DataFrame":
    """Return the runs on one random head, with rows over features."""
    part = rows[(rows.family == HEAD) & (rows.method == method)]
    return part.assign(ratio=part.samples / (part.dim**2 * (part.dim + 1) / 2))


def automata_of(rows: "DataFrame") -> "DataFrame":
    """Return the runs on automata: rows over rank, certified steps and the right ones of them and of the others."""
    part = rows[rows.family == AUTOMATA]
    pairs = part.states * part.letters
    steps, certified = part.steps.astype(float), part.certified.astype(float)
    sure = (certified * steps).round()
    right = (certified * steps * part.certified_right.fillna(0).astype(float)).round()
    others = steps - sure
    return part.assign(
        ratio=part.samples / (pairs * (pairs * (part.states - 1) + 1)),
        sure=sure,
        right=right,
        lucky=((part.step_accuracy.astype(float) * steps).round() - right) / others.where(others > 0),
        perfect=part.word_accuracy == 1,
    )


def programs_of(rows: "DataFrame") -> "DataFrame":
    """Return a line a run and program that its machine fits: jobs, those certified to the end, and counts of steps."""
    import pandas as pd

    from learner.studies.linear_attention.machine import Machine

    part = rows[rows.family == MACHINE]
    spans = {size: Machine(*size).span_rank for size in MACHINE_SIZES}
    span = pd.Series([spans[size] for size in zip(part.states, part.symbols, strict=True)], part.index)
    shared = part[["states", "symbols", "samples", "rank"]].assign(span=span, ratio=part.samples / span)
    parts = [
        shared.assign(program=name, **{count: part[f"programs.{name}.{count}"] for count in COUNTS})
        for name in PROGRAMS
    ]
    lines = pd.concat(parts)
    return lines[lines.jobs > 0]


def memories_of(rows: "DataFrame") -> "DataFrame":
    """Return the runs of the associative memory; `heads` is 0 for the regression."""
    part = rows[rows.family == MEMORY]
    return part.assign(heads=part.heads.fillna(0).astype(int))


def geometric(values: Any) -> Mean:
    """Return the geometric mean with its 95 % interval."""
    return mean([float(value) for value in values], logarithmic=True)


def rate(agnostic: "DataFrame", dim: int) -> Mean | None:
    """Return the exponent of the rows in the regret, from `SETTLED` times as many rows as features on."""
    runs = agnostic[(agnostic.dim == dim) & (agnostic.ratio >= SETTLED)]
    return slope(list(zip(runs.ratio, runs.regret, strict=True)))


def numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return every number of the article."""
    fits, adam, runs = heads_of(rows, "regression"), heads_of(rows, "Adam"), automata_of(rows)
    jobs, memory = programs_of(rows), memories_of(rows)
    full, exact = fits.identifiable == True, fits.error <= EXACT_ERROR  # noqa: E712 - missing is not full rank
    noisy = fits.groupby(["dim", "ratio"]).noisy.agg(lambda errors: geometric(errors).value)
    peaks = [int(d) for d, errors in noisy.groupby("dim") if errors.idxmax()[1] == 1]
    at_rank = runs[runs.ratio == 1].groupby(["states", "letters"])[["certified", "lucky"]].mean()
    shares = runs.groupby(["states", "letters", "ratio"]).perfect.mean()
    least = shares[shares >= 0.5].reset_index("ratio").groupby(["states", "letters"]).ratio.min()
    agnostic = heads_of(rows, "agnostic")
    learned = memory[memory.heads == 0]
    hidden, seen = learned[learned.unitary == 1], learned[learned.unitary == 0]
    return {
        "full": {"runs": int(full.sum()), "exact": int((full & exact).sum())},
        "short": {"runs": int((~full).sum()), "exact": int((~full & exact).sum())},
        "largest": int(fits.dim.max()),
        "exact": f"{EXACT_ERROR:g}",
        "peaks": ", ".join(map(str, peaks)),
        "automata": {
            "sure": int(runs.sure.sum()),
            "right": int(runs.right.sum()),
            "certified": [round(100 * value) for value in (at_rank.certified.min(), at_rank.certified.max())],
            "others": [round(100 * value, 1) for value in (at_rank.lucky.min(), at_rank.lucky.max())],
            "least": [round(value, 1) for value in (least.min(), least.max())],
            "tested": UNSEEN,
            "letters": WORD,
        },
        "programs": {
            "sure": int(jobs.steps.sum()),
            "right": int(jobs.steps.sum() - jobs.wrong.sum()),
            "half": _jobs_at(jobs, 0.5),
            "at": _jobs_at(jobs, 1.0),
        },
        "closest": float(f"{adam.error.min():.1g}"),
        "memory": {
            "examples": int(learned.samples.iloc[0]),
            "rank": int(hidden["rank"].max()),
            "features": int(seen["rank"].max()),
            "certified": [round(100 * float(part.certified.mean())) for part in (hidden, seen)],
            "other": float(hidden.other.min()),
            "farthest": round(float(memory[(memory.heads > 1) & (memory.unitary == 1)].distance.max()), 2),
        },
        "runs": {
            "least": int(rows.groupby(["family", "dim", "samples", "heads"], dropna=False).size().min()),
            "memory": int(learned.groupby("unitary").size().max()),
            "automata": int(runs.groupby(["states", "letters", "samples"]).size().max()),
        },
        "agnostic": {
            "share": round(100 * float(agnostic[agnostic.ratio == max(AGNOSTIC[4])].least.mean())),
            "rate": {dim: str(rate(agnostic, dim)) for dim in AGNOSTIC},
            "from": SETTLED,
        },
        "fresh": FRESH,
        "noise": NOISE,
    }


def _jobs_at(jobs: "DataFrame", ratio: float) -> dict[str, int]:
    """Return the jobs with this many rows over the rank, those certified to the end, and those right without that."""
    part = jobs[jobs.samples == (ratio * jobs.span).round()]
    return {name: int(part[name].sum()) for name in ("jobs", "blind", "whole")}


def tables(rows: "DataFrame") -> "dict[str, DataFrame]":
    """Return the certified jobs by program, Adam on one head, and Adam on the memory."""
    import pandas as pd

    jobs, adam, memory = programs_of(rows), heads_of(rows, "Adam"), memories_of(rows)
    filled = jobs.groupby(["states", "symbols", "samples"])["rank"].transform("min") == jobs.span
    ended = jobs[filled].groupby("program")[["jobs", "whole", "blind"]].sum()
    descents = adam.groupby(["dim", "heads"]).error.agg(lambda errors: str(geometric(errors))).reset_index()
    mixed = memory[memory.heads > 0].groupby(["heads", "unitary"]).distance
    distances = mixed.agg(lambda values: _distance(values)).unstack("unitary")
    distances.columns = [f"{100 * share:g} % orthonormal" for share in distances.columns]
    agnostic = heads_of(rows, "agnostic")
    regrets = agnostic.groupby(["ratio", "dim"]).regret.agg(lambda runs: str(geometric(runs))).unstack("dim")
    regrets = regrets.fillna("–")
    regrets.columns = [f"regret at d = {dim}" for dim in regrets.columns]
    regrets.index.name = "rows over features"
    return {
        "by_program": pd.DataFrame(
            [
                {
                    "program": name,
                    "jobs": ended.jobs[name],
                    "certified to the end and right": ended.whole[name],
                }
                for name in PROGRAMS
            ]
        ),
        "by_heads": descents.rename(columns={"dim": "d", "error": "squared error / variance"}),
        "by_share": distances.reset_index(),
        "by_rows": regrets.reset_index(),
    }


def _distance(values: "Series[float]") -> str:
    return f"≤ {TINY:g}" if values.max() <= TINY else str(geometric(values))


def figures(rows: "DataFrame") -> "dict[str, Figure]":
    """Return errors against rows, what is certified of automata and programs, and distances of the memory."""
    return {
        "recovery": _recovery(heads_of(rows, "regression")),
        "execution": _execution(automata_of(rows), programs_of(rows)),
        "memory": _memory(memories_of(rows)),
    }


def _recovery(fits: "DataFrame") -> "Figure":
    figure, (clean, noisy) = plots.panels(1, 2, height=3.2)
    ends = []
    for d, part in fits.groupby("dim"):
        exact, errors = (part.groupby("ratio")[column] for column in ("error", "noisy"))
        means = exact.agg(lambda values: geometric(values).value)
        (line,) = clean.plot(means.index, means)
        for ratio in means.index[exact.min() <= TINY_ERROR]:
            plots.bound(clean, ratio, means[ratio], line.get_color(), "below")
        means = errors.agg(lambda values: geometric(values).value)
        (line,) = noisy.plot(means.index, means)
        if means.index[-1] == RATIOS[-1]:
            ends.append((line, f"d = {d}"))
        else:
            noisy.annotate(
                f"d = {d}", (1, means[1]), (5, 0), textcoords="offset points", color=line.get_color()
            )
    clean.text(1.4, 1e-18, "d = 2, 4, 8, 16:\nnothing but rounding", color="0.2")
    clean.set(title="exact labels", ylabel="squared error / variance", ylim=(1e-27, 10))
    noisy.set(title="noisy labels", ylim=(3e-4, 2e4))
    for axis in (clean, noisy):
        axis.axvline(1, color="0.4", linewidth=0.8)
        axis.set(xlabel="rows over features", xscale="log", yscale="log")
        axis.set_xticks([0.5, 1, 2, 4, 16], ["½", "1", "2", "4", "16"])
        axis.minorticks_off()
    plots.label_ends(noisy, ends)
    return figure


def _execution(runs: "DataFrame", jobs: "DataFrame") -> "Figure":
    """Draw the shares certified; the smallest and the largest size have a label, the others lie between."""
    figure, axes = plots.panels(1, 2, height=3.2, sharey=True)
    automata = [
        (Q, part.groupby("ratio").certified.mean()) for (Q, _), part in runs.groupby(["states", "letters"])
    ]
    sums = [
        (Q, part.groupby("ratio")[["whole", "jobs"]].sum())
        for (Q, _), part in jobs.groupby(["states", "symbols"])
    ]
    programs = [(Q, part.whole / part.jobs) for Q, part in sums]
    for axis, curves, low in ((axes[0], automata, (1.55, 0.85)), (axes[1], programs, (1.22, 0.38))):
        lines = [axis.plot(curve.index, curve)[0] for _, curve in curves]
        axis.text(1.12, 1.03, f"{curves[-1][0]} states", color=lines[-1].get_color())
        axis.text(*low, f"{curves[0][0]} states", color=lines[0].get_color())
        axis.axvline(1, color="0.4", linewidth=0.8)
        axis.set(xlabel="rows over rank", ylim=(-0.05, 1.12))
    axes[0].set(title="steps of automata", ylabel="share certified")
    axes[1].set(title="programs, to their end")
    return figure


def _memory(memory: "DataFrame") -> "Figure":
    figure, axes = plots.panels(1, 2, height=3.4, sharey=True)
    shares = sorted(memory.unitary.unique())
    places = {share: i for i, share in enumerate(shares)}
    learned, ends = memory[memory.heads == 0], []
    for column, label in (("distance", "least norm"), ("noisy", "with noise"), ("other", "another fit")):
        ends.append((_distances(axes[0], learned, column, places), label))
    axes[0].set_title("regression")
    plots.label_ends(axes[0], ends)
    ends = [
        (_distances(axes[1], part, "distance", places), f"H = {heads}")
        for heads, part in memory[memory.heads > 0].groupby("heads")
    ]
    axes[1].set_title("Adam with H heads")
    for axis in axes:
        axis.set_yscale("log")
        axis.set_xticks(list(places.values()), [f"{100 * share:g}" for share in shares])
        axis.set(xlabel="% orthonormal examples", ylim=(1e-14, 30))
    plots.label_ends(axes[1], ends)
    axes[0].set_ylabel("distance from the true parameters")
    return figure


def _distances(axis: "Axes", part: "DataFrame", column: str, places: Mapping[float, int]) -> "Line2D":
    """Draw the geometric means of a distance; one that rounding hides is a bound."""
    known = part[part[column].notna()]
    cells = known.groupby("unitary")[column]
    means = cells.agg(lambda values: geometric(values).value)
    (line,) = axis.plot([places[share] for share in means.index], means)
    for share in means.index[(cells.min() <= TINY).loc[means.index]]:
        plots.bound(axis, places[share], means[share], line.get_color(), "below")
    return line


STUDY = Study(
    "linear-attention",
    "When does regression recover linear attention, and does it know when it has?",
    tasks,
    seconds,
    trial,
    guard=600.0,
    numbers=numbers,
    tables=tables,
    figures=figures,
    page=Path(__file__).with_name("page.md"),
)
