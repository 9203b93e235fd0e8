"""One wide head among steep ones: m heads hide the parity of s = 2m - 1 bits with Σ|c| at most 3.61 s (theory 1.5).

A wide head falls by 2 or more between any two levels. In every second of these gaps a steep head lifts by 4 or more;
and it leans: its threshold stands so near to a level that it lifts the gap beside its own too, by what the wide head
falls too far there. For steps, the coefficients c and the products c tanh(β (t - b)/2) at the levels that are leaned on
solve a triangular linear system. At finite β the thresholds enter in another way: the exact heads are real numbers, of
which a layer stores 53 bits, and that they are there is proved by Krawczyk's test, in interval arithmetic.

The wide head stands in the middle of the levels, which are ±(k - 1/2) from it, k = 1, …, m; if m is even so does a
steep one. Pairs of steep heads lean on the levels k = m - 2, m - 4, …, at a distance o. The unknowns are c of the wide
head, of a steep one in the middle, and c and a = r^(2 o) of each pair. Fewer bits are bits held constant.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import log
from typing import Any

import numpy as np

from hardness.errors import InputError
from hardness.gadgets.coefficients import Gadget
from hardness.gadgets.sharp import MOST_HEADS, STEEP, parity

METHOD = "theorem 1.5, Krawczyk's test in interval arithmetic"
DIGITS = 100
NEAR = 60  # the exact numbers agree with those at hand to this many digits


def ratio(s: int) -> Fraction:
    """Return e^(β/2) of the one head of small sharpness β, the wide one, among the heads for a parity of s bits.
    It is a rational near the root r of (s - 2) r^s = s r^(s-2) + 2, where the heads' coefficients are least in sum."""
    if s < 3:
        return Fraction(4096)
    low, high = 1.0, 3.0
    while high - low > 1e-12:
        r = (low + high) / 2
        low, high = (low, r) if (s - 2) * r**s > s * r ** (s - 2) + 2 else (r, high)
    excess = Fraction(low) - 1
    return 1 + next(x for d in range(1, 10**6) if abs((x := excess.limit_denominator(d)) / excess - 1) < 0.06)


def steps(m: int) -> list[Any]:
    """Return a first guess at the unknowns of `equations` for m heads, as if steep heads were step functions."""
    from mpmath import mpf

    r = _wide(m, mpf)
    tanh = [mpf(0), *((r**x - 1) / (r**x + 1) for x in range(1, 2 * m, 2))]
    # How far the wide head falls in the gap above level k; k = 0 is the middle, and it is 2 in the last gap.
    fall = [2 * tanh[1], *(tanh[k + 1] - tanh[k] for k in range(1, m))]
    c = 2 / fall[m - 1]
    lift = [c * x for x in fall]
    unknowns = [-c] + [(2 + lift[0]) / 2] * (m % 2 == 0)
    for k in range(m - 2, 0, -2):
        above, below = 2 + lift[k], (lift[k - 1] - 2) / (2 if k == 1 else 1)
        unknowns += [(above + below) / 2, mpf(STEEP) ** (2 * k - 1) * above / below]
    return unknowns


def equations(m: int, unknowns: Sequence[Any], context: Any) -> tuple[list[Any], list[list[Any]]]:
    """Return how far m heads are from the parity at the m levels above the middle, and the derivatives of this.
    Derivatives are by the logarithms of the `unknowns`, numbers of an mpmath `context` that describe the heads. They
    are the coefficient of the one wide head; that of a steep head in the middle, for even m; and for each pair of steep
    heads at ±o from the middle their coefficient c and a = r^(2 o). With r = e^(β/2), a head is (y - a)/(y + a) at y =
    r^(2 x), x from the middle."""
    values, rows = [], []
    r = _wide(m, context.mpf)
    for k in range(1, m + 1):
        y = context.mpf(STEEP) ** (2 * k - 1)
        middle = [1 - 2 / (r ** (2 * k - 1) + 1)] + [(y - 1) / (y + 1)] * (m % 2 == 0)
        row = [c * x for c, x in zip(unknowns, middle, strict=False)]
        total = sum(row, context.mpf(0))
        for c, a in _pairs(m, unknowns):
            part = c * ((y - a) / (y + a) + (y * a - 1) / (y * a + 1))
            total += part
            row += [part, 2 * a * c * y * (1 / (y * a + 1) ** 2 - 1 / (y + a) ** 2)]
        values.append(total - (-1) ** (m + k - 1))
        rows.append(row)
    return values, rows


