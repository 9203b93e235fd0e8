"""The study `learner-scaling`: how many examples does each learner need at m heads?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest

from hardness import registry
from hardness.judging import EXACT, judge
from hardness.learning import plain
from hardness.study.outcome import Outcome
from hardness.study.page.drawing import INK, Drawing, style
from hardness.study.page.report import cell_text, table_page
from hardness.study.store import Row, Store
from hardness.study.study import Study
from hardness.study.task import Task
from learner.studies.curves import legend, look, rounded, timed
from learner.studies.layers import instance_of, task_of

QUESTION = "How many examples does each learner need at m heads?"
PHASES = "provable, phases alone"
Table = Sequence[Mapping[str, Any]]
NOTES = (
    "A trial is solved at relative error 1e-6 on fresh examples, on random layers of d = 8 and two tokens. "
    "“provable” is the six phases of the theorem and the polish that follows them; its polish alone would solve "
    "these layers from a random start. “phases alone” is what the phases end with, before the polish.",
    "A point is the least number tried at which at least half of the trials were solved; its bar reaches down to "
    "the largest number tried that solved fewer, and it is open where the least number tried sufficed (an upper "
    "bound). An open triangle: not solved at any number tried, up to the one where it stands (a lower bound, if "
    "more examples help at all). 8m examples have as many equations as there are unknowns. Seconds are the median "
    "wall-clock of a fit and its judgement at that point, on the machine of this run. The last column is the "
    "median error at the most examples; 0 stands for less than 1e-9.",
)


def tasks(quick: bool) -> list[Task]:
    """Examples to a relative error of 1e-6 against m: every learner at growing numbers of examples.

    m heads have 128m unknowns and an example gives 16 equations: 8m examples are the least that could do.
    """
    ratios = (12, 16, 24, 64) if quick else (12, 16, 20, 24, 32, 64)
    counts = (200, 2000) if quick else (200, 2000, 20_000, 200_000)
    return [
        task_of(m, 2, 8, {"kind": "learn", "learner": name}, count, r)
        for m in (range(1, 4) if quick else range(1, 9))
        for name in ("provable", "direct", "lbfgs")
        for count in (counts if name == "provable" else [m * ratio for ratio in ratios])
        for r in range(2 if quick else 5)
    ]


@timed
def trial(task: Task, root: int, guard: float) -> Outcome:
    """One trial. Deterministic in the task and the root seed."""
    outcome = _trial(task, root)
    return replace(outcome, detail=rounded(plain(outcome.detail)))


def _trial(task: Task, root: int) -> Outcome:
    instance = instance_of(task, root)
    count = int(task.budget["samples"])
    data = instance.examples(count, task.seed(root, "examples"))
    fresh = instance.examples(2000, task.seed(root, "fresh")).X
    learner = registry.get("learner", task.solver["learner"])(
        heads=instance.heads, random_state=task.seed(root, "solver") % 2**32
    )
    learner.fit(data.X, data.Y)
    scores = judge(instance, fresh, learner.predict(fresh))
    error = scores["relative_error"]
    status = (
        "refused"
        if learner.report_.status == "refused"
        else "solved"
        if error is not None and error <= EXACT
        else "wrong"
    )
    net = [p.diagnostics["relative_error"] for p in learner.report_.phases if p.name == "net"]
    return Outcome(status, count, {"relative_error": error, "net": net[0] if net else None})


def table(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Per learner and m: the least number of examples at which half of the trials were solved (None: never).

    `seconds` is the median wall-clock of the trials there, on the machine that ran them. The six phases without the
    polish that follows them are a line of their own, judged by their last error.
    """
    seen: dict[tuple[str, int], dict[int, list[float | None]]] = {}
    spent: dict[tuple[str, int, int], list[float]] = {}
    for row in rows:
        if row.outcome is not None and row.outcome.status in ("solved", "wrong", "refused"):
            name, m, count = row.task.solver["learner"], int(row.task.params["heads"]), int(row.task.budget["samples"])
            detail = row.outcome.detail
            error = detail["relative_error"] if row.outcome.status != "refused" else None
            seen.setdefault((name, m), {}).setdefault(count, []).append(error)
            spent.setdefault((name, m, count), []).append(row.outcome.seconds)
            if name == "provable":
                seen.setdefault((PHASES, m), {}).setdefault(count, []).append(detail["net"])
    lines = []
    for (name, m), grid in sorted(seen.items()):
        won = {c: [error is not None and error <= EXACT for error in errors] for c, errors in sorted(grid.items())}
        last = [1.0 if error is None else error for error in grid[max(grid)]]
        least = min((c for c in won if np.mean(won[c]) >= 0.5), default=None)
        seconds = spent.get((name, m, least)) if least is not None else None
        lines.append(
            {"learner": name, "m": m, "trials": sum(map(len, won.values())), "examples": least}
            | {"seconds": round(float(np.median(seconds)), 2) if seconds else None}
            | {
                "solved": {c: f"{sum(found)}/{len(found)}" for c, found in won.items()},
                "error at most examples": float(np.median(last)),
            }
        )
    return lines


