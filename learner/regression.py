"""Learners that are linear in what they train: ridge regression on fixed features or on a kernel.

`LowDegree` has all monomials of low degree. Their number is the null model of every plot of hardness: what "only high
degree" would cost. A family is called hard here only for what exceeds that count.

`RandomFeatureAttention` and its rival `RandomFeatureMLP` are those of Fu, Guo, Bai and Mei (arXiv 2307.11353). What a
head computes follows the paper's abstract and is reconstructed elsewhere: the constant appended to tokens, an identity
as the mean of biased heads and its size `bias` are this lab's choices, not the paper's.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.errors import InputError
from hardness.io.fields import all_finite, number, one_of
from hardness.scores import relative_error
from hardness.sq.bounds.parity import krawtchouk
from learner.base import MOST_HELD, SOLVED, Array, FitReport, Phase, Regressor, signs, tokens

GRID = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
MEMORY_GB = 5.0  # that a fit may take
BLOCK = 1 << 22  # entries of a temporary of a kernel
AT_ONCE = {"heads": 64, "neurons": 1024}  # whose features are made together


@dataclass(eq=False, repr=False, kw_only=True)
class RidgeLearner(Regressor):
    """Fits ridge regression on features that a subclass defines, with penalty `alpha` · tr(G)/rows, G the Gram matrix.

    X is (n, k, d), any real tokens. Y is (n,) or (n, p), outputs at one query token; or (n, k, d), those at every
    token: then one set of parameters serves all, and row a is learned from the tokens with a swapped into the query's
    place, for a layer treats its rows alike. Of several `alpha` the best is chosen for each output on a tenth of the
    examples; another tenth judges (`report_`, of the fit that saw neither), then all examples are fitted. Solves in
    whichever is smaller, features or examples; a job beyond 5 GB is refused with its predicted size (`InputError`).
    """

    centred = True  # fit an intercept

    alpha: float | tuple[float, ...] = GRID

    @abstractmethod
    def _start(self, X: Array, rng: np.random.Generator) -> int | None:
        """Draw the random features, if any; return how many features there are, None if only their kernel is used."""

    def blocks(self, X: Array) -> Iterator[NDArray[np.float32]]:
        """Yield the features of X (n, k, d), some columns (n, ·) at a time; not needed where `gram` is defined anew."""
        raise NotImplementedError  # and so not abstract: a kernel has `gram` in its place

    def gram(self, X: Array, Z: Array) -> Array:
        """Return the inner products (n, n') of the features of X (n, k, d) with those of Z (n', k, d)."""
        gram = np.zeros((len(X), len(Z)))
        for a in self.blocks(X):
            gram += a @ a.T  # numpy forms only half of it
        return gram

    def fit(self, X: ArrayLike, Y: ArrayLike) -> Self:
        """Learn from X (n, k, d) and Y (n,), (n, p) or (n, k, d); return self. Raises `InputError` on other shapes."""
        x, y = examples(X, Y)
        self.check_options()
        for alpha in np.atleast_1d(np.array(self.alpha, dtype=object)):
            number("alpha", alpha, "[0, inf)", "several are a tuple")
        rng = np.random.default_rng(self.random_state)
        order = rng.permutation(len(x))
        x, y = x[order], y[order]
        self._shape, self.n_features_in_ = y.shape[1:], x.shape[2]
        rows = self._rows(x)
        judged = self._fit(rows, y.reshape(len(rows), -1), len(rows) // len(x), rng)
        held = y[len(y) - len(judged) * len(x) // len(rows) :]
        error = relative_error(judged.reshape(held.shape), held)
        phase = Phase("ridge", diagnostics={"alpha": self.alpha_.tolist(), "features": self.n_features_})
        status, reason = "wrong", f"relative error {error:.1e} on held-out examples"
        if error <= SOLVED:
            status, reason = "solved", ""
        self.report_ = FitReport(status, reason, len(x), error, phases=(phase,))
        return self

    def _solving(self, size: int) -> float:
        """Return the multiply-adds of all Cholesky factorisations of matrices (size, size), two for every alpha."""
        return 2 * np.size(self.alpha) * size**3 / 6

    def _fit(self, rows: Array, targets: Array, group: int, rng: np.random.Generator) -> Array:
        """Fit inputs `rows` (r, k, d) to `targets` (r, p), alpha chosen for each output; return the last predictions.

        They are those for the last tenth by a fit without it. Each example has `group` rows.
        """
        n, size = len(rows), self._start(rows, rng)
        self.n_features_ = size
        primal = size is not None and size < n
        memory = 8e-9 * (n * (size or 0) + 2 * (size or 0) ** 2 if primal else 2 * n**2)
        refuse_beyond(memory, f"ridge regression on {n} rows")
        known = np.hstack([*self.blocks(rows)]).astype(np.float64) if primal else self.gram(rows, rows)

        def fitted(alpha: float, part: slice, right: Array) -> Array:
            z = known[part] if primal else known[part, part]
            gram = z.T @ z if primal else z
            return solve(gram, z.T @ right if primal else right, alpha * np.trace(gram) / len(z))

        def predicted(coefficients: Array, part: slice) -> Array:
            return np.asarray((known[part] if primal else known[part, : len(coefficients)]) @ coefficients)

        alphas = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        held = held_rows(n, group)
        choosing = slice(n - (2 if len(alphas) > 1 else 1) * held, n - held)
        before = slice(0, choosing.start)
        mean = targets[before].mean(axis=0) * self.centred
        tries = [fitted(alpha, before, targets[before] - mean) for alpha in alphas]
        missed = [np.sum((predicted(c, choosing) + mean - targets[choosing]) ** 2, axis=0) for c in tries]
        choice = np.argmin(missed, axis=0)
        chosen = np.sum([c * (choice == i) for i, c in enumerate(tries)], axis=0)
        self.alpha_, self.intercept_ = alphas[choice], targets.mean(axis=0) * self.centred
        everything = slice(0, n), targets - self.intercept_
        whole = [fitted(alphas[i], *everything) * (choice == i) for i in np.unique(choice)]
        coefficients = np.asarray(np.sum(whole, axis=0))
        if size is None:
            self.support_ = rows
        elif not primal:
            coefficients = np.concatenate([b.T @ coefficients.astype(b.dtype) for b in self.blocks(rows)])
        self.coefficients_: Array = coefficients
        return np.asarray(mean + predicted(chosen, slice(n - held, n)))

    def _predict(self, x: NDArray[Any]) -> Array:
        """Return the predicted Y of tokens x (n, k, d), in the shape that was fitted."""
        shape = x.shape if len(self._shape) == 2 else (len(x), *self._shape)
        predicted: Array = self._outputs(self._rows(x)).reshape(shape)
        return predicted

    def _outputs(self, rows: Array) -> Array:
        out = np.tile(self.intercept_, (len(rows), 1))
        if self.n_features_ is None:
            return out + self.gram(rows, self.support_) @ self.coefficients_
        start = 0
        for block in self.blocks(rows):
            out += block @ self.coefficients_[start : start + block.shape[1]]
            start += block.shape[1]
        return out

    def _asking(self, tokens: int) -> int:
        """Return the index of the token whose output is learned, of `tokens`: the first, unless a subclass decides."""
        return 0

    def _rows(self, x: Array) -> Array:
        """Return x (n, k, d), or if each token's output is learned k copies (n·k, k, d), each token once the query."""
        if len(self._shape) < 2:
            return x
        place = self._asking(x.shape[1])
        order = np.tile(np.arange(x.shape[1]), (x.shape[1], 1))
        for a, row in enumerate(order):
            row[[a, place]] = row[[place, a]]
        return x[:, order].reshape(-1, *x.shape[1:])


