"""The one judge of learners, attacks and answers: errors and signs on fresh examples."""

import numpy as np
from numpy.typing import NDArray

from hardness.families import Teacher
from hardness.gadgets.coefficients import Gadget, informative
from hardness.gadgets.levels import level_counts
from hardness.instance import Instance

Floats = NDArray[np.float64]
EXACT = 1e-6  # relative error that solves a random layer
ACCURATE = 0.99  # sign accuracy that solves a structured instance


def sign_accuracy(teacher: Gadget, X: NDArray[np.int8], predicted: Floats, Y: Floats) -> float:
    """Share of rows with z_0 != 0 whose prediction is nearest to the right label value: of two values, the sign.

    On row a the label is x_a[0] times a value of the gadget, in column 0.
    """
    told = informative(X)
    gate = X[told, :, 0]
    values = np.unique(teacher.values)
    middles = (values[1:] + values[:-1]) / 2
    seen = np.searchsorted(middles, predicted[told, :, 0] * gate)
    return float(np.mean(seen == np.searchsorted(middles, Y[told, :, 0] * gate)))


def label_variance(teacher: Teacher) -> float | None:
    """Exact variance, over fair inputs with z_0 != 0, of what a row's label says; None of a layer that is no gadget.

    It is 1 for a parity. Of nested ones, which show a label a column, it is the sum.

    >>> from hardness.families.rounding import Rounding
    >>> label_variance(Instance.generate(Rounding(dim=3, modulus=3, levels=3), seed=1).teacher)
    0.6875
    """
    if not isinstance(teacher, Gadget):
        return None
    low, counts, bits = level_counts(teacher.kind, teacher.weights.tolist())
    law = np.array([count / 2**bits for count in counts])
    values = teacher.value(np.arange(low, low + len(counts)))
    shown = (label_variance(gadget) or 0.0 for gadget in getattr(teacher, "rungs", ()))
    return float(law @ (values - law @ values) ** 2) + sum(shown)


def open_error(X: NDArray[np.int8], predicted: Floats, Y: Floats, variance: float) -> float | None:
    """Mean over rows with z_0 != 0 of the squared error of a row's outputs, in units of the label's `variance`.

    In these units a constant has an error of at least 1. None if no row has z_0 != 0, or a prediction is not finite.

    >>> X, Y = np.array([[[1, 1], [-1, 1]]], dtype=np.int8), np.array([[[1.0, 0.0], [-1.0, 0.0]]])
    >>> open_error(X, Y + 0.5, Y, variance=1.0), open_error(X[:, :1].repeat(2, axis=1), Y, Y, variance=1.0)
    (0.5, None)
    """
    told = informative(X)
    if not told.any() or not np.isfinite(predicted).all():
        return None
    return float(np.mean(np.sum((predicted[told] - Y[told]) ** 2, axis=2)) / variance)


def judge(instance: Instance, X: NDArray[np.int8], predicted: Floats) -> dict[str, float | None]:
    """Errors of a prediction against the noiseless teacher, and for structured families the sign accuracy."""
    Y = instance.teacher(X)
    if predicted.shape != Y.shape or not np.isfinite(predicted).all():
        return {"test_error": None, "relative_error": None, "sign_accuracy": None}
    error = float(np.sum((predicted - Y) ** 2))
    spread = float(np.sum((Y - Y.mean(axis=0)) ** 2)) or 1.0
    teacher = instance.teacher
    return {
        "test_error": (error / Y.size) ** 0.5,
        "relative_error": (error / spread) ** 0.5,
        "sign_accuracy": sign_accuracy(teacher, X, predicted, Y) if isinstance(teacher, Gadget) else None,
    }


def solved(scores: dict[str, float | None]) -> bool:
    """Whether the scores of `judge` solve the instance: sign accuracy .99, or relative error 1e-6 without signs.

    >>> solved({"relative_error": 0.0, "sign_accuracy": None}), solved({"relative_error": 0.1, "sign_accuracy": 0.98})
    (True, False)
    """
    relative, sign = scores["relative_error"], scores["sign_accuracy"]
    return relative is not None and (relative <= EXACT if sign is None else sign >= ACCURATE)
