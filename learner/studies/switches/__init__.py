"""The study `switches`: what makes parities easy again, each switch with both bounds and what was measured.

From the top: the grid, the lines of the article, its numbers, tables and figures. The trials are in trials.py, games
and bounds in games.py and bounds.py, the settings of students in tuning.py.
"""

from math import ceil, comb, log2, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.attacks.gaussian import FULL_RANK
from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.families.controls import blocks_of
from hardness.io.rounding import at_least, at_most
from hardness.report import plots
from hardness.sq.bounds.parity import window_bound
from hardness.statistics.means import Mean, mean, slope
from learner.studies.switches import bounds, tuning
from learner.studies.switches.tuning import BLOCKS as BLOCKS
from learner.studies.switches.tuning import SIZE as SIZE

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

CHAIN_TOLERANCE, CHAIN_BITS = 0.05, (12, 14, 16, 18, 20)  # games on chains of n bits
CHAIN_PLAYED = ("characters", "sign-batch")
# Of students
CHAIN_DIMS = {1: (12, 16, 24, 32), 2: (12, 16, 20, 24), 3: (10, 12, 14, 16), 6: (12, 14, 16, 20)}
CHAIN_CAP, RUNS = 20_000_000, 4  # of taught and of untaught students

BIASES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
BIAS_SIZE, BIAS_TOLERANCE, BIAS_BITS = 4, 0.02, (12, 14, 16, 20, 24)
TAUGHT_SIZE, TAUGHT_BIASES, TAUGHT_DIMS, TAUGHT_CAP = 3, (0.0, 0.3, 0.5, 0.7, 0.9), (10, 12, 16), 2_000_000

PARITY_DIMS, PARITY_SIZE = (64, 128, 256, 512), 6
ROUNDINGS = ((97, 2, 16), (97, 2, 32), (97, 2, 64), (257, 16, 32), (257, 16, 64), (257, 16, 128))  # (q, p, n)
LAYERS = ((2, 2, 8), (3, 2, 8), (3, 2, 16), (3, 4, 16))  # (m, k, d)
ASKED = 3  # runs of each

FLIPS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)
NOISY_BITS, NOISY_SIZE, NOISY_TOLERANCE = 20, 4, 0.05
TRIED = {"sq": 2, "low degree": 5, "elimination": 20, "lattice": 2}  # models of computation, and runs of each
MOST_TRIES = 200_000  # of elimination


def tasks(quick: bool) -> list[Task]:
    """Return games, students, membership learners and the four models; the small grid has a point or two of each."""
    return [*_chains(quick), *_biased(quick), *_membership(quick), *_noisy(quick)]


def _chains(quick: bool) -> list[Task]:
    trials = []
    for g in BLOCKS:
        chain = {"size": SIZE, "block": g}
        for n in CHAIN_BITS[:3] if quick else CHAIN_BITS:
            for strategy in CHAIN_PLAYED:
                solver = {"kind": "chain", "strategy": strategy, "tolerance": CHAIN_TOLERANCE}
                trials.append(Task("nested", {"dim": n + 1, **chain}, solver, {}, 0))
        cap, runs = (20_000, 2) if quick else (CHAIN_CAP, RUNS)
        for d in CHAIN_DIMS[g][:1] if quick else CHAIN_DIMS[g]:
            trials += [tuning.task(g, d, tuning.tuned(g), cap, run) for run in range(runs)]
    return trials


def _biased(quick: bool) -> list[Task]:
    trials = []
    for mu in (0.0, 0.6) if quick else BIASES:
        for n in BIAS_BITS[:2] if quick else BIAS_BITS:
            solver = {
                "kind": "biased",
                "strategy": "products" if mu else "characters",
                "tolerance": BIAS_TOLERANCE,
            }
            trials.append(Task("parity", {"dim": n + 1, "heads": BIAS_SIZE, "bias": mu}, solver, {}, 0))
    student: dict[str, Any] = {"kind": "learner", "learner": "student", "params": {}}
    budget = {"samples": 20_000 if quick else TAUGHT_CAP}
    for mu in (0.5,) if quick else TAUGHT_BIASES:
        for d in TAUGHT_DIMS[:1] if quick else TAUGHT_DIMS:
            params = {"dim": d, "heads": TAUGHT_SIZE, "bias": mu}
            trials += [Task("parity", params, student, budget, run) for run in range(2 if quick else RUNS)]
    return trials


