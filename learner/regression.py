"""Learners that are linear in what they train: ridge regression on fixed features or on a kernel.

`LowDegree` has all monomials of low degree. Their number is the null model of every plot of hardness: what "only high
degree" would cost. A family is called hard here only for what exceeds that count.

`RandomFeatureAttention` and its rival `RandomFeatureMLP` are those of Fu, Guo, Bai and Mei (arXiv 2307.11353). What a
head computes follows the paper's abstract and is reconstructed elsewhere: the constant appended to tokens, an identity
as the mean of biased heads, its size `bias` and `std` are this lab's choices, not the paper's.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.attacks.cost import monomials
from hardness.errors import InputError
from hardness.io.fields import all_finite, number, one_of, whole
from hardness.layer import softmax
from hardness.scores import relative_error
from hardness.sq.bounds.parity import krawtchouk
from learner.base import MOST_HELD, SOLVED, Array, FitReport, Phase, Regressor, signs, tokens

Features = NDArray[np.float32] | NDArray[np.float64]
GRID = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
MEMORY_GB = 5.0  # that a fit may take
BLOCK = 1 << 22  # entries of a temporary of a kernel
MANY = 4096  # examples beyond which fewer monomials are made one by one
AT_ONCE = {"monomials": 256, "heads": 64, "neurons": 1024}  # features that are made together


@dataclass(eq=False, repr=False, kw_only=True)
class RidgeLearner(Regressor):
    """Linear regression with penalty `alpha` · tr(G)/rows; subclasses say what the features are.

    X is (n, k, d), any real tokens. Y is (n,) or (n, p), read at the query token; or (n, k, d): then every row of
    the output is learned with one set of parameters, row a from the tokens with a swapped into the query's place,
    for a layer treats its rows alike. A tuple `alpha` is chosen among for every output, on a tenth of the examples;
    another tenth judges (`report_`, of the fit that saw neither), then all examples are fitted. Solves in whichever
    is smaller, features or examples; a job beyond 5 GB is refused with its predicted size (`InputError`).
    """

    centred = True  # fit an intercept

    alpha: float | tuple[float, ...] = GRID

    @abstractmethod
    def _start(self, X: Array, rng: np.random.Generator) -> int | None:
        """Draw what stays frozen; return the number of features, None for a kernel."""

    def blocks(self, X: Array) -> Iterator[Features]:
        """Yield the features of X as (rows, ·), some at a time; not called for a kernel."""
        raise NotImplementedError  # and so not abstract: a kernel has `gram` in its place

    def gram(self, X: Array, Z: Array) -> Array:
        """Return the inner products of the features of X and of Z: (rows of X, rows of Z)."""
        gram = np.zeros((len(X), len(Z)))
        if X is Z:
            for a in self.blocks(X):
                gram += a @ a.T  # numpy forms only half of it
            return gram
        for a, b in zip(self.blocks(X), self.blocks(Z), strict=True):
            gram += a @ b.T
        return gram

    def fit(self, X: ArrayLike, Y: ArrayLike) -> Self:
        """Learn from X (n, k, d) and Y (n,), (n, p) or (n, k, d); return self."""
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
        solved = error <= SOLVED
        self.report_ = FitReport(
            status="solved" if solved else "wrong",
            reason="" if solved else f"relative error {error:.1e} on held-out examples",
            examples=len(x),
            relative_error=error,
            phases=(Phase("ridge", diagnostics=self._diagnostics()),),
        )
        return self

    def _solving(self, size: int) -> float:
        """Return the multiply-adds of Cholesky factors of matrices (size, size), two for every alpha."""
        return 2 * np.size(self.alpha) * size**3 / 6

    def _fit(self, rows: Array, targets: Array, group: int, rng: np.random.Generator) -> Array:
        """Choose alpha for every output, then fit all rows; return predictions of the last rows by a fit without them.

        `group` rows belong to an example.
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

    def _diagnostics(self) -> dict[str, Any]:
        return {"alpha": self.alpha_.tolist(), "features": self.n_features_}

    def _predict(self, x: NDArray[Any]) -> Array:
        """Return the predicted Y of tokens (n, k, d), in the shape that was fitted."""
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
        """Return the place of the token that asks, where only one does: the query."""
        return 0

    def _rows(self, x: Array) -> Array:
        """Return what an output is read at: x, or for Y (n, k, d) x with every token in the query's place."""
        if len(self._shape) < 2:
            return x
        place = self._asking(x.shape[1])
        order = np.tile(np.arange(x.shape[1]), (x.shape[1], 1))
        for a, row in enumerate(order):
            row[[a, place]] = row[[place, a]]
        return x[:, order].reshape(-1, *x.shape[1:])


