"""One wide head among steep ones: m heads hide the parity of 2m - 1 bits with Σ|c| at most 3.61 s (theory 1.5).

A wide head falls by 2 or more between any two levels. In every second of these gaps a steep head lifts by 4 or more;
and it leans: its threshold stands so near to a level that it lifts the gap beside its own too, by what the wide head
falls too far there. For steps, the coefficients c and the products c tanh(β (t - b)/2) at the levels that are leaned on
solve a triangular linear system. At finite β the thresholds enter in another way: the exact heads are real numbers, of
which a layer stores 53 bits, and that they are there is proved by Krawczyk's test, in interval arithmetic.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import log
from typing import Any, NamedTuple

import numpy as np

from hardness.errors import InputError
from hardness.gadgets.sharp import MOST_HEADS, STEEP, Sharp, arrangement, made

METHOD = "theorem 1.5, Krawczyk's test in interval arithmetic"
DIGITS = 100
NEAR = 60  # the exact numbers agree with those at hand to this many digits


class Plan(NamedTuple):
    """Where heads stand about the middle, their number being q + 2p and the levels ±(k - 1/2), k = 1, …, q + p.

    The wide head of r = `ratio` stands in the middle, and if q is even a steep one too; pairs of steep heads lean on
    the levels k = q - 2, q - 4, … and stand between the levels k and k + 1 for k = q, …, q + p - 1.
    """

    q: int
    p: int
    ratio: Fraction

    @property
    def h(self) -> int:
        """Levels on one side of the middle, and unknowns."""
        return self.q + self.p

    @property
    def leaning(self) -> range:
        return range(self.q - 2, 0, -2)

    @property
    def outer(self) -> range:
        return range(self.q, self.q + self.p)


def plan(heads: int, size: int) -> Plan:
    """The heads that hide `size` bits. Raises `InputError` for more heads than layers are made of.

    >>> plan(6, 11)
    Plan(q=6, p=0, ratio=Fraction(8, 7))
    """
    if heads > MOST_HEADS:
        raise InputError(f"wide layers are made of up to {MOST_HEADS} heads, got {heads}")
    q, p = arrangement(heads, size)
    return Plan(q, p, ratio(2 * q - 1))


def ratio(s: int) -> Fraction:
    """Return r of the wide head for s bits: near the root of (s - 2) r^s = s r^(s-2) + 2, the cheapest for steps."""
    if s < 3:
        return Fraction(4096)
    low, high = 1.0, 3.0
    while high - low > 1e-12:
        r = (low + high) / 2
        low, high = (low, r) if (s - 2) * r**s > s * r ** (s - 2) + 2 else (r, high)
    excess = Fraction(low) - 1
    return 1 + next(x for d in range(1, 10**6) if abs((x := excess.limit_denominator(d)) / excess - 1) < 0.06)


def steps(plan: Plan) -> list[Any]:
    """The heads if steep ones were steps, as unknowns of `equations`: c of the wide head, then of a steep one in the
    middle; c and r^(2 o) of each pair that leans, o being its distance from the middle; c of each outer pair.
    """
    from mpmath import mpf

    q, r = plan.q, mpf(plan.ratio.numerator) / plan.ratio.denominator
    tanh = [mpf(0), *((r**x - 1) / (r**x + 1) for x in range(1, 2 * plan.h, 2))]
    # How far the wide head falls in the gap above level k; k = 0 is the middle.
    fall = [2 * tanh[1], *(tanh[k + 1] - tanh[k] for k in range(1, plan.h))]
    wide = mpf((-1) ** (plan.p + 1)) * 2 / fall[q - 1]  # 2 in the last gap of its own
    lift, sign = [abs(wide) * x for x in fall], mpf(-1) ** plan.p
    unknowns = [wide] + [sign * (2 + lift[0]) / 2] * (q > 1 and not q % 2)
    for k in plan.leaning:
        above, below = 2 + lift[k], (lift[k - 1] - 2) / (2 if k == 1 else 1)
        unknowns += [sign * (above + below) / 2, mpf(STEEP) ** (2 * k - 1) * above / below]
    return unknowns + [sign * (2 * (-1) ** (k - q) + lift[k]) / 2 for k in plan.outer]


def equations(plan: Plan, unknowns: Sequence[Any], context: Any) -> tuple[list[Any], list[list[Any]]]:
    """G - (-1)^t at the levels k = 1, …, q + p above the middle, and its derivatives; in a context of mpmath.

    A head of sharpness r at b is (y - a)/(y + a) at a level x, with y = r^(2 x) and a = r^(2 b).
    """
    values, rows = [], []
    number = context.mpf
    for k in range(1, plan.h + 1):
        y, r = number(STEEP) ** (2 * k - 1), number(plan.ratio.numerator) / plan.ratio.denominator
        row = [1 - 2 / (r ** (2 * k - 1) + 1)]
        if plan.q > 1 and plan.q % 2 == 0:
            row.append((y - 1) / (y + 1))
        total = sum((c * x for c, x in zip(unknowns, row, strict=False)), number(0))
        for c, a in zip(*[iter(unknowns[len(row) : plan.h - plan.p])] * 2, strict=True):
            slope = (y - a) / (y + a) + (y * a - 1) / (y * a + 1)
            total += c * slope
            row += [slope, 2 * c * y * (1 / (y * a + 1) ** 2 - 1 / (y + a) ** 2)]
        for c, o in zip(unknowns[plan.h - plan.p :], plan.outer, strict=True):
            a = number(STEEP) ** (2 * o)
            row.append((y - a) / (y + a) + (y * a - 1) / (y * a + 1))
            total += c * row[-1]
        values.append(total - (-1) ** (plan.h + k - 1))
        rows.append(row)
    return values, rows


@lru_cache(maxsize=64)
def solution(plan: Plan) -> tuple[Any, ...]:
    """The unknowns, to `DIGITS` digits: Newton's method from `steps`."""
    from mpmath import lu_solve, matrix, mp, workdps

    with workdps(DIGITS):
        unknowns = steps(plan)
        for _ in range(60):
            values, rows = equations(plan, unknowns, mp)
            # The thresholds' unknowns are huge
            change = lu_solve(matrix(_relative(rows, unknowns)), matrix(values))
            unknowns = [x * (1 - dx) for x, dx in zip(unknowns, change, strict=True)]
            if all(abs(dx) < mp.mpf(10) ** (10 - DIGITS) for dx in change):
                return tuple(unknowns)
    raise ArithmeticError(f"no heads were found for {plan}: this is a bug")


