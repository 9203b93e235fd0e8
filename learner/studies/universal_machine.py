"""Study `universal-machine`: programs run by one linear-attention layer that was trained on random transitions.

Yau et al. (arXiv 2410.10101, lemmas B.1 and A.8) state that such layers express and learn a universal machine; they run
no experiment. The machine and its tokens are this lab's (`learner.programs.machine`).
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
from hardness.report.drawing import MUTED, Drawing, style
from hardness.report.report import table_page
from learner.linear import LinearAttention
from learner.programs.machine import ADDITION, BUSY_BEAVER, PALINDROME, Integers, Machine, interpret
from learner.studies.curves import curve, legend, look, share, timed

QUESTION = "Does one linear-attention layer, trained on random transitions, run programs it has never seen?"

SIZES = ((3, 2), (4, 2), (6, 3))
RATIOS = (0.5, 0.8, 1.0, 1.1, 1.2, 1.36, 1.5, 1.7)  # rows to the rank of the span
PROGRAMS = {"addition": (ADDITION, (3, 2)), "palindrome": (PALINDROME, (6, 3)), "busy beaver": (BUSY_BEAVER, (4, 2))}
Job = tuple[str, Integers, list[int], int]  # name, program, tape, head
Table = Sequence[Mapping[str, Any]]


def jobs(machine: Machine, rng: np.random.Generator) -> list[Job]:
    """The named programs that fit `machine`, on random inputs, and ten random programs on random tapes."""
    found: list[Job] = []
    for a, b in rng.integers(1, 8, size=(3, 2)):
        found.append(("addition", machine.program(ADDITION), [1] * a + [0] + [1] * b + [0, 0], 0))
    if machine.states >= 4:
        found.append(("busy beaver", machine.program(BUSY_BEAVER), [0] * 24, 12))
    if machine.states >= 6 and machine.symbols >= 3:
        for size in (4, 5, 6):
            half = rng.integers(1, 3, size=size).tolist()
            for word in (half + half[::-1], rng.integers(1, 3, size=2 * size).tolist()):
                found.append(("palindrome", machine.program(PALINDROME), [0, *word, 0, 0], 1))
    for program in machine.random_programs(10, rng):
        found.append(("random", program, rng.integers(machine.symbols, size=12).tolist(), 6))
    return found


def tasks(quick: bool) -> list[Task]:
    """Training rows from half of the rank of the span to 1.7 times it, for three sizes of machine."""
    return [
        Task("machine", {"states": Q, "symbols": A}, {"method": "regression"}, {"samples": n}, r)
        for Q, A in SIZES[: 2 if quick else 3]
        for n in (round(ratio * Machine(Q, A).span_rank) for ratio in RATIOS)
        for r in range(4 if quick or Q == 6 else 20)
    ]


def seconds(task: Task) -> float:
    """Predicted seconds of a trial: a regression for every window, then the programs."""
    machine = Machine(int(task.params["states"]), int(task.params["symbols"]))
    return 0.05 + float(task.budget["samples"]) * (5e-5 + 6e-9 * machine.dim**2)


@timed
def trial(task: Task, root: int, guard: float) -> Outcome:
    """Learn from random transitions, then run every job until it halts or a step is not certified.

    Solved if all end as a Turing machine ends. `blind` counts what ends so when nothing is certified.

    >>> task = Task("machine", {"states": 3, "symbols": 2}, {"method": "regression"}, {"samples": 3000}, 0)
    >>> outcome = trial(task, 0, 60.0)
    >>> outcome.status, outcome.detail["rank"] == Machine(3, 2).span_rank
    ('solved', True)
    """
    machine, n = Machine(int(task.params["states"]), int(task.params["symbols"])), int(task.budget["samples"])
    rng = np.random.default_rng(task.seed(root, "examples"))
    learner = LinearAttention(query=-1, random_state=0).fit(*machine.steps(n, rng))
    found: dict[str, dict[str, int]] = {}
    for name, program, tape, head in jobs(machine, rng):
        truth = interpret(program, tape, head=head, max_steps=200)
        run = machine.run(learner, program, tape, head=head, max_steps=200)
        blind = machine.run(learner, program, tape, head=head, max_steps=200, trust=True)
        count = found.setdefault(name, dict.fromkeys(("jobs", "whole", "blind", "needed", "steps", "wrong"), 0))
        count["jobs"] += 1
        count["whole"] += (run.status, run.history) == (truth.status, truth.history)
        count["blind"] += (blind.status, blind.history) == (truth.status, truth.history)
        count["needed"] += truth.steps
        count["steps"] += run.steps
        count["wrong"] += sum(a != b for a, b in zip(run.history, truth.history, strict=False))
    whole = all(count["whole"] == count["jobs"] for count in found.values())
    return Outcome("solved" if whole else "wrong", n, plain({"rank": learner.rank_, "programs": found}))


def table(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Per machine, rows and program: jobs run to their end with every step certified, and without asking."""
    found: dict[tuple[int, int, int], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row.outcome is not None and row.outcome.status in ("solved", "wrong"):
            key = int(row.task.params["states"]), int(row.task.params["symbols"]), int(row.task.budget["samples"])
            found.setdefault(key, []).append(row.outcome.detail)
    lines = []
    for (Q, A, n), runs in sorted(found.items()):
        span = Machine(Q, A).span_rank
        for name in dict.fromkeys(name for run in runs for name in run["programs"]):
            counts = [run["programs"][name] for run in runs if name in run["programs"]]
            total = {key: sum(count[key] for count in counts) for key in counts[0]}
            lines.append(
                {"states": Q, "symbols": A, "span": span, "rows": n, "rows/span": n / span, "program": name}
                | {"runs": len(runs), "full": sum(run["rank"] == span for run in runs)}
                | total
                | {key: share([count[part] / count["jobs"] for count in counts])
                   for key, part in (("share", "whole"), ("blind share", "blind"))}
            )  # fmt: skip
    return lines


def write(store: Store, folder: Path) -> str:
    """Write the page of a store of this study into `folder`; returns its verdict line."""
    lines = table(store.rows())
    shown = [
        {"states": line["states"], "symbols": line["symbols"], "rank of the span": line["span"], "rows": line["rows"]}
        | {"rows/rank": f"{line['rows/span']:.3g}", "span full": f"{line['full']}/{line['runs']}"}
        | {"program": line["program"], "certified to the end": f"{line['whole']}/{line['jobs']}"}
        | {"certified steps": f"{line['steps']:,}/{line['needed']:,}", "of these wrong": line["wrong"]}
        | {"right without asking": f"{line['blind']}/{line['jobs']}"}
        for line in lines
    ]
    notes = (
        (
            "claimed",
            "ArXiv 2410.10101, lemmas B.1 and A.8 (read): linear attention expresses a universal Turing machine "
            "of bounded history, and regression learns it in polynomial time; no experiment is reported. This machine "
            "is this lab's: programs of Q states and A symbols are tokens, one a rule, and the layer says for every "
            "cell of a bounded tape what it is next. Outside the layer its outputs are rounded, and nothing else is "
            "computed.",
        ),
        (
            "measured",
            "Trained on random transitions of random programs only; run on unary addition, on the palindrome check, on "
            "the busy beaver of four states and on random programs, with random inputs. A job stops at the first "
            "step that is not certified: some cell's features are outside the span of those seen. Right without "
            "asking: the same with nothing certified. Certified steps are counted of those the program needs, wrong "
            "ones against an interpreter.",
        ),
        "The features of all examples span as many dimensions as the table says (exact count). A random program may "
        "leave the tape or run on beyond the limit of steps: a run is right if it does so too. Intervals: 95 %, over "
        "runs.",
    )
    terms = {"Q": "The number of states of a machine.", "A": "The number of symbols on its tape."}
    found = drawings(lines)
    return table_page(store, folder, QUESTION, verdict(lines), shown, notes, found, {"verdict": "measured"}, terms)


def verdict(lines: Table) -> str:
    """What was measured against what is claimed."""
    if not lines:
        return "No trial has been run."
    said = []
    for name in (*PROGRAMS, "random"):
        whole = [line for line in lines if line["program"] == name and line["full"] == line["runs"]]
        if whole:
            done, total = (sum(line[key] for line in whole) for key in ("whole", "jobs"))
            said.append(f"{name} {done}/{total}")
    steps, wrong = (sum(line[key] for line in lines) for key in ("steps", "wrong"))
    short = [line for line in lines if not line["full"]]
    done, total = (sum(line[key] for line in short) for key in ("blind", "jobs"))
    return (
        f"Where the training rows fill the span, jobs ended as they should with every step certified: "
        f"{', '.join(said) or 'none tried'}. Of {steps:,} certified steps at any number of rows {wrong} were wrong. "
        f"Where the rows do not fill the span, {done:,} of {total:,} jobs end right if nothing is asked, and nothing "
        "tells which. The paper claims that such layers express a universal machine and that regression learns them; "
        "this bounded one is learned and run."
    )


def drawings(lines: Table) -> list[Drawing]:
    """Share of jobs certified to their end, and right without asking, against rows over the rank of the span."""
    if not lines:
        return []
    looks = {name: look(i) for i, name in enumerate((*PROGRAMS, "random"))}
    sizes = [size for size in SIZES if any((line["states"], line["symbols"]) == size for line in lines)]
    drawing = Drawing("programs", 1.2 + 3.2 * len(sizes), 5.6)
    drawing.kinds = "measured"
    drawing.caption = "Shares of jobs, means over runs with 95 % intervals. Q states, A symbols."
    with style(drawing.name):
        panels = drawing.figure.subplots(2, len(sizes), sharex=True, sharey=True, squeeze=False)
        for column, (Q, A) in zip(panels.T, sizes, strict=True):
            for name in looks:
                own = [e for e in lines if (e["states"], e["symbols"], e["program"]) == (Q, A, name)]
                for axes, key in zip(column, ("share", "blind share"), strict=True):
                    curve(drawing, axes, {e["rows/span"]: e[key] for e in own}, name, looks[name], "rows/rank")
            column[0].set_title(f"Q = {Q}, A = {A}, rank {Machine(Q, A).span_rank:,}")
            column[1].set_xlabel("training rows / rank of the span")
            for axes in column:
                axes.axvline(1, color=MUTED, linewidth=0.8, linestyle=(0, (1.2, 1.5)))
                axes.set_ylim(-0.06, 1.06)
                axes.grid(axis="y")
        panels[0, 0].set_ylabel("certified to the end")
        panels[1, 0].set_ylabel("right without asking")
        legend(drawing, looks)
    return [drawing]


STUDY = Study("universal-machine", QUESTION, tasks, seconds, trial, write, guard=600.0, role="appendix")
