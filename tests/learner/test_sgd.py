"""The SGD control learner: it learns small parities from few examples."""

import pytest

from hardness.families.parity import Parity
from hardness.instance import Instance
from hardness.scores import judge
from learner.networks import OnlineMLP


@pytest.mark.parametrize(
    ("heads", "gadget", "count", "flip"),
    # The level of dot is z_0 <w, z>: its parity is that of the differing coordinates as well.
    [(3, "diag", 12_000, 0), (2, "diag", 30_000, 0.1), (4, "dot", 12_000, 0)],
)
def test_it_learns_small_parities_of_either_gadget_and_under_noise(heads, gadget, count, flip):
    train = Instance.generate(Parity(12, heads, gadget, flip=flip), seed=0).examples(count, 1)
    model = OnlineMLP(random_state=0).partial_fit(train.X, train.Y)
    clean = Instance.generate(Parity(12, heads, gadget), seed=0)
    assert judge(clean, model.predict, 4000, seed=2)["sign_accuracy"] > 0.9
