"""The one judge of whatever predicts labels: scores on fresh inputs, and the criterion that calls them a solution."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.examples import Examples
from hardness.families import Teacher
from hardness.gadgets.coefficients import Gadget, informative, level_counts
from hardness.instance import Instance

Floats = NDArray[np.float64]
Scores = dict[str, float | None]
SCORES = ("test_error", "relative_error", "explained", "sign_accuracy", "correlation", "open_error")
HIGH = ("explained", "sign_accuracy", "correlation")  # scores of which more is better; of the others less is


@dataclass(frozen=True)
class Criterion:
    """A score by name, such as "explained", and its `threshold`: a maximum for errors, a minimum for all other scores.

    >>> OPEN.name, OPEN.met({"open_error": 0.08}), OPEN.met({"open_error": None})
    ('open_error <= 0.1', True, False)
    """

    score: str
    threshold: float

    @property
    def name(self) -> str:
        """Return the criterion in words, such as "explained >= 0.9", as result rows state it."""
        return f"{self.score} {'>=' if self.score in HIGH else '<='} {self.threshold:g}"

    def met(self, scores: Mapping[str, float | None]) -> bool:
        """Say whether the scores meet the criterion; a score that is missing or None does not."""
        value = scores.get(self.score)
        sign = 1 if self.score in HIGH else -1
        return value is not None and sign * value >= sign * self.threshold


SIGNS = Criterion("sign_accuracy", 0.99)  # of structured families: the secret is as good as known
EXACT = Criterion("relative_error", 1e-6)
EXPLAINED = Criterion("explained", 0.9)
OPEN = Criterion("open_error", 0.1)
# What `hardness learn --criterion` offers; the first is the default for every family and learner.
CRITERIA = {"explained": EXPLAINED, "signs": SIGNS, "exact": EXACT}


def label_variance(teacher: Teacher) -> float | None:
    """Return the exact label variance of `teacher` if it is a gadget (heads that compute one function), else None.

    A row's label is its token's sign in coordinate 0 times a value. The variance is that of the value, over uniform
    inputs whose two tokens differ there, and 1 for a parity. For nested gadgets, which show one label in each of
    several columns, it is the sum.

    >>> from hardness.families.rounding import Rounding
    >>> label_variance(Instance.generate(Rounding(dim=3, modulus=3, levels=3), seed=5).teacher)
    0.6875
    """
    if not isinstance(teacher, Gadget):
        return None
    low, counts, bits = level_counts(teacher.kind, teacher.weights.tolist())
    law = np.array([count / 2**bits for count in counts])
    values = teacher.value(np.arange(low, low + len(counts)))
    shown = (label_variance(gadget) or 0.0 for gadget in getattr(teacher, "blocks", ()))
    return float(law @ (values - law @ values) ** 2) + sum(shown)


def open_error(X: NDArray[np.int8], predicted: Floats, Y: Floats, variance: float) -> float | None:
    """Return the mean squared error of predictions over rows where two tokens differ in coordinate 0, over `variance`.

    A row's squared errors are summed over its columns. In units of the labels' own variance a constant's error is at
    least 1. None without such rows, or where a prediction is not finite.
    """
    opened = informative(X)  # (n,): examples whose gate is open
    if not opened.any() or not np.isfinite(predicted).all():
        return None
    return float(np.mean(np.sum((predicted[opened] - Y[opened]) ** 2, axis=2)) / variance)


def exact(scores: Mapping[str, float | None]) -> bool | None:
    """Say whether labels are reproduced: relative error at most 1e-6, or sign accuracy 1; None without scores."""
    known = scores.get("relative_error") is not None
    return EXACT.met(scores) or scores.get("sign_accuracy") == 1.0 if known else None


@dataclass(frozen=True)
class Judged(Examples):
    """Inputs X (n, k, d) to judge predictions on, and their labels Y.

    Where the layer is a gadget (heads that compute one function), `values` are the values that a label can have,
    ascending, where two tokens differ in coordinate 0, and `variance` is the label's variance there. A family that
    states `open_variance` has the variance alone.
    """

    values: Floats | None = None
    variance: float | None = None


def fresh(instance: Instance, count: int, seed: int, start: int = 0) -> Judged:
    """Return uniform inputs with noiseless labels: examples start..start + count - 1 of the stream of `seed`."""
    X, teacher = instance.examples(count, seed, start, fair=True).X, instance.teacher
    values = np.unique(teacher.values) if isinstance(teacher, Gadget) else None
    variance = instance.family.open_variance or label_variance(teacher)
    return Judged(X, teacher(X), values, variance)


def judge(
    instance: Instance, predict: Callable[[NDArray[np.int8]], Any], count: int = 2000, seed: int | None = None
) -> Scores:
    """Return the `scores` of a function that predicts labels, on `count` fresh inputs of the instance by `seed`.

    `predict` maps X (n, k, d) to outputs of that shape. Raises `InputError` for outputs of another shape.

    >>> import hardness
    >>> hard = hardness.Instance.generate(hardness.Parity(dim=8, heads=2), seed=0)
    >>> judge(hard, hard.layer())["sign_accuracy"], judge(hard, lambda X: 0.0 * X, seed=1)["explained"] < 0.01
    (1.0, True)
    """
    judged = fresh(instance, count, int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]))
    predicted = np.asarray(predict(judged.X), dtype=np.float64)
    if predicted.shape != judged.Y.shape:
        raise InputError(
            f"predict must return one output a token, of shape {judged.Y.shape}; got {predicted.shape}"
        )
    return scores(judged, predicted)


def scores(judged: Judged, predicted: Floats) -> Scores:
    """Return the scores of predictions (n, k, d) on `judged`; all are None if a prediction is not finite.

    `test_error` is the root of the mean squared error over all outputs, `relative_error` the same in units of the best
    constant's error. Three scores are over informative examples, whose tokens differ in coordinate 0: `sign_accuracy`,
    the share of rows whose prediction is nearest to the right one of the label's `values`; `correlation` of predicted
    and true value; `open_error`, the mean squared error over the labels' variance. They need `values`, the last one
    `values` or `variance`. `explained` is the share of the labels' variance that is explained over all rows, or over
    informative ones if that is less.
    """
    Y, variance = judged.Y, judged.variance
    every: Scores = dict.fromkeys(SCORES)
    if predicted.shape != Y.shape or not np.isfinite(predicted).all():
        return every
    unexplained = squared_share(predicted, Y)
    every["test_error"] = (float(np.sum((predicted - Y) ** 2)) / Y.size) ** 0.5
    every["relative_error"], every["explained"] = unexplained**0.5, 1 - unexplained
    if judged.values is not None:
        opened = informative(judged.X)
        # The label of row a is x_a[0] times a value, in column 0.
        guess, value = (labels[opened, :, 0] * judged.X[opened, :, 0] for labels in (predicted, Y))
        middles = (judged.values[1:] + judged.values[:-1]) / 2
        a, b = guess - guess.mean(), value - value.mean()
        right = np.searchsorted(middles, guess) == np.searchsorted(middles, value)
        every["sign_accuracy"] = float(np.mean(right))
        every["correlation"] = float(np.sum(a * b) / (np.sqrt(np.sum(a * a) * np.sum(b * b)) or 1.0))
        variance = variance or float(value.var()) or 1.0
    if variance is not None:
        every["open_error"] = error = open_error(judged.X, predicted, Y, variance)
        every["explained"] = 1 - max(unexplained, error or 0.0)
    return every


def squared_share(predicted: Floats, Y: Floats) -> float:
    """Return the squared error of a prediction (n, …), divided by that of the best constant (the mean of Y).

    >>> squared_share(np.array([[1.0], [1.0]]), np.array([[0.0], [2.0]]))
    1.0
    """
    return float(np.sum((predicted - Y) ** 2)) / (float(np.sum((Y - Y.mean(axis=0)) ** 2)) or 1.0)


def relative_error(predicted: Floats, Y: Floats) -> float:
    """Return the root of the squared error of predictions (n, …) over that of the best constant, the mean of Y."""
    return float(squared_share(predicted, Y) ** 0.5)
