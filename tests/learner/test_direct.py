"""Direct learners: the calculus against finite differences, the sign symmetry, and what is solved."""

import numpy as np
import pytest
from learner_teachers import examples, teacher

from hardness.scores import relative_error
from learner import attempt, varpro
from learner.base import Learner
from learner.direct import Direct, JointLBFGS
from learner.provable.pipeline import Provable

Array = np.ndarray


@pytest.mark.parametrize(("m", "k", "d"), [(2, 2, 3), (2, 3, 4), (1, 4, 3)])
def test_normal_matrix_and_gradient_match_finite_differences(m: int, k: int, d: int):
    X, Y = examples(teacher(m, d, 0), 200, k, 0)
    theta = teacher(m, d, 5).theta
    target = Y.reshape(-1, d)
    P, Z = varpro.attend(X, theta)
    W, R, L = varpro.project(Z, target)
    columns = []
    for index in np.ndindex(theta.shape):
        step = np.zeros_like(theta)
        step[index] = 1e-6
        columns.append((varpro.attend(X, theta + step)[1] - varpro.attend(X, theta - step)[1]) / 2e-6 @ W)
    J = np.stack(columns)  # (m d², rows, d)
    Q = np.linalg.qr(Z)[0]
    J -= np.einsum("rq,pqc->prc", Q, np.einsum("rq,prc->pqc", Q, J))
    expected = np.tensordot(J, J, ((1, 2), (1, 2)))
    w = W.reshape(m, d, d)
    assert np.allclose(
        np.tril(varpro.normal_matrix(X, P, Z, w, L)), np.tril(expected), atol=1e-7 * expected.max()
    )
    slope = np.tensordot(J, R, 2)
    assert np.allclose(varpro.pull_back(X, P, w, R).ravel(), slope, atol=1e-7 * np.abs(slope).max())


def test_settle_signs_recovers_every_choice_of_signs():
    layer = teacher(4, 8, 3)
    X, Y = examples(layer, 300, 2, 3)
    for signs in np.ndindex(2, 2, 2, 2):
        wrong = layer.theta * (1 - 2 * np.array(signs))[:, None, None]
        assert np.allclose(varpro.settle_signs(X, Y, wrong), layer.theta)


@pytest.mark.parametrize(
    ("layer", "k", "dense", "tolerance"),
    [
        ((2, 8, 100), 2, attempt.DENSE, 1e-9),
        ((4, 8, 100), 3, attempt.DENSE, 1e-9),
        ((3, 8, 8, 2.0, True), 2, attempt.DENSE, 1e-9),  # whose projections sum to zero
        ((3, 8, 5), 2, 10, 1e-8),  # without the normal matrix
    ],
)
def test_direct_solves_fresh_layers(
    layer: tuple[int, ...], k: int, dense: int, tolerance: float, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("learner.attempt.DENSE", dense)
    truth = teacher(*layer)
    learner = Direct(heads=truth.heads, random_state=0).fit(*examples(truth, 1500, k, layer[2]))
    X, Y = examples(truth, 2000, k, 1000)
    assert learner.report_.status == "solved"
    assert relative_error(learner.predict(X), Y) <= tolerance


@pytest.mark.parametrize(("needed", "given", "k"), [(3, 2, 2), (2, 4, 2), (2, 4, 3)])
def test_direct_says_how_many_heads_there_are(needed: int, given: int, k: int):
    """It adds a head where one is needed, and keeps none that is not (learner 9 (8))."""
    report = Direct(heads=given, random_state=0).fit(*examples(teacher(needed, 8, 7), 1500, k, 7)).report_
    assert (report.status, report.heads) == ("solved", needed)


@pytest.mark.parametrize(
    "learner", [Direct(starts=2, iterations=100), JointLBFGS(starts=1, iterations=100), Provable(heads=2)]
)
def test_random_labels_are_never_solved(learner: Learner):
    X, _ = examples(teacher(2, 8, 0), 1000, 2, 0)
    Y = np.random.default_rng(0).normal(size=X.shape)
    assert learner.fit(X, Y).report_.status != "solved"
