"""The judge: what it says of the truth, of a guess, and of all that is linear; the variance of a label."""

import numpy as np
import pytest

from hardness.families.controls import Nested
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.gadgets import sharp
from hardness.instance import Instance, every_pair
from hardness.scores import fresh, judge, label_variance, open_error, scores
from hardness.tokens import unpack

FAMILIES = [
    Parity(5, 2),
    Parity(5, 3),
    Parity(4, 4, "dot"),
    Rounding(4, 5, 3),
    Rounding(4, 4, 2, gadget="dot"),
    Nested(6, 3, 1),
]
TEACHERS = {repr(family): lambda family=family: Instance.generate(family, 3).teacher for family in FAMILIES}
TEACHERS["two sharp heads"] = lambda: sharp.exact([0, 1, 1, 1, 0], heads=2)


@pytest.mark.parametrize("name", TEACHERS)
def test_the_variance_of_a_label_is_that_over_all_inputs_with_an_open_gate(name):
    teacher = TEACHERS[name]()
    X = unpack(every_pair(teacher.dim), teacher.dim)
    X = X[X[:, 0, 0] != X[:, 1, 0]]
    # In every column what the label says: x_a[0] times it stands there
    shown = teacher(X)[:, 0] * X[:, 0, :1]
    variance = label_variance(teacher)
    assert variance == pytest.approx(shown.var(axis=0).sum(), rel=1e-12)
    if name.startswith(("Parity", "two sharp")):
        assert variance == pytest.approx(1)
    best = shown.mean(axis=0) * X[:, :, :1]  # the best prediction that knows the gate alone
    assert open_error(X, best, teacher(X), variance) == pytest.approx(1)


def test_the_open_error_sees_rows_with_an_open_gate_alone_and_all_their_outputs():
    teacher = Instance.generate(Parity(6, 3), 0).teacher
    X = unpack(every_pair(6), 6)[::7]
    opened, Y = X[:, 0, 0] != X[:, 1, 0], teacher(X)
    off = Y.copy()
    off[~opened] += 9.0
    assert open_error(X, off, Y, 1.0) == 0
    off[opened, :, 4] += 0.5
    assert open_error(X, off, Y, 1.0) == pytest.approx(0.25)


@pytest.mark.parametrize("family", [Parity(dim=8, heads=3), Parity(dim=8, heads=4), Rounding(10, 5, 3)])
def test_scores_of_the_truth_and_of_a_constant(family):
    instance = Instance.generate(family, 1)
    value = instance.teacher.values[0]

    def constant(X):
        return np.concatenate([X[:, :, :1] * value, np.zeros((*X.shape[:2], X.shape[2] - 1))], axis=2)

    truth, guessed = judge(instance, instance.teacher, 3000, 2), judge(instance, constant, 3000, 2)
    assert (truth["sign_accuracy"], truth["explained"], truth["open_error"]) == (1, 1, 0)
    assert truth["correlation"] == pytest.approx(1)
    assert 0.1 < guessed["sign_accuracy"] < 0.9
    assert guessed["correlation"] == pytest.approx(0)
    assert guessed["open_error"] > 0.9


@pytest.mark.parametrize(
    "family",
    [*(Parity(dim=16, heads=4, gadget=gadget) for gadget in ("diag", "sharp", "wide")), Rounding(17, 5, 2)],
)
def test_who_knows_the_gate_alone_explains_nothing(family):
    judged = fresh(Instance.generate(family, 0), 4000, seed=2)
    opened = judged.X[:, 0, 0] != judged.X[:, 1, 0]
    predicted = np.empty_like(judged.Y)
    for gate in (False, True):
        for sign in (-1, 1):
            rows = (opened == gate) & (judged.X[:, 0, 0] == sign)
            predicted[rows] = judged.Y[rows].mean(axis=0)
    gated = scores(judged, predicted)
    assert abs(gated["explained"]) < 0.02
    assert gated["relative_error"] < 0.8  # though much of the labels' variance is the gate


def test_the_sign_accuracy_is_the_share_nearest_to_the_true_value():
    judged = fresh(Instance.generate(Rounding(10, 97, 4), 1), 2000, seed=2)
    timid = scores(judged, 0.3 * judged.Y)  # every sign is right, and few values
    assert timid["sign_accuracy"] < 0.5
