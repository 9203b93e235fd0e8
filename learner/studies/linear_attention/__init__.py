"""The study `linear-attention`: what Yau et al. (arXiv 2410.10101) claim of linear attention and regression."""

from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.evaluation.solver import plain
from hardness.io.rounding import at_most
from hardness.report import plots
from hardness.scores import EXACT
from learner.base import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

HEAD, AUTOMATA = "linear-attention", "automata"  # families of tasks
LENGTH = 100  # tokens of a sequence
RATIOS = (0.5, 0.8, 0.95, 1.0, 1.05, 1.25, 2.0, 4.0, 16.0)  # rows to features
FEW = (0.5, 1.0, 1.25, 2.0)  # the same at d = 16, where a regression takes a quarter of a minute
AUTOMATON_SIZES = ((2, 2), (3, 2), (4, 2), (4, 4), (6, 3))  # states and letters
AUTOMATON_RATIOS = (0.5, 0.75, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0)  # rows to the rank of the span
FRESH = 2000  # sequences to judge on
NOISE = 0.1  # of the standard deviation of the labels
UNSEEN, WORD = 200, 20  # automata, and letters of their words
TINY, TINY_ERROR = 1e-12, 1e-24  # distances and squared errors below these are recorded as these
EXACT_ERROR = EXACT.threshold**2  # the squared error of a solved run
States = NDArray[np.intp]


def tasks(quick: bool) -> list[Task]:
    """Return trials of regression on random linear-attention heads and on automata, from few to many examples."""
    from learner.linear import feature_count

    planned, solver = [], {"method": "regression"}
    for d in (2, 4, 8) if quick else (2, 4, 8, 16):
        counts = sorted({round(ratio * feature_count(d)) for ratio in (RATIOS if d < 16 else FEW)})
        runs = range(3 if quick else 4 if d == 16 else 10)
        planned += [
            Task(HEAD, {"dim": d}, solver, {"samples": n}, r) for n in counts if n >= 10 for r in runs
        ]
    for Q, A in AUTOMATON_SIZES[: 4 if quick else 5]:
        for n in sorted({max(10, round(ratio * span_rank(Q, A))) for ratio in AUTOMATON_RATIOS}):
            size = {"states": Q, "letters": A}
            planned += [Task(AUTOMATA, size, solver, {"samples": n}, r) for r in range(8 if quick else 20)]
    return planned


def seconds(task: Task) -> float:
    """Return the predicted seconds of a trial."""
    n = float(task.budget["samples"])
    if task.family == AUTOMATA:
        return 0.01 + 8e-5 * n
    d = int(task.params["dim"])
    return 0.15 + 1e-5 * n * d + 2e-10 * n * d**6


def trial(task: Task, root: int, guard: float) -> Outcome:
    """Run a trial of the task's family, a random head or automata; the task and the root seed determine it.

    >>> head = Task("linear-attention", {"dim": 4}, {"method": "regression"}, {"samples": 80}, 0)
    >>> outcome = trial(head, 0, 60.0)
    >>> outcome.status, outcome.detail["rank"], outcome.detail["certified"]
    ('solved', 40, 1.0)
    >>> automata = Task("automata", {"states": 2, "letters": 2}, {"method": "regression"}, {"samples": 100}, 0)
    >>> outcome = trial(automata, 0, 60.0)
    >>> outcome.status, outcome.detail["rank"], outcome.detail["certified"]
    ('solved', 20, 1.0)
    """
    return (head_trial if task.family == HEAD else automata_trial)(task, root)


def head_trial(task: Task, root: int) -> Outcome:
    """Learn a random linear-attention head by regression, with and without label noise; return the errors of both.

    Errors are squared, over the variance, on fresh sequences. `solved` is an error of at most 1e-12 without noise.
    """
    from learner import linear  # it takes a second to import

    d, n = int(task.params["dim"]), int(task.budget["samples"])
    rng = np.random.default_rng(task.shared().seed(root, "examples"))
    V, Q, fresh = rng.normal(size=(1, 1, d)), rng.normal(size=(1, d, d)), prefixes(FRESH, d, rng)
    truth, p, X = linear.attention(V, Q, fresh), linear.parameters(V, Q), prefixes(n, d, rng)
    clean = linear.attention(V, Q, X)
    noisy = clean + NOISE * clean.std() * rng.normal(size=clean.shape)
    learner = linear.LinearAttention(query=-1, random_state=0).fit(X, np.concatenate([clean, noisy], axis=1))
    errors = np.mean((learner.predict(fresh) - truth) ** 2, axis=0) / truth.var()
    unique = linear.certificate(linear.features(X))
    detail: dict[str, Any] = {
        "noisy": measured(errors[1]),
        "distance": measured(float(np.linalg.norm(learner.p_[:1] - p)), TINY),
        "rank": unique.rank,
        "lam_min": measured(unique.lam_min),
        "identifiable": unique.identifiable,
        "certified": learner.certify(fresh).mean(),
        "error": measured(errors[0], TINY_ERROR),
    }
    return Outcome("solved" if errors[0] <= EXACT_ERROR else "wrong", n, plain(detail))


