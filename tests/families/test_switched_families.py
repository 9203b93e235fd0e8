"""Switches of families: off they change no byte, on they do what theory 2.9 says; and chains of sets."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from hardness.errors import InputError
from hardness.families.controls import Nested
from hardness.families.parity import Parity
from hardness.gadgets.coefficients import informative
from hardness.instance import Instance
from hardness.tokens import TokenStream, pack, unpack


def digest(*parts):
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


def test_without_bias_bytes_are_those_of_a_family_that_has_none():
    """Recorded of a `Parity` without that field: examples and labels; and the file of an instance."""
    instance = Instance.generate(Parity(dim=70, heads=4, flip=0.1), seed=3)
    data = instance.examples(999, seed=5, start=17)
    assert digest(data.X.tobytes(), data.Y.tobytes()) == "6f1c27d5ec13ec80"
    assert digest(instance.to_bytes()) == "263511e1489a0e0c"
    assert "bias" not in instance.public(0)


@pytest.mark.parametrize("bias", [0.0, 0.3, 0.5, 0.9])
def test_products_have_the_bias_and_the_gate_none(bias):
    """A fixed seed; five standard deviations a coordinate: a false alarm in about 1 of 10^4 seeds."""
    X = unpack(TokenStream(seed=2, tokens=2, dim=66, bias=bias).packed(0, 20_000), 66).astype(int)
    means, deviation = (X[:, 0] * X[:, 1]).mean(axis=0), np.sqrt((1 - bias**2) / len(X))
    assert (abs(means[1:] - bias) < 5 * deviation).all()
    assert abs(means[0]) < 5 / np.sqrt(len(X))
    assert (abs(X[:, 0].mean(axis=0)) < 5 / np.sqrt(len(X))).all()
    pairs = (X[:, 0] * X[:, 1])[:, 1:3].prod(axis=1).mean()
    assert abs(pairs - bias**2) < 5 / np.sqrt(len(X))


def test_fair_examples_of_a_biased_family_are_those_without_bias():
    parity = Parity(dim=9, heads=3)
    plain, biased = (Instance.generate(replace(parity, bias=mu), seed=1) for mu in (0.0, 0.4))
    assert (biased.examples(50, 2, fair=True).Y == plain.examples(50, 2).Y).all()
    assert (biased.examples(50, 2).X != plain.examples(50, 2).X).any()
    assert biased.parameters == plain.parameters | {"bias": 0.4}
    assert "--bias 0.4" in biased.command()


@pytest.mark.parametrize("gadget", ["diag", "dot"])
def test_one_block_is_the_parity_bit_for_bit(gadget):
    s = 3
    nested = Instance.generate(Nested(dim=9, size=s, block=s, gadget=gadget), seed=4)
    parity = Parity(dim=9, heads=s if gadget == "diag" else 2 * s, gadget=gadget)
    shown = nested.examples(500, 7)
    labels = parity.labels(parity.realize(nested.secret), pack(shown.X), np.ones(500))
    assert shown.Y.tobytes() == labels.tobytes()


@pytest.mark.parametrize(
    ("dim", "size", "block", "gadget"), [(7, 5, 2, "diag"), (8, 4, 1, "diag"), (6, 3, 1, "dot")]
)
def test_nested_labels_are_the_softmax_layer_s_and_parities(dim, size, block, gadget):
    instance = Instance.generate(Nested(dim, size, block, gadget), seed=0)
    assert all(check.ok for check in instance.verify())
    assert instance.verify()[-1].name == "softmax layer"
    data = instance.examples(300, 1)
    X, Y = data.X[informative(data.X)].astype(int), data.Y[informative(data.X)]
    order, ends = instance.secret["order"], np.cumsum(instance.family.blocks)
    known = instance.certificate
    offsets = [*(known[f"A_{i}"] for i in range(1, len(ends))), known["A"]]
    for column, end, A in zip([*range(1, len(ends)), 0], ends, offsets, strict=True):
        parity = (X[:, 0] * X[:, 1])[:, order[:end]].prod(axis=1)
        assert Y[:, 0, column] == pytest.approx(X[:, 0, 0] * (A + parity))
    assert not Y[:, :, len(ends) :].any()


def test_a_chain_that_is_none_does_not_verify_and_its_file_is_refused(tmp_path):
    family = Nested(dim=9, size=4, block=2)
    instance = Instance.generate(family, seed=0)
    outside = sorted(set(range(1, 9)) - set(instance.secret["support"].tolist()))
    stray = family.realize({"support": np.array(outside), "order": np.array(outside)}).blocks
    checks = {
        name: ok for name, ok, _ in family.verify(replace(instance.teacher, blocks=stray), instance.secret)
    }
    assert checks == {"secret": True, "chain": False, "certificate": True}
    for order in (np.array(outside), np.array([0, 1, 2, 3]), instance.secret["order"][:3]):
        replace(instance, secret={**instance.secret, "order": order.astype(np.int64)}).save(
            tmp_path / "f", force=True
        )
        with pytest.raises(InputError, match="not a whole instance"):
            Instance.load(tmp_path / "f")
