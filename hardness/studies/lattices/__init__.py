"""lattices: how far a lattice attack and integer BKW get on rounding, and whether their times were predicted."""

from collections.abc import Iterator
from functools import cache
from math import log2
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

from hardness import registry
from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.report import plots

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

PANELS = ((97, 2), (97, 4), (97, 8), (257, 16))
FILES = {"lattice": 80_000, "bkw": 40_000}  # examples
RUNS = 3
Sizes = dict[tuple[str, str], tuple[tuple[int, ...], ...]]
# Dimensions by attack, from a file or from a stream, and by panel.
GRID: Sizes = {
    ("lattice", "file"): ((28, 32, 34, 40), (40, 56), (80, 88), (88, 112)),
    ("lattice", "stream"): ((36, 46, 64), (56, 66), (88, 100), (112, 130)),
    ("bkw", "file"): ((32, 40), (40,), (40,), ()),
    ("bkw", "stream"): ((48, 56, 62, 66), (64, 72), (76, 84), (80,)),
}
# Larger ones from a stream, one run each: one that is tried, and the least even one that is refused as out of reach.
BEYOND: Sizes = {
    ("lattice", "stream"): ((50, 58), (72, 84), (104, 116), (140, 160)),
    ("bkw", "stream"): ((70, 76), (82, 92), (92, 102), (96, 106)),
}
QUICK: Sizes = {
    ("lattice", "file"): ((28, 40), (40,), (80,), (88,)),
    ("lattice", "stream"): ((36,), (), (88,), ()),
    ("bkw", "file"): ((32, 40), (40,), (), ()),
    ("bkw", "stream"): ((48,), (), (76,), ()),
}
Cell = tuple[str, int | None, int, int, int]  # attack, examples of a file, q, p, n


def tasks(quick: bool) -> list[Task]:
    """Return trials of the lattice attack and BKW on rounding at growing dimensions, from files and from streams."""
    wanted = [
        task(*cell, run) for run in range(1 if quick else RUNS) for cell in _sizes(QUICK if quick else GRID)
    ]
    return wanted if quick else wanted + [task(*cell, 0) for cell in _sizes(BEYOND)]


def _sizes(grid: Sizes) -> Iterator[Cell]:
    for (attack, source), panels in grid.items():
        for (q, p), sizes in zip(PANELS, panels, strict=True):
            yield from ((attack, FILES[attack] if source == "file" else None, q, p, n) for n in sizes)


def task(attack: str, samples: int | None, q: int, p: int, n: int, run: int) -> Task:
    """Return an attack on n secret coordinates, rounded from mod q to p levels; `samples` None means a stream."""
    params = {"dim": n + 1, "modulus": q, "levels": p}
    budget = {} if samples is None else {"samples": samples}
    return Task("rounding", params, {"kind": "cryptanalysis", "attack": attack}, budget, run)


PREDICTED = ("predicted_seconds", "forecast_seconds", "steps", "log2_rows", "vanish")
SPENT = ("selected_away", "trials", "block_size", "log2_nodes", "rank", "reason")


def trial(task: Task, root: int, guard: float) -> Outcome:
    """Run an attack on an instance; its `seconds` are CPU time, which for a stream includes making the examples."""
    from hardness.attacks.bkw import bkw_stream
    from hardness.attacks.lattice import lattice_stream
    from hardness.attacks.streams import Stream
    from hardness.studies.trials import instance_of

    warm()
    instance = instance_of(task, root)
    sampling, seed, name = task.seed(root, "examples"), task.seed(root, "solver"), task.solver["attack"]
    if "samples" in task.budget:
        data = instance.examples(int(task.budget["samples"]), sampling)
        begin = process_time()
        ended = registry.get("attack", name)(data.X, data.Y, instance.public(sampling), seed=seed)
    else:
        begin = process_time()
        ended = {"bkw": bkw_stream, "lattice": lattice_stream}[name](Stream(instance, sampling), seed)
    spent = process_time() - begin
    detail = {name: ended.detail[name] for name in (*PREDICTED, *SPENT) if name in ended.detail}
    detail["error_mass"] = instance.certificate["error_mass"]
    right = ended.secret == {name: value.tolist() for name, value in instance.secret.items()}
    status = "wrong" if ended.status == "solved" and not right else ended.status
    return Outcome(status, ended.samples_used or None, detail, seconds=spent)


@cache
def warm() -> None:
    """Run lattice attack and BKW once on something small, so that no trial pays for the loading of what is compiled."""
    from hardness.families.rounding import Rounding
    from hardness.instance import Instance

    instance = Instance.generate(Rounding(17, 97, 4), seed=0)
    data = instance.examples(8000, 0)
    for name in FILES:
        registry.get("attack", name)(data.X, data.Y, instance.public(0), seed=0)


def seconds(task: Task) -> float:
    """Return the seconds that a trial is expected to take."""
    return float(task.params["dim"]) / (4 if "samples" not in task.budget else 10)


JUDGED_SECONDS = 2.0  # a time or prediction below this counts as this
NAMES = {"lattice": "lattice", "bkw": "integer BKW"}


