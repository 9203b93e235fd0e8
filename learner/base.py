"""What every learner shares: scikit-learn's conventions on (n, k, d) arrays, and the report of a fit."""

import time
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin

from hardness.errors import InputError
from hardness.layer import MultiHeadAttention

Array = NDArray[np.float64]
SOLVED = 1e-6  # relative error on held-out examples


@dataclass(frozen=True)
class Phase:
    """What one phase of a learner saw: a verdict (ok, weak, poor, failed, refused), why, and its numbers."""

    name: str
    verdict: str = "ok"
    reason: str = ""
    diagnostics: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What a search ended with: a layer or none, its phases, and whether it refused or ran out of iterations."""

    layer: MultiHeadAttention | None
    phases: tuple[Phase, ...] = ()
    refused: str = ""
    exhausted: bool = False
    heads: int | None = None


@dataclass(frozen=True)
class FitReport:
    """A fit, judged on examples that the search did not see.

    `status` is `solved` (relative error at most 1e-6), `wrong`, `refused` (an assumption does not hold: `reason`
    says which) or `budget` (iterations ran out). `test_error` is a root mean square, `relative_error` is
    sqrt(Σ|F̂−F|² / Σ|F−mean F|²), `sign_accuracy` the share of labels beyond 1e-9 whose sign is right, and `heads`
    the number that the learner needed, where it can tell.
    """

    status: str
    reason: str
    examples: int
    test_error: float
    relative_error: float
    sign_accuracy: float
    heads: int | None
    phases: tuple[Phase, ...]
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Plain types only, ready for JSON."""
        return asdict(self)


class Learner(RegressorMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A scikit-learn regressor on X (n, k, d) of ±1 and Y (n, k, d); subclasses implement `_search`.

    `fit` holds a tenth of the examples out (at most 2000), hands the rest to `_search`, and leaves `layer_`
    (None if refused: then `predict` is 0, the mean of every odd layer) and `report_`. `random_state` is anything
    `numpy.random.default_rng` takes. Raises `InputError` on shapes that differ, fewer equations than unknowns,
    NaN, infinity, and tokens other than ±1.
    """

    minimum_width: ClassVar[int] = 0  # the least k·d that the method can use
    solved_at: ClassVar[float] = SOLVED

    def __init__(self, heads: int = 2, random_state: int | None = None) -> None:
        self.heads = heads
        self.random_state = random_state

    @abstractmethod
    def _search(self, X: Array, Y: Array, rng: np.random.Generator) -> Outcome:
        """The layer that explains Y (n, k, d) on X (n, k, d), or none, and what the phases said."""

    def fit(self, X: ArrayLike, Y: ArrayLike) -> Self:
        """Learn from X and Y, both (n, k, d); returns self."""
        x, y = self._examples(X, Y)
        rng = np.random.default_rng(self.random_state)
        order = rng.permutation(len(x))
        held, kept = np.split(order, [max(1, min(len(x) // 10, 2000))])
        started = time.perf_counter()
        outcome = self._search(x[kept], y[kept], rng)
        seconds = time.perf_counter() - started
        self.n_features_in_ = x.shape[2]
        self.layer_ = outcome.layer
        scores = judge(self.predict(x[held]), y[held])
        status, reason = _verdict(outcome, scores["relative_error"], self.solved_at)
        self.report_ = FitReport(
            status=status,
            reason=reason,
            examples=len(kept),
            heads=outcome.heads,
            phases=outcome.phases,
            seconds=seconds,
            **scores,
        )
        return self

    def predict(self, X: ArrayLike) -> Array:
        """F̂(X), shape (n, k, d)."""
        x = tokens(X)
        if not hasattr(self, "layer_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"this {type(self).__name__} is not fitted yet: call fit(X, Y) first")
        if x.shape[2] != self.n_features_in_:
            raise InputError(f"X has {x.shape[2]} features, but the learner was fitted on {self.n_features_in_}")
        return np.zeros_like(x) if self.layer_ is None else self.layer_(x)

    def score(self, X: ArrayLike, Y: ArrayLike) -> float:
        """1 − relative_error²: the R² of all entries together."""
        return 1 - judge(self.predict(X), np.asarray(Y, dtype=np.float64))["relative_error"] ** 2

    def _examples(self, X: ArrayLike, Y: ArrayLike) -> tuple[Array, Array]:
        x, y = tokens(X), _real(Y, "Y")
        if y.shape != x.shape:
            raise InputError(f"Y must have the shape of X {x.shape}, got {y.shape}")
        if not isinstance(self.heads, (int, np.integer)) or self.heads < 1:
            raise InputError(f"heads must be an integer >= 1, got {self.heads!r}")
        n, k, d = x.shape
        if k * d < self.minimum_width:
            raise InputError(f"tokens x features must be at least {self.minimum_width}, got {k} x {d} = {k * d}")
        if self.minimum_width and k > d:
            raise InputError(f"tokens must not exceed features, got {k} tokens of {d} features")
        unknowns = 2 * self.heads * d * d
        least = -(-unknowns // (k * d)) + 1
        if n < least + max(1, n // 10):
            raise InputError(
                f"{n} examples are too few: {self.heads} heads of {d} features have {unknowns} unknowns and an "
                f"example gives {k * d} equations; give at least {least + max(1, least // 9)} examples"
            )
        return x, y


def tokens(X: ArrayLike) -> Array:
    """X as float64 (n, k, d); `InputError` unless every entry is ±1.

    >>> tokens([[1, -1]])
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: X must have shape (examples, tokens, features), got (1, 2)
    """
    x = _real(X, "X")
    if x.ndim != 3 or 0 in x.shape:
        raise InputError(f"X must have shape (examples, tokens, features), got {x.shape}")
    if not (np.abs(x) == 1).all():
        raise InputError(f"X must hold only +1 and -1, got {x[np.abs(x) != 1][0]:g}")
    return x


def _real(values: ArrayLike, name: str) -> Array:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a numeric array of shape (examples, tokens, features)") from None
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite, got NaN or infinity")
    return array


def judge(predicted: Array, Y: Array) -> dict[str, float]:
    """Root mean square error, relative error and sign accuracy of a prediction, both (n, k, d).

    >>> judge(np.array([[[1.0, -1.0]]]), np.array([[[2.0, -1.0]]]))["sign_accuracy"]
    1.0
    """
    error = predicted - Y
    spread = float(np.sqrt(np.sum((Y - Y.mean(axis=0)) ** 2))) or 1.0
    informative = np.abs(Y) > 1e-9
    agree = np.sign(predicted[informative]) == np.sign(Y[informative])
    return {
        "test_error": float(np.sqrt(np.mean(error**2))),
        "relative_error": float(np.sqrt(np.sum(error**2))) / spread,
        "sign_accuracy": float(agree.mean()) if agree.size else 1.0,
    }


def _verdict(outcome: Outcome, relative_error: float, solved_at: float) -> tuple[str, str]:
    if outcome.refused:
        return "refused", outcome.refused
    if relative_error <= solved_at:
        return "solved", ""
    missed = f"relative error {relative_error:.1e} on held-out examples"
    if outcome.exhausted:
        return "budget", f"{missed} when the iterations ran out"
    return "wrong", f"{missed} where the search came to rest"