def held_rows(rows: int, group: int) -> int:
    """Return how many of `rows` to hold out: those of a tenth of the examples, 1 to 2000, with `group` rows each."""
    return max(1, min(rows // group // 10, MOST_HELD)) * group


def solve(gram: Array, right: Array, ridge: float) -> Array:
    """Return (gram + ridge·I)⁻¹ right by Cholesky. Raises `InputError` if that matrix is singular in floating point."""
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
    """Raise `InputError`, which names the job `what`, if it needs more than 5 GB of memory (`least_gb`, in GB)."""
    if least_gb > MEMORY_GB:
        raise InputError(
            f"{what} needs about {least_gb:.1f} GB, and may take {MEMORY_GB:g}: give fewer examples"
        )


def row_blocks(rows: int, width: int) -> Iterator[slice]:
    """Yield slices that cover `rows` rows, such that an array of `width` columns on one has at most 2²² entries."""
    step = max(1, BLOCK // max(1, width))
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def examples(X: ArrayLike, Y: ArrayLike) -> tuple[Array, Array]:
    """Return X (n, k, d) and Y, (n,), (n, p) or of the shape of X. Raises `InputError` for others, and if n < 10."""
    x, y = tokens(X), np.asarray(Y, dtype=np.float64)
    if y.ndim not in (1, 2, 3) or len(y) != len(x) or (y.ndim == 3 and y.shape != x.shape):
        raise InputError(
            f"Y must have shape ({len(x)},), ({len(x)}, outputs) or that of X {x.shape}, got {y.shape}"
        )
    all_finite("Y", y)
    if len(x) < 10:
        raise InputError(f"{len(x)} examples are too few: give at least 10")
    return x, y


@dataclass(eq=False, repr=False)
class LowDegree(RidgeLearner):
    """Ridge regression on monomials of the k·d signs, of degree up to `degree`: random layers, from 1,000 examples.

    Their inner products depend only on the Hamming distance of two inputs, so no monomial is computed. Y (n, k, d) is
    learned entry by entry. All else is as in `RidgeLearner`; tokens must be ±1.
    """

    centred = False  # the constant is a monomial
    ranges = (("degree", 0),)

    degree: int = 3

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """Return roughly the multiply-adds of a fit: Hamming distances of all pairs of inputs, and Cholesky factors."""
        return float(examples) ** 2 * tokens * dim + self._solving(examples)

    def _rows(self, x: Array) -> Array:
        return x  # no symmetry is assumed, so every entry of Y has monomials of its own

    def _start(self, X: Array, rng: np.random.Generator) -> int | None:
        signs(X)  # monomials are those of signs
        self._by_distance = krawtchouk_sums(X.shape[1] * X.shape[2], self.degree)
        return None

    def gram(self, X: Array, Z: Array) -> Array:
        x, z = (np.asarray(v, dtype=np.float32).reshape(len(v), -1) for v in (X, Z))
        gram = np.empty((len(x), len(z)))
        for rows in row_blocks(len(x), len(z)):
            distance = ((x.shape[1] - x[rows] @ z.T) / 2).astype(np.intp)
            np.take(self._by_distance, distance, out=gram[rows])
        return gram


def krawtchouk_sums(bits: int, degree: int) -> Array:
    """Return Σ x_T z_T over all sets |T| <= degree (x_T: product over T), by Hamming distance 0..bits of x and z."""
    of_sizes = zip(*(krawtchouk(bits, size) for size in range(degree + 1)), strict=True)
    return np.array([float(sum(values)) for values in of_sizes])


class _RandomFeatures(RidgeLearner):
    """Divides tokens by their root-mean-square norm in training, so that an appended 1 weighs as much as a token."""

    def _scaled(self, X: Array) -> Array:
        return np.asarray(X, dtype=np.float64) / self.token_norm_

    def _measure(self, X: Array) -> None:
        self.token_norm_ = float(np.sqrt(np.mean(np.sum(np.square(X, dtype=np.float64), axis=2)))) or 1.0


@dataclass(eq=False, repr=False)
class RandomFeatureAttention(_RandomFeatures):
    """Attention with frozen random queries and a relu in place of the softmax: random layers, from 1,000 examples.

    It is Σ_m mean_i relu(<W_m, x₀ xᵢᵀ>) <v_m, xᵢ> with `n_heads` random W_m and trained v_m. The mean of W_m is
    `bias`·I. The constant 1 is appended to tokens: without it no even function of the keys alone can be represented.
    The first token is the query, and its `keys` are `all` tokens or the `others`. All else is as in `RidgeLearner`.
    """

    ranges = (("n_heads", 1),)

    n_heads: int = 1000
    bias: float = 0.0
    keys: str = "all"

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """Return roughly the multiply-adds of a fit of Y (n, k, d): features, inner products, Cholesky factors."""
        rows, wide = float(examples * tokens), dim + 1
        size = self.n_heads * wide
        features = rows * self.n_heads * (wide**2 + 2 * tokens * wide)
        smaller = int(min(rows, size))
        return features + rows * size * smaller / 2 + self._solving(smaller)

    def _start(self, X: Array, rng: np.random.Generator) -> int | None:
        self._measure(X)
        one_of("keys", self.keys, ("all", "others"))
        d, wide = X.shape[2], X.shape[2] + 1
        refuse_beyond(4e-9 * self.n_heads * wide**2, f"{self.n_heads} heads")
        mean = np.diag([self.bias] * d + [0.0])
        self.heads_ = (mean + rng.normal(size=(self.n_heads, wide, wide))).astype(np.float32)
        return int(self.n_heads * wide)

    def blocks(self, X: Array) -> Iterator[NDArray[np.float32]]:
        x = np.pad(self._scaled(X), ((0, 0), (0, 0), (0, 1)), constant_values=1).astype(np.float32)
        n, d = len(x), x.shape[2]
        keys = x if self.keys == "all" else x[:, 1:]
        for start in range(0, len(self.heads_), AT_ONCE["heads"]):
            heads = self.heads_[start : start + AT_ONCE["heads"]].transpose(1, 0, 2).reshape(d, -1)
            scores = (x[:, 0] @ heads).reshape(n, -1, d) @ keys.transpose(0, 2, 1)
            weights = np.maximum(scores, 0) / np.float32(keys.shape[1])
            yield np.asarray(weights @ keys, dtype=np.float32).reshape(n, -1)


@dataclass(eq=False, repr=False)
class RandomFeatureMLP(_RandomFeatures):
    """Σ_m a_m relu(<w_m, (x₀, …, x_N, 1)>): frozen standard normal w_m, trained a_m, on the tokens end to end.

    There are `width` neurons. All else is as in `RidgeLearner`.
    """

    ranges = (("width", 1),)

    width: int = 1000

    def _start(self, X: Array, rng: np.random.Generator) -> int | None:
        self._measure(X)
        inputs = X.shape[1] * X.shape[2] + 1
        refuse_beyond(4e-9 * self.width * inputs, f"{self.width} neurons")
        self.neurons_ = rng.normal(size=(inputs, self.width)).astype(np.float32)
        return self.width

    def blocks(self, X: Array) -> Iterator[NDArray[np.float32]]:
        x = np.pad(self._scaled(X).reshape(len(X), -1), ((0, 0), (0, 1)), constant_values=1).astype(
            np.float32
        )
        for start in range(0, self.width, AT_ONCE["neurons"]):
            yield np.maximum(x @ self.neurons_[:, start : start + AT_ONCE["neurons"]], 0)
