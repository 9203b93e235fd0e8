"""The one judge of learners, attacks and answers: errors and signs on fresh examples."""

import numpy as np
from numpy.typing import NDArray

from hardness.gadgets.coefficients import Gadget, informative
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
