"""The bound on label vectors: never below what all secrets of a small class reach, and low where they are few."""

from itertools import combinations, product
from math import comb, log2

import numpy as np
import pytest
from commands import check_refused, run_command
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
    shown = {
        family.realize(secret).labels(words)[:, 0, 0].round(6).tobytes() for secret in all_secrets(family)
    }
    return log2(len(shown))


@st.composite
def small_families(draw):
    kind = draw(st.sampled_from(["diag", "dot"]))
    dim = draw(st.integers(3, 6))
    if draw(st.booleans()):
        size = draw(st.integers(2 if kind == "diag" else 1, dim - 1))
        return Parity(dim, size * (2 if kind == "dot" else 1), kind, flip=draw(st.sampled_from([0.0, 0.2])))
    q = draw(st.sampled_from([2, 3, 5, 8, 11]))
    weight = (
        draw(st.one_of(st.none(), st.integers(1, min(2, dim - 1)))) if dim < 5 else draw(st.integers(1, 2))
    )
    heads, noise = draw(st.sampled_from([None, 2, 3])), draw(st.sampled_from([0.0, 1.5]))
    return Rounding(dim, q, draw(st.integers(2, q)), weight, kind, heads, noise)


@settings(max_examples=25, deadline=None)
@given(small_families(), st.integers(0, 2**32), st.integers(1, 40))
def test_the_bound_is_not_below_what_listing_gives(family, seed, rows):
    """Few inputs, so that they do not tell all secrets apart."""
    rng = np.random.default_rng(seed)
    X = rng.choice(np.array([-1, 1], dtype=np.int8), (rows, 2, family.dim))
    X[:, 1, 0] = -X[:, 0, 0]
    assert reached(family, X) - 1e-9 <= family.log2_label_vectors(X) <= family.log2_secrets()


@pytest.mark.parametrize("gadget", ["sharp", "wide"])
def test_parities_of_several_sharpnesses_are_counted_alike(gadget):
    family = Parity(7, 2, gadget)
    X = held_out(7)
    assert family.log2_label_vectors(X) == pytest.approx(reached(family, X)) == log2(comb(6, 3))


def test_three_nonzeros_of_any_modulus_leave_few_label_vectors(tmp_path):
    """C(16, 3) supports, and labels of the 7 non-empty patterns of three bits: all are tried in a second and a half."""
    line = "generate rounding --dim 17 --modulus 1048576 --levels 2 --weight 3 --noise 1000000 --out"
    assert run_command(line, tmp_path / "f").code == 0
    check_refused(run_command(f"challenge {tmp_path / 'f'} --count 1 --out", tmp_path / "c"), "one of 2^16.1")
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    "family", [Parity(128, 16), Rounding(40, 97, 8), Rounding(80, 97, 4, weight=12)], ids=repr
)
def test_secrets_that_inputs_tell_apart_are_counted_as_secrets(family):
    instance = Instance.generate(family, 0)
    answers = log2_answers(instance, held_out(family.dim))
    assert 60 <= answers <= log2_secrets(instance)