def measured(value: float, floor: float = 0.0) -> float:
    """Return a value rounded to six digits, for equal bytes on all machines; at least `floor`."""
    return float(f"{max(float(value), floor):.6g}")


def prefixes(count: int, dim: int, rng: np.random.Generator) -> Array:
    """Draw the first `count` prefixes X (count, 100, dim) of random sequences, padded with zeros in front.

    Tokens are standard normal over 100^(1/3), so that the cubic features of a whole sequence are of order one. The last
    token is the query. Linear attention does not see the zeros.
    """
    Z = rng.normal(size=(-(-count // LENGTH), LENGTH, dim)) / LENGTH ** (1 / 3)
    end, place = np.ogrid[:LENGTH, :LENGTH]
    at = place - (LENGTH - 1 - end)  # the token in a place of the prefix that ends at `end`
    return np.where(at[:, :, None] >= 0, Z[:, np.maximum(at, 0)], 0.0).reshape(-1, LENGTH, dim)[:count]


def automata_trial(task: Task, root: int) -> Outcome:
    """Learn automata from random transitions, then run 200 new ones on words of length 20; solved if no run errs.

    An input states an automaton's transitions, a state and a letter; what is learned is to look up the next state.
    """
    from learner.linear import LinearAttention

    Q, A, n = int(task.params["states"]), int(task.params["letters"]), int(task.budget["samples"])
    rng = np.random.default_rng(task.seed(root, "examples"))
    learner = LinearAttention(query=-1, random_state=0).fit(*steps(n, Q, A, rng))
    run = execute(learner, random_automata(UNSEEN, Q, A, rng), rng.integers(A, size=(UNSEEN, WORD)))
    detail = plain({"rank": learner.rank_, "steps": UNSEEN * WORD} | run)
    return Outcome("solved" if run["word_accuracy"] == 1 else "wrong", n, detail)


def random_automata(count: int, states: int, letters: int, rng: np.random.Generator) -> States:
    """Draw transition tables δ (count, states, letters) of automata, every entry a uniformly random state."""
    return rng.integers(states, size=(count, states, letters))


def tokens(automata: States, state: States, letter: States) -> NDArray[np.int8]:
    """Return tokens (n, QA + 1, QA + Q) that state n automata and ask where `letter[i]` leads from `state[i]`.

    For Q states, A letters and unit vectors e, a token [e_(q,w); e_δ(q,w)] says that letter w leads from state q to
    δ(q,w) = `automata[i, q, w]`. The last token is the query, [e_(q,w); 0] for the state and the letter asked about.
    """
    n, Q, A = automata.shape
    X = np.zeros((n, Q * A + 1, Q * A + Q), dtype=np.int8)
    pair = np.arange(Q * A)
    X[:, pair, pair] = 1
    X[np.arange(n)[:, None], pair, Q * A + automata.reshape(n, -1)] = 1
    X[np.arange(n), Q * A, state * A + letter] = 1
    return X


def steps(count: int, states: int, letters: int, rng: np.random.Generator) -> tuple[NDArray[np.int8], Array]:
    """Draw `count` steps of random automata: inputs (see `tokens`), and next states as unit vectors (count, states)."""
    automata = random_automata(count, states, letters, rng)
    state, letter = rng.integers(states, size=count), rng.integers(letters, size=count)
    return tokens(automata, state, letter), np.eye(states)[automata[np.arange(count), state, letter]]


def span_rank(states: int, letters: int) -> int:
    """Return QA(QA(Q−1) + 1), the rank of linear attention's features over all steps, for Q states and A letters."""
    pairs = states * letters
    return pairs * (pairs * (states - 1) + 1)


def execute(model: Any, automata: States, words: States) -> dict[str, float | None]:
    """Run `automata` (n, Q, A) on `words` (n, length) from state 0, each step from the state `model` predicted last.

    Return the shares of right steps (which lead where the automaton leads from the state the run is in), of words right
    throughout, of certified steps (forced by what was learned), and of right ones among these (None if there are none).
    """
    n, length = words.shape
    every, state = np.arange(n), np.zeros(n, dtype=np.intp)
    right, certified = np.empty((length, n), dtype=bool), np.empty((length, n), dtype=bool)
    for t in range(length):
        X = tokens(automata, state, words[:, t])
        reached = model.predict(X).argmax(axis=1)
        right[t], certified[t] = reached == automata[every, state, words[:, t]], model.certify(X)
        state = reached
    return {
        "step_accuracy": float(right.mean()),
        "word_accuracy": float(right.all(axis=0).mean()),
        "certified": float(certified.mean()),
        "certified_right": float(right[certified].mean()) if certified.any() else None,
    }


def heads_of(rows: "DataFrame") -> "DataFrame":
    """Return the runs on linear-attention heads, with `ratio`: examples over the number of features, d²(d + 1)/2."""
    part = rows[rows.family == HEAD]
    return part.assign(ratio=part.samples / (part.dim**2 * (part.dim + 1) / 2))


def automata_of(rows: "DataFrame") -> "DataFrame":
    """Return the runs on automata, with examples over `span_rank` and how many steps were certified, right, lucky."""
    part = rows[rows.family == AUTOMATA]
    steps, certified = part.steps.astype(float), part.certified.astype(float)
    sure = (certified * steps).round()
    right = (certified * steps * part.certified_right.fillna(0).astype(float)).round()
    others = steps - sure
    return part.assign(
        ratio=part.samples / span_rank(part.states, part.letters),
        sure=sure,
        right=right,
        lucky=((part.step_accuracy.astype(float) * steps).round() - right) / others.where(others > 0),
        perfect=part.word_accuracy == 1,
    )


def numbers(rows: "DataFrame") -> dict[str, Any]:
    """Return by name every number that the article prints."""
    from scipy.stats import gmean

    from learner.linear import RANK, SPAN_RANK

    fits, runs = heads_of(rows), automata_of(rows)
    full, exact = fits.identifiable.astype(bool), fits.error <= EXACT_ERROR
    noisy = fits.groupby(["dim", "ratio"]).noisy.agg(gmean)
    peaks = [int(d) for d, errors in noisy.groupby("dim") if errors.idxmax()[1] == 1]
    means = runs.groupby(["ratio", "states", "letters"])[["certified", "lucky"]].mean()
    at_rank = means.loc[1.0]
    shares = runs.groupby(["states", "letters", "ratio"]).perfect.mean()
    least = shares[shares >= 0.5].reset_index("ratio").groupby(["states", "letters"]).ratio.min()
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
            "later": [floor(100 * means.certified[times].min()) for times in (2.0, 3.0)],
            "others": [round(100 * value, 1) for value in (at_rank.lucky.min(), at_rank.lucky.max())],
            "enough": round(least.max(), 1),
            "tested": UNSEEN,
            "letters": WORD,
        },
        "runs": {
            "least": int(fits.groupby(["dim", "samples"]).size().min()),
            "automata": int(runs.groupby(["states", "letters", "samples"]).size().max()),
        },
        "fresh": FRESH,
        "zero": [at_most(RANK), at_most(SPAN_RANK)],
        "noise": NOISE,
    }


def figures(rows: "DataFrame") -> "dict[str, Figure]":
    """Return the figure of heads' errors against examples per feature, without and with noise on the labels."""
    from scipy.stats import gmean

    figure, (clean, noisy) = plots.panels(1, 2, height=3.2)
    ends = []
    for d, part in heads_of(rows).groupby("dim"):
        by_ratio = part[["ratio", "error", "noisy"]].astype(float).groupby("ratio")
        means = by_ratio.agg(gmean)
        (line,) = clean.plot(means.index, means.error)
        for ratio in means.index[by_ratio.error.min() <= TINY_ERROR]:
            plots.bound(clean, ratio, means.error[ratio], line.get_color(), "below")
        ends.append((noisy.plot(means.index, means.noisy)[0], f"d = {d}"))
    line, label = ends.pop()  # of the largest d, which ends early
    noisy.annotate(label, (1, means.noisy[1]), (5, 0), textcoords="offset points", color=line.get_color())
    clean.text(1.4, 1e-18, "d = 2, 4, 8, 16:\nnothing but rounding", color="0.2")
    clean.set(title="exact labels", ylabel="squared error / variance", ylim=(1e-27, 10))
    noisy.set(title="noisy labels", ylim=(3e-4, 2e4))
    for axis in (clean, noisy):
        axis.axvline(1, color="0.4", linewidth=0.8)
        axis.set(xlabel="examples over features", xscale="log", yscale="log")
        axis.set_xticks([0.5, 1, 2, 4, 16], ["½", "1", "2", "4", "16"])
        axis.minorticks_off()
    plots.label_ends(noisy, ends)
    return {"recovery": figure}


STUDY = Study(
    "linear-attention",
    "When does regression recover linear attention, and does it know when it has?",
    tasks,
    seconds,
    trial,
    guard=600.0,
    numbers=numbers,
    figures=figures,
    page=Path(__file__).with_name("page.md"),
)
