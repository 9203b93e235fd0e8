"""The SGD control learner: deterministic, a scikit-learn estimator, and its needs those that were measured before."""

import numpy as np
import pytest

from hardness.engine.outcome import run_trial
from hardness.engine.task import Task
from hardness.families.parity import Parity
from hardness.instance import Instance
from hardness.scores import Judged, scores
from hardness.studies.trials import online as trial
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


def test_random_labels_are_not_learnt():
    """Negative control."""
    train = examples(16, 2, 20_000)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], len(train.Y))
    model = OnlineMLP(random_state=0).partial_fit(train.X, np.abs(train.Y) * signs[:, None, None] * train.X)
    assert 0.4 < accuracy(model, 16, 2) < 0.6  # 1000 examples: 6 standard deviations


@pytest.mark.parametrize(("dim", "heads", "low", "high"), [(16, 3, 3_000, 13_000), (32, 3, 7_000, 27_000)])
def test_its_needs_are_those_measured_before(dim, heads, low, high):
    """Theory 3.5: medians of 3.2k and 6.7k informative examples, half of all; within a factor of two."""
    solver = {"kind": "learner", "learner": "sgd", "params": {}}
    tasks = [Task("parity", {"dim": dim, "heads": heads}, solver, {"samples": 60_000}, r) for r in range(5)]
    outcomes = [run_trial(trial, task, 0, 60.0) for task in tasks]
    assert {outcome.status for outcome in outcomes} == {"solved"}
    assert low < np.median([outcome.cost for outcome in outcomes if outcome.cost]) < high
