"""Online learners: examples of an instance, streamed in constant memory, and what the lab sees of them on the way."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hardness.examples import Examples
from hardness.instance import Instance
from hardness.tokens import TokenStream, load_compiled

EXPLAINED = 0.9  # share of the labels' variance, on fresh inputs, that an online learner has to explain
FIRST, SPACING = 64, 1.25  # examples at the first look of `learn`, and how much later the next one is
PORTION = 1 << 14  # examples handed over at a time

Floats = NDArray[np.float64]


class Online(Protocol):
    """What learns in pieces: `partial_fit(X, Y)` and `predict(X)` on arrays (n, k, d)."""

    def partial_fit(self, X: NDArray[np.int8], Y: Floats) -> Any: ...
    def predict(self, X: NDArray[np.int8]) -> Floats: ...


class Look(NamedTuple):
    """After so many `examples`: the share of the labels' variance `explained` on fresh inputs (None: predictions that
    are not finite), and of structured families the `correlation` of predicted and true value where z_0 != 0, which
    for a parity is that with the hidden character."""

    examples: int
    explained: float | None
    correlation: float | None


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
    """Sizes at which to look: `first`, then `spacing` times as many examples each, at least `first` more, to `count`.

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


def look(learner: Online, examples: int, judged: Examples, structured: bool) -> Look:
    """What a learner predicts on fresh inputs, against their labels."""
    predicted = np.asarray(learner.predict(judged.X), dtype=np.float64)
    share = explained(predicted, judged.Y)
    seen = correlation(judged.X, predicted, judged.Y) if structured and share is not None else None
    return Look(examples, share, seen)


def stream(instance: Instance, learner: Online, seed: int, start: int, stop: int, independent: bool = False) -> None:
    """Hand over examples start..stop - 1 of the stream of `seed`, a portion at a time.

    `independent` multiplies the labels of each example by a sign of its own, so that there is nothing to learn.
    """
    load_compiled((stop - start) * instance.family.tokens)
    for at in range(start, stop, PORTION):
        part = instance.examples(min(PORTION, stop - at), seed, at)
        learner.partial_fit(part.X, _signed(instance, part.Y, seed, at) if independent else part.Y)


def _signed(instance: Instance, Y: Floats, seed: int, start: int) -> Floats:
    """Labels of examples from `start` times signs that are independent of everything."""
    chance = TokenStream(seed, instance.family.tokens, instance.family.dim).noise(start, len(Y))
    return np.where(chance < 0.5, -1.0, 1.0)[:, None, None] * Y


def learn(
    instance: Instance, learner: Online, count: int, test: int, seed: int, tell: Callable[[str], None]
) -> list[tuple[int, float | None]]:
    """Stream `count` examples, and look on the way: the curve of pairs (examples, explained on fresh inputs).

    Each look is told as it is taken.
    """
    judged, curve, spent = fresh(instance, test, seed, start=count), [], 0
    for size in sizes(count, FIRST, SPACING):
        stream(instance, learner, seed, spent, size)
        spent = size
        share = look(learner, size, judged, structured=False).explained
        curve.append((size, share))
        said = "predictions that are not finite" if share is None else f"{share:.2f} of the variance explained"
        tell(f"{size} of {count} examples: {said}")
    return curve


def solved(scores: dict[str, float | None]) -> bool:
    """Whether scores of `hardness.evaluation.judge.judge` solve an instance for an online learner, whatever the family.

    >>> solved({"relative_error": 0.3}), solved({"relative_error": 0.4}), solved({"relative_error": None})
    (True, False, False)
    """
    relative = scores["relative_error"]
    return relative is not None and relative**2 <= 1 - EXPLAINED
