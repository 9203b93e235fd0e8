"""What every learner shares: scikit-learn's conventions on (n, k, d) arrays, how a fit is judged, what it reports."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from hardness.errors import InputError
from hardness.io.fields import all_finite, number, whole
from hardness.layer import MultiHeadAttention
from hardness.scores import relative_error

Array = NDArray[np.float64]
Ranges = tuple[tuple[str, int | str], ...]
SOLVED = 1e-6  # relative error on held-out examples
MOST_HELD = 2000  # examples that a fit holds out: a tenth, and at most this many


@dataclass(frozen=True)
class Phase:
    """Reports a phase of a fit: its verdict (ok, weak, poor, failed, refused), the reason, and its numbers by name."""

    name: str
    verdict: str = "ok"
    reason: str = ""
    diagnostics: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SearchResult:
    """Holds what a search found: a layer or None, its phases, and whether iterations ran out (`exhausted`).

    `refused` says why a phase refused, `heads` how many are needed, and `verdicts` are further fields of a `FitReport`.
    """

    layer: MultiHeadAttention | None
    phases: tuple[Phase, ...] = ()
    refused: str = ""
    exhausted: bool = False
    heads: int | None = None
    verdicts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FitReport:
    """Reports how a fit does on examples that its search did not see.

    `status` is `solved` (relative error at most 1e-6, or the learner's own bound), `certified` (not solved, but see
    below), `wrong`, `refused` (an assumption fails, see `reason`; there is no layer) or `budget` (iterations ran out).
    `heads` is the number needed, if known. `relative_error` is sqrt(Σ|F̂−Y|² / Σ|Y−mean Y|²), F̂ the prediction.

    The provable learner alone sets the rest. `certified_error` is the relative error before its last phase, a local
    search, on examples that no phase saw; `certified` says if it is at most .1 (learner 1.13). `polished_error` and
    `random_start_error` are those of that search, from the layer before it and from a random one. `refused_by` is the
    phase that refused, and `condition` what fails: name, value, needs (at least or at most), threshold.
    `certified_radius` bounds the relative distance of the only fitting layer nearby (learner 1.14).
    """

    status: str
    reason: str
    examples: int
    relative_error: float
    heads: int | None = None
    phases: tuple[Phase, ...] = ()
    certified: bool | None = None
    certified_error: float | None = None
    polished_error: float | None = None
    random_start_error: float | None = None
    refused_by: str = ""
    condition: dict[str, Any] | None = None
    certified_radius: float | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class Regressor(RegressorMixin, BaseEstimator, ABC):
    """Gives learners scikit-learn's conventions: X and Y are (n, k, d) arrays, and `score` is one R² of all entries.

    Subclasses are dataclasses of their options. `ranges` gives for each option the least whole number that it may be,
    or an interval as text, such as "(0, inf)". `random_state` is anything `numpy.random.default_rng` takes.
    """

    ranges: ClassVar[Ranges] = ()

    random_state: int | None = None

    def check_options(self) -> None:
        """Raise `InputError` for an option of the learner out of its range; None is allowed where it is the default."""
        for name, bound in self.ranges:
            value = getattr(self, name)
            if value is None and getattr(type(self), name) is None:
                continue
            if isinstance(bound, int):
                whole(name, value, bound)
            else:
                number(name, value, bound)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        tags.target_tags.two_d_labels, tags.target_tags.multi_output = True, True
        return tags

    def score(self, X: ArrayLike, Y: ArrayLike) -> float:
        """Return R² of the predictions for X against Y (n, k, d), all entries taken together; 1 is a perfect fit."""
        return 1 - relative_error(self.predict(X), np.asarray(Y, dtype=np.float64)) ** 2

    def predict(self, X: ArrayLike) -> Array:
        """Return predictions for X (n, k, d), shaped like the fitted Y. Raises `InputError` if `fit` had another d."""
        check_is_fitted(self, "n_features_in_")
        x = tokens(X)
        if x.shape[2] != self.n_features_in_:
            raise InputError(f"X has {x.shape[2]} features; the learner was fitted on {self.n_features_in_}")
        return self._predict(x)

    @abstractmethod
    def _predict(self, x: NDArray[Any]) -> Array:
        """Return the predictions for tokens x (n, k, d), whose size d was checked."""


class Learner(Regressor):
    """Learns an attention layer from X (n, k, d) and Y (n, k, d); subclasses implement `_search`.

    X is ±1, as the provable learner assumes, or any other finite tokens. `fit` holds a tenth of the examples out (at
    most 2000) and hands the rest to `_search`. It sets `report_` and `layer_`; without a layer this is None and
    `predict` returns 0.
    """

    solved_at: ClassVar[float] = SOLVED
    heads: Any  # a number; "auto" where a subclass can tell it from the examples

    @abstractmethod
    def _search(self, X: Array, Y: Array, rng: np.random.Generator) -> SearchResult:
        """Return the layer found to explain Y (n, k, d) on X (n, k, d), or None, with the phases of the search."""

    def fit(self, X: ArrayLike, Y: ArrayLike) -> Self:
        """Learn from X and Y, both (n, k, d); return self.

        Raises `InputError` for an option out of range, shapes that differ, a single token (k = 1), NaN, infinity, and
        too few examples to determine the layer.
        """
        self.check_options()
        x = tokens(X).astype(np.float64, copy=False)
        y = outputs(Y, x)
        self._check_sizes(*x.shape)
        rng = np.random.default_rng(self.random_state)
        held, kept = np.split(rng.permutation(len(x)), [max(1, min(len(x) // 10, MOST_HELD))])
        result = self._search(x[kept], y[kept], rng)
        self.n_features_in_, self.layer_ = x.shape[2], result.layer
        error = relative_error(self.predict(x[held]), y[held])
        status, reason = self._verdict(result, error)
        self.report_ = FitReport(
            status, reason, len(kept), error, result.heads, result.phases, **result.verdicts
        )
        return self

    def _verdict(self, result: SearchResult, error: float) -> tuple[str, str]:
        """Return a search's status and reason (see `FitReport`), given its relative `error` on held-out examples."""
        if result.refused and result.layer is None:
            return "refused", result.refused
        missed = f"relative error {error:.1e} on held-out examples"
        if result.refused:
            missed = f"the phases refuse: {result.refused}; the search after them: {missed}"
        if error <= self.solved_at:
            return "solved", missed if result.refused else ""
        if result.verdicts.get("certified"):
            return "certified", missed
        return ("budget", f"{missed} when the iterations ran out") if result.exhausted else ("wrong", missed)

    def _predict(self, x: NDArray[Any]) -> Array:
        return np.zeros(x.shape) if self.layer_ is None else self.layer_(x.astype(np.float64, copy=False))

    def _check_sizes(self, n: int, k: int, d: int) -> None:
        """Raise `InputError` if n examples of k tokens of size d are too few to determine the layer, or if k is 1."""
        if k < 2:
            raise InputError("tokens must be at least 2: with a single token there is nothing to attend to")
        heads = 1 if self.heads == "auto" else self.heads
        floor = counting_floor(heads, k, d) + 1
        if n < floor + max(1, n // 10):
            raise InputError(
                f"{n} examples are too few: {heads} heads of {d} features have {2 * heads * d * d} unknowns, an "
                f"example gives {k * d} equations and shows {k * (k - 1)} scores a head; give at least "
                f"{floor + max(1, floor // 9)} examples"
            )


def counting_floor(heads: int, tokens: int, dim: int) -> int:
    """Return the least number of examples with as many equations as unknowns, for all heads and for one matrix Θ.

    An example gives tokens·dim equations for the 2·heads·dim² entries of all Θ and W, and for the dim² entries of one Θ
    it shows tokens·(tokens − 1) attention scores.

    >>> counting_floor(2, 2, 40), counting_floor(8, 2, 8)
    (800, 64)
    """
    return max(-(-2 * heads * dim // tokens), -(-dim * dim // (tokens * (tokens - 1))))


def gradient_work(heads: int, tokens: int, dim: int) -> float:
    """Return the number of multiply-adds that a layer and its gradient by Θ and W take on one example."""
    return 3.0 * (2 * tokens * heads * dim**2 + 2 * tokens**2 * heads * dim)


def tokens(X: ArrayLike) -> NDArray[Any]:
    """Return X (n, k, d) as float64, or as it is if int8. Raises `InputError` on another shape, NaN or infinity."""
    x = X if isinstance(X, np.ndarray) and X.dtype == np.int8 else _real(X, "X")
    if x.ndim != 3 or 0 in x.shape:
        raise InputError(f"X must have shape (examples, tokens, features), got {x.shape}")
    return x


def signs(X: ArrayLike) -> NDArray[np.int8]:
    """Return tokens X (n, k, d) of ±1 as int8. Raises `InputError` if there are other entries."""
    x = tokens(X)
    if not (np.abs(x) == 1).all():
        raise InputError("X must hold only +1 and -1: tokens are signs")
    return x.astype(np.int8, copy=False)


def outputs(Y: ArrayLike, x: NDArray[Any]) -> Array:
    """Return Y as float64. Raises `InputError` unless it is finite and of the shape of the tokens x."""
    y = _real(Y, "Y")
    if y.shape != x.shape:
        raise InputError(f"Y must have the shape of X {x.shape}, got {y.shape}")
    return y


def _real(values: ArrayLike, name: str) -> Array:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a numeric array of shape (examples, tokens, features)") from None
    all_finite(name, array)
    return array
