"""The bound on label vectors: never below what all secrets of a small class reach, and low where they are few."""

from itertools import combinations, product
from math import comb, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.gadgets import modular
from hardness.instance import Instance
from hardness.instance.challenge import held_out, log2_answers, log2_secrets
from hardness.tokens import pack


def all_secrets(family):
    """Every secret of a small family."""
    n = family.dim - 1
    if isinstance(family, Parity):
        for places in combinations(range(1, family.dim), family.size):
            yield {"support": np.array(places)}
        return
    h = n if family.weight is None else family.weight
    values = range(family.modulus) if family.weight is None else range(1, family.modulus)
    for places in combinations(range(n), h):
        for entries in product(values, repeat=h):
            w = np.zeros(n, dtype=np.int64)
            w[list(places)] = entries
            yield {"w": modular.centred(w, family.modulus)}


def reached(family, X):
    """log2 of the number of label vectors, by the noiseless layer of every secret."""
    words = pack(X)
    teachers = (family.realize(secret) for secret in all_secrets(family))
    return log2(len({teacher.labels(words)[:, 0, 0].round(6).tobytes() for teacher in teachers}))


SMALL = [
    *(Parity(6, 3), Parity(4, 2), Parity(5, 4, "dot", flip=0.2), Parity(6, 6, "dot")),
    *(Rounding(4, 5, 3), Rounding(3, 11, 4, gadget="dot"), Rounding(4, 8, 2, heads=2, noise=1.5)),
    *(
        Rounding(6, 11, 5, weight=1),
        Rounding(5, 8, 8, weight=2, gadget="dot"),
        Rounding(6, 3, 2, weight=2, heads=3),
    ),
]


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(SMALL), st.integers(0, 2**32), st.integers(1, 40))
def test_the_bound_is_not_below_what_listing_gives(family, seed, rows):
    """Few inputs, so that they do not tell all secrets apart."""
    X = np.random.default_rng(seed).choice(np.array([-1, 1], dtype=np.int8), (rows, 2, family.dim))
    X[:, 1, 0] = -X[:, 0, 0]
    assert reached(family, X) - 1e-9 <= family.log2_label_vectors(X) <= family.log2_secrets()


@pytest.mark.parametrize("gadget", ["sharp", "wide"])
def test_parities_of_several_sharpnesses_are_counted_alike(gadget):
    family = Parity(7, 2, gadget)
    X = held_out(7)
    assert family.log2_label_vectors(X) == pytest.approx(reached(family, X)) == log2(comb(6, 3))


@pytest.mark.parametrize("family", [Parity(128, 16), Rounding(40, 97, 8), Rounding(80, 97, 4, weight=12)])
def test_secrets_that_inputs_tell_apart_are_counted_as_secrets(family):
    instance = Instance.generate(family, 0)
    assert 60 <= log2_answers(instance, held_out(family.dim)) <= log2_secrets(instance)
