"""The SGD control learner: deterministic, a scikit-learn estimator, and its needs those that were measured before."""

import numpy as np
import pytest
from numpy.typing import NDArray

from hardness.engine.outcome import run_trial
from hardness.engine.task import Task
from hardness.evaluation.judge import Judged, scores
from hardness.examples import Examples
from hardness.families.parity import Parity
from hardness.instance import Instance
from hardness.studies.trials import trial
from learner.sgd import OnlineMLP


def examples(dim: int, heads: int, count: int, seed: int = 1, gadget: str = "diag", flip: float = 0.0) -> Examples:
    return Instance.generate(Parity(dim, heads, gadget, flip=flip), seed=0).examples(count, seed)


def accuracy(model: OnlineMLP, test: Examples, dim: int, heads: int, gadget: str = "diag") -> float:
    values = np.unique(Instance.generate(Parity(dim, heads, gadget), seed=0).teacher.values)
    return scores(Judged(test.X, test.Y, values), model.predict(test.X))["sign_accuracy"]


def informative(found: Examples) -> Examples:
    keep = found.X[:, 0, 0] != found.X[:, 1, 0]
    return Examples(found.X[keep], found.Y[keep])


@pytest.mark.parametrize(("heads", "gadget"), [(2, "diag"), (3, "diag"), (2, "dot"), (4, "dot")])
def test_it_learns_small_parities_of_either_gadget(heads: int, gadget: str) -> None:
    train, test = examples(12, heads, 12_000, 1, gadget), informative(examples(12, heads, 2000, 2, gadget))
    model = OnlineMLP(random_state=0).partial_fit(train.X, train.Y)
    if gadget == "diag":
        assert accuracy(model, test, 12, heads) > 0.95
    else:  # the level of dot is z_0 <w, z>: its parity is that of the differing coordinates as well
        assert accuracy(model, test, 12, heads, gadget) > 0.9


def test_predictions_are_whole_outputs() -> None:
    train, test = examples(10, 2, 8000), examples(10, 2, 1000, 2)
    predicted = OnlineMLP(random_state=0).partial_fit(train.X, train.Y).predict(test.X)
    assert predicted.shape == test.Y.shape
    silent = test.X[:, 0, 0] == test.X[:, 1, 0]
    assert np.array_equal(predicted[silent], test.Y[silent])
    assert np.mean(np.all(np.isclose(predicted, test.Y), axis=(1, 2))) > 0.97


def test_it_survives_label_noise() -> None:
    train, test = examples(12, 2, 30_000, 1, flip=0.1), informative(examples(12, 2, 2000, 2))
    assert accuracy(OnlineMLP(random_state=0).partial_fit(train.X, train.Y), test, 12, 2) > 0.9


def test_random_labels_are_not_learnt() -> None:
    """Negative control."""
    train, test = examples(16, 2, 20_000), informative(examples(16, 2, 2000, 2))
    signs: NDArray[np.float64] = np.random.default_rng(0).choice([-1.0, 1.0], len(train.Y))
    model = OnlineMLP(random_state=0).partial_fit(train.X, np.abs(train.Y) * signs[:, None, None] * train.X)
    assert 0.4 < accuracy(model, test, 16, 2) < 0.6  # 1000 examples: 6 standard deviations


def test_pieces_and_whole_give_the_same_weights() -> None:
    train = examples(12, 3, 3000)
    whole, pieces = OnlineMLP(random_state=4).partial_fit(train.X, train.Y), OnlineMLP(random_state=4)
    both = train.X[:, 0, 0] != train.X[:, 1, 0]
    assert len(set(np.round(train.Y[both][:40, 0, 0] * train.X[both][:40, 0, 0], 9))) == 2
    for start in range(0, 3000, 100):
        pieces.partial_fit(train.X[start : start + 100], train.Y[start : start + 100])
    assert np.array_equal(whole.hidden_, pieces.hidden_)
    assert not np.array_equal(whole.hidden_, OnlineMLP(random_state=5).partial_fit(train.X, train.Y).hidden_)


def test_fit_is_one_pass_from_new_weights() -> None:
    """Learner 9 (9): it was registered as a learner, and had no `fit`."""
    train = examples(12, 3, 1000)
    once = OnlineMLP(random_state=4).fit(train.X, train.Y)
    again = OnlineMLP(random_state=4).partial_fit(train.X, train.Y).fit(train.X, train.Y)
    assert np.array_equal(once.hidden_, again.hidden_)


def test_it_is_an_estimator() -> None:
    from sklearn.base import clone

    model = OnlineMLP(width=32, random_state=3)
    assert clone(model).get_params() == {"width": 32, "batch": 16, "rate": 0.5, "random_state": 3}


def test_one_example_is_enough_to_start() -> None:
    one = examples(8, 2, 1)
    assert OnlineMLP().partial_fit(one.X, one.Y).predict(one.X).shape == (1, 2, 8)


@pytest.mark.parametrize(("dim", "heads", "low", "high"), [(16, 3, 3_000, 13_000), (32, 3, 7_000, 27_000)])
def test_its_needs_are_those_measured_before(dim: int, heads: int, low: int, high: int) -> None:
    """Theory 3.5: medians of 3.2k and 6.7k informative examples, half of all; within a factor of two."""
    solver = {"kind": "learner", "learner": "sgd", "params": {}}
    tasks = [Task("parity", {"dim": dim, "heads": heads}, solver, {"samples": 60_000}, r) for r in range(5)]
    outcomes = [run_trial(trial, task, 0, 60.0) for task in tasks]
    assert {outcome.status for outcome in outcomes} == {"solved"}
    assert low < np.median([outcome.cost for outcome in outcomes if outcome.cost]) < high
