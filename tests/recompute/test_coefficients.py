"""How large the coefficients of the parity gadgets are (theory 1.3, 1.5): nothing of the lab is imported."""

import re
from fractions import Fraction
from itertools import pairwise
from math import atanh, ceil, factorial, floor, log, prod
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog, root

Floats = NDArray[np.float64]
ROOT = Path(__file__).parents[2]
STORED = dict(
    re.findall(
        r'^ {4}(\d+): "([\d/ ]+)",$',
        (ROOT / "hardness/gadgets/sharp.py").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
)
STEEP = 64  # e^(β/2) of all heads of a wide layer but the wide one


def eliminated(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """The solution of a square system over the rationals."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        pivot = next(j for j in range(i, len(rows)) if rows[j][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for j in range(len(rows)):
            if j != i:
                rows[j] = [x - rows[j][i] * y for x, y in zip(rows[j], rows[i], strict=True)]
    return [row[-1] for row in rows]


def tanh(r: Fraction, x: Fraction) -> Fraction:
    """tanh(βx/2) for e^(β/2) = r, and x an integer or half of one; r must be a square for halves of odd numbers."""
    y = r ** int(2 * x)
    return (y - 1) / (y + 1)


def diag_sizes(s: int) -> list[float]:
    """|c| of s heads of diag, where r = 8 by default."""
    levels, thresholds = range(s + 1), [Fraction(2 * i + 1, 2) for i in range(s)]
    matrix = [[*(tanh(Fraction(8), t - b) for b in thresholds), Fraction(-1)] for t in levels]
    *c, _ = eliminated(matrix, [Fraction((-1) ** t) for t in levels])
    return [abs(float(x)) for x in c]


def test_coefficients_of_diag() -> None:
    """They were once printed to be "about 1 each"."""
    sizes = [size for s in (*range(3, 17), 20) for size in diag_sizes(s)]
    low, high = floor(100 * min(sizes)) / 100, ceil(100 * max(sizes)) / 100
    assert (low, high) == (1.52, 1.78)


def sharp_sum(q: int) -> Fraction:
    """Σ|c| of q heads of the stored sharpnesses at one threshold, which hide 2q - 1 bits."""
    r, places = [Fraction(x) for x in STORED[str(q)].split()], [Fraction(2 * k + 1, 2) for k in range(q)]
    matrix = [[tanh(x, place) for x in r] for place in places]
    return sum(map(abs, eliminated(matrix, [Fraction((-1) ** k) for k in range(q)])), Fraction(0))


def test_the_sum_of_sharp_coefficients() -> None:
    """Not "five- to sixfold" with every head: 4.5 to 5.3 times from m = 3 to 8, and to 5.9 up to twelve heads."""
    sums = [sharp_sum(q) for q in range(1, 13)]
    ratios = [float(b / a) for a, b in pairwise(sums)]
    low, high = floor(10 * min(ratios[1:7])) / 10, ceil(10 * max(ratios[1:7])) / 10
    assert (low, high) == (4.5, 5.3)
    assert 4.55 < min(ratios[1:]) < max(ratios) == ratios[0] < 7.01
    assert max(ratios[1:]) < 5.9


@pytest.mark.parametrize("q", range(2, 9))
def test_the_least_sum_and_its_bound(q: int) -> None:
    """L(q) by a linear program over a fine grid of sharpnesses: L/P lies between 3.5 and 4.6, far below K q^3."""
    places = np.arange(q) + 0.5
    heads = np.append(np.tanh(places[:, None] * np.geomspace(0.005, 40, 4000) / 2), np.ones((q, 1)), axis=1)
    solution = linprog(
        np.ones(2 * heads.shape[1]), A_eq=np.hstack([heads, -heads]), b_eq=(-1.0) ** np.arange(q)
    )
    price = max(
        Fraction(factorial(q + k - 1), (2 * k - 1) * factorial(k - 1) ** 2 * factorial(q - k))
        for k in range(1, q + 1)
    )
    assert price == max(
        prod(Fraction(j + k - 1, abs(j - k)) for j in range(1, q + 1) if j != k) for k in range(1, q + 1)
    )
    assert 3.49 < solution.fun / float(price) < 4.6
    assert solution.fun <= float(sharp_sum(q)) <= 1.02 * solution.fun


def wide_sum(s: int, ratio: Fraction) -> tuple[float, float]:
    """Σ|c| a bit and |Σc| of one wide head and (s - 1)/2 steep ones that compute the parity of s bits.

    Newton's method in the coefficients and thresholds, from steps, after theory 1.5.
    """
    x = np.arange((s + 1) // 2) + 0.5  # levels above the middle; gap k lies below level k
    m, beta, steep = len(x), 2 * log(ratio), 2 * log(STEEP)
    wide = np.tanh(beta * x / 2)
    falls = np.diff(wide, prepend=-wide[0]) * 2 / (wide[-1] - wide[-2])
    leaning = range(m - 2, 0, -2)  # these heads rise in gap k and, nearer to the middle, in gap k - 1
    middle = [] if m % 2 else [(2 + falls[0]) / 2]
    rises = [(2 + falls[k], (falls[k - 1] - 2) / (2 if k == 1 else 1)) for k in leaning]
    c = [-2 / (wide[-1] - wide[-2]), *middle, *((up + lean) / 2 for up, lean in rises)]
    b = [
        x[k - 1] - 2 / steep * atanh((lean - up) / (lean + up))
        for k, (up, lean) in zip(leaning, rises, strict=True)
    ]
    slopes, pairs = np.array([beta] + [steep] * (len(c) - 1)), len(b)

    def excess(unknowns: Floats) -> Floats:
        c, b = unknowns[: len(slopes)], np.append(np.zeros(len(slopes) - pairs), unknowns[len(slopes) :])
        both = [np.tanh(slopes * (x[:, None] - place) / 2) for place in (b, -b)]
        values = np.where(np.arange(len(slopes)) < len(slopes) - pairs, both[0], both[0] + both[1])
        return np.asarray(values @ c - (-1.0) ** (m - np.arange(m)))

    solution = root(excess, np.array(c + b), tol=1e-13)
    assert np.abs(excess(solution.x)).max() < 1e-10
    c = np.repeat(solution.x[: len(slopes)], [1] * (len(slopes) - pairs) + [2] * pairs)
    return float(np.abs(c).sum() / s), float(abs(c.sum()))


@pytest.mark.parametrize(
    ("s", "ratio", "a_bit"),
    [(7, "5/4", 3.0844), (61, "45/44", 3.6001), (63, "47/46", 3.6019)],
)
def test_wide_heads_cost_3_61_a_bit(s: int, ratio: str, a_bit: float) -> None:
    """And with one head more that makes Σc = 0 ("balance") 3.9 to 4.55 a bit."""
    total, gate = wide_sum(s, Fraction(ratio))
    assert total == pytest.approx(a_bit, abs=6e-5)
    assert total < 3.61
    assert 3.90 < total + gate / s < 4.56
    assert s < 61 or total > 3.6