def _membership(quick: bool) -> list[Task]:
    cells: list[tuple[str, dict[str, Any]]] = [
        ("parity", {"dim": d, "heads": PARITY_SIZE}) for d in PARITY_DIMS
    ]
    cells += [("rounding", {"dim": n + 1, "modulus": q, "levels": p}) for q, p, n in ROUNDINGS]
    cells += [("nondegenerate", {"dim": d, "tokens": k, "heads": m}) for m, k, d in LAYERS]
    if quick:
        cells = [cell for cell in cells if cell[1]["dim"] <= 33 or cell[0] == "parity"]
    solver = {"kind": "membership"}
    return [
        Task(family, params, solver, {}, run)
        for family, params in cells
        for run in range(1 if quick else ASKED)
    ]


def _noisy(quick: bool) -> list[Task]:
    trials = []
    for eta in FLIPS[::2] if quick else FLIPS:
        params = {"dim": NOISY_BITS + 1, "heads": NOISY_SIZE, "flip": eta}
        for model, runs in TRIED.items():
            solver = {"kind": model, "tolerance": NOISY_TOLERANCE}
            trials += [
                Task("parity", params, solver, {}, run) for run in range(min(runs, 2) if quick else runs)
            ]
    return trials


def seconds(task: Task) -> float:
    """Return the predicted seconds of a trial."""
    n = int(task.params["dim"]) - 1
    match task.solver["kind"]:
        case "learner":
            g, count = int(task.params.get("block", TAUGHT_SIZE)), int(task.solver["params"].get("labels", 1))
            spent = min(float(task.budget["samples"]), 4e3 * comb(n, g))
            return float(0.5 + count * spent * (4e-7 + 3.2e-9 * n * n))
        case "membership":
            return 6.0 if task.params.get("levels") == 2 and n > 16 else 1.0
        case _:
            return 1.0


def trial(task: Task, root: int, guard: float) -> Outcome:
    """Run a trial, by the kind of its solver: deterministic in the task and the root seed, but for its time.

    >>> trial(next(t for t in tasks(True) if t.solver["kind"] == "membership"), 0, 60.0).cost
    63
    """
    from learner.studies.switches import trials  # games and attacks take a while to import

    return trials.trial(task, root, guard)


SHOWN_BITS, SHOWN_TOLERANCE = 63, 0.02  # of the figure of proved bounds
MODELS = {"sq": "queries", "low degree": "rows", "elimination": "tries"}


def cells(rows: "DataFrame", *keys: str) -> "DataFrame":
    """Return, by cell, the costs of its runs, how many there are, how many were solved, and their geometric mean.

    Runs that crashed or refused have no part. The mean of a censored cell is a lower bound.
    """
    judged = rows[rows.status.isin(("solved", "budget")) & rows.cost.notna()]
    judged = judged.assign(cost=judged.cost.astype(float), won=judged.status == "solved")
    lines = judged.groupby([*keys]).agg(costs=("cost", list), runs=("won", "size"), solved=("won", "sum"))
    lines = lines.reset_index()
    return lines.assign(whole=lines.solved == lines.runs, paid=[mean(costs, True) for costs in lines.costs])


def students(rows: "DataFrame", family: str, key: str) -> "DataFrame":
    """Return the cells of students: of chains by block and d, or of plain parities by bias and d."""
    return cells(rows[(rows.kind == "learner") & (rows.family == family)], key, "dim")


def exponent(lines: "DataFrame") -> Mean | None:
    """Return the exponent of d over the cells all of whose runs were solved; a censored cell has no part in it."""
    whole = lines[lines.whole].explode("costs")
    return slope([(float(d), float(cost)) for d, cost in zip(whole.dim, whole.costs, strict=True)])


def elimination_tries(eta: float, n: int = NOISY_BITS) -> float:
    """Return the tries that elimination is predicted to take: geometric with p = .5776 (1-η)^n; one without noise.

    >>> elimination_tries(0.0), round(elimination_tries(0.25))
    (1.0, 546)
    """
    return 1 / (FULL_RANK * (1 - eta) ** n) if eta else 1.0


def proved(g: int, mu: float) -> tuple[float, int | None]:
    """Return the queries needed and enough, at n = 63 and τ = .02, for blocks of g at bias μ (theory 2.9)."""
    chain = SHOWN_BITS, blocks_of(SIZE, g), SHOWN_TOLERANCE, mu
    return bounds.chain_bound(*chain), bounds.chain_enough(*chain)


def numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return every number of the article."""
    games = rows[rows.kind.isin(("chain", "biased"))]
    inside = (games.needed <= games.cost) & ~(games.cost > games.suffice) & (games.status == "solved")
    chains, biased = students(rows, "nested", "block"), students(rows, "parity", "bias")
    untaught, taught = chains[chains.block == SIZE], chains[chains.block == 1]
    both = taught.merge(untaught[untaught.whole], on="dim", suffixes=("", "_untaught")).iloc[-1]
    interval = bounds.bias_interval(BIAS_SIZE, BIAS_TOLERANCE)
    assert interval is not None
    extreme = biased[biased.bias == max(TAUGHT_BIASES)]
    largest = biased[(biased.dim == TAUGHT_DIMS[-1]) & biased.whole].set_index("bias").paid
    least = min(largest.drop(0.0), key=lambda paid: paid.value)
    asked = rows[(rows.kind == "biased") & (rows.dim == BIAS_BITS[-1] + 1)].set_index("bias").cost
    noisy = cells(rows[rows.kind == "elimination"], "flip").set_index("flip").costs
    return {
        "s": SIZE,
        "n": SHOWN_BITS,
        "alone": f"{proved(SIZE, 0.0)[0]:,.0f}",
        "games": {
            "inside": int(inside.sum()),
            "played": len(games),
            "free": int((games.needed < 1).sum()),
            "n": int(games.dim.max()) - 1,
        },
        "students": {
            "d": int(both.dim),
            "taught": _two(both.paid),
            "untaught": _two(both.paid_untaught),
            "solved": int(untaught.solved.sum()),
            "runs": int(untaught.runs.sum()),
            "exponents": [str(exponent(taught)), str(exponent(untaught))],
            "cap": CHAIN_CAP,
            "each": RUNS,
        },
        "bias": {
            "s": BIAS_SIZE,
            "n": BIAS_BITS[-1],
            "tau": BIAS_TOLERANCE,
            "from": at_most(interval[0]),
            "to": at_least(interval[1]),
            "end": at_most(sqrt(1 - 4 * BIAS_TOLERANCE)),
            "need": at_least(bounds.biased_bound(BIAS_BITS[-1], BIAS_SIZE, BIAS_TOLERANCE, 0.0)),
            "asked": [int(asked[0.0]), int(asked[0.9])],
            "d": TAUGHT_DIMS[-1],
            "saved": at_least(largest[0.0].value / least.value, 2),
            "solved": int(extreme.solved.sum()),
            "runs": int(extreme.runs.sum()),
            "cap": TAUGHT_CAP,
        },
        "noise": {
            "n": NOISY_BITS,
            "s": NOISY_SIZE,
            "flip": FLIPS[-1],
            "factor": round((1 - 2 * FLIPS[-1]) ** -2),
            "tries": round(elimination_tries(FLIPS[-1])),
            "mean": round(sum(noisy[FLIPS[-1]]) / len(noisy[FLIPS[-1]])),
            "runs": len(noisy[FLIPS[-1]]),
            "need": at_least(window_bound(comb(NOISY_BITS, NOISY_SIZE), NOISY_TOLERANCE)),
        },
    }


def _two(paid: Mean) -> str:
    return f"{float(f'{paid.value:.2g}'):,.0f}"


def _cost(line: Any) -> str:
    """Return the mean of a cell with its interval, or how many of its runs were solved."""
    if not line.whole:
        return f"{line.solved} of {line.runs} solved"
    value, low, high = (f"{float(f'{x:.3g}'):,.0f}" for x in (line.paid.value, line.paid.low, line.paid.high))
    return f"{value} [{low}, {high}]"


def tables(rows: "DataFrame") -> "dict[str, DataFrame]":
    """Return the students by block and by bias, the games on biased inputs, and what chosen inputs cost."""
    import pandas as pd

    shown = {}
    for name, family, key in (("by_block", "nested", "block"), ("by_bias", "parity", "bias")):
        lines = students(rows, family, key)
        lines = lines.assign(examples=[_cost(line) for line in lines.itertuples()])
        shown[name] = lines[[key, "dim", "examples"]].rename(
            columns={"block": "g", "bias": "μ", "dim": "d", "examples": "examples, mean of four runs"}
        )
    games = rows[(rows.kind == "biased") & (rows.dim == BIAS_BITS[-1] + 1)].sort_values("bias")
    shown["by_game"] = pd.DataFrame(
        {
            "μ": games.bias,
            "needed": [at_least(float(value)) for value in games.needed],
            "asked": games.cost.astype(int),
            "enough": games.suffice,
        }
    )
    asked = rows[rows.kind == "membership"]
    keys = ["family", "dim", "heads", "modulus", "levels", "tokens"]
    grouped = asked.assign(won=asked.status == "solved").groupby(keys, dropna=False)
    lines = grouped.agg(
        least=("cost", "min"),
        most=("cost", "max"),
        predicted=("predicted", "first"),
        counted=("floor", "first"),
        won=("won", "sum"),
        runs=("won", "size"),
    ).reset_index()
    lines["counted"] = [ceil(value) for value in lines.counted]
    ends = [f"{won} of {runs}" for won, runs in zip(lines.won, lines.runs, strict=True)]
    lines = lines.assign(solved=ends).drop(columns=["won", "runs"])
    shown["by_choice"] = lines.rename(
        columns={
            "dim": "d",
            "heads": "m",
            "modulus": "q",
            "levels": "p",
            "tokens": "k",
            "counted": "by counting",
        }
    )
    return shown


def figures(rows: "DataFrame") -> "dict[str, Figure]":
    """Return what each switch leaves of the bounds, and what students pay with it."""
    return {
        "bounds": _bounds_figure(),
        "students": _students_figure(students(rows, "nested", "block"), students(rows, "parity", "bias")),
        "noise": _noise_figure(rows),
    }


def _bounds_figure() -> "Figure":
    """Draw the queries that are proved to be enough, and those needed, at every block size and bias."""
    figure, axes = plots.panels(1, 2, height=3.3, sharey=True)
    ends = []
    for place, g in enumerate(BLOCKS):
        pairs = [(mu, proved(g, mu)) for mu in BIASES]
        enough = [(mu, log2(known)) for mu, (_, known) in pairs if known]
        (line,) = axes[0].plot(*zip(*enough, strict=True), "o-", color=f"C{place}")
        ends.append((line, f"g = {g}" if g < SIZE else "unaided"))
    alone = log2(proved(SIZE, 0.0)[0])
    axes[0].text(0.95, alone + 0.4, "needed unaided", color="0.35", ha="right")
    axes[0].axhline(alone, linestyle="--", color="0.35", linewidth=1)
    axes[0].set(title="enough (proved)", xlabel="bias μ", ylabel="log₂ of the queries")
    lows = []
    for place, g in enumerate(BLOCKS):
        needed = [log2(max(proved(g, mu)[0], 1.0)) for mu in BIASES]
        (line,) = axes[1].plot(BIASES, needed, "o-", color=f"C{place}")
        lows.append((line, f"g = {g}" if g < SIZE else "unaided"))
    axes[1].set(title="needed (proved)", xlabel="bias μ")
    plots.label_ends(axes[0], ends)
    plots.label_ends(axes[1], lows)
    return figure


def _students_figure(chains: "DataFrame", biased: "DataFrame") -> "Figure":
    figure, axes = plots.panels(1, 2, height=3.3)
    for axis, lines, key, x, name in (
        (axes[0], chains, "block", "dim", "g = {:.0f}"),
        (axes[1], biased, "dim", "bias", "d = {:.0f}"),
    ):
        ends = []
        for place, (value, part) in enumerate(lines.groupby(key)):
            whole, lost = part[part.whole], part[~part.whole]
            (line,) = axis.plot(whole[x], [paid.value for paid in whole.paid], "o-", color=f"C{place}")
            axis.vlines(
                whole[x], [p.low for p in whole.paid], [p.high for p in whole.paid], color=f"C{place}"
            )
            for at in lost.itertuples():
                plots.bound(axis, getattr(at, x), at.paid.value, f"C{place}")
            label = "untaught" if key == "block" and value == SIZE else name.format(value)
            ends.append((line, label))
        axis.set(yscale="log", xlabel="d" if x == "dim" else "bias μ")
        axis.margins(y=0.12)  # of arrows
        plots.label_ends(axis, ends)
    axes[0].set(title=f"supervised by blocks, s = {SIZE}", ylabel="examples")
    axes[1].set(title=f"biased inputs, s = {TAUGHT_SIZE}")
    return figure


def _noise_figure(rows: "DataFrame") -> "Figure":
    figure, axis = plots.panels(height=2.8)
    ends = []
    for place, (model, unit) in enumerate(MODELS.items()):
        lines = cells(rows[rows.kind == model], "flip")
        means = [sum(costs) / len(costs) for costs in lines.costs]
        (line,) = axis.plot(lines.flip, [value / means[0] for value in means], "o-", color=f"C{2 * place}")
        ends.append((line, f"{model}: {unit}"))
    axis.set(yscale="log", xlabel="flip probability η", ylabel="cost over that at η = 0")
    plots.label_ends(axis, ends)
    return figure


STUDY = Study(
    "switches",
    "What makes hidden parities easy again, and what does each switch leave of the bounds?",
    tasks,
    seconds,
    trial,
    guard=900.0,
    numbers=numbers,
    tables=tables,
    figures=figures,
    page=Path(__file__).with_name("page.md"),
)
