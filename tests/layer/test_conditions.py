"""The non-degeneracy conditions against values that can be worked out by hand."""

import numpy as np
import pytest
from learner_teachers import teacher

from hardness.families.parity import Parity
from hardness.gadgets.conditions import conditions
from hardness.instance import Instance
from hardness.layer import MultiHeadAttention


def values(layer: MultiHeadAttention, tokens: int = 2) -> dict[str, float | None]:
    return {condition.name: condition.value for condition in conditions(layer, tokens)}


def test_identity_heads():
    layer = MultiHeadAttention(np.stack([np.eye(4), 2 * np.eye(4)]), np.stack([np.eye(4), -np.eye(4)]))
    table = values(layer)
    assert table["incoherence of theta"] == pytest.approx(1)
    assert table["stable rank of theta"] == pytest.approx(4)
    assert table["diagonal of theta"] == pytest.approx(4)
    assert table["heaviest column of theta"] == pytest.approx(0.25)
    assert table["distance of theta to a lattice"] == 0
    assert table["ratio of norms of theta"] == pytest.approx(0.5)
    assert table["score spread tau"] == pytest.approx(2 * 8**0.5)
    assert table["sum of w"] == 0


@pytest.mark.parametrize("heads", [2, 3, 4])
def test_hard_instances_fail_where_the_specification_says(heads: int):
    hard = values(Instance.generate(Parity(dim=16, heads=heads), 0).layer())
    nice = values(teacher(heads, 16, heads))
    for name in ("incoherence of theta", "incoherence of w"):
        assert (hard[name] or 0) > 3 * (nice[name] or 0)
    for name in ("distance of theta to a lattice", "stable rank of w"):
        assert (hard[name] or 0) < (nice[name] or 0) / 2
    vanishes = heads % 2 == 0
    assert ((hard["sum of w"] or 0) < 1e-9) is vanishes


def test_nothing_is_invented_where_nothing_can_be_measured():
    table = values(MultiHeadAttention(np.zeros((1, 3, 3)), np.zeros((1, 3, 3))))
    assert table["incoherence of theta"] is None
    assert table["stable rank of theta"] is None
    assert table["sum of w"] is None