def _wide(m: int, number: Any) -> Any:
    r = ratio(2 * m - 1)
    return number(r.numerator) / r.denominator


def _pairs(m: int, unknowns: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Return (c, a) for every pair of steep heads, out of the `unknowns` of `equations` for m heads.
    c is the coefficient of both heads, a = r^(2 o), and ±o their places relative to the middle."""
    first = 2 - m % 2
    return [*zip(unknowns[first::2], unknowns[first + 1 :: 2], strict=True)]


@lru_cache(maxsize=64)
def solution(m: int) -> tuple[Any, ...]:
    """Return the numbers of m heads that compute a parity, the unknowns of `equations`, to about 100 digits."""
    from mpmath import lu_solve, matrix, mp, workdps

    with workdps(DIGITS):
        unknowns = steps(m)
        for _ in range(60):
            values, rows = equations(m, unknowns, mp)
            change = lu_solve(matrix(rows), matrix(values))
            unknowns = [x * (1 - dx) for x, dx in zip(unknowns, change, strict=True)]
            if all(abs(dx) < mp.mpf(10) ** (10 - DIGITS) for dx in change):
                return tuple(unknowns)
    raise ArithmeticError(f"no {m} heads were found: this is a bug")


def certified(m: int) -> bool:
    """Say whether it is proved that one exact solution agrees with `solution(m)` to 60 digits (Krawczyk's test).
    Let v be that solution, F(δ) the equations at v e^δ, J their derivatives on the box |δ| <= ρ = 10^-60, Y about the
    inverse of J at 0. If |Y F(0)| + |1 - Y J| ρ < ρ in every coordinate, δ - Y F(δ) has one fixed point in the box."""
    from mpmath import inverse, iv, matrix, mp, workdps

    unknowns = solution(m)
    with workdps(DIGITS):
        near = inverse(matrix(equations(m, unknowns, mp)[1]))
    digits, iv.dps = iv.dps, DIGITS
    try:
        radius = iv.mpf(10) ** -NEAR
        values, _ = equations(m, [iv.mpf(x) for x in unknowns], iv)
        box = iv.exp(radius * iv.mpf([-1, 1]))
        _, rows = equations(m, [iv.mpf(x) * box for x in unknowns], iv)
        for i in range(m):
            inner = [iv.mpf(near[i, k]) for k in range(m)]
            moved = abs(sum((y * f for y, f in zip(inner, values, strict=True)), iv.mpf(0)))
            for j in range(m):
                entry = sum((y * row[j] for y, row in zip(inner, rows, strict=True)), iv.mpf(-int(i == j)))
                moved += abs(entry) * radius
            if not moved.b < radius.a:
                return False
        return True
    finally:
        iv.dps = digits


def proved(heads: int, size: int, balance: bool) -> tuple[bool, str]:
    """Return whether exact heads for a parity of `size` bits are proved to be near the ones at hand, and how.
    With `balance` one of the `heads` only makes the coefficients sum to 0."""
    detail = f"exact heads agree with these to {NEAR} digits (Krawczyk's test)"
    return certified(heads - balance), f"theorem 1.5 at {size + 1} levels: {detail}"


def exact(weights: Sequence[int], heads: int, balance: bool = False) -> Gadget:
    """Return heads whose label is (-1)^t, t the number of ones among the input bits that have weight 1.
    The `weights` are 0s and 1s. The heads are those of `solution`, rounded once; with `balance` one of them makes the
    label 0 where tokens agree in coordinate 0. Raises `InputError` for more than 32 heads."""
    from mpmath import log as ln
    from mpmath import mpf, workdps

    if heads > MOST_HEADS:
        raise InputError(f"wide layers are made of up to {MOST_HEADS} heads, got {heads}")
    m, steep = heads - balance, 2 * log(STEEP)
    with workdps(DIGITS):
        unknowns = solution(m)
        placed = [(0.0, 2 * log(ratio(2 * m - 1)), unknowns[0])]
        if m % 2 == 0:
            placed.append((0.0, steep, unknowns[1]))
        for c, a in _pairs(m, unknowns):
            o = float(ln(a) / ln(STEEP) / 2)
            placed += [(-o, steep, c), (o, steep, c)]
        gate = sum((c for _, _, c in placed), mpf(0))
    if balance:
        placed.append((0.0, 0.0, -gate))
    b, betas, c = zip(*sorted(placed), strict=True)
    return parity("wide", weights, m - 0.5 + np.array(b), c, betas, 0.0 if balance else gate)
