"""What notebooks show: a table for each result, texts of others made harmless, and the curve of a trial."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

import hardness
from hardness.attacks import Recovery


class Mean:
    """The mean of the labels so far."""

    def partial_fit(self, X, Y):
        self.mean = Y.mean(axis=0)

    def predict(self, X):
        return np.broadcast_to(self.mean, X.shape)


@pytest.fixture(scope="module")
def hard():
    return hardness.Instance.generate(hardness.Parity(dim=8, heads=2), seed=77777)


def test_an_instance_shows_its_parameters_and_neither_secret_nor_seed(hard):
    shown = hard._repr_html_()
    assert "<th>dim</th><td>8</td>" in shown
    assert "77777" not in shown
    assert str(hard.secret["support"].tolist()) not in shown
    rounded = [
        hardness.generate("rounding", dim=5, modulus=5, exact=exact, seed=0) for exact in (False, True)
    ]
    assert [f"heads at most {each.heads_shown};" in repr(each) for each in rounded] == [True, False]


def test_results_show_status_and_cost(hard):
    game = hardness.play(hardness.Parity(dim=17, heads=4), "sign-batch")
    assert f"<th>queries</th><td>{game.queries}</td>" in game._repr_html_()
    attack_table = hardness.attack(hard, "gaussian", 200)._repr_html_()
    assert f"<td>{hard.secret['support'].tolist()}</td>" in attack_table
    foreign = Recovery("refused", None, 0, detail={"reason": "<script>\x1b[2J"})._repr_html_()
    assert "&lt;script&gt;" in foreign
    assert "\x1b" not in foreign
    prices = hardness.estimate("parity", dim=12, heads=3)._repr_html_()
    assert re.search(r"<th>gaussian</th><td>2\^[\d.]+ operations", prices)
    assert re.search(r"<th>sq bound</th><td>2\^[\d.]+ queries", prices)


def test_a_trial_is_a_mapping_with_a_table_and_a_curve(hard):
    trial = hardness.learn(hard, Mean(), 500, seed=1)
    assert trial.status == trial["status"] == "wrong"
    assert "<th>status</th><td>wrong</td>" in trial._repr_html_()
    with pytest.raises(AttributeError):
        _ = trial.nothing
    provable = hardness.learn(hard, "provable", 500, seed=1)._repr_html_()
    assert "<th>crude</th><td>refused: " in provable
    assert "<th>heads recovered</th><td>0 of 2</td>" in provable
    line, below, threshold = trial.plot().axes[0].get_lines()
    assert_allclose(line.get_xydata(), np.maximum(trial.curve, -0.1))
    assert len(below.get_xdata()) == sum(explained < -0.1 for _, explained in trial.curve)
    assert set(threshold.get_ydata()) == {0.9}


@pytest.mark.parametrize("learner", [len, type("Fits", (), {"fit": lambda self, X, Y: self})])
def test_what_is_no_learner_and_no_count_is_refused(hard, learner):
    with pytest.raises(hardness.InputError, match=r"a learner is a class.* has no (fit|predict)"):
        hardness.learn(hard, learner, 100)
    with pytest.raises(hardness.InputError, match="count must be"):
        hard.examples(-3, 0)
