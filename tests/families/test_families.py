"""Families: what they refuse, how they draw, what label noise does, and how their concepts are counted."""

import tracemalloc
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.errors import InputError
from hardness.families.concepts import ParityConcepts
from hardness.families.controls import Nested
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.gadgets import modular
from hardness.instance import Instance


@pytest.mark.parametrize(
    ("family", "parameters", "words"),
    [
        (
            Parity,
            {"dim": 8, "heads": 1},
            "integer >= 2, got 1: one head hides one of the dim - 1 coordinates",
        ),
        (Parity, {"dim": 8, "heads": 3, "gadget": "dot"}, "even"),
        (Parity, {"dim": 8, "heads": 16, "gadget": "dot"}, "room"),
        (Parity, {"dim": 8, "heads": 2, "gadget": "sum"}, "diag or dot or sharp or wide"),
        (Parity, {"dim": 8, "heads": 3, "gadget": "sharp", "bits": 6}, "from 1 to 5"),
        (Parity, {"dim": 8, "heads": 3, "bits": 3}, "absent for diag"),
        (Parity, {"dim": 8, "heads": 3, "balance": True}, "sharp and wide"),
        (Parity, {"dim": 8, "heads": 3, "gadget": "sharp", "sharpness": 3}, "drop sharpness"),
        (Parity, {"dim": 8, "heads": 2, "sharpness": 1}, "sharpness"),
        (Parity, {"dim": 8, "heads": 2, "flip": 0.5}, "flip"),
        (Parity, {"dim": 8, "heads": 2, "bias": 1.0}, "bias"),
        (Nested, {"dim": 8, "size": 1, "block": 1}, "size"),
        (Nested, {"dim": 8, "size": 4, "block": 5}, "block"),
        (Rounding, {"dim": 8, "modulus": 1, "levels": 2}, "modulus"),
        (Rounding, {"dim": 8, "modulus": 5, "levels": 6}, "levels"),
        (Rounding, {"dim": 8, "modulus": 5, "levels": 2, "weight": 8}, "weight"),
        (Rounding, {"dim": 8, "modulus": 5, "levels": 2, "heads": 1}, "heads"),
        (Rounding, {"dim": 8, "modulus": 5, "levels": 2, "heads": 3, "exact": True}, "exact"),
        (Rounding, {"dim": 8, "modulus": 5, "levels": 2, "noise": float("nan")}, "noise"),
        (Rounding, {"dim": 999, "modulus": 3, "levels": 2, "weight": 600, "exact": True}, "here 1200"),
        (Nondegenerate, {"dim": 4, "tokens": 5, "heads": 2}, "tokens"),
        (Nondegenerate, {"dim": 4, "tokens": 2, "heads": 2, "scale": 0.0}, "scale"),
    ],
)
def test_bad_parameters_are_refused(family, parameters, words):
    with pytest.raises(InputError, match=words):
        family(**parameters)


@pytest.mark.parametrize("q", [2, 4, 5, 9, 97])
def test_secrets_are_uniform_and_centred(q):
    w = modular.centred(modular.draw(q, 20000, np.random.default_rng(1)), q)
    assert w.min() == -((q - 1) // 2)
    assert w.max() == q // 2
    counts = np.bincount(w % q, minlength=q)
    # Chi-square with q - 1 degrees of freedom: mean q - 1, sd sqrt(2(q-1)); 6 sd is a false alarm below 1e-4.
    chi2 = ((counts - 20000 / q) ** 2).sum() * q / 20000
    assert chi2 < q - 1 + 6 * (2 * (q - 1)) ** 0.5 + 6


@given(st.sampled_from([2, 3, 4, 6, 9, 12, 97, 256, 257, 1048573, 2**20]), st.data())
def test_modular_arithmetic_equals_python_integers(q, data):
    n = data.draw(st.integers(1, 6))
    u = data.draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n))
    w = data.draw(st.lists(st.integers(-(10**6), 10**6), min_size=n, max_size=n))
    p = data.draw(st.integers(2, q))
    t = sum(a * b for a, b in zip(u, w, strict=True))
    assert modular.inner(np.array([u]), np.array(w), q)[0] == t % q
    assert modular.inner(np.full((1, 256), q - 1), np.full(256, q - 1), q)[0] == 256 * (q - 1) ** 2 % q
    assert modular.level(np.array(t), q, p) == p * (t % q) // q


