"""The gadget of theory 1.1-1.4: exactness through the real softmax layer, over Q, and against measured figures."""

from dataclasses import replace
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.gadgets import coefficients as gadget
from hardness.instance import Instance, every_pair
from hardness.tokens import TokenStream, unpack


def nodes(levels, thresholds, targets, r):
    y = np.array([Fraction(r) ** (2 * t) for t in levels], dtype=object)
    a = np.array([Fraction(r) ** int(2 * b) for b in thresholds], dtype=object)
    return y, a, np.array([Fraction(g) for g in targets], dtype=object)


# --- theorem 1.2 over Q -------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.data())
def test_theorem_1_2_holds_for_any_targets_and_any_half_integer_thresholds(data):
    m = data.draw(st.integers(1, 8))
    levels = data.draw(st.lists(st.integers(-9, 9), min_size=m + 1, max_size=m + 1, unique=True).map(sorted))
    halves = data.draw(st.lists(st.integers(-10, 9), min_size=m, max_size=m, unique=True))
    targets = data.draw(st.lists(st.integers(-5, 5), min_size=m + 1, max_size=m + 1))
    r = data.draw(st.sampled_from([2, 3, 8, 55]))
    y, a, g = nodes(levels, [h + 0.5 for h in halves], targets, r)
    c, A = gadget.coefficients(y, a, g)
    assert all(((y[:, None] - a) / (y[:, None] + a) * c).sum(axis=1) == A + g)


@pytest.mark.parametrize("sharpness", [2, 3, 8, 55])
@pytest.mark.parametrize("size", [2, 3, 5, 8, 16, 32])
def test_parity_certificate_is_exact_over_the_rationals(size, sharpness):
    assert gadget.residual([1 - 2 * (t % 2) for t in range(size + 1)], sharpness) == Fraction(0)


def test_certificate_beyond_the_rationals_uses_a_prime_field(monkeypatch):
    levels, targets = range(21), [1 - 2 * (t % 2) for t in range(21)]
    monkeypatch.setattr(gadget, "EXACT_HEADS", 4)
    assert gadget.residual(targets, 8) == 0
    fast = gadget.exact("diag", [0] + [1] * 20, levels, targets, 8)
    slow, _ = gadget.coefficients(*nodes(levels, np.arange(20) + 0.5, targets, 8))
    assert np.allclose(fast.coefficients, [float(c) for c in slow], rtol=1e-15)


# --- the level of packed words --------------------------------------------------------------------------------------


