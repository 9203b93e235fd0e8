"""Online learners: examples of an instance, fresh ones or a pool again and again, and what is learned on the way."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hardness.evaluation.judge import label_variance, open_error
from hardness.examples import Examples
from hardness.instance import Instance
from hardness.tokens import TokenStream, load_compiled

EXPLAINED = 0.9  # share of the labels' variance, on fresh inputs, that an online learner has to explain
OPEN = 0.1  # mean squared error of rows with z_0 != 0 that solves a structured instance, labels of variance 1
FIRST, SPACING = 64, 1.25  # examples at the first evaluation of `learn`, and how much later the next one is
PORTION = 1 << 14  # examples handed over at a time

Floats = NDArray[np.float64]


class Online(Protocol):
    """What learns in pieces: `partial_fit(X, Y)` and `predict(X)` on arrays (n, k, d)."""

    def partial_fit(self, X: NDArray[np.int8], Y: Floats) -> Any: ...
    def predict(self, X: NDArray[np.int8]) -> Floats: ...


class Evaluation(NamedTuple):
    """What a learner predicts on fresh inputs after so many examples that it learned from, every pass counted.

    `explained` is the share of the labels' variance (None: predictions that are not finite). Of structured families
    `correlation` is that of predicted and true value where z_0 != 0, which for a parity is that with the hidden
    character, and `open_error` the mean squared error there, in units where the label has variance 1.
    """

    examples: int
    explained: float | None
    correlation: float | None
    open_error: float | None = None


class Cost(NamedTuple):
    """What learning took, in three currencies; `multiply_adds` is None where the learner does not count them."""

    distinct: int  # examples drawn
    gradient: int  # examples learned from, every pass counted
    multiply_adds: float | None


def explained(predicted: Floats, Y: Floats) -> float | None:
    """1 - Σ|F̂ - F|² / Σ|F - mean F|², over all outputs (n, k, d); None if a prediction is not finite.

    >>> Y = np.array([[[1.0]], [[-1.0]]])
    >>> explained(Y, Y), explained(0 * Y, Y), explained(np.nan * Y, Y)
    (1.0, 0.0, None)
    """
    if predicted.shape != Y.shape or not np.isfinite(predicted).all():
        return None
    return float(1 - np.sum((predicted - Y) ** 2) / (np.sum((Y - Y.mean(axis=0)) ** 2) or 1.0))


def correlation(X: NDArray[np.int8], predicted: Floats, Y: Floats) -> float:
    """Pearson's correlation of x_a[0] F̂_a and x_a[0] F_a in column 0 over rows with z_0 != 0; 0 if one is constant."""
    differ = X[:, 0, 0] != X[:, 1, 0]
    a, b = ((values[differ, :, 0] * X[differ, :, 0]).ravel() for values in (predicted, Y))
    a, b = a - a.mean(), b - b.mean()
    return float(a @ b / (np.sqrt((a @ a) * (b @ b)) or 1.0))


def sizes(count: int, first: int, spacing: float) -> Iterator[int]:
    """Sizes at which to evaluate: `first`, then `spacing` times as many each, at least `first` more, up to `count`.

    >>> list(sizes(1000, 64, 2.0))
    [64, 128, 256, 512, 1000]
    """
    size = 0
    while size < count:
        size = min(count, max(size + first, int(spacing * size)))
        yield size


def fresh(instance: Instance, count: int, seed: int, start: int = 0, independent: bool = False) -> Examples:
    """Inputs to judge on, with their noiseless labels; `independent` as in `stream`."""
    X = instance.examples(count, seed, start, fair=True).X
    return Examples(X, _signed(instance, instance.teacher(X), seed, start) if independent else instance.teacher(X))


def evaluate(learner: Online, examples: int, judged: Examples, variance: float | None) -> Evaluation:
    """What a learner predicts on `judged`; `variance` as of `label_variance`, None for random layers."""
    predicted = np.asarray(learner.predict(judged.X), dtype=np.float64)
    share = explained(predicted, judged.Y)
    if variance is None or share is None:
        return Evaluation(examples, share, None)
    seen = correlation(judged.X, predicted, judged.Y)
    return Evaluation(examples, share, seen, open_error(judged.X, predicted, judged.Y, variance))


def stream(instance: Instance, learner: Online, seed: int, start: int, stop: int, independent: bool = False) -> None:
    """Hand over examples start..stop - 1 of the stream of `seed`, a portion at a time.

    `independent` multiplies the labels of each example by a sign of its own, so that there is nothing to learn.
    """
    load_compiled((stop - start) * instance.family.tokens)
    for at in range(start, stop, PORTION):
        part = instance.examples(min(PORTION, stop - at), seed, at)
        learner.partial_fit(part.X, _signed(instance, part.Y, seed, at) if independent else part.Y)


