"""Study `automata`: one linear-attention layer executes automata it has never seen, and knows when it can.

Automata in the tokens of one layer are this lab's design (`learner.programs.automata`); the experiment on automata of
Yau et al. (arXiv 2410.10101, appendix G.4) is of a large transformer, and is not repeated.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hardness.engine.outcome import Outcome
from hardness.engine.store import Row, Store
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.evaluation.adapters import plain
from hardness.report.drawing import INK, MUTED, Drawing, style
from hardness.report.report import table_page
from learner.linear import LinearAttention
from learner.programs.automata import execute, random_automata, span_rank, steps
from learner.studies.curves import curve, legend, look, share, timed

QUESTION = "After how many transitions does one linear-attention layer execute automata it has never seen?"

UNSEEN, WORD = 200, 20
SIZES = ((2, 2), (3, 2), (4, 2), (4, 4), (6, 3))
RATIOS = (0.5, 0.75, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0)  # rows to the rank of the span
Table = Sequence[Mapping[str, Any]]


def tasks(quick: bool) -> list[Task]:
    """Training rows from half to three times the rank of the span, for every number of states and letters."""
    return [
        Task("automata", {"states": Q, "letters": A}, {"method": "regression"}, {"samples": n}, r)
        for Q, A in SIZES[: 4 if quick else 5]
        for n in sorted({max(10, round(ratio * span_rank(Q, A))) for ratio in RATIOS})
        for r in range(8 if quick else 20)
    ]


def seconds(task: Task) -> float:
    """Predicted seconds of a trial."""
    return 0.01 + 8e-5 * float(task.budget["samples"])


@timed
def trial(task: Task, root: int, guard: float) -> Outcome:
    """Learn from random transitions, then run 200 unseen automata on words of length 20; solved if all runs are right.

    >>> task = Task("automata", {"states": 2, "letters": 2}, {"method": "regression"}, {"samples": 100}, 0)
    >>> outcome = trial(task, 0, 60.0)
    >>> outcome.status, outcome.detail["rank"], outcome.detail["certified"]
    ('solved', 20, 1.0)
    """
    Q, A, n = int(task.params["states"]), int(task.params["letters"]), int(task.budget["samples"])
    rng = np.random.default_rng(task.seed(root, "examples"))
    learner = LinearAttention(query=-1, random_state=0).fit(*steps(n, Q, A, rng))
    run = execute(learner, random_automata(UNSEEN, Q, A, rng), rng.integers(A, size=(UNSEEN, WORD)))
    return Outcome(
        "solved" if run.word_accuracy == 1 else "wrong",
        n,
        plain({"rank": learner.rank_, "steps": UNSEEN * WORD} | vars(run)),
    )


def table(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Per size and training rows: exact runs, accuracies of words and of steps, certified and not, and their counts."""
    found: dict[tuple[int, int, int], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row.outcome is not None and row.outcome.status in ("solved", "wrong"):
            key = int(row.task.params["states"]), int(row.task.params["letters"]), int(row.task.budget["samples"])
            found.setdefault(key, []).append(row.outcome.detail)
    lines = []
    for (Q, A, n), runs in sorted(found.items()):
        total = sum(run["steps"] for run in runs)
        sure = sum(round(run["certified"] * run["steps"]) for run in runs)
        right = sum(round(run["certified"] * run["steps"] * (run["certified_right"] or 0)) for run in runs)
        every = sum(round(run["step_accuracy"] * run["steps"]) for run in runs)
        lines.append(
            {"states": Q, "letters": A, "span": span_rank(Q, A), "rows": n, "rows/span": n / span_rank(Q, A)}
            | {"full": sum(run["rank"] == span_rank(Q, A) for run in runs), "runs": len(runs)}
            | {"exact": sum(run["word_accuracy"] == 1 for run in runs)}
            | {"words": share([run["word_accuracy"] for run in runs])}
            | {"certified": share([run["certified"] for run in runs]), "sure": sure, "sure right": right}
            | {"unsure": total - sure, "unsure right": every - right}
            | {
                "unsure share": share(lucky)
                if (lucky := [_uncertified(run) for run in runs if run["certified"] < 1])
                else None
            }
        )
    return lines


def _uncertified(run: Mapping[str, Any]) -> float:
    """Share of right steps among the uncertified ones."""
    sure = run["certified"]
    return float((run["step_accuracy"] - sure * (run["certified_right"] or 0)) / (1 - sure))


def write(store: Store, folder: Path) -> str:
    """Write the page of a store of this study into `folder`; returns its verdict line."""
    lines = table(store.rows())
    shown = [
        {"states": line["states"], "letters": line["letters"], "rank of the span": line["span"], "rows": line["rows"]}
        | {"rows/rank": f"{line['rows/span']:.3g}", "span full": f"{line['full']}/{line['runs']}"}
        | {"all words right": f"{line['exact']}/{line['runs']}", "words right": str(line["words"])}
        | {"steps certified": str(line["certified"]), "of these right": f"{line['sure right']:,}/{line['sure']:,}"}
        | {"of the others": f"{line['unsure right']:,}/{line['unsure']:,}"}
        for line in lines
    ]
    notes = (
        (
            "claimed",
            "ArXiv 2410.10101 (read): what linear attention can express, automata and universal machines "
            "included, is learned by regression in polynomial time. Its experiment on automata is of a transformer and "
            "is not repeated here; this embedding (a token a transition, state and letter in one coordinate) is this "
            "lab's.",
        ),
        (
            "measured",
            "A run learns from random transitions, each of an automaton of its own, and then executes "
            f"{UNSEEN} unseen automata on words of {WORD} letters, its own state fed back. The features of all such "
            "examples span QA(QA(Q−1) + 1) dimensions, counted exactly: fewer rows cannot fill them, and random rows "
            "need somewhat more. Intervals: 95 %, over runs.",
        ),
        "The paper's certificate never holds here (λ_min = 0: the span is far smaller than the feature space); the "
        "pointwise one is asked at every step: are the features of this input in the span of those seen? Chance, for "
        "uncertified steps, is 1/Q.",
    )
    terms = {
        "Q": "The number of states of an automaton.",
        "A": "The number of letters.",
        "λ_min": "The least eigenvalue of the features' second moment: above 0, they identify the layer.",
    }
    found = drawings(lines)
    return table_page(store, folder, QUESTION, verdict(lines), shown, notes, found, {"verdict": "measured"}, terms)


def verdict(lines: Table) -> str:
    """What was measured against what is claimed."""
    if not lines:
        return "No trial has been run."
    sure, right = (sum(line[name] for line in lines) for name in ("sure", "sure right"))
    unsure, lucky = (sum(line[name] for line in lines) for name in ("unsure", "unsure right"))
    needs = []
    for Q, A in dict.fromkeys((line["states"], line["letters"]) for line in lines):
        own = [line for line in lines if (line["states"], line["letters"]) == (Q, A)]
        least = min((line["rows"] for line in own if 2 * line["exact"] >= line["runs"]), default=None)
        times = f"{least / own[0]['span']:.3g} times" if least else "not at the most tried,"
        needs.append(f"({Q}, {A}) {times} {own[0]['span']}")
    return (
        f"Right were {right:,} of {sure:,} certified steps, and {lucky:,} of {unsure:,} others. At least half of the "
        f"runs execute all unseen automata after, in times the rank of the span for (states, letters): "
        f"{', '.join(needs)}. That rank, QA(QA(Q−1) + 1), is polynomial, as the paper claims of the "
        "number of examples that such layers need."
    )


def drawings(lines: Table) -> list[Drawing]:
    """Words right, steps certified, and accuracy of the uncertified, against rows over the rank of the span."""
    if not lines:
        return []
    looks = {f"Q = {Q}, A = {A}": look(i) for i, (Q, A) in enumerate(SIZES)}
    drawing = Drawing("execution", 10.6, 3.9)
    drawing.kinds = "measured"
    drawing.caption = "Means over runs with 95 % intervals, against training rows in units of the rank of the span."
    with style(drawing.name):
        panels = drawing.figure.subplots(1, 3, sharey=True)
        for Q, A in SIZES:
            own = [line for line in lines if (line["states"], line["letters"]) == (Q, A)]
            name = f"Q = {Q}, A = {A}"
            for axes, key in zip(panels, ("words", "certified"), strict=False):
                curve(drawing, axes, {e["rows/span"]: e[key] for e in own}, name, looks[name], "rows/rank")
            short = {e["rows/span"]: e["unsure share"] for e in own if e["unsure share"]}
            curve(drawing, panels[2], short, name, looks[name], "rows/rank")
        panels[2].axhline(1, color=INK, linewidth=1.4)
        panels[2].annotate("certified steps", (3, 1), ha="right", va="bottom", fontsize=8.5)
        for axes, title in zip(panels, ("words right throughout", "steps certified", "steps right"), strict=True):
            axes.axvline(1, color=MUTED, linewidth=0.8, linestyle=(0, (1.2, 1.5)))
            axes.set(xscale="log", title=title, xlabel="training rows / rank of the span", ylim=(-0.04, 1.08))
            axes.set_xticks((0.5, 1, 1.5, 2, 3), ("½", "1", "1½", "2", "3"))
            axes.set_xticks((), minor=True)
            axes.grid(axis="y")
        panels[2].set_title("uncertified steps right")
        legend(drawing, looks, 5)
    return [drawing]


STUDY = Study("automata", QUESTION, tasks, seconds, trial, write, role="appendix")
