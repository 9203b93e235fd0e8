"""Bounds of theory 2.4 and 2.6 against brute force."""

from itertools import combinations, product
from math import ceil, log2, sqrt

import numpy as np
import pytest
from head_limited import head_limited_parity
from theory_page import table
from window import window_loss

from hardness.families.concepts import ParityConcepts, RoundingConcepts
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.sq.bounds import parity as dimension
from hardness.sq.bounds import rounding as rounding_bounds
from hardness.sq.queries import LevelTable, Query
from hardness.sq.strategies import vote


def test_parity_sda_by_brute_force():
    """Largest Q such that every D' of at least (N-1)/Q concepts averages below g; D' of k averages 1/(2k)."""
    for size in (4, 10, 33):
        for g in (0.3, 0.1, 0.03, 0.01):
            best = 0
            for q in range(1, size):
                smallest = max(1, ceil((size - 1) / q))
                if 1 / (2 * smallest) < g:
                    best = q
            assert dimension.parity_sda(size, g) == best


def test_numbers_of_theory_2_5():
    bounds, names = dimension.parity_bounds(Parity(64, 12, "dot").sets, 0.05), ("szorenyi", "bfjkmr", "sda")
    printed = {name: round(log2(bounds[name]), 1) for name in ("window", "null", *names)}
    assert printed == {"window": 20.4, "null": 19.4, "szorenyi": 18.4, "bfjkmr": 7.7, "sda": 16.8}
    assert not dimension.parity_bounds(ParityConcepts(20, 1), 0.01).keys() & {*names}


