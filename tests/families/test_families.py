"""Families: what they refuse, how they draw, what noise and bias do, and how their concepts are counted."""

import hashlib
from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.attacks.equations import hidden
from hardness.errors import InputError
from hardness.families.concepts import ParityConcepts
from hardness.families.controls import Nested, Tent
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.gadgets import modular
from hardness.gadgets.coefficients import informative
from hardness.instance import Instance
from hardness.tokens import TokenStream, unpack


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Parity(8, 1), "integer >= 2, got 1: one head hides one of the dim - 1 coordinates"),
        (lambda: Parity(8, 3, "dot"), "even"),
        (lambda: Parity(8, 16, "dot"), "room"),
        (lambda: Parity(8, 2, "sum"), "diag or dot or sharp or wide"),
        (lambda: Parity(8, 3, "sharp", bits=6), "from 1 to 5"),
        (lambda: Parity(8, 3, bits=3), "absent for diag"),
        (lambda: Parity(8, 2, flip=0.5), "flip"),
        (lambda: Nested(8, size=4, block=5), "block"),
        (lambda: Tent(8, 2), "two are a parity's"),
        (lambda: Rounding(8, 5, 6), "levels"),
        (lambda: Rounding(8, 5, 2, weight=8), "weight"),
        (lambda: Rounding(8, 5, 2, heads=3, exact=True), "exact"),
        (lambda: Rounding(999, 3, 2, weight=600, exact=True), "here 1200"),
        (lambda: Rounding(101, 2**20, 2, heads=8), "GiB"),
    ],
)
def test_bad_parameters_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()


@given(st.sampled_from([2, 3, 4, 6, 9, 12, 97, 256, 257, 1048573, 2**20]), st.data())
def test_levels_are_those_of_python_integers(q, data):
    t, p = data.draw(st.integers(-(10**12), 10**12)), data.draw(st.integers(2, q))
    assert modular.level(np.array(t), q, p) == p * (t % q) // q


def test_flips_flip_at_their_rate_and_leave_no_trace():
    clean, noisy = (Instance.generate(Parity(12, 4, flip=eta), 0) for eta in (0.0, 0.2))
    first, second = (instance.examples(20000, seed=3) for instance in (clean, noisy))
    assert np.array_equal(first.X, second.X)
    changed, opened = (first.Y != second.Y).any(axis=(1, 2)), informative(first.X)
    assert not changed[~opened].any()
    # 10000 flips of probability .2: sd .004, 5 sd.
    assert abs(changed[opened].mean() - 0.2) < 0.02
    values = [np.unique((data.Y[:, 0, 0] * data.X[:, 0, 0])[opened]).tolist() for data in (first, second)]
    assert values[0] == values[1]
    assert len(values[0]) == 2


def test_rounding_noise_moves_the_level_by_a_rounded_gaussian():
    clean, noisy = (Instance.generate(Rounding(9, 97, 97, noise=sd), 0) for sd in (0.0, 2.0))
    first, second = (instance.examples(20000, seed=3) for instance in (clean, noisy))
    shift = ((second.Y - first.Y)[:, 0, 0] * first.X[:, 0, 0])[informative(first.X)]
    inside = np.abs(shift) < 48  # a level that wraps around moves by 97
    assert np.array_equal(shift[inside], np.rint(shift[inside]))
    # Variance of round(N(0, 4)) is 4 + 1/12 up to 1e-30; its estimate from 10^4 has sd .06: 5 sd.
    assert inside.mean() > 0.9
    assert abs(shift[inside].var() - 4 - 1 / 12) < 0.3
    assert np.array_equal(clean.secret["w"], noisy.secret["w"])


def test_without_bias_bytes_are_those_of_a_family_that_has_none():
    """Recorded of a `Parity` without that field: examples and labels; and the file of an instance."""
    instance = Instance.generate(Parity(dim=70, heads=4, flip=0.1), seed=3)
    data = instance.examples(999, seed=5, start=17)
    for part, digest in (
        (data.X.tobytes() + data.Y.tobytes(), "6f1c27d5ec13ec80"),
        (instance.to_bytes(), "263511e1489a0e0c"),
    ):
        assert hashlib.sha256(part).hexdigest().startswith(digest)
    assert "bias" not in instance.public(0)


@pytest.mark.parametrize("bias", [0.0, 0.3, 0.9])
def test_products_have_the_bias_and_the_gate_none(bias):
    """A fixed seed; five standard deviations a coordinate: a false alarm in about 1 of 10^4 seeds."""
    X = unpack(TokenStream(seed=2, tokens=2, dim=66, bias=bias).packed(0, 20_000), 66).astype(int)
    v, fair = X[:, 0] * X[:, 1], 5 / np.sqrt(len(X))
    assert (abs(v.mean(axis=0)[1:] - bias) < fair * np.sqrt(1 - bias**2)).all()
    assert abs(v[:, 0].mean()) < fair
    assert (abs(X[:, 0].mean(axis=0)) < fair).all()
    assert abs((v[:, 1] * v[:, 2]).mean() - bias**2) < fair


def test_fair_examples_of_a_biased_family_are_those_without_bias():
    plain, biased = (Instance.generate(Parity(dim=9, heads=3, bias=mu), seed=1) for mu in (0.0, 0.4))
    assert (biased.examples(50, 2, fair=True).Y == plain.examples(50, 2).Y).all()
    assert (biased.examples(50, 2).X != plain.examples(50, 2).X).any()
    assert biased.parameters == plain.parameters | {"bias": 0.4}
    assert "--bias 0.4" in biased.command()
    assert replace(plain.family, bias=0.4) == biased.family


@pytest.mark.parametrize(("n", "s"), [(1, 1), (5, 1), (6, 3), (9, 4), (7, 7)])
def test_masks_are_all_sets_in_colex_order(n, s):
    sets = sorted(sum(1 << j for j in chosen) for chosen in combinations(range(n), s))
    concepts = ParityConcepts(n, s)
    assert concepts.masks().tolist() == sets == [concepts.unrank(rank) for rank in range(comb(n, s))]


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


@pytest.mark.parametrize(
    "family",
    [
        Parity(9, 3),
        Parity(9, 6, "dot"),
        Rounding(7, 5, 2, heads=2),
        Rounding(9, 17, 4),
    ],
)
def test_a_secret_and_what_is_public_give_the_labels(family):
    instance = Instance.generate(family, seed=3)
    examples = instance.examples(300, seed=1)
    secret = {name: value.tolist() for name, value in instance.secret.items()}
    predicted = hidden(instance.public(1)).predict(secret, examples.X)
    assert np.abs(predicted - examples.Y).max() < 1e-9
