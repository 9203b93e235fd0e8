"""Ridge regression on fixed features or a kernel: the common part of every learner that is linear in what it trains."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.errors import InputError
from hardness.io.fields import all_finite, number
from hardness.scores import relative_error, root_mean_square
from learner.base import SOLVED, Array, FitReport, Phase, Regressor, tokens

Features = NDArray[np.float32] | NDArray[np.float64]
GRID = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
MEMORY_GB = 5.0  # that a fit may take
BLOCK = 1 << 22  # entries of a temporary of a kernel


class RidgeLearner(Regressor, ABC):
    """Linear regression with penalty `alpha` · tr(G)/rows; subclasses say what the features are.

    X is (n, k, d), any real tokens. Y is (n,) or (n, p), read at the query token; or (n, k, d): then every row of
    the output is learned with one set of parameters, row a from the tokens with a swapped into the query's place,
    for a layer treats its rows alike. A tuple `alpha` is chosen among for every output, on a tenth of the examples;
    another tenth judges (`report_`, of the fit that saw neither), then all examples are fitted. Solves in whichever
    is smaller, features or examples; a job beyond 5 GB is refused with its predicted size (`InputError`).
    """

    def __init__(self, alpha: float | tuple[float, ...] = GRID, random_state: int | None = None) -> None:
        self.alpha = alpha
        self.random_state = random_state

    centred = True  # fit an intercept

    @abstractmethod
    def _start(self, X: Array, rng: np.random.Generator) -> int | None:
        """Draw what stays frozen; the number of features, None for a kernel."""

    def blocks(self, X: Array) -> Iterator[Features]:
        """The features of X, (rows, ·) at a time; not called for a kernel."""
        raise NotImplementedError  # and so not abstract: a kernel has `gram` in its place

    def gram(self, X: Array, Z: Array) -> Array:
        """Inner products of the features of X and of Z: (rows of X, rows of Z)."""
        gram = np.zeros((len(X), len(Z)))
        if X is Z:
            for a in self.blocks(X):
                gram += a @ a.T  # numpy forms only half of it
            return gram
        for a, b in zip(self.blocks(X), self.blocks(Z), strict=True):
            gram += a @ b.T
        return gram

    def fit(self, X: ArrayLike, Y: ArrayLike) -> Self:
        """Learn from X (n, k, d) and Y (n,), (n, p) or (n, k, d); returns self."""
        x, y = examples(X, Y)
        alphas = self.alpha if isinstance(self.alpha, tuple) else (self.alpha,)
        for alpha in alphas or (None,):
            number("alpha", alpha, "[0, inf)", "several are a tuple")
        rng = np.random.default_rng(self.random_state)
        started = time.perf_counter()
        order = rng.permutation(len(x))
        x, y = x[order], y[order]
        self._shape, self.n_features_in_ = y.shape[1:], x.shape[2]
        rows, targets = self._rows(x), y.reshape(-1, y.shape[-1] if y.ndim > 1 else 1)
        self._solve(rows, targets, len(rows) // len(x), rng)
        judged = self._judged.reshape(-1, *self._shape)
        held = y[len(y) - len(judged) :]
        error = relative_error(judged, held)
        solved = error <= SOLVED
        self.report_ = FitReport(
            status="solved" if solved else "wrong",
            reason="" if solved else f"relative error {error:.1e} on held-out examples",
            examples=len(x),
            heads=None,
            phases=(Phase("ridge", diagnostics=self._diagnostics()),),
            seconds=time.perf_counter() - started,
            test_error=root_mean_square(judged, held),
            relative_error=error,
        )
        return self

    def gradient_examples(self, examples: int, tokens: int, dim: int) -> float:
        """A fit reads every example once."""
        return float(examples)

    def _solving(self, size: int) -> float:
        """Those of Cholesky factors of matrices (size, size), two for every alpha."""
        return 2 * np.size(self.alpha) * size**3 / 6

    def _solve(self, rows: Array, targets: Array, group: int, rng: np.random.Generator) -> None:
        """Choose alpha, judge, and fit everything; `group` rows belong to an example."""
        n, size = len(rows), self._start(rows, rng)
        self.n_features_ = size
        primal = size is not None and size < n
        memory = 8e-9 * (n * (size or 0) + 2 * (size or 0) ** 2 if primal else 2 * n**2)
        refuse_beyond(memory, f"ridge regression on {n} rows")
        known = (
            np.concatenate(list(self.blocks(rows)), axis=1).astype(np.float64)
            if primal
            else self.gram(rows, rows)
        )

        def fitted(alpha: float, part: slice, right: Array) -> Array:
            z = known[part] if primal else known[part, part]
            gram = z.T @ z if primal else z
            return solve(gram, z.T @ right if primal else right, alpha * np.trace(gram) / len(z))

        def predicted(coefficients: Array, part: slice) -> Array:
            return np.asarray((known[part] if primal else known[part, : len(coefficients)]) @ coefficients)

        coefficients = self._choose(targets, group, fitted, predicted)
        if primal:
            self.coefficients_ = coefficients
        elif size is not None:
            self.coefficients_ = np.concatenate(
                [b.T @ coefficients.astype(b.dtype) for b in self.blocks(rows)]
            )
        else:
            self.support_, self.coefficients_ = rows, coefficients

    def _choose(
        self,
        targets: Array,
        group: int,
        fitted: Callable[[float, slice, Array], Array],
        predicted: Callable[[Array, slice], Array],
    ) -> Array:
        """Set `alpha_` and `intercept_` of every output and what is judged; return the coefficients (·, outputs).

        `fitted(alpha, part, right)` fits `right` on a part of the rows.
        """
        n, alphas = len(targets), np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        held = max(1, min(n // group // 10, 2000)) * group
        choosing = slice(n - (2 if len(alphas) > 1 else 1) * held, n - held)
        before, judged = slice(0, choosing.start), slice(n - held, n)
        mean = targets[before].mean(axis=0) * self.centred
        tries = [fitted(alpha, before, targets[before] - mean) for alpha in alphas]
        missed = [np.sum((predicted(c, choosing) + mean - targets[choosing]) ** 2, axis=0) for c in tries]
        choice = np.argmin(missed, axis=0)
        self._judged = mean + predicted(
            np.sum([c * (choice == i) for i, c in enumerate(tries)], axis=0), judged
        )
        self.alpha_, self.intercept_ = alphas[choice], targets.mean(axis=0) * self.centred
        whole = [
            fitted(alphas[i], slice(0, n), targets - self.intercept_) * (choice == i)
            for i in np.unique(choice)
        ]
        return np.asarray(np.sum(whole, axis=0))

    def _diagnostics(self) -> dict[str, Any]:
        return {"alpha": self.alpha_.tolist(), "features": self.n_features_}

    def predict(self, X: ArrayLike) -> Array:
        """Predicted Y of tokens (n, k, d), in the shape that was fitted."""
        x = self._to_predict(X, "report_")
        return self._predict(self._rows(x)).reshape(
            x.shape if len(self._shape) == 2 else (len(x), *self._shape)
        )

    def _predict(self, rows: Array) -> Array:
        out = np.tile(self.intercept_, (len(rows), 1))
        if self.n_features_ is None:
            return out + self.gram(rows, self.support_) @ self.coefficients_
        start = 0
        for block in self.blocks(rows):
            out += block @ self.coefficients_[start : start + block.shape[1]]
            start += block.shape[1]
        return out

    def _asking(self, tokens: int) -> int:
        """The token that asks, where only one does: the query."""
        return 0

    def _rows(self, x: Array) -> Array:
        if len(self._shape) < 2:
            return x
        place = self._asking(x.shape[1])
        order = np.tile(np.arange(x.shape[1]), (x.shape[1], 1))
        for a, row in enumerate(order):
            row[[a, place]] = row[[place, a]]
        return x[:, order].reshape(-1, *x.shape[1:])


def solve(gram: Array, right: Array, ridge: float) -> Array:
    """(gram + ridge·I)⁻¹ right by Cholesky. Raises `InputError` if that is singular in floating point."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    # In this order LAPACK factors in place; in the other scipy copies silently.
    matrix = np.array(gram, order="F")
    matrix.flat[:: len(matrix) + 1] += ridge
    try:
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        raise InputError("the features are linearly dependent at this alpha: raise alpha") from None
    return np.asarray(cho_solve(factor, right, check_finite=False))


