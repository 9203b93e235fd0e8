"""Heads of several sharpnesses at one threshold: m of them hide the parity of 2m - 1 bits, exactly (theory 1.5).

The level is that of diag, t = Σ_j w_j u_j, and head i has Θ_i = (β_i/2) diag(w) - (β_i b_i/2) E_00 and W_i = c_i E_00,
with a sharpness β_i = 2 ln r_i of its own. Let s = 2h - 1 be odd and x_k = k - 1/2 for k = 1, …, h. Heads at the middle
b = s/2 and pairs of heads at s/2 ± o, which share β and c, add up to a function that is odd about s/2, as (-1)^t is; so
they compute (-1)^t on all levels 0, …, s, with A = 0, if they do at t = s/2 + x_k = h - 1 + k:

    Σ_middle c_i tanh(β_i x_k/2) + Σ_pairs c_j (tanh(β_j (x_k - o_j)/2) + tanh(β_j (x_k + o_j)/2)) = (-1)^(h-1+k) .

With q heads in the middle and p pairs this is a square system over Q where h = q + p, that is for m = q + 2p heads and
s = m + q - 1 bits: q = m is all at one threshold, q = 1 is one head a bit. Fewer bits are bits held constant.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import log
from typing import Any

import numpy as np

from hardness.errors import InputError
from hardness.gadgets.coefficients import Gadget, ParityKind, gadget

METHOD = "theorem 1.5, exact over Q"
STEEP = 64  # r of the pairs: their coefficients are within 4 % of those of steps
MOST_HEADS = 32  # beyond, the rationals have a hundred thousand digits
# r_1, …, r_q of q heads at one threshold. Σ|c| is within 2 % of its least value, which q = 2, 3, 4, … approach as
# 7, 31.58, 143.6, 675.2, 3290, 16638, 87457, … while the last r grows: rounded from the optimum, found by exchange.
SHARPNESSES: dict[int, str] = {
    1: "4096",
    2: "2 4096",
    3: "4/3 3 4096",
    4: "7/6 5/3 4 4096",
    5: "10/9 7/5 2 5 4096",
    6: "14/13 5/4 8/5 5/2 6 4096",
    7: "20/19 7/6 11/8 7/4 8/3 7 4096",
    8: "25/24 9/8 5/4 13/9 11/6 3 15/2 4096",
    9: "32/31 11/10 6/5 4/3 11/7 2 10/3 8 4096",
    10: "40/39 27/25 8/7 21/17 11/8 13/8 11/5 7/2 19/2 4096",
    11: "47/46 16/15 10/9 13/11 9/7 7/5 5/3 7/3 4 10 4096",
    12: "58/57 19/18 23/21 8/7 17/14 13/10 13/9 12/7 5/2 13/3 11 4096",
}


@lru_cache(maxsize=64)
def rational(
    heads: int, size: int, balance: bool = False
) -> tuple[list[Fraction], list[int], list[Fraction]]:
    """Return heads with rational numbers that compute the parity of `size` bits, exactly (theorem 1.5).

    Three lists, by ascending threshold b_i: r_i = e^(β_i/2) of sharpness β_i, the integer 2 b_i, the coefficient c_i.
    Their sum Σ c_i tanh(β_i (t - b_i)/2) is (-1)^t where t bits are 1. With `balance` one head makes Σ c_i = 0. Raises
    `InputError` for more than 32 heads, or more than 12 at one threshold.

    >>> [float(sum(map(abs, rational(m, s)[2]))) for m, s in ((3, 5), (5, 7), (3, 3))]
    [31.92..., 36.64..., 3.09...]
    """
    m = heads - balance
    h = max(size, m) // 2 + 1
    q = 2 * h - m  # heads in the middle; m - h pairs are beside it
    if q > max(SHARPNESSES) or heads > MOST_HEADS:
        raise InputError(
            f"{heads} heads that hide {size} bits take {q} sharpnesses at one threshold; layers are made of up to "
            f"{MOST_HEADS} heads, {max(SHARPNESSES)} of them there: lower bits, or heads"
        )
    steep = Fraction(STEEP)
    middle = [Fraction(r) for r in SHARPNESSES[q].split()]
    # Doubled, as all places below are.
    offsets, places = range(2 * q, 2 * h, 2), range(1, 2 * h, 2)
    system = [
        [*(tanh(r, x) for r in middle), *(tanh(steep, x - o) + tanh(steep, x + o) for o in offsets)]
        for x in places
    ]
    c = solved(system, [(-1) ** (h + k) for k in range(h)])
    placed = [(0, r, x) for r, x in zip(middle, c[:q], strict=True)]
    placed += [(sign * o, steep, x) for o, x in zip(offsets, c[q:], strict=True) for sign in (-1, 1)]
    if balance:
        placed.append((0, Fraction(1), -sum((x for _, _, x in placed), Fraction(0))))
    doubled, sharpnesses, coefficients = zip(*sorted(placed), strict=True)
    return [*sharpnesses], [2 * h - 1 + b for b in doubled], [*coefficients]


def tanh(r: Fraction, doubled: int) -> Fraction:
    """Return tanh(β x/2) for β = 2 ln r at x = doubled/2, a rational."""
    y = r**doubled
    return (y - 1) / (y + 1)


def solved(system: list[list[Fraction]], right: list[int]) -> list[Fraction]:
    """Return the solution of a square linear system over Q."""
    from sympy import QQ
    from sympy.polys.matrices import DomainMatrix

    n = len(right)
    matrix = DomainMatrix([[QQ(x.numerator, x.denominator) for x in row] for row in system], (n, n), QQ)
    solution = matrix.lu_solve(DomainMatrix([[QQ(g)] for g in right], (n, 1), QQ)).to_list_flat()
    return [Fraction(int(x.numerator), int(x.denominator)) for x in solution]


def residual(heads: int, size: int, balance: bool = False) -> Fraction:
    """Return the largest |label - (-1)^t|, t = 0, …, `size`, of the heads that `rational` makes: 0 by theorem 1.5."""
    sharpness, doubled, c = rational(heads, size, balance)
    wrong = [Fraction(-((-1) ** t)) for t in range(size + 1)]
    for r, b, x in zip(sharpness, doubled, c, strict=True):
        wrong = [rest + x * tanh(r, 2 * t - b) for t, rest in enumerate(wrong)]
    return max(abs(rest) for rest in wrong)


def proved(heads: int, size: int, balance: bool) -> tuple[bool, str]:
    """Return whether heads with rational numbers compute the parity of `size` bits exactly, and how that was checked.
    They are those of `rational`; with `balance` one of these `heads` makes their output weights sum to 0."""
    rest = residual(heads, size, balance)
    return rest == 0, f"theorem 1.5 at {size + 1} levels, residual {rest} over Q"


def exact(weights: Sequence[int], heads: int, balance: bool = False) -> Gadget:
    """Return heads whose label is (-1)^t, t the number of ones among the input bits that have weight 1.
    The `weights` are 0s and 1s. The heads are those of `rational`, rounded once; with `balance` one of them makes the
    label 0 where tokens agree in coordinate 0. Raises `InputError` where `rational` does."""
    r, doubled, c = rational(heads, sum(weights), balance)
    return parity("sharp", weights, np.array(doubled) / 2, c, [2 * log(x) for x in r], sum(c))


def parity(kind: ParityKind, weights: Sequence[int], thresholds: Any, c: Any, betas: Any, C: Any) -> Gadget:
    """Return the gadget whose heads compute (-1)^t, t the number of ones among the input bits that have weight 1.
    The `weights` are 0s and 1s; the heads have these thresholds, coefficients c and sharpnesses. C is the label where
    tokens agree in coordinate 0."""
    levels = range(sum(weights) + 1)
    cuts, values = [t - 0.5 for t in levels[1:]], [(-1) ** t for t in levels]
    return gadget(kind, weights, (thresholds, c, betas, cuts, values), 0, C)
