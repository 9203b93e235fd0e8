"""Attention heads that compute a function of an integer level of their input (theory 1.1-1.4).

On two tokens x1, x2 write z = (x1 - x2)/2 and u_j = |z_j|. Coordinate 0 is the gate. The level is

    diag:  N = Σ_j w_j u_j             Θ_i = (β/2) diag(w)  - (β b_i/2) E_00
    dot:   t = z_0 <w, z>              Θ_i = (β/2) e_0 wᵀ   - (β b_i/2) E_00

with integer weights w, w_0 = 0, and W_i = c_i E_00 in both. On z_0 != 0 row a of the output is x_a[0] G(level) in
column 0, with the same G(t) = Σ_i c_i tanh(β (t - b_i)/2) for both rows; on z_0 = 0 it is x_a[0] C, C = Σ_i c_i.
`cuts` part the integers into cells, and G is made constant on each: G = values[cell].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.io.fields import require_memory
from hardness.layer import MultiHeadAttention
from hardness.tokens import Words, compiled_pays, gated, pack, unpack

Kind = Literal["diag", "dot"]
ParityKind = Literal["diag", "dot", "sharp", "wide"]

SATURATED_BETA = 80.0
EXACT_HEADS = 64  # beyond this many heads the rationals of theorem 1.2 have megabit numerators
SAFE_PRIME = 2**61 - 2373  # (p - 1)/2 is prime too, so no power of r repeats before (p - 1)/2 steps


@dataclass(frozen=True)
class Gadget:
    """m attention heads whose output is a function of an integer level of two tokens, in closed form and as a layer.

    The level is linear in the `weights` w (d,) int64, w_0 = 0; `kind` says which level it is. Heads have `thresholds`,
    `coefficients` and sharpnesses `betas` > 0, (m,). Half-integers `cuts` (cells - 1,), ascending, part the levels into
    cells; `values` (cells,) is the label on each: the `offset` A plus a target. `gate` C is the label where the tokens
    agree in coordinate 0. A and C tell nothing of w.

    >>> gadget = exact("diag", [0, 1, 1], levels=[0, 1, 2], targets=[1, -1, 1], sharpness=8)
    >>> gadget.heads, gadget.coefficients.round(3).tolist(), gadget.values.round(3).tolist()
    (2, [-1.496, 1.496], [-0.327, -2.327, -0.327])
    """

    kind: ParityKind
    weights: NDArray[np.int64]
    thresholds: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    betas: NDArray[np.float64]
    cuts: NDArray[np.float64]
    values: NDArray[np.float64]
    offset: float
    gate: float

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}({self.kind}, heads={self.heads}, dim={self.dim}; the secret is not shown)"

    @property
    def heads(self) -> int:
        return len(self.thresholds)

    @property
    def dim(self) -> int:
        return len(self.weights)

    @property
    def beta(self) -> float:
        """Return the largest sharpness β of all heads."""
        return float(self.betas.max())

    def levels(self, words: Words) -> NDArray[np.int64]:
        """Return the integers (n,) that labels depend on, for packed token pairs (n, 2, words) that differ in bit 0."""
        if compiled_pays(words.size):
            from hardness.kernels.bits import weigh

            levels = np.empty(len(words), dtype=np.int64)
            weigh(np.ascontiguousarray(words), *self._planes, self.kind == "dot", levels)
            return levels
        vectors = public_vectors(unpack(words, self.dim), self.kind)
        return np.asarray(vectors.astype(np.int64) @ self.weights[1:])

    @cached_property
    def _planes(self) -> tuple[Words, NDArray[np.int64]]:
        """Return the weights' binary digits as packed planes (p, words), and the value of each digit (p,).
        They are in two's complement: Σ_j weights_j bits_j = Σ_p values_p popcount(bits & planes_p) for the bits of an
        input."""
        magnitude = int(np.maximum(self.weights, ~self.weights).max()).bit_length()
        digits = np.arange(magnitude + bool((self.weights < 0).any()))
        values = np.where(digits < magnitude, 1, -1) << digits
        return pack(1 - 2 * (self.weights >> digits[:, None] & 1)), values

    def value(self, levels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the label (n,) at integer levels (n,), looked up in a table: no softmax, and so no rounding."""
        low, high = floor(self.cuts[0]), ceil(self.cuts[-1])
        if high - low > levels.size:
            return self.values[np.searchsorted(self.cuts, levels)]
        table = self.values[np.searchsorted(self.cuts, np.arange(low, high + 1))]
        # A level beyond the outer cuts has the label of the level next to them.
        return np.asarray(np.take(table, levels - low, mode="clip"))

    def place(self, words: Words, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return outputs (n, 2, d) on packed token pairs (n, 2, words), which are 0 outside column 0.
        There each row is its token's first sign, times `value` (n,) if the two tokens differ in it, else times a
        constant."""
        Y = np.zeros((len(words), 2, self.dim))
        Y[:, :, 0] = gated(words, value, self.gate)
        return Y

    def labels(self, words: Words) -> NDArray[np.float64]:
        """Return outputs (n, 2, d) on packed token pairs (n, 2, words), by a formula and not by a softmax.
        The last bits of a softmax would tell the weights."""
        return self.place(words, self.value(self.levels(words)))

    def __call__(self, X: NDArray[np.int8]) -> NDArray[np.float64]:
        """Return the output (n, 2, d) on tokens X (n, 2, d) of ±1, by the closed form."""
        return self.labels(pack(X))

    def layer(self) -> MultiHeadAttention:
        """Return the heads as an attention layer with dense matrices theta and w, (m, d, d) each for m heads.
        Raises `InputError` if memory is too small."""
        shape = (len(self.thresholds), self.dim, self.dim)
        require_memory(4 * 8 * prod(shape), f"the dense layer of {self.heads} heads at dim {self.dim}")
        theta, w = np.zeros(shape), np.zeros(shape)
        half = self.betas[:, None] / 2
        rows = np.zeros(self.dim, np.int64) if self.kind == "dot" else np.arange(self.dim)
        theta[:, rows, np.arange(self.dim)] = half * self.weights
        theta[:, 0, 0] -= half[:, 0] * self.thresholds
        w[:, 0, 0] = self.coefficients
        return MultiHeadAttention(theta, w)


def coefficients(y: Any, a: Any, g: Any) -> tuple[Any, Any]:
    """Return the unique c (m,) and A with Σ_i c_i (y_k - a_i)/(y_k + a_i) = A + g_k for all k (theorem 1.2).
    `y` (m + 1,), `a` (m,) and targets `g` (m + 1,) are arrays over any field, such as of Fractions or mpmath numbers.
    With y = e^{βt} of levels t and a = e^{βb} of thresholds b, the left side is Σ_i c_i tanh(β(t_k - b_i)/2)."""
    lam = np.prod(y[:, None] + a, axis=1) * g / np.prod(_off_diagonal(y), axis=1)
    plus = a[:, None] + y
    c = -np.prod(-plus, axis=1) * (lam / -plus).sum(axis=1) / (2 * a * np.prod(_off_diagonal(a), axis=0))
    A = (c * (y[0] - a) / (y[0] + a)).sum() - g[0]
    return c, A


def _off_diagonal(x: Any) -> Any:
    difference = x[:, None] - x
    np.fill_diagonal(difference, x[0] / x[0])  # ones of the same field
    return difference


def exact(
    kind: ParityKind, weights: Sequence[int], levels: Sequence[int], targets: Sequence[int], sharpness: int
) -> Gadget:
    """Return heads whose label at every level is exactly a constant plus the level's target (theorem 1.2).
    `kind` and `weights` define the level, an integer that is linear in the input. `levels` are consecutive integers,
    `targets` any integers; there is one head less. An integer `sharpness` r >= 2 sets β = 2 ln r. Coefficients are
    rationals, rounded once; beyond 64 heads they have 256 bits."""
    if len(levels) <= EXACT_HEADS + 1:
        c, A = coefficients(*_nodes(targets, Fraction(sharpness)))
        value, C = [A + g for g in targets], sum(c)
    else:
        import mpmath

        # The nodes are geometric, so the sum over lam_k is local and 256 bits leave room for its cancellation.
        with mpmath.workprec(256):
            c, A = coefficients(*_nodes(targets, mpmath.mpf(sharpness)))
            value, C = [A + g for g in targets], mpmath.chop(sum(c), 1e-60)
    thresholds = np.array(levels[1:]) - 0.5
    betas = np.full(len(thresholds), 2 * float(np.log(sharpness)))
    return gadget(kind, weights, (thresholds, c, betas, thresholds, value), A, C)


def gadget(kind: ParityKind, weights: Sequence[int], numbers: Sequence[Any], A: Any, C: Any) -> Gadget:
    """Return a `Gadget` of `numbers`: the heads' thresholds, coefficients and sharpnesses, cuts of levels, values.
    Numbers are rounded to floats. A value is the label between two cuts, A the constant in the values, C the label
    where tokens agree in coordinate 0."""
    b, c, betas, cuts, values = (np.array(each, dtype=np.float64) for each in numbers)
    return Gadget(kind, np.array(weights, dtype=np.int64), b, c, betas, cuts, values, float(A), float(C))


def _nodes(targets: Sequence[int], r: Any) -> tuple[Any, Any, Any]:
    """Return the arguments of `coefficients`: y = r^(2k) at levels k = 0, 1, …, a = r^(2k-1) between, targets g."""
    steps = range(len(targets))
    y = np.array([r ** (2 * k) for k in steps], dtype=object)
    a = np.array([r ** (2 * k - 1) for k in steps[1:]], dtype=object)
    return y, a, np.array([int(g) + 0 * r for g in targets], dtype=object)


def residual(targets: Sequence[int], sharpness: int) -> Any:
    """Return how far theorem 1.2's heads are from their targets at the first level where they are wrong; else 0.
    `sharpness` r sets β = 2 ln r. Computed over Q up to 64 heads; beyond, in a prime field: only for a fraction of
    about 1e-15 of all primes of that size could an identity that fails over Q hold there."""
    if len(targets) <= EXACT_HEADS + 1:
        r: Any = Fraction(sharpness)
    else:
        from sympy import GF

        r = GF(SAFE_PRIME)(sharpness)
    y, a, g = _nodes(targets, r)
    c, A = coefficients(y, a, g)
    wrong = (c * (y[:, None] - a) / (y[:, None] + a)).sum(axis=1) - A - g
    return next((x for x in wrong if x != 0), 0)


def saturated(
    kind: Kind, weights: Sequence[int], thresholds: NDArray[np.float64], steps: NDArray[np.int64]
) -> Gadget:
    """Return steep heads, β = 80, whose label is a constant plus `steps` up to `saturation_error` (theory 1.4).
    `steps` (m + 1,) are the label's targets on the intervals of levels between `thresholds` (m,); `kind` and `weights`
    define the level. The first and last alone determine the constant, and the label where tokens agree in coordinate 0:
    the caller must choose these two without looking at the weights."""
    c = np.diff(steps) / 2
    C = float(c.sum())
    A = 0.0 - C - float(steps[0])  # never -0.0: two spellings of one offset
    numbers = thresholds, c, np.full(len(c), SATURATED_BETA), thresholds, A + steps
    return gadget(kind, weights, numbers, A, C)


def informative(X: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Return which examples (n,) of X (n, 2, d) differ in coordinate 0: the others say nothing about the weights."""
    return np.asarray(X[:, 0, 0] != X[:, 1, 0])


def public_vectors(X: NDArray[Any], kind: ParityKind) -> NDArray[Any]:
    """Return what labels on X (n, 2, d) depend on, (n, d - 1): |z_j|, j >= 1, z = (x_1 - x_2)/2; "dot": x_1[0] z_j."""
    z = (X[:, 0] - X[:, 1]) // 2
    return np.asarray(X[:, :1, 0] * z[:, 1:] if kind == "dot" else np.abs(z[:, 1:]))


def saturation_error(gadget: Gadget) -> float:
    """Return a bound on the label's error at a level: 4 max|c| e^{-β/2}/(1 - e^{-β}), c the coefficients (1.4)."""
    return float(
        4 * np.abs(gadget.coefficients).max() * np.exp(-gadget.beta / 2) / (1 - np.exp(-gadget.beta))
    )


def bits(kind: ParityKind, heads: int, balance: bool = False) -> int:
    """Return the largest number of bits whose parity m heads compute: m (diag), m/2 (dot), 2m - 1 (sharp, wide).

    With `balance` (sharp, wide) one head is spent on making the label 0 where tokens agree in coordinate 0. Raises
    `InputError` for an odd m (dot), and for `balance` with diag or dot.

    >>> bits("diag", 4), bits("dot", 4), bits("sharp", 4), bits("sharp", 4, balance=True)
    (4, 2, 7, 5)
    """
    if balance and kind in ("diag", "dot"):
        raise InputError(f"balance is for the gadgets sharp and wide, got {kind}")
    if kind == "dot" and heads % 2:
        raise InputError(f"heads must be even for the dot gadget (m = 2s), got {heads}")
    return {"diag": heads, "dot": heads // 2}.get(kind, 2 * (heads - balance) - 1)


def level_range(kind: ParityKind, weights: Sequence[int]) -> tuple[int, int]:
    """Return the smallest and largest level Σ_j w_j u_j of inputs u_j in {0, 1}, or for kind "dot" in {-1, 0, 1}."""
    up, down = sum(w for w in weights if w > 0), sum(w for w in weights if w < 0)
    return (down - up, up - down) if kind == "dot" else (down, up)


def level_counts(kind: ParityKind, weights: Sequence[int]) -> tuple[int, list[int], int]:
    """Return the law of the level Σ_j w_j u_j on informative inputs: P(lowest + i) = counts[i]/2^bits.
    The result is (lowest, counts, bits). Informative are inputs whose tokens differ in coordinate 0. There u_j is 0 or
    1, equally likely; for "dot" it is half the sum of two signs. One big integer holds all counts, as coefficients of a
    product of polynomials 1 + y^|w_j|."""
    factors = [abs(w) for w in weights if w for _ in range(2 if kind == "dot" else 1)]
    slot = 8 * (len(factors) // 8 + 1)
    packed = 1
    for w in factors:
        packed += packed << (w * slot)
    low, high = level_range(kind, weights)
    size = slot // 8
    data = packed.to_bytes((high - low + 1) * size, "little")
    counts = [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data), size)]
    return low, counts, len(factors)