def cells(rows: "DataFrame") -> "DataFrame":
    """Return one line per modulus q, levels p, dimension n and attack: runs, solved runs, and whether all were refused.

    `took` is the median of the solved runs' seconds, `predicted` that of all predictions; each counts as 2 s at least.
    """
    solved = rows.status == "solved"
    table = rows.assign(
        q=rows.modulus,
        p=rows.levels,
        n=rows.dim - 1,
        solved=solved,
        refused=rows.status == "refused",
        took=rows.seconds.astype(float).clip(lower=JUDGED_SECONDS).where(solved),
        predicted=rows.predicted_seconds.fillna(rows.forecast_seconds)
        .astype(float)
        .clip(lower=JUDGED_SECONDS),
    )
    return table.groupby(["q", "p", "n", "attack"], as_index=False).agg(
        runs=("status", "size"),
        solved=("solved", "sum"),
        refused=("refused", "all"),
        predicted=("predicted", "median"),
        took=("took", "median"),
    )


def reach(table: "DataFrame", q: int, p: int, attack: str) -> dict[str, Any]:
    """Return the largest n that an attack solved at modulus q and p levels, the next n tried, and how that ended."""
    tried = table[(table.q == q) & (table.p == p) & (table.attack == attack)]
    largest = tried[tried.solved > 0].iloc[-1]
    beyond = tried[tried.n > largest.n].iloc[0]
    return {
        "n": largest.n,
        "runs": f"{largest.solved} of {largest.runs}",
        "next": beyond.n,
        "ended": "refused" if beyond.refused else f"{beyond.solved} of {beyond.runs} solved",
    }


def numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return by name every number that the article prints."""
    table = cells(rows)
    far = {name: [reach(table, q, p, name) for q, p in PANELS] for name in FILES}
    compared = table[(table.took > JUDGED_SECONDS) & (table.predicted > JUDGED_SECONDS)]
    ends = [size["ended"] for sizes in far.values() for size in sizes]
    return {
        "largest": {name: [int(sizes[0]["n"]), int(sizes[-1]["n"])] for name, sizes in far.items()},
        "compared": len(compared),
        "error": round(2 ** float((compared.took / compared.predicted).map(log2).abs().median()), 1),
        "range": [round(compared.took.min()), round(compared.took.max())],
        "missed": {row.levels: row.dim - 1 for row in rows[rows.status == "budget"].itertuples()},
        "rows": f"{rows.cost.max():,.0f}",
        "file": [
            FILES["lattice"],
            int(rows[(rows.status == "refused") & rows.samples.notna()].dim.min()) - 1,
        ],
        "refused": ends.count("refused"),
        "ends": len(ends),
    }


def tables(rows: "DataFrame") -> "dict[str, DataFrame]":
    """Return the table of the largest dimension that each attack solved, at each modulus q and number of levels p."""
    import pandas as pd

    table, far = cells(rows), []
    for q, p in PANELS:
        line = {"q": str(q), "p": str(p)}
        for name in FILES:
            line |= {f"{NAMES[name]} {field}": end for field, end in reach(table, q, p, name).items()}
        far.append(line)
    return {"by_size": pd.DataFrame(far)}


def figures(rows: "DataFrame") -> "dict[str, Figure]":
    """Return the figure of attacks' CPU seconds against n for each (q, p); runs on files have hollow markers."""
    sources = [(cells(rows[rows.samples.isna()]), None), (cells(rows[rows.samples.notna()]), "white")]
    figure, axes = plots.panels(2, 2, height=2.5, sharey=True)
    for axis, (q, p) in zip(axes.flat, PANELS, strict=True):
        ends = []
        for attack, color in (("lattice", "C0"), ("bkw", "C1")):
            for table, face in sources:
                part = table[(table.q == q) & (table.p == p) & (table.attack == attack)]
                solved, refused = part[part.solved > 0], part[part.refused]
                missed = part[(part.solved == 0) & ~part.refused]
                style = {"color": color, "markerfacecolor": face or color, "linewidth": 1}
                (line,) = axis.plot(solved.n, solved.took, "o", linestyle=":" if face else "-", **style)
                axis.plot(refused.n, [512.0] * len(refused), "+" if face else "x", color=color)
                axis.plot(missed.n, [256.0] * len(missed), "v", color=color)
                if not face:
                    ends.append((line, NAMES[attack]))
        axis.set(title=f"q = {q}, p = {p}", xlabel="secret coordinates n", ylim=(1.6, 700))
        axis.set_yscale("log", base=2)
        axis.set_yticks([2, 8, 32, 128, 256, 512], ["≤ 2", "8", "32", "128", "missed", "refused"])
        plots.label_ends(axis, ends)
    for axis in axes[:, 0]:
        axis.set_ylabel("processor seconds")
    return {"seconds": figure}


STUDY = Study(
    "lattices",
    "How far do a lattice attack and integer BKW get on rounding, and were their times predicted?",
    tasks,
    seconds,
    trial,
    guard=600.0,
    numbers=numbers,
    tables=tables,
    figures=figures,
    page=Path(__file__).with_name("page.md"),
    timed=True,
)
