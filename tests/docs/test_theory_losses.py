"""How many concepts a query can lose: what docs/theory.md 2.7 states, by brute force and linear programs."""

import re
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, permutations
from math import ceil, comb
from math import floor as floor_of

import numpy as np
import pytest
from scipy.optimize import linprog
from theory_page import SECTIONS, characters, table


def kept(x, tau):
    x = np.sort(x)
    return int((np.searchsorted(x, x + 2 * tau, side="right") - np.arange(len(x))).max())


def cubes(k, w):
    """Σ r(r² − 1) over the w round-robin chains of k."""
    length, longer = divmod(k, w)
    return longer * length * (length + 1) * (length + 2) + (w - longer) * (length - 1) * length * (length + 1)


def test_lemma_L():
    rng = np.random.default_rng(5)
    for _ in range(3000):
        k, tau = int(rng.integers(1, 12)), rng.uniform(0.01, 1)
        x = rng.choice([rng.normal(size=k), rng.integers(-3, 4, k) * 2.0001 * tau])
        w = kept(x, tau)
        total = np.sum((x - x.mean()) ** 2)
        assert total >= tau**2 / 3 * cubes(k, w) * (1 - 1e-9)
        assert cubes(k, w) / 3 >= 2 * (k - w)
        assert k == w or total > 2 * tau**2 * (k - w)


def T_ind(e):
    return Fraction(comb(2 * e, e), 2 ** (2 * e + 1))