def held_rows(rows: int, group: int) -> int:
    """Return how many of the rows, `group` of them an example, are held out: a tenth of the examples."""
    return max(1, min(rows // group // 10, MOST_HELD)) * group


def solve(gram: Array, right: Array, ridge: float) -> Array:
    """Return (gram + ridge·I)⁻¹ right by Cholesky. Raises `InputError` if that is singular in floating point."""
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
    """Raise `InputError` with the predicted size of a job that is larger than `MEMORY_GB`."""
    if least_gb > MEMORY_GB:
        raise InputError(
            f"{what} needs about {least_gb:.1f} GB, and may take {MEMORY_GB:g}: give fewer examples"
        )


def row_blocks(rows: int, width: int) -> Iterator[slice]:
    """Yield slices of `rows` such that a temporary of `width` columns has at most `BLOCK` entries."""
    step = max(1, BLOCK // max(1, width))
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def examples(X: ArrayLike, Y: ArrayLike) -> tuple[Array, Array]:
    """Return X (n, k, d) and Y, (n,), (n, p) or of the shape of X. Raises `InputError` for others."""
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

    Their inner products are a function of the Hamming distance of two inputs, so up to `MANY` examples, and where there
    are more monomials than examples, none of them is made. Y (n, k, d) is learned entry by entry. The rest is
    `RidgeLearner`'s; tokens must be ±1.
    """

    centred = False  # the constant is a monomial
    ranges = (("degree", 0),)

    degree: int = 3

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """Return about what the kernel costs: all distances, and the factors."""
        return float(examples) ** 2 * tokens * dim + self._solving(examples)

    def _rows(self, x: Array) -> Array:
        return x  # no symmetry is assumed, so every entry of Y has monomials of its own

    def _start(self, X: Array, rng: np.random.Generator) -> int | None:
        signs(X)  # monomials are those of signs
        bits = X.shape[1] * X.shape[2]
        self._by_distance = krawtchouk_sums(bits, self.degree)
        size = monomials(bits, self.degree)
        return size if len(X) > MANY and len(X) > size else None

    def blocks(self, X: Array) -> Iterator[NDArray[np.float32]]:
        x = np.asarray(X, dtype=np.float32).reshape(len(X), -1)
        for size in range(self.degree + 1):
            sets = list(combinations(range(x.shape[1]), size))
            for start in range(0, len(sets), AT_ONCE["monomials"]):
                yield x[:, np.array(sets[start : start + AT_ONCE["monomials"]], dtype=np.intp)].prod(axis=2)

    def gram(self, X: Array, Z: Array) -> Array:
        x, z = (np.asarray(v, dtype=np.float32).reshape(len(v), -1) for v in (X, Z))
        gram = np.empty((len(x), len(z)))
        for rows in row_blocks(len(x), len(z)):
            distance = ((x.shape[1] - x[rows] @ z.T) / 2).astype(np.intp)
            np.take(self._by_distance, distance, out=gram[rows])
        return gram


def krawtchouk_sums(bits: int, degree: int) -> Array:
    """Return Σ of x_T z_T over all sets |T| <= degree, by the Hamming distance 0..bits of x and z: Σ_j K_j."""
    of_sizes = zip(*(krawtchouk(bits, size) for size in range(degree + 1)), strict=True)
    return np.array([float(sum(values)) for values in of_sizes])


class _Scaled(RidgeLearner):
    """Divides tokens by their root-mean-square norm in training, so that an appended 1 weighs as much as a token."""

    def _scaled(self, X: Array) -> Array:
        return np.asarray(X, dtype=np.float64) / self.token_norm_

    def _measure(self, X: Array) -> None:
        self.token_norm_ = float(np.sqrt(np.mean(np.sum(np.square(X, dtype=np.float64), axis=2)))) or 1.0


@dataclass(eq=False, repr=False)
class RandomFeatureAttention(_Scaled):
    """Attention with frozen random queries and a relu in place of the softmax: random layers, from 1,000 examples.

    It is Σ_m mean_i relu(<W_m, x₀ xᵢᵀ>) <v_m, xᵢ> with random W_m and trained v_m.

    `activation` `softmax` puts the softmax back: Σ_m Σ_i softmax_i(<W_m, x₀ xᵢᵀ>) <v_m, xᵢ>. `n_heads` heads, None
    for infinitely many (closed-form kernel; relu without bias only); `bias` μ makes the mean of W_m μ·I, and for relu
    only μ/`std` matters; `augment` appends the constant 1 to tokens: without it even functions of the keys
    alone cannot be represented. The first token asks, and its `keys` are `all` tokens or the `others`. The rest is
    `RidgeLearner`'s.
    """

    n_heads: int | None = 1000
    bias: float = 0.0
    std: float = 1.0
    augment: bool = True
    activation: str = "relu"
    keys: str = "all"

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float | None:
        """Return about what a fit of Y (n, k, d) costs: features, their inner products, the factors."""
        if self.n_heads is None:
            return None
        rows, wide = float(examples * tokens), dim + self.augment
        size = self.n_heads * wide
        features = rows * self.n_heads * (wide**2 + 2 * tokens * wide)
        smaller = int(min(rows, size))
        return features + rows * size * smaller / 2 + self._solving(smaller)

    def _start(self, X: Array, rng: np.random.Generator) -> int | None:
        self._measure(X)
        one_of("keys", self.keys, ("all", "others"))
        one_of("activation", self.activation, ("relu", "softmax"))
        if self.n_heads is None:
            if self.bias or self.activation != "relu":
                raise InputError(
                    "infinitely many heads have a closed form only for relu without bias; set n_heads"
                )
            return None
        whole("n_heads", self.n_heads, 1, why="None stands for infinitely many")
        d, wide = X.shape[2], X.shape[2] + self.augment
        refuse_beyond(4e-9 * self.n_heads * wide**2, f"{self.n_heads} heads")
        mean = np.diag([self.bias] * d + [0.0] * self.augment)
        self.heads_ = (mean + self.std * rng.normal(size=(self.n_heads, wide, wide))).astype(np.float32)
        return int(self.n_heads * wide)

    @property
    def _first(self) -> int:
        return 0 if self.keys == "all" else 1

    def _tokens(self, X: Array) -> Array:
        x = self._scaled(X)
        return np.concatenate([x, np.ones((*x.shape[:2], 1))], axis=2) if self.augment else x

    def blocks(self, X: Array) -> Iterator[NDArray[np.float32]]:
        x = self._tokens(X).astype(np.float32)
        keys, (n, _, d) = x[:, self._first :], x.shape
        for start in range(0, len(self.heads_), AT_ONCE["heads"]):
            heads = self.heads_[start : start + AT_ONCE["heads"]].transpose(1, 0, 2).reshape(d, -1)
            scores = (x[:, 0] @ heads).reshape(n, -1, d) @ keys.transpose(0, 2, 1)
            if self.activation == "relu":
                weights = np.maximum(scores, 0) / np.float32(keys.shape[1])
            else:
                weights = softmax(scores)
            yield np.asarray(weights @ keys, dtype=np.float32).reshape(n, -1)

    def gram(self, X: Array, Z: Array) -> Array:
        if self.n_heads is not None:
            return super().gram(X, Z)
        x, z = self._tokens(X), self._tokens(Z)
        gram = np.empty((len(x), len(z)))
        for rows in row_blocks(len(x), len(z)):
            gram[rows] = _head_kernel(x[rows, 0], x[rows, self._first :], z[:, 0], z[:, self._first :])
        return self.std**2 * gram


def arc_cosine(cosine: Array) -> Array:
    """Return J(θ) = (sin θ + (π − θ) cos θ) / 2π = E relu(<w,u>) relu(<w,v>) for unit u, v at angle θ and normal w.

    As a power series in cos θ it has no odd degree from 3 on: un-augmented heads miss those.
    """
    c = np.clip(cosine, -1, 1)
    return np.asarray((np.sqrt(1 - c * c) + (np.pi - np.arccos(c)) * c) / (2 * np.pi))


def _head_kernel(x: Array, keys: Array, z: Array, others: Array) -> Array:
    """Return E <φ(x), φ(z)> of one head with standard normal W, for queries x and z (·, d) and their keys (·, N, d)."""
    asked = np.outer(np.linalg.norm(x, axis=1), np.linalg.norm(z, axis=1))
    cosine = _ratio(x @ z.T, asked)
    sizes, lengths = np.linalg.norm(keys, axis=2), np.linalg.norm(others, axis=2)
    total = np.zeros_like(asked)
    for i, j in np.ndindex(keys.shape[1], others.shape[1]):
        norms, inner = np.outer(sizes[:, i], lengths[:, j]), keys[:, i] @ others[:, j].T
        total += norms * inner * arc_cosine(cosine * _ratio(inner, norms))
    return np.asarray(asked * total / (keys.shape[1] * others.shape[1]))


def _ratio(inner: Array, norms: Array) -> Array:
    """Return cosines; 0 for a token of length 0."""
    return np.divide(inner, norms, out=np.zeros_like(inner), where=norms > 0)


@dataclass(eq=False, repr=False)
class RandomFeatureMLP(_Scaled):
    """Σ_m a_m relu(<w_m, (x₀, …, x_N, 1)>): frozen standard normal w_m, trained a_m, on the tokens end to end.

    `width` neurons. The rest is `RidgeLearner`'s.
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
        x = np.concatenate([self._scaled(X).reshape(len(X), -1), np.ones((len(X), 1))], axis=1).astype(
            np.float32
        )
        for start in range(0, self.width, AT_ONCE["neurons"]):
            yield np.maximum(x @ self.neurons_[:, start : start + AT_ONCE["neurons"]], 0)