@given(st.data(), st.sampled_from(["diag", "dot"]), st.integers(1, 200), st.integers(0, 300))
def test_levels_are_the_integer_arithmetic_of_theory_1_1(data, kind, dim, count):
    bound = data.draw(st.sampled_from([0, 1, 2, 48, 2**20]))
    low = data.draw(st.sampled_from([0, -bound]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    w = rng.integers(low, bound, dim, endpoint=True)
    w[0] = 0
    steps = gadget.saturated(kind, w.tolist(), np.array([0.5, 1.5]), np.array([0, 1, 0]))
    words = TokenStream(1, 2, dim).packed(0, count)
    x = unpack(words, dim).astype(np.int64)
    z = (x[:, 0] - x[:, 1]) // 2
    # Off the gate, z_0 = 0, the level of dot means nothing: there it is taken with x1_0 for z_0.
    expected = np.abs(z) @ w if kind == "diag" else x[:, 0, 0] * (z @ w)
    for compiled in (True, False):
        with mock.patch("hardness.gadgets.coefficients.compiled_pays", lambda words, answer=compiled: answer):
            assert np.array_equal(steps.levels(words), expected)


# --- the layer itself, on every input -----------------------------------------------------------------------------

FAMILIES = [
    *(
        Parity(d, m, gadget=g)
        for d, m, g in [(5, 2, "diag"), (6, 3, "diag"), (7, 6, "diag"), (6, 4, "dot"), (7, 8, "dot")]
    ),
    Parity(6, 4, sharpness=55),
    Rounding(6, 5, 2),
    Rounding(7, 7, 3, gadget="dot"),
    Rounding(6, 6, 6),
    Rounding(7, 9, 4, weight=3),
    Rounding(7, 97, 2, heads=2),
    Rounding(6, 5, 3, exact=True),
    Rounding(6, 4, 2, gadget="dot", exact=True),
]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_closed_form_is_the_softmax_layer_and_the_parity_or_rounded_inner_product_on_every_input(
    family, seed
):
    words, instance = every_pair(family.dim), Instance.generate(family, seed)
    X, labels = unpack(words, family.dim).astype(int), instance.teacher.labels(words)
    assert np.abs(instance.layer()(X) - labels).max() < 1e-12 * max(1, 2 * family.dim)
    if getattr(family, "modulus", 0) == 97:
        return  # its heads are too few for all levels
    z = (X[:, 0] - X[:, 1]) // 2
    if isinstance(family, Parity):
        g = (X[:, 0] * X[:, 1])[:, instance.secret["support"]].prod(axis=1)
    else:
        public = np.abs(z[:, 1:]) if family.gadget == "diag" else z[:, :1] * z[:, 1:]
        g = family.levels * (public @ instance.secret["w"] % family.modulus) // family.modulus
    column = np.where(z[:, 0] != 0, instance.teacher.offset + g, instance.teacher.gate)
    expected = np.zeros((len(X), 2, family.dim))
    expected[:, :, 0] = X[:, :, 0] * column[:, None]
    assert np.abs(labels - expected).max() <= 1e-12
    # Theory, pitfall 5: as many label values as levels and no more, or the last bits of a float leak the secret.
    shown = (X[:, 0, 0] * labels[:, 0, 0])[z[:, 0] != 0]
    assert len(np.unique(shown)) == len(np.unique(g[z[:, 0] != 0]))


# --- laws of the level, truncation ---------------------------------------------------------------------------------


def informative_pairs(d):
    words = every_pair(d)
    return words[((words[:, 0, 0] ^ words[:, 1, 0]) & np.uint64(1)).astype(bool)]


@settings(max_examples=40)
@given(st.sampled_from(["diag", "dot"]), st.lists(st.integers(-5, 5), min_size=1, max_size=4))
def test_level_counts_equal_brute_force(kind, w):
    words = informative_pairs(len(w) + 1)
    steps = gadget.saturated(kind, [0, *w], np.array([0.5]), np.array([0, 1]))
    low, counts, bits = gadget.level_counts(kind, [0, *w])
    counted = np.bincount(steps.levels(words) - low, minlength=len(counts))
    assert [Fraction(int(n), len(words)) for n in counted] == [Fraction(n, 2**bits) for n in counts]


def test_error_mass_equals_the_share_of_wrong_labels():
    for kind in ("diag", "dot"):
        instance = Instance.generate(Rounding(7, 17, 3, gadget=kind, heads=3), seed=5)
        t = instance.teacher.levels(informative_pairs(7))
        wrong = instance.teacher.value(t) - instance.teacher.offset != 3 * (t % 17) // 17
        assert instance.certificate["error_mass"] == wrong.mean()
        assert 0 < wrong.mean() < 1


@pytest.mark.parametrize("kind", ["diag", "dot"])
@pytest.mark.parametrize(
    "family",
    [
        Rounding(33, 17, 2, heads=2),
        Rounding(33, 97, 4, heads=6),
        Rounding(3, 5, 2),
        Rounding(4, 4, 3, exact=True),
    ],
    ids=str,
)
def test_label_shape_does_not_depend_on_the_secret(family, kind):
    """A and C where heads are as many as the secret needs; all coefficients else (theory 2.6)."""
    family = replace(family, gadget=kind)
    teachers = [family.realize(family.draw(np.random.default_rng(seed))) for seed in range(25)]
    assert len({(teacher.offset, teacher.gate) for teacher in teachers}) == 1
    if family.heads or family.exact:
        assert len({(*teacher.coefficients, *teacher.values) for teacher in teachers}) == 1
    else:
        assert (teachers[0].offset, teachers[0].gate) == (0, 0)