def refuse_beyond(least_gb: float, what: str) -> None:
    """Raise `InputError` with the predicted size of a job that is larger than `MEMORY_GB`.

    >>> refuse_beyond(17.2, "a fit")
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: a fit needs about 17.2 GB, and may take 5: give fewer examples
    """
    if least_gb > MEMORY_GB:
        raise InputError(
            f"{what} needs about {least_gb:.1f} GB, and may take {MEMORY_GB:g}: give fewer examples"
        )


def row_blocks(rows: int, width: int) -> Iterator[slice]:
    """Slices of `rows` such that a temporary of `width` columns has at most `BLOCK` entries.

    >>> [s.stop for s in row_blocks(10, BLOCK // 4)]
    [4, 8, 10]
    """
    step = max(1, BLOCK // max(1, width))
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def examples(X: ArrayLike, Y: ArrayLike) -> tuple[Array, Array]:
    """X and Y of a fit, checked: Y (n,), (n, p) or the shape of X. Raises `InputError` otherwise."""
    x, y = tokens(X), np.asarray(Y, dtype=np.float64)
    if y.ndim not in (1, 2, 3) or len(y) != len(x) or (y.ndim == 3 and y.shape != x.shape):
        raise InputError(
            f"Y must have shape ({len(x)},), ({len(x)}, outputs) or that of X {x.shape}, got {y.shape}"
        )
    all_finite("Y", y)
    if len(x) < 10:
        raise InputError(f"{len(x)} examples are too few: give at least 10")
    return x, y
