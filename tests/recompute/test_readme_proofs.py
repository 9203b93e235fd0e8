"""The numbers of what README calls proved, read from its sentences and put to first principles: nothing of the lab."""

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import comb, floor, lgamma, log, log2, pi, sqrt
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from theorem_b import floor as queries_floor
from theorem_b import independent, lost, separation

ROOT = Path(__file__).parents[2]
README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
ORDER = ("first", "second", "third")
WORDS = ("zero", "one", "two", "three", "four", "five")
TOLERANCES = [
    Fraction(*pair) for pair in ((24, 100), (1, 5), (1, 6), (1, 8), (1, 10), (1, 20), (1, 50), (1, 200))
]
Floats = NDArray[np.float64]


def power(text: str) -> int:
    """An exponent, or an index, that is printed small."""
    return int(text.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", "0123456789" * 2)))


def numbers(pattern: str) -> list[str]:
    """The groups of a pattern that stands in README once; blanks of the pattern are literal."""
    (match,) = re.finditer(pattern, README)
    return list(match.groups())


def outputs(X: Floats, hidden: list[int], share: float, at: tuple[int, int]) -> tuple[Floats, float]:
    """A layer whose Θ have β times `share` at hidden coordinates, and the offset A of its label; W = c at one entry."""
    beta, d, s = 2 * log(8), X.shape[2], len(hidden)
    levels, thresholds = np.arange(s + 1), np.arange(s) + 0.5
    system = np.column_stack([np.tanh(beta * (levels[:, None] - thresholds) / 2), -np.ones(s + 1)])
    *c, offset = np.linalg.solve(system, (-1.0) ** levels)
    out = np.zeros(X.shape)
    for coefficient, threshold in zip(c, thresholds, strict=True):
        theta, w = np.zeros((d, d)), np.zeros((d, d))
        theta[hidden, hidden], theta[0, 0], w[at] = share * beta, -share * beta * threshold, coefficient
        scores = np.exp(X @ theta @ X.transpose(0, 2, 1))
        out += scores / scores.sum(axis=2, keepdims=True) @ X @ w
    return out, float(offset)


def test_the_layer_and_where_its_label_stands() -> None:
    """On all inputs with d = 4: ±1 where the gate is open, and nothing of the set where it is closed."""
    sign, rows, tokens = numbers(r"Its input X is uniform on \{±(\d)\}\^\((\d)×d\), (\w+) tokens of d signs")
    row, column, entry, label_column = numbers(
        r"Wᵢ = cᵢE([₀-₉])([₀-₉]), a matrix whose only entry that is not zero is the (\w+)\. "
        r"So its label stands in the (\w+) column of F\(X\)"
    )
    gate, label = numbers(
        r"Where the tokens differ in coordinate (\d), the \*gate\* is open: [^.]*the label is ±(\d),"
    )
    share, first = numbers(
        r"Head i has a diagonal Θᵢ, with β/(\d) at each hidden coordinate, [^.]*and a (\w+) entry"
    )
    assert (int(rows), WORDS.index(tokens)) == (2, 2)
    assert ORDER.index(entry) == ORDER.index(first) == power(row) == power(column)
    assert f"diagonal Θ, W = c·E{row}{column})" in README
    at = power(row), power(column)
    X = int(sign) * np.array(list(product((1.0, -1.0), repeat=int(rows) * 4))).reshape(-1, int(rows), 4)
    is_open = X[:, 0, int(gate)] != X[:, 1, int(gate)]
    closed = []
    for hidden in ([1, 3], [2, 3]):
        out, offset = outputs(X, hidden, 1 / int(share), at)
        assert {*np.flatnonzero(np.abs(out).max(axis=(0, 1)) > 1e-9)} == {ORDER.index(label_column)}
        labels = out[is_open, 0, 0] * X[is_open, 0, 0] - offset  # up to a public sign and a public constant
        parity = (-1.0) ** (X[is_open, 0] != X[is_open, 1])[:, hidden].sum(axis=1)
        np.testing.assert_allclose(labels, int(label) * parity, atol=1e-12)
        closed.append(out[~is_open])
    np.testing.assert_allclose(closed[0], closed[1], atol=1e-12)
    assert is_open.mean() == 1 / 2


def constant() -> float:
    """The largest c for which no query loses 1/(cτ²) sets or more, from theorem B; it is approached as τ falls."""
    of_losses = [1 / float(e * separation(e) ** 2) for e in (1, 2, 3, 4, 10, 100, 10**4, 10**6)]
    assert of_losses == sorted(of_losses, reverse=True)
    assert of_losses[-1] == pytest.approx(8, rel=1e-5)
    return round(of_losses[-1], 3)


def growth(e: int) -> int:
    """The power of 1/τ with which the number of sets that a query can lose grows."""
    return round(log(4) / log(separation(e) / separation(4 * e)))


def test_what_a_deterministic_learner_needs() -> None:
    """More than cτ²(N - 1) queries below the tolerance at which a query can lose a set, and none are enough above."""
    c, exponent, subtracted, limit, beyond = numbers(
        r"\| more than (\d)τ([⁰-⁹²³])\(N − (\d)\) \| τ < (\d/\d); from τ = (\d/\d) on nobody can be certain \|"
    )
    answer = README.partition("yes: proved.**")[2].partition("* **")[0]
    assert re.findall(r"τ < (\d/\d)", answer) == [limit]
    assert re.findall(r"counted as 1/τ(.)", answer) == [exponent]
    assert re.findall(r"cost more than (\d)\(N − (\d)\)", answer) == [(c, subtracted)]
    assert (int(c), power(exponent)) == (constant(), growth(10**5))
    assert Fraction(limit) == Fraction(beyond) == separation(1)
    (least,) = numbers(r"Let N ≥ (\d) be the number of sets")
    for tau in TOLERANCES:
        needed = {sets: queries_floor(sets, tau) for sets in (1, 2, 3, 10, 1000)}
        assert all(q > int(c) * tau**2 * (n - int(subtracted)) for n, q in needed.items() if n >= int(least))
        assert needed[int(least) - 1] == 0 == int(c) * tau**2 * (int(least) - 1 - int(subtracted))
        assert lost(tau) < 1 / (int(c) * tau**2)


def test_what_learners_that_toss_coins_need() -> None:
    """A guess names one set; an output in [-1, 1] has correlation γ with 1/γ² sets at most, and bent ones with half."""
    c, exponent, named = numbers(r"\| at least (\d)τ(.)\(PN − (\d)\) \|")
    assert (int(c), power(exponent), int(named)) == (constant(), growth(10**5), 1)
    low, high, above, *rest = numbers(
        r"its output in \[−(\d), (\d)\] has, [^|]* correlation at least γ > (\d) with the labels [^|]*"
        r"\| at least (\d)τ(.)\(PN − (\d)/γ(.)\) \|"
    )
    c, exponent, many, falls = rest
    assert (int(c), power(exponent), above) == (constant(), growth(10**5), "0")
    for r in (2, 4, 6, 8):  # x·y: a function whose correlation with each of 2^r characters is ±γ
        x, y = np.divmod(np.arange(2**r), 2 ** (r // 2))
        bent = 1 - 2.0 * (np.bitwise_count(x & y) & 1)
        characters = 1 - 2 * (np.bitwise_count(np.arange(2**r)[:, None] & np.arange(2**r)) & 1).astype(float)
        gamma = 2.0 ** (-r / 2)
        reached = int(np.sum(characters @ bent / 2**r >= gamma))
        bound = int(many) / gamma ** power(falls)
        assert [-bent.min(), bent.max()] == [int(low), int(high)]
        assert bound / 2 < reached <= bound  # half of the bound, and the negated function has the other half
    queries = numbers(r"means of functions φ\(X, F\(X\)\) with values in \[−(\d), (\d)\], and an adversary")
    assert [Fraction(end) for end in queries] == [
        4 * separation(1)
    ] * 2  # ±1 where the gate is open, half of the time


def test_how_tight_the_first_bound_is() -> None:
    rank, fraction = numbers(r"The (\w+) bound is tight up to a factor that tends to π/(\d) where τ → 0")
    whole, rest, c, exponent = numbers(
        r"linearly dependent or not, \((\d) \+ o\((\d)\)\)·(\d)πτ(.)N queries find"
    )
    e = 2000  # sets that a query loses of independent ones, at most
    of_independent = 1 / (e * float(independent(e)) ** 2 * pi)
    assert of_independent == pytest.approx(int(c) * int(whole), rel=1e-3)
    assert power(exponent) == round(log(4) / log(independent(e) / independent(4 * e)))
    assert (int(c) / int(fraction), rest, ORDER.index(rank)) == (constant() / int(c), "1", 0)
    tau, subtracted, times = numbers(
        r"At τ = ([\d.]+) the best deterministic learner that must be certain takes exactly N − (\d) queries, "
        r"([\d.]+) times the bound"
    )
    assert lost(Fraction(tau)) == 1
    assert all(queries_floor(sets, Fraction(tau)) == sets - int(subtracted) for sets in (4, 100, 4845))
    assert times == f"{1 / (constant() * float(tau) ** 2):.1f}"


def test_how_many_bits_heads_of_different_sharpnesses_hide() -> None:
    """With one threshold: m heads alternate on 2m levels, and at no further one."""
    alike, times, less = numbers(
        r"m heads of (\w+) sharpness \(.* m heads of different sharpnesses hide (\d)m − (\d) bits"
    )
    assert alike == WORDS[1]  # the layer above has one β
    bits = f"{times}m − {less}"
    assert {*re.findall(r"(\dm − \d)\b", README)} == {bits}  # of `wide` and `sharp` too
    assert (
        f"N = C(d − 1, m); m heads of different sharpnesses hide {bits} bits, N = C(d − 1, {bits})." in README
    )
    for m in range(1, 5):
        x, beta = np.arange(m) + 0.5, 2 * np.log(1.3 + np.arange(m))
        c = np.linalg.solve(np.tanh(x[:, None] * beta / 2), (-1.0) ** np.arange(m))
        levels = np.arange(-m - 1, m + 1)
        right = np.abs(np.tanh((levels[:, None] + 0.5) * beta / 2) @ c - (-1.0) ** levels) < 1e-6
        assert right.sum() == 2 * m == int(times) * m - int(less) + 1
    ways = re.findall(
        r"(\w+) gadgets hide \dm − \d bits: those of `wide` .*; those of `sharp`, which has (\w+) threshold",
        README,
    )
    assert ways == [(WORDS[2].capitalize(), WORDS[1])]


def test_how_many_sets_there_are() -> None:
    """Along d = cm exponentially many where m, or 2m - 1, of d - 1 is a share below one; of a power of d at fixed m."""
    times, less = (int(text) for text in numbers(r"different sharpnesses hide (\d)m − (\d) bits"))
    base, *texts = numbers(
        r"N is (\d)\^Θ\(m\): for c > (\d) with m bits, for c > (\d) with (\dm − \d) bits\. "
        r"At a fixed m it is of order d\^m and d\^\((\dm − \d)\)"
    )
    sizes: list[tuple[str, Callable[[int], int]]] = [
        (texts[0], lambda m: m),
        (texts[1], lambda m: times * m - less),
    ]
    for limit, size in sizes:
        at, above = (
            [log2(max(1, comb(round(c * m) - 1, size(m)))) / m for m in (200, 400)]
            for c in (int(limit), int(limit) + 0.1)
        )
        assert at == [0, 0]
        assert above[0] == pytest.approx(above[1], rel=0.1)
        assert 2 ** above[1] > 1.3
    assert texts[2] == texts[3] == f"{times}m − {less}"
    assert base == "2"
    for m in range(1, 5):
        for _, size in sizes:
            assert log2(comb(2 * 10**6, size(m)) / comb(10**6, size(m))) == pytest.approx(size(m), rel=1e-4)


def test_the_least_sum_of_coefficients() -> None:
    """2s is at most twice the sum times E|x_1 + ... + x_s| of fair signs, as a head is monotone in every bit (1.5)."""
    base, *places, two, half = numbers(
        r"at least (\d)\^\(s − (\d)\)/C\(s − (\d), ⌊\(s − (\d)\)/(\d)⌋\), about √\(πs/(\d)\)"
    )
    a, b, c = map(int, places)
    for s in range(1, 11):
        signs = s - 2 * np.bitwise_count(np.arange(2**s)).astype(int)
        least = s / float(np.mean(np.abs(signs)))
        assert int(base) ** (s - a) / comb(s - b, (s - c) // int(two)) == pytest.approx(least)
    s = 10**6 + 1
    log_least = (s - 1) * log(2) - lgamma(s) + 2 * lgamma((s + 1) / 2)
    assert log_least == pytest.approx(log(sqrt(pi * s / int(half))), abs=1e-5)


def test_what_a_learner_of_one_bit_needs() -> None:
    """(1 - √(1 - P))² of N, rounded down; twice as many examples if half of all gates are closed (2.10)."""
    bits, of_open, of_all, probability = numbers(
        r"sees every example once, but keeps only (\w+) \*bit\* of each, [^.]*"
        r"needs at least ([\d.]+) N examples with an open gate, ([\d.]+) N in all, [^.]* with probability ([\d.]+), for"
    )
    share = (1 - sqrt(1 - float(probability))) ** 2 / 2 ** (WORDS.index(bits) - 1)
    assert {*re.findall(r"(0\.9\d+) N\b", README)} == {of_all}  # at the figure too
    assert (of_open, of_all) == (f"{floor(1000 * share) / 1000}", f"{floor(100 * 2 * share) / 100}")
