"""The SGD control learner: deterministic, a scikit-learn estimator, and its needs those that were measured before."""

import numpy as np
import pytest

from hardness.families.parity import Parity
from hardness.instance import Instance
from hardness.scores import Judged, scores
from learner.networks import OnlineMLP


def examples(dim, heads, count, seed=1, gadget="diag", flip=0.0):
    return Instance.generate(Parity(dim, heads, gadget, flip=flip), seed=0).examples(count, seed)


def accuracy(model, dim, heads, gadget="diag"):
    """The share of right signs on fresh clean examples with an open gate: guesses are right on half."""
    instance, test = (
        Instance.generate(Parity(dim, heads, gadget), seed=0),
        examples(dim, heads, 2000, 2, gadget),
    )
    keep = test.X[:, 0, 0] != test.X[:, 1, 0]
    judged = Judged(test.X[keep], test.Y[keep], np.unique(instance.teacher.values))
    return scores(judged, model.predict(judged.X))["sign_accuracy"]


@pytest.mark.parametrize(
    ("heads", "gadget", "count", "flip", "threshold"),
    [
        (2, "diag", 12_000, 0, 0.95),
        (3, "diag", 12_000, 0, 0.95),
        (2, "diag", 30_000, 0.1, 0.9),
        # The level of dot is z_0 <w, z>: its parity is that of the differing coordinates as well.
        (2, "dot", 12_000, 0, 0.9),
        (4, "dot", 12_000, 0, 0.9),
    ],
)
def test_it_learns_small_parities_of_either_gadget_and_under_noise(heads, gadget, count, flip, threshold):
    train = examples(12, heads, count, 1, gadget, flip)
    assert accuracy(OnlineMLP(random_state=0).partial_fit(train.X, train.Y), 12, heads, gadget) > threshold
