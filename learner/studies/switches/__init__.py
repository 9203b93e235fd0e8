"""The study `switches`: what makes parities easy again, each switch with both bounds and what was measured.

From the top: the grid, the trials, the numbers of the article, its tables and figures. Bounds stand in bounds.py.
"""

from math import comb, log2, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hardness import registry
from hardness.attacks.gaussian import FULL_RANK
from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.families.controls import blocks_of
from hardness.io.rounding import at_least, at_most
from hardness.report import plots
from hardness.statistics import Mean, mean, regress
from hardness.studies.trials import instance_of, online
from learner.studies.switches import bounds

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

SIZE, BLOCKS = 6, (1, 2, 3, 6)  # s of the chains, and the sizes g of their blocks; g = s is no help
CHAIN_DIMS = {1: (12, 16, 24, 32), 2: (12, 16, 20, 24), 3: (10, 12, 14, 16), 6: (12, 14, 16, 20)}
CHAIN_CAP, RUNS = 20_000_000, 4  # of taught and of untaught students
# Settings by g that won the same menu at d = 12, on seeds that are not measured; the runs are tuning.csv
TUNED = {
    1: {"rate": 0.03, "batch": 64, "l1": 0.25},
    2: {"rate": 0.03, "batch": 256, "l1": 0.06},
    3: {"rate": 0.003, "batch": 64, "l1": 0.01},
    6: {"rate": 0.003, "batch": 64, "l1": 0.01},
}

BIASES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
TAUGHT_SIZE, TAUGHT_BIASES, TAUGHT_DIMS, TAUGHT_CAP = 3, (0.0, 0.3, 0.5, 0.7, 0.9), (10, 12, 16), 2_000_000

FLIPS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)
NOISY_BITS, NOISY_SIZE, NOISY_RUNS = 20, 4, 20
SHOWN, MOST_TRIES = 20_000, 200_000  # examples that elimination is handed, and the tries that it may take


def tasks(quick: bool) -> list[Task]:
    """Return trials of learners on parities of nested sets or biased bits, and of elimination on flipped labels."""
    cap, runs = (20_000, 2) if quick else (CHAIN_CAP, RUNS)
    plain: dict[str, Any] = {"kind": "learner", "learner": "student", "params": {}}
    cells: list[tuple[str, dict[str, Any], dict[str, Any], int]] = [
        ("nested", {"dim": d, "size": SIZE, "block": g}, student(g), cap)
        for g in BLOCKS
        for d in (CHAIN_DIMS[g][:1] if quick else CHAIN_DIMS[g])
    ]
    cells += [
        ("parity", {"dim": d, "heads": TAUGHT_SIZE, "bias": mu}, plain, min(cap, TAUGHT_CAP))
        for mu in ((0.5,) if quick else TAUGHT_BIASES)
        for d in (TAUGHT_DIMS[:1] if quick else TAUGHT_DIMS)
    ]
    noisy = {"dim": NOISY_BITS + 1, "heads": NOISY_SIZE}
    elimination = {"kind": "elimination", "tolerance": 0.05}
    return [
        Task(family, params, solver, {"samples": most}, run)
        for family, params, solver, most in cells
        for run in range(runs)
    ] + [
        Task("parity", {**noisy, "flip": eta}, elimination, {}, run)
        for eta in (FLIPS[::2] if quick else FLIPS)
        for run in range(2 if quick else NOISY_RUNS)
    ]


def student(g: int) -> dict[str, Any]:
    """Return the `solver` of tasks whose labels show parities of sets S_1 ⊂ S_2 ⊂ …, each g bits larger than the last.

    If g is the size of the largest set, its parity is all that is shown, and the learner is the plain `student`.
    """
    # A `ChainStudent` of one label, which reads signs alone, learns nothing even from five times as many examples.
    if g == SIZE:
        return {"kind": "learner", "learner": "student", "params": TUNED[g]}
    params = {"labels": len(blocks_of(SIZE, g)), **TUNED[g]}
    return {"kind": "learner", "learner": "learner.chain:ChainStudent", "params": params}


def seconds(task: Task) -> float:
    """Return the predicted seconds of a trial."""
    if task.solver["kind"] != "learner":
        return 1.0
    n, g = int(task.params["dim"]) - 1, int(task.params.get("block", TAUGHT_SIZE))
    spent = min(float(task.budget["samples"]), 4e3 * comb(n, g))
    return float(0.5 + int(task.solver["params"].get("labels", 1)) * spent * (4e-7 + 3.2e-9 * n * n))