def reread(pool: Examples, seed: int, start: int, stop: int) -> Iterator[Examples]:
    """Examples start..stop - 1 of endless passes over a pool, each in a random order of its own, in portions.

    They follow from the seed and their place alone, whatever the pieces.

    >>> pool = Examples(np.ones((3, 2, 1), dtype=np.int8), np.arange(6.0).reshape(3, 2, 1))
    >>> [part.Y[:, 0, 0].tolist() for part in reread(pool, 1, 0, 9)]
    [[2.0, 0.0, 4.0], [0.0, 2.0, 4.0], [2.0, 0.0, 4.0]]
    """
    while start < stop:
        turn, at = divmod(start, len(pool))
        rows = _order(seed, turn, len(pool))[at : at + min(stop - start, PORTION)]
        yield Examples(pool.X[rows], pool.Y[rows])
        start += len(rows)


@lru_cache(maxsize=1)
def _order(seed: int, turn: int, count: int) -> NDArray[np.intp]:
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(turn,)))
    return rng.permutation(count)


def _signed(instance: Instance, Y: Floats, seed: int, start: int) -> Floats:
    """Labels of examples from `start` times signs that are independent of everything."""
    chance = TokenStream(seed, instance.family.tokens, instance.family.dim).noise(start, len(Y))
    return np.where(chance < 0.5, -1.0, 1.0)[:, None, None] * Y


def train(
    instance: Instance,
    learner: Online,
    judged: Examples,
    cap: int,
    seed: int,
    *,
    pool: int | None = None,
    first: int = FIRST,
    spacing: float = SPACING,
    independent: bool = False,
) -> Iterator[Evaluation]:
    """Hand a learner examples of the stream of `seed`, up to `cap` of them, and evaluate it on `judged` on the way.

    Evaluations are at `sizes(cap, first, spacing)`. Examples are fresh ones, or with a `pool` the first so many of the
    stream, again and again in random orders: what that saves is examples, not steps. `cost` says what was spent.
    `independent` as in `stream`.

    >>> from hardness import Parity, registry
    >>> instance = Instance.generate(Parity(8, 2), seed=0)
    >>> student = registry.get("learner", "student")(rate=0.03, l1=0.12, random_state=0)
    >>> seen = train(instance, student, fresh(instance, 2000, seed=2), 50_000, seed=1, pool=4096)
    >>> examples = next(each.examples for each in seen if each.open_error <= OPEN)
    >>> cost(instance, student, examples, pool=4096).distinct
    4096
    """
    variance, spent = label_variance(instance.teacher), 0
    if pool is not None:
        drawn = instance.examples(pool, seed)
        drawn = Examples(drawn.X, _signed(instance, drawn.Y, seed, 0)) if independent else drawn
    for size in sizes(cap, first, spacing):
        if pool is None:
            stream(instance, learner, seed, spent, size, independent)
        else:
            for part in reread(drawn, seed, spent, size):
                learner.partial_fit(part.X, part.Y)
        spent = size
        yield evaluate(learner, size, judged, variance)


def cost(instance: Instance, learner: Online, examples: int, pool: int | None = None) -> Cost:
    """What so many examples, fresh ones or of a pool, cost the learner."""
    count = getattr(learner, "multiply_adds", lambda *shape: None)
    distinct = examples if pool is None else min(pool, examples)
    return Cost(distinct, examples, count(examples, instance.family.tokens, instance.family.dim))


def learn(
    instance: Instance, learner: Online, count: int, test: int, seed: int, tell: Callable[[str], None]
) -> list[Evaluation]:
    """Stream `count` examples, and evaluate the learner on `test` fresh inputs on the way; each is told as it comes."""
    judged, curve = fresh(instance, test, seed, start=count), []
    for each in train(instance, learner, judged, count, seed):
        curve.append(each)
        share = each.explained
        said = "predictions that are not finite" if share is None else f"{share:.2f} of the variance explained"
        tell(f"{each.examples} of {count} examples: {said}")
    return curve


def solved(scores: dict[str, float | None]) -> bool:
    """Whether scores of `hardness.evaluation.judge.judge` solve an instance for an online learner, whatever the family.

    >>> solved({"relative_error": 0.3}), solved({"relative_error": 0.4}), solved({"relative_error": None})
    (True, False, False)
    """
    relative = scores["relative_error"]
    return relative is not None and relative**2 <= 1 - EXPLAINED