def test_flips_flip_at_their_rate_and_leave_no_trace():
    clean, noisy = (Instance.generate(Parity(12, 4, flip=eta), 0) for eta in (0.0, 0.2))
    first, second = (instance.examples(20000, seed=3) for instance in (clean, noisy))
    assert np.array_equal(first.X, second.X)
    changed = (first.Y != second.Y).any(axis=(1, 2))
    informative = first.X[:, 0, 0] != first.X[:, 1, 0]
    assert not changed[~informative].any()
    # 10000 flips of probability .2: sd .004, 5 sd.
    assert abs(changed[informative].mean() - 0.2) < 0.02
    values = np.unique((second.Y[:, 0, 0] * second.X[:, 0, 0])[informative])
    assert np.array_equal(values, np.unique((first.Y[:, 0, 0] * first.X[:, 0, 0])[informative]))
    assert len(values) == 2


def test_rounding_noise_moves_the_level_by_a_rounded_gaussian():
    clean, noisy = (Instance.generate(Rounding(9, 97, 97, noise=sd), 0) for sd in (0.0, 2.0))
    first, second = (instance.examples(20000, seed=3) for instance in (clean, noisy))
    informative = first.X[:, 0, 0] != first.X[:, 1, 0]
    shift = ((second.Y - first.Y)[:, 0, 0] * first.X[:, 0, 0])[informative]
    inside = np.abs(shift) < 48  # a level that wraps around moves by 97
    assert np.array_equal(shift[inside], np.rint(shift[inside]))
    # Variance of round(N(0, 4)) is 4 + 1/12 up to 1e-30; its estimate from 10^4 has sd .06: 5 sd.
    assert inside.mean() > 0.9
    assert abs(shift[inside].var() - 4 - 1 / 12) < 0.3
    assert np.array_equal(clean.secret["w"], noisy.secret["w"])


# --- concepts ---


@pytest.mark.parametrize(("n", "s"), [(1, 1), (5, 1), (6, 3), (9, 4), (7, 7)])
def test_masks_are_all_sets_in_colex_order(n, s):
    sets = sorted(sum(1 << j for j in chosen) for chosen in combinations(range(n), s))
    concepts = ParityConcepts(n, s)
    assert concepts.masks().tolist() == sets
    assert [concepts.unrank(rank) for rank in range(comb(n, s))] == sets


def test_last_sets_of_64_bits_do_not_overflow():
    concepts = ParityConcepts(64, 6)
    last = concepts.masks(concepts.size - 3)
    assert [int(mask) for mask in last] == [concepts.unrank(concepts.size - i) for i in (3, 2, 1)]
    assert ParityConcepts(64, 64).masks().tolist() == [2**64 - 1]


@settings(max_examples=60)
@given(
    st.integers(2, 40), st.integers(3, 7), st.sampled_from(["diag", "dot"]), st.integers(0, 2**32), st.data()
)
def test_the_fewest_heads_label_every_level_rightly(q, dim, kind, seed, data):
    """What their certificate states without a count of all levels."""
    family = Rounding(dim, q, data.draw(st.integers(2, q)), None, kind)
    teacher = family.realize(family.draw(np.random.default_rng(seed)))
    assert family._error_mass(teacher) == family.certificate(teacher)["error_mass"] == 0


def test_a_small_file_of_a_large_modulus_is_verified_in_little_memory():
    """Its levels are 2^25; counted each, they took 2.4 GB."""
    instance = Instance.generate(Rounding(dim=101, modulus=2**20, levels=2), 1)
    tracemalloc.start()
    try:
        assert all(check.ok for check in instance.verify())
        assert tracemalloc.get_traced_memory()[1] < 2**28
    finally:
        tracemalloc.stop()
    with pytest.raises(InputError, match="GiB"):
        Rounding(dim=101, modulus=2**20, levels=2, heads=8)