def trial(task: Task, root: int, guard: float) -> Outcome:
    """Return how many examples an online learner needs, or how many subsets of noisy examples elimination tries.

    >>> trial(next(t for t in tasks(True) if t.solver["kind"] == "elimination"), 0, 60.0).cost
    1
    """
    if task.solver["kind"] == "learner":
        return online(task, root, guard)
    instance, stream = instance_of(task, root), task.seed(root, "examples")
    data, seed = instance.examples(SHOWN, stream), task.seed(root, "solver") % 2**32
    attack = registry.get("attack", "gaussian")
    ended = attack(data.X, data.Y, instance.public(stream), budget=MOST_TRIES, seed=seed)
    right = ended.secret is None or ended.secret["support"] == instance.secret["support"].tolist()
    return Outcome(ended.status if right else "wrong", ended.detail.get("tries"))


SHOWN_BITS, SHOWN_TOLERANCE = 63, 0.02  # of the figure of proved bounds


def students(rows: "DataFrame", family: str, key: str) -> "DataFrame":
    """Return one line per d and value of the column `key` for the runs of online learners on a `family`.

    `key` is "block" for nested parities, "bias" for plain ones. A line has the examples of each run (`costs`), counts
    of `runs` and `solved` ones, `whole` if all are, and the geometric mean `paid`, a lower bound unless all are.
    """
    runs = rows[(rows.kind == "learner") & (rows.family == family) & rows.status.isin(("solved", "budget"))]
    runs = runs.assign(cost=runs.cost.astype(float), won=runs.status == "solved")
    lines = runs.groupby([key, "dim"]).agg(costs=("cost", list), runs=("won", "size"), solved=("won", "sum"))
    lines = lines.reset_index()
    return lines.assign(whole=lines.solved == lines.runs, paid=[mean(costs, True) for costs in lines.costs])


def exponent(lines: "DataFrame") -> str:
    """Return as text the power of d with which examples grow, and its 95 % interval, where all runs were solved."""
    whole = lines[lines.whole].explode("costs").astype({"dim": float, "costs": float})
    X = np.stack([np.ones(len(whole)), np.log2(whole.dim)], axis=1)
    fit = regress(X, np.log2(whole.costs.to_numpy()), np.zeros(len(whole), bool))
    low, high = fit.limits(1)
    return f"{fit.beta[1]:.3g} [{low:.3g}, {high:.3g}]"


def proved(g: int, mu: float) -> tuple[float, int | None]:
    """Return queries needed and queries enough for 6 of 63 bits of mean μ, shown in parts of g bits (theory 2.9)."""
    chain = SHOWN_BITS, blocks_of(SIZE, g), SHOWN_TOLERANCE, mu
    return bounds.chain_bound(*chain), bounds.chain_enough(*chain)


def numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return by name every number that the article prints."""
    chains, biased = students(rows, "nested", "block"), students(rows, "parity", "bias")
    untaught, taught = chains[chains.block == SIZE], chains[chains.block == 1]
    both = taught.merge(untaught[untaught.whole], on="dim", suffixes=("", "_untaught")).iloc[-1]
    interval = bounds.bias_interval(SIZE, SHOWN_TOLERANCE)
    assert interval is not None
    extreme = biased[biased.bias == max(TAUGHT_BIASES)]
    largest = biased[(biased.dim == TAUGHT_DIMS[-1]) & biased.whole].set_index("bias").paid
    least = min(largest.drop(0.0), key=lambda paid: paid.value)
    noisy = rows[(rows.kind == "elimination") & (rows.flip == FLIPS[-1])].cost
    return {
        "s": SIZE,
        "n": SHOWN_BITS,
        "tau": SHOWN_TOLERANCE,
        "alone": f"{proved(SIZE, 0.0)[0]:,.0f}",
        "students": {
            "d": int(both.dim),
            "sets": comb(int(both.dim) - 1, SIZE),
            "taught": _two(both.paid),
            "untaught": _two(both.paid_untaught),
            "solved": int(untaught.solved.sum()),
            "runs": int(untaught.runs.sum()),
            "exponents": [exponent(taught), exponent(untaught)],
            "sizes": int(untaught.whole.sum()),
            "missed": ", ".join(map(str, untaught[~untaught.whole].dim)),
            "cap": CHAIN_CAP,
            "each": RUNS,
        },
        "bias": {
            "from": at_most(interval[0]),
            "to": at_least(interval[1]),
            "end": at_most(sqrt(1 - 4 * SHOWN_TOLERANCE)),
            "d": TAUGHT_DIMS[-1],
            "size": TAUGHT_SIZE,
            "saved": at_least(largest[0.0].value / least.value, 2),
            "solved": int(extreme.solved.sum()),
            "runs": int(extreme.runs.sum()),
            "cap": TAUGHT_CAP,
        },
        "noise": {
            "n": NOISY_BITS,
            "flip": FLIPS[-1],
            "factor": round((1 - 2 * FLIPS[-1]) ** -2),
            # Geometric: the chance that n + 1 equations have full rank, and that n labels are right
            "rank": round(FULL_RANK, 2),
            "tries": round(1 / (FULL_RANK * (1 - FLIPS[-1]) ** NOISY_BITS)),
            "mean": round(noisy.mean()),
            "runs": len(noisy),
        },
    }


def _two(paid: Mean) -> str:
    return f"{float(f'{paid.value:.2g}'):,.0f}"


def figures(rows: "DataFrame") -> "dict[str, Figure]":
    """Return the figures of proved bounds on queries and of learners' examples, for nested sets and biased bits."""
    chains, biased = students(rows, "nested", "block"), students(rows, "parity", "bias")
    return {"bounds": _bounds_figure(), "students": _students_figure(chains, biased)}


def _bounds_figure() -> "Figure":
    """Draw queries proved to be enough, and needed, if parities of nested sets, g bits apart, are shown, by bias."""
    figure, (left, right) = plots.panels(1, 2, height=3.3, sharey=True)
    enough, needed = [], []
    for g in BLOCKS:
        pairs = [proved(g, mu) for mu in BIASES]
        label = f"g = {g}" if g < SIZE else "unaided"
        known = [(mu, log2(most)) for mu, (_, most) in zip(BIASES, pairs, strict=True) if most]
        enough.append((left.plot(*zip(*known, strict=True), "o-")[0], label))
        needed.append((right.plot(BIASES, [log2(max(least, 1.0)) for least, _ in pairs], "o-")[0], label))
    alone = log2(proved(SIZE, 0.0)[0])
    left.text(0.95, alone + 0.4, "needed unaided", color="0.35", ha="right")
    left.axhline(alone, linestyle="--", color="0.35", linewidth=1)
    left.set(title="enough (proved)", xlabel="bias μ", ylabel="log₂ of the queries")
    right.set(title="needed (proved)", xlabel="bias μ")
    plots.label_ends(left, enough)
    plots.label_ends(right, needed)
    return figure


def _students_figure(chains: "DataFrame", biased: "DataFrame") -> "Figure":
    figure, axes = plots.panels(1, 2, height=3.3)
    for axis, lines, key, x, name in (
        (axes[0], chains, "block", "dim", "g"),
        (axes[1], biased, "dim", "bias", "d"),
    ):
        ends = []
        for value, part in lines.groupby(key):
            whole = part[part.whole]
            (line,) = axis.plot(whole[x], [paid.value for paid in whole.paid], "o-")
            low, high = zip(*((paid.low, paid.high) for paid in whole.paid), strict=True)
            axis.vlines(whole[x], low, high, color=(color := line.get_color()))
            for _, cell in part[~part.whole].iterrows():
                plots.bound(axis, cell[x], cell.paid.value, color)
            ends.append((line, "unaided" if (name, value) == ("g", SIZE) else f"{name} = {value}"))
        axis.set(yscale="log", xlabel="d" if x == "dim" else "bias μ")
        axis.margins(y=0.12)  # of arrows
        plots.label_ends(axis, ends)
    axes[0].set(title=f"labels of parts of g bits, s = {SIZE}", ylabel="examples")
    axes[1].set(title=f"biased inputs, s = {TAUGHT_SIZE}")
    return figure


STUDY = Study(
    "switches",
    "What makes hidden parities easy again, and what does each switch leave of the bounds?",
    tasks,
    seconds,
    trial,
    guard=900.0,
    numbers=numbers,
    figures=figures,
    page=Path(__file__).with_name("page.md"),
)