def _relative(rows: list[list[Any]], unknowns: Sequence[Any]) -> list[list[Any]]:
    """Derivatives after the logarithms of the unknowns."""
    return [[entry * x for entry, x in zip(row, unknowns, strict=True)] for row in rows]


def certified(plan: Plan) -> bool:
    """Tell whether exactly one solution agrees with `solution` to `NEAR` digits: Krawczyk's test, in intervals.

    F(δ) are the equations at v(1 + δ), v the numbers at hand, J their derivatives on the box |δ| <= ρ = 10^-NEAR, Y
    about the inverse of J at 0. Where |Y F(0)| + |1 - Y J| ρ < ρ in every coordinate, δ - Y F(δ) has one fixed point
    there.
    """
    from mpmath import inverse, iv, matrix, mp, workdps

    n, unknowns = plan.h, solution(plan)
    with workdps(DIGITS):
        near = inverse(matrix(_relative(equations(plan, unknowns, mp)[1], unknowns)))
    digits, iv.dps = iv.dps, DIGITS
    try:
        radius, here = iv.mpf(10) ** -NEAR, [iv.mpf(x) for x in unknowns]
        values, _ = equations(plan, here, iv)
        rows = _relative(equations(plan, [x * (1 + radius * iv.mpf([-1, 1])) for x in here], iv)[1], here)
        for i in range(n):
            inner = [iv.mpf(near[i, k]) for k in range(n)]
            moved = abs(sum((y * f for y, f in zip(inner, values, strict=True)), iv.mpf(0)))
            for j in range(n):
                entry = sum((y * row[j] for y, row in zip(inner, rows, strict=True)), iv.mpf(-int(i == j)))
                moved += abs(entry) * radius
            if not moved.b < radius.a:
                return False
        return True
    finally:
        iv.dps = digits


def proved(heads: int, size: int, balance: bool) -> tuple[bool, str]:
    """Whether the certificate holds, and what it says."""
    ok = certified(plan(heads - balance, size))
    return (
        ok,
        f"theorem 1.5 at {size + 1} levels: exact heads agree with these to {NEAR} digits (Krawczyk's test)",
    )


def exact(weights: Sequence[int], heads: int, balance: bool = False) -> Sharp:
    """Return heads whose label is (-1)^t at the level t of `weights`, 0s and 1s: the numbers of `solution`, rounded
    once.
    """
    from mpmath import log as ln
    from mpmath import mpf, workdps

    how = plan(heads - balance, sum(weights))
    steep, middle = 2 * log(STEEP), how.h - 0.5
    with workdps(DIGITS):
        unknowns = list(solution(how))
        placed = [(0.0, 2 * log(how.ratio), unknowns.pop(0))]
        if how.q > 1 and how.q % 2 == 0:
            placed.append((0.0, steep, unknowns.pop(0)))
        for _ in how.leaning:
            c, a = unknowns.pop(0), unknowns.pop(0)
            placed += [(sign * float(ln(a) / ln(STEEP) / 2), steep, c) for sign in (-1, 1)]
        placed += [
            (float(sign * k), steep, c) for k, c in zip(how.outer, unknowns, strict=True) for sign in (-1, 1)
        ]
        gate = sum((c for _, _, c in placed), mpf(0))
    if balance:
        placed.append((0.0, 0.0, -gate))
    placed.sort()
    b, betas, c = zip(*placed, strict=True)
    beta = steep if how.h > 1 else 2 * log(how.ratio)
    return made("wide", weights, middle + np.array(b), betas, c, beta, 0.0 if balance else float(gate))