@pytest.mark.parametrize("gadget", ["diag", "dot"])
@pytest.mark.parametrize(("n", "q"), [(2, 5), (3, 4), (3, 7)])
def test_the_spectrum_bounds_phi_from_above(n: int, q: int, gadget: str):
    """Sizes in order, rounded up, are at least the true |phi|, and their means within 1% of the true ones."""
    concepts = RoundingConcepts(n, q, 2, gadget)
    u, odds = concepts.public()
    v = np.array(list(product(range(q), repeat=n)))
    phi = np.sort(np.abs(np.exp(2j * np.pi * (v @ u.T) / q) @ odds))[::-1]
    law = rounding_bounds.spectrum(n, q, gadget)
    sizes = np.repeat(2.0 ** (-np.arange(len(law)) / 256), np.round(law * q**n).astype(int))
    for take in (1, 3, q**n // 4, q**n):
        truth = phi[:take].mean()
        assert truth - 1e-12 <= sizes[:take].mean() <= 1.01 * truth + 2.0**-50


def test_cosine_correlations_are_phi():
    """Theory 2.1: E f_w f_w' = (phi(w - w') + phi(w + w'))/2."""
    q, n = 7, 3
    rng = np.random.default_rng(0)
    for gadget in ("diag", "dot"):
        u, odds = RoundingConcepts(n, q, 2, gadget).public()
        for _ in range(20):
            w, other = rng.integers(q, size=(2, n))
            cosines = [np.cos(2 * np.pi * (u @ v) / q) for v in (w, other)]
            phi = [np.exp(2j * np.pi * (u @ v) / q) @ odds for v in (w - other, w + other)]
            assert odds @ (cosines[0] * cosines[1]) == pytest.approx((phi[0].real + phi[1].real) / 2)
            exact = np.prod(np.cos(np.pi * (w - other) / q) ** (1 if gadget == "diag" else 2))
            assert abs(phi[0]) == pytest.approx(abs(exact))


def test_cosine_sda_of_theory_2_4():
    """The table was made with bins twice as wide: its values are valid, ours are sharper by up to 2%."""
    for n, *values in table("2.4", "n"):
        laws = {bins: rounding_bounds.spectrum(int(n), 97, "dot", bins) for bins in (128, 256)}
        for bits, value in zip((4, 8, 12, 20, 32), filter(None, values), strict=False):
            old, fine = (rounding_bounds.log2_sda(law, bins, 2.0**-bits) for bins, law in laws.items())
            assert abs(old - float(value)) <= max(0.06, 0.01 * float(value))
            assert old <= fine <= 1.03 * float(value) + 0.1
        # Below the mean correlation 2^-n
        assert rounding_bounds.log2_sda(laws[256], 256, 2.0 ** -int(n)) is None


@pytest.mark.parametrize(("n", "q", "p"), [(2, 5, 2), (3, 5, 3), (2, 7, 2), (2, 11, 4)])
def test_label_sda_is_below_brute_force(n: int, q: int, p: int):
    """Rows of the true chi-square correlations, sorted: no top part averages more than the bound says."""
    concepts = RoundingConcepts(n, q, p)
    labels, odds = concepts.label_table, concepts.public()[1]
    shares = np.bincount(p * np.arange(q) // q, minlength=p) / q
    h = [(labels == y) / shares[y] - 1 for y in range(p)]
    gram = np.abs(sum(shares[y] * (h[y] * odds) @ h[y].T for y in range(p))) / 2
    rows = np.sort(gram, axis=1)[:, ::-1]
    for g in (0.4, 0.2, 0.1):
        bits = rounding_bounds.label_log2_sda(concepts, g)
        if bits is not None:
            take = ceil(concepts.size / 2**bits)
            assert rows[:, :take].mean(axis=1).max() < g
    assert rounding_bounds.label_log2_sda(RoundingConcepts(4, 6, 2), 0.1) is None


@pytest.mark.parametrize("q", range(2, 10))
@pytest.mark.parametrize("gadget", ["diag", "dot"])
def test_pairwise_independence(q: int, gadget: str):
    """Theory 2.6, every q <= 9: (<w,u>, <w,u'>) is uniform on Z_q^2 for all pairs the proof uses, n <= 4 (3: dot)."""
    for n in range(1, 5 if gadget == "diag" else 4):
        concepts = RoundingConcepts(n, q, 2, gadget)
        u = concepts.public()[0]
        u = u[np.any(u != 0, axis=1)].astype(int)
        w = np.array(list(product(range(q), repeat=n)))
        inner = w @ u.T % q
        for i, j in combinations(range(len(u)), 2):
            same = np.array_equal(u[i], -u[j]) or (q % 2 == 0 and np.array_equal(np.abs(u[i]), np.abs(u[j])))
            counts = np.bincount(inner[:, i] * q + inner[:, j], minlength=q * q)
            uniform = bool(np.all(counts * q * q == len(w)))
            assert uniform or same


@pytest.mark.parametrize("gadget", ["diag", "dot"])
def test_collision_factor_is_the_collision_probability(gadget: str):
    for n, q in ((3, 5), (4, 4), (3, 9)):
        concepts = RoundingConcepts(n, q, 2, gadget)
        u, odds = concepts.public()
        dependent: dict[tuple[int, ...], float] = {}
        for vector, weight in zip(u.tolist(), odds, strict=True):
            key = max(vector, [-x for x in vector])
            name = tuple(map(abs, vector)) if q % 2 == 0 else tuple(key)
            dependent[name] = dependent.get(name, 0.0) + weight
        assert (
            sum(mass**2 for mass in dependent.values())
            <= 2 ** -rounding_bounds.log2_distinct(concepts) + 1e-12
        )


def eliminations(concepts: RoundingConcepts, count: int, rng: np.random.Generator) -> float:
    """Largest loss to a window, over 1/(8 tau^2 V) of the class, among random queries of four kinds."""
    worst, inputs = 0.0, len(concepts.public()[0])
    elements = concepts.elements()
    for i in range(count):
        values = rng.uniform(-1, 1, (inputs, concepts.p))
        query: Query = LevelTable(concepts, values if i % 4 == 2 else np.sign(values))
        if i % 4 < 2:
            size = 1 if i % 4 == 0 else 5
            query = vote(
                concepts, elements[rng.integers(len(elements), size=size)], rng.choice([-1, 1], size)
            )
        means = query.means(elements)
        for tau in (0.02, 0.05, 0.1, 0.2):
            lost = window_loss(means, tau)
            allowed = concepts.size / (8 * tau**2 * 2 ** rounding_bounds.log2_distinct(concepts))
            worst = max(worst, float(lost / allowed))
    return worst


DIAG = [(6, 5, 2), (5, 7, 3), (6, 4, 2), (4, 5, 5)]
CLASSES = [*((*shape, "diag") for shape in DIAG), (4, 5, 2, "dot"), (4, 4, 2, "dot")]


@pytest.mark.parametrize("shape", CLASSES)
def test_no_query_beats_theorem_2_6(shape: tuple[int, int, int, str]):
    assert eliminations(RoundingConcepts(*shape), 40, np.random.default_rng(1)) <= 1


def test_truncation_holds_for_every_secret():
    """The share and eps of `truncation` are those of the certificates of all secrets, where these are few enough."""
    n, q, p, heads = 4, 5, 2, 6
    concepts = RoundingConcepts(n, q, p, heads=heads)
    share, eps = rounding_bounds.truncation(concepts, 0.5)
    family = Rounding(n + 1, q, p, heads=heads)
    masses = []
    for w in concepts.elements().astype(np.int64):
        teacher = family.realize({"w": w - q * (2 * w > q)})
        masses.append(family.certificate(teacher)["error_mass"])
    assert np.mean(np.array(masses) <= eps + 1e-12) == pytest.approx(share, abs=1e-12)
    gains = [(0.5 - eps) ** 2 * np.mean(np.array(masses) <= eps + 1e-12) for eps in masses]
    assert (0.5 - eps) ** 2 * share == pytest.approx(max(gains), rel=1e-9)


@pytest.mark.parametrize(("n", "heads"), [(3, 8), (4, 9)])
def test_truncation_beyond_what_can_be_counted_holds_too(n: int, heads: int, monkeypatch: pytest.MonkeyPatch):
    """By Hoeffding: no more than the exact error masses allow."""
    concepts = RoundingConcepts(n, 5, 2, heads=heads)
    masses = rounding_bounds.error_masses(concepts)
    monkeypatch.setattr(rounding_bounds, "ENUMERABLE", 0)
    rounding_bounds.truncation.cache_clear()
    share, eps = rounding_bounds.truncation(concepts, 0.5)
    assert np.mean(masses <= eps) >= share > 0.2
    rounding_bounds.truncation.cache_clear()


@pytest.mark.parametrize(("s", "m"), [(7, 4), (8, 6), (9, 2), (12, 6)])
def test_krawtchouk_coefficients_by_brute_force(s: int, m: int):
    v = np.arange(1 << s, dtype=np.uint64)
    weight = np.bitwise_count(v).astype(int)
    h = (-1.0) ** np.clip(weight, (s - m) // 2, (s - m) // 2 + m)
    error, coefficients = head_limited_parity(s, m)
    assert np.mean((h - (-1.0) ** weight) ** 2) == float(error)
    for k, value in enumerate(coefficients):
        chi = 1 - 2.0 * (np.bitwise_count(v & np.uint64((1 << k) - 1)) & 1)
        assert np.mean(h * chi) == pytest.approx(float(value), abs=1e-15)


def test_mean_square_correlation_is_the_collision_probability():
    """Theory 2.3: rms 2^-n/2 over ALL pairs of secrets, exactly, from pairwise independence (u = 0 apart)."""
    n, q, p = 4, 5, 2
    concepts = RoundingConcepts(n, q, p)
    levels = p * np.arange(q) // q
    share = np.bincount(levels) / q
    h = (np.eye(p) / share[:, None] - 1) * np.sqrt(share)[:, None]
    vectors = np.concatenate([h[y][concepts.label_table] for y in range(p)], axis=1)
    gram = vectors @ vectors.T / 2**n
    variance = [float(np.sum((h.T @ h)[np.ix_(levels, levels)] ** 2) / q**2), float((h.T @ h)[0, 0] ** 2)]
    assert np.mean(gram**2) == pytest.approx(((2**n - 1) * variance[0] + variance[1]) / 4**n)


# Short secrets


def short_rates(q, values):
    """(mu, kappa) of theory 2.6 for secrets with independent entries, uniform on `values`."""
    r = np.abs(np.fft.fft(np.isin(np.arange(q), values) / len(values))[1:]).max() + 1e-12
    return (1 + r) / 2, (1 + r + sqrt((1 - r) ** 2 + 4 * r * r)) / 4


@pytest.mark.parametrize(
    ("n", "q", "values", "printed"),
    [
        (4, 5, [0, 1], None),
        (6, 3, [0, 1], None),
        (3, 7, [-1, 0, 1], "0.674"),
        (5, 4, [0, 1], None),
        (4, 6, [0, 1, 2], None),
        (3, 5, range(5), None),
        (8, 2, [0, 1], None),
        (4, 7, [0, 1], "0.884"),
        (5, 11, [0, 1], "1.211"),
    ],
)
def test_short_secrets_have_no_larger_spectrum(n, q, values, printed):
    """The largest 4 Var_w a_w over tables of mean square 1/4, by an exact spectrum."""
    u = np.array(list(product(range(2), repeat=n)))
    w = np.array(list(product(values, repeat=n)))
    shown = ((w @ u.T) % q)[:, :, None] == np.arange(q)  # (W^n, 2^n, q)
    features = shown.reshape(len(w), -1) / sqrt(len(w))
    features = features - features.mean(axis=0)
    top = np.linalg.norm(features, 2) ** 2 * q / 2**n
    mu, kappa = short_rates(q, values)
    assert top <= mu**n + (q - 2) * kappa**n
    assert top >= 0.1 * (mu**n + (q - 2) * kappa**n)  # a tenth of it would be false
    if printed:
        assert f"{top:.3f}" == printed
        assert top > mu**n  # so the second term is needed
