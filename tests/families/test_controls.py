"""The controls of hidden parities: random heads of the same form, the same heads with other signs, chains of sets."""

from dataclasses import replace

import numpy as np
import pytest

from hardness.errors import InputError
from hardness.families.controls import Nested, RandomDiagonal, Tent
from hardness.families.parity import Parity
from hardness.gadgets.coefficients import informative
from hardness.instance import Instance
from hardness.scores import fresh, judge
from hardness.tokens import pack


@pytest.mark.parametrize(
    "family", [RandomDiagonal(6, 3), RandomDiagonal(70, 2, 6.0), Tent(7, 4), Tent(7, 5)], ids=repr
)
def test_labels_are_those_of_the_dense_layer(family):
    instance = Instance.generate(family, 0)
    examples, part = instance.examples(500, 1), instance.examples(7, 1, start=13)
    np.testing.assert_allclose(examples.Y, instance.layer()(examples.X), atol=1e-12)
    assert all(check.ok for check in instance.verify())
    assert (examples.Y[13:20] == part.Y).all()
    assert judge(instance, instance.layer())["open_error"] < 1e-12
    assert judge(instance, lambda X: 0.0 * X)["open_error"] > 0.8


@pytest.mark.parametrize("scale", [2.0, 6.0])
def test_the_variance_of_random_labels_is_one(scale):
    for seed in range(3):
        instance = Instance.generate(RandomDiagonal(12, 3, scale), seed)
        assert instance.informative(1 << 16, 1).Y.var() == pytest.approx(1, abs=0.06)
        assert fresh(instance, 10, 0).variance == 1


def test_a_tent_is_its_parity_but_for_signs():
    support = np.array([1, 3, 4, 6])
    tent, parity = (family.realize({"support": support}) for family in (Tent(8, 4), Parity(8, 4)))
    assert (np.abs(tent.coefficients) == np.abs(parity.coefficients)).all()
    assert np.sign(tent.coefficients).tolist() == [1, 1, -1, -1]
    assert (tent.layer().theta == parity.layer().theta).all()
    assert (tent.values == tent.values[::-1]).all()


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
    checks = instance.verify()
    assert all(check.ok for check in checks)
    assert checks[-1].name == "softmax layer"
    data = instance.examples(300, 1)
    X, Y = data.X[informative(data.X)].astype(int), data.Y[informative(data.X)]
    order, ends = instance.secret["order"], np.cumsum(instance.family.blocks)
    known = instance.certificate
    offsets = [*(known[f"A_{i}"] for i in range(1, len(ends))), known["A"]]
    for column, end, A in zip([*range(1, len(ends)), 0], ends, offsets, strict=True):
        parity = (X[:, 0] * X[:, 1])[:, order[:end]].prod(axis=1)
        assert Y[:, 0, column] == pytest.approx(X[:, 0, 0] * (A + parity))
    assert not Y[:, :, len(ends) :].any()


def test_a_file_whose_chain_is_none_is_refused(tmp_path):
    instance = Instance.generate(Nested(dim=9, size=4, block=2), seed=0)
    outside = np.array(sorted({*range(1, 9)} - {*instance.secret["support"].tolist()}))
    for order in (outside, np.array([0, 1, 2, 3]), instance.secret["order"][:3]):
        changed = replace(instance, secret={**instance.secret, "order": order.astype(np.int64)})
        changed.save(tmp_path / "f", force=True)
        with pytest.raises(InputError, match="not a whole instance"):
            Instance.load(tmp_path / "f")