def _intervals(table: Table) -> str:
    """What the numbers of solved trials say of the chance to solve one: exact 95 % intervals (Clopper and Pearson)."""
    counts = sorted({tuple(map(int, text.split("/"))) for line in table for text in line["solved"].values()})
    said = []
    for solved, tried in counts:
        low, high = binomtest(solved, tried).proportion_ci(method="exact")
        said.append(f"{solved}/{tried}: {low:.2g} to {high:.2g}")
    return f"Chance that a trial is solved, 95 % intervals by the number that were: {'; '.join(said)}."


def _figure(table: Table) -> Drawing:
    """Least examples that solve half of the trials, against m, with the last number that did not below it."""
    drawing = Drawing("learner-scaling", 7.6, 4.2)
    drawing.caption = "Least examples at which half of the trials are solved; bars: from the last number that failed."
    names = list(dict.fromkeys(line["learner"] for line in table))
    with style(drawing.name):
        axes = drawing.figure.subplots()
        sizes = sorted({line["m"] for line in table})
        axes.plot(sizes, [8 * m for m in sizes], color=INK, linestyle=(0, (5, 2)), linewidth=1.0)
        for i, name in enumerate(names):
            lines = [line for line in table if line["learner"] == name]
            own, aside = look(i), 0.12 * (i - (len(names) - 1) / 2)
            mark = {"color": own["color"], "marker": own["marker"]}
            solved = [line for line in lines if line["examples"]]
            axes.plot([e["m"] + aside for e in solved], [e["examples"] for e in solved], **own | {"marker": ""})
            for line in lines:
                x, tried = line["m"] + aside, line["solved"]
                tip = f"{name}, m = {line['m']}: solved {cell_text(tried)} of {line['trials']} trials"
                if not line["examples"]:
                    drawing.point(axes, x, max(tried), tip, color=own["color"], marker="^", markerfacecolor="none")
                    continue
                below = [count for count in tried if count < line["examples"]]
                axes.plot([x, x], [max(below, default=line["examples"]), line["examples"]], color=own["color"])
                drawing.point(axes, x, line["examples"], tip, **mark | ({} if below else {"markerfacecolor": "none"}))
        axes.set(yscale="log", xlabel="m", ylabel="examples")
        axes.set_xticks(sizes)
        axes.grid(axis="y")
        counting = {"8m: as many equations as unknowns": {"color": INK, "linestyle": (0, (5, 2)), "linewidth": 1.0}}
        legend(drawing, {name: look(i) for i, name in enumerate(names)} | counting, 3)
    return drawing


def _verdict(table: Table) -> str:
    said = []
    for name in dict.fromkeys(line["learner"] for line in table):
        lines = [line for line in table if line["learner"] == name]
        needs = sorted(line["examples"] / line["m"] for line in lines if line["examples"])
        never = [f"{line['m']}" for line in lines if not line["examples"]]
        most = max(count for line in lines for count in line["solved"])
        text = f"{needs[0]:.0f}m to {needs[-1]:.0f}m" if needs else "never"
        said.append(f"{name} {text}" + (f" (not up to {most:,} examples at m = {', '.join(never)})" if never else ""))
    sizes = [line["m"] for line in table]
    return f"Examples that solve at least half of the trials, m = {min(sizes)} to {max(sizes)}: {'; '.join(said)}."


def write(store: Store, folder: Path) -> str:
    """Write the page of `learner-scaling` into `folder`: a pure function of the rows. Returns its verdict."""
    lines = table(store.rows())
    drawings = [_figure(lines)] if lines else []
    verdict = _verdict(lines) if lines else "No trial has been run."
    return table_page(
        store, folder, QUESTION, verdict, lines, [*NOTES, *([_intervals(lines)] if lines else [])], drawings
    )


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    m, count = int(task.params["heads"]), float(task.budget["samples"])
    match task.solver["learner"]:
        case "provable":
            return float(0.05 + 0.006 * m**3 + 3.5e-6 * count)
        case "direct":  # below 16m examples hardly a start ends in a solution, and all are tried
            return float(0.05 + 0.005 * m**4 if count < 16 * m else 0.03 + 0.002 * m * m)
    return 0.1 + (0.03 if count < 20 * m else 0.012) * m * m


STUDY = Study("learner-scaling", QUESTION, tasks, seconds, trial, write, guard=600.0)