@cache
def half_gap(k, w):
    """Largest half gap of w chains of k affinely independent parities: the symmetric linear program of 2.7."""
    length, longer = divmod(k, w)
    members, gaps = [], []
    for chain, count in ((length + 1, longer), (length, w - longer)):
        for place in range(chain // 2 if count else 0):
            gaps.append({len(members): 1, len(members) - 1: -1} if place else {len(members): 2 - chain % 2})
            members.append(2 * count)
    grid = np.stack(np.meshgrid(*[np.arange(-n, n + 1, 2) for n in members], indexing="ij")).reshape(len(members), -1)
    odds = np.prod(
        [[comb(n, (n + int(x)) // 2) / 2**n for x in row] for n, row in zip(members, grid, strict=True)], axis=0
    )
    means = odds * grid / np.array(members)[:, None]
    rows = np.array([np.append(-sum(f * means[g] for g, f in gap.items()), 2.0) for gap in gaps])
    return best(rows)


def best(rows):
    """max of the last variable under rows @ (b', gap) <= 0, |b'| <= 1/2."""
    size = rows.shape[1] - 1
    found = linprog(np.append(np.zeros(size), -1), rows, np.zeros(len(rows)), bounds=[(-0.5, 0.5)] * size + [(0, None)])
    assert found.status == 0
    return -found.fun


def value(k, tau):
    """V_ind(k) at tau < 1/4."""
    if k == 1:
        return 0
    fits = (w for w in range(1, k) if cubes(k, w) < 3 / (4 * tau**2) and half_gap(k, w) > tau + 1e-9)
    return 1 + value(next(fits), tau)


def test_values_of_independent_classes():
    taus = (0.24, 0.2, 0.15, 0.12, 0.1, 0.08, 0.05)
    for k, *shown in table("2.7", "k"):
        want = [f"{value(int(k), tau)}/{ceil(8 * tau**2 * (int(k) - 1))}" for tau in taus]
        assert shown == want
    for e in range(1, 6):
        assert half_gap(2 * e, e) == pytest.approx(float(T_ind(e)))
        assert half_gap(2 * e + 3, e + 3) == pytest.approx(float(T_ind(e)))
    assert (value(3, 0.15), value(4, 0.15), value(7, 0.12)) == (2, 2, 3)


def test_dependent_classes_go_both_ways():
    plane = characters([0, 1, 2, 3], 2)
    assert np.abs(plane[0] + plane[1] - plane[2] - plane[3]).mean() / 8 == 1 / 8
    means = characters(range(1, 8), 3) @ np.sign(characters([1, 2, 4], 3).sum(axis=0)) / 16
    assert means.tolist() == [0.25, 0.25, 0, 0.25, 0, 0, -0.25]
    assert kept(means, 0.12) == 3


def exact_value(points, n, tau):
    """V of a small class of parities: orderings of the means, and a linear program for each."""
    X = dict(zip(points, characters(points, n) / 2**n, strict=True))

    @cache
    def V(S):
        return next(Q for Q in range(len(S)) if len(S) == 1 or (Q and some_query(S, Q)))

    @cache
    def some_query(S, Q):
        """Is there a query of which every window keeps a set of value below Q?"""
        return any(separates(order, Q) for order in permutations(S) if order[0] < order[-1])

    def separates(order, Q):
        pairs = []
        for i in range(len(order)):
            j = next((j for j in range(i + 1, len(order)) if not small(order[i : j + 1], len(order), Q)), None)
            pairs += [] if j is None else [(i, j)]
        gaps = [np.append(X[order[i]] - X[order[j]], 2.0) for i, j in pairs]
        ascending = [np.append(X[a] - X[b], 0.0) for a, b in pairwise(order)]
        return best(np.array(gaps + ascending)) > tau + 1e-9

    def small(part, size, Q):
        return len(part) < size and V(tuple(sorted(part))) < Q

    return V(tuple(sorted(points)))


@pytest.mark.slow
@pytest.mark.parametrize(("tau", "value"), [(0.15, 3), (0.12, 2)])
def test_value_of_a_dependent_class(tau, value):
    assert exact_value([sum(1 << i for i in chosen) for chosen in combinations(range(4), 2)], 4, tau) == value


def test_exact_value_agrees_with_the_recursion_and_the_plane():
    assert exact_value([0, 1, 2, 3], 2, 0.15) == 3
    assert [exact_value([1, 2, 4, 8], 4, tau) for tau in (0.2, 0.15, 0.08)] == [
        value(4, tau) for tau in (0.2, 0.15, 0.08)
    ]


def largest_sum(e):
    """max E|Z|, Z = Σ±χ over 2e distinct parities and balanced signs, and the number of classes tried.

    On the way: E(|Z| - c)² >= ζ(c) for all of them.
    """
    signs = np.array([[1 if i in chosen else -1 for i in range(2 * e)] for chosen in combinations(range(2 * e), e)])
    tried, top = 0, Fraction(0)
    for r in range(1, 2 * e):
        start = [0, *(1 << i for i in range(r))]
        for rest in combinations([x for x in range(2**r) if x not in start], 2 * e - 1 - r):
            tried += 1
            sizes = np.abs(signs[: len(signs) // 2] @ characters([*start, *rest], r))
            assert all(((sizes - c) ** 2).mean(axis=1).min() >= zeta(c) for c in range(1, 10))
            top = max(top, Fraction(int(sizes.sum(axis=1).max()), 2**r))
    return tried, top


@pytest.mark.parametrize(
    ("e", "tried", "T"),
    [
        (1, 1, "1/4"),
        (2, 2, "3/16"),
        (3, 18, "1/6"),
        (4, 549, "5/32"),
        pytest.param(5, 52060, "11/80", marks=pytest.mark.slow),
    ],
)
def test_theorem_B_from_above(e, tried, T):
    assert largest_sum(e) == (tried, Fraction(T) * 4 * e)
    assert T in SECTIONS["2.7"]
    assert min(bounds(e)) == Fraction(T)


# (2^r values of D·b', D; sets + and -, matched in order)


def zeta(c):
    return 1 if c % 2 else 0 if c % 16 == 0 else 2 if c % 4 == 2 else 4


def bounds(e):
    """(2e + c^2 - zeta(c))/(8ce) for every c that can matter."""
    return [Fraction(2 * e + c * c - zeta(c), 8 * c * e) for c in range(1, 60)]


@cache
def T_upper(e):
    return min(*bounds(e), Fraction(13, 96)) if e >= 5 else min(bounds(e))


def test_values_of_T():
    said = re.sub(r"\s+", " ", SECTIONS["2.7"])
    values = re.search(r"T\(1\), …, T\(4\) = ([^T]*), T\(6\), …, T\(12\) = ([^w]*), while 13/96 ≤ T\(5\) ≤ 11/80", said)
    few, more = ([Fraction(x) for x in found.split(", ")] for found in values.groups())
    assert few == [T_upper(e) for e in range(1, 5)]
    assert more == [T_upper(e) for e in range(6, 13)]
    for c, bound in ((2, lambda e: (e + 1, 8 * e)), (4, lambda e: (e + 6, 16 * e)), (8, lambda e: (e + 30, 32 * e))):
        assert all(bounds(e)[c - 1] == Fraction(*bound(e)) for e in range(1, 99))
    for tau in (Fraction(1, 5), Fraction(1, 10), Fraction(1, 20), Fraction(3, 100)):
        most = min(ceil((c * c - zeta(c)) / (8 * c * tau - 2)) for c in range(1, 200) if 4 * c * tau > 1) - 1
        assert T_upper(most) > tau >= T_upper(most + 1)


def exact_floor(N, tau):
    tau = Fraction(str(tau))
    e_max = next(e for e in range(1, 1000) if T_upper(e + 1) <= tau)
    steps, k = 0, N
    while k > 1:
        least = max(1, k - e_max) if k >= 2 * e_max + 2 else 1
        k = next(w for w in range(least, k) if cubes(k, w) < 3 / (4 * tau**2))
        steps += 1
    return steps, e_max


def test_floors():
    for name, tau, e_max, floor, bound in table("2.7", "class"):
        n, s = map(int, re.search(r"C\((\d+),(\d+)\)", name).groups())
        N, tau = comb(n, s), float(tau)
        assert exact_floor(N, tau) == (int(floor.split()[0]), int(e_max))
        assert floor_of(8 * tau**2 * (N - 1)) == int(bound)
        closed = -(-(N - 2 * int(e_max) - 1) // int(e_max)) + 2
        assert closed <= int(floor.split()[0]) <= closed + 2
    small = [exact_floor(N, tau)[0] for N, tau in ((2, 0.2), (3, 0.1), (3, 0.2), (10, 0.15), (17, 0.05))]
    assert small == [1, 1, 2, 3, 2]
    assert [exact_floor(N, 0.19)[0] for N in range(2, 30)] == list(range(1, 29))
