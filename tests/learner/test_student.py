"""The attention student: its gradients, the estimator, and what it learns."""

import numpy as np
import pytest

from hardness.examples import Examples
from hardness.families.controls import Nested
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.instance import Instance
from hardness.layer import MultiHeadAttention
from hardness.scores import SIGNS, judge
from learner.chain import ChainStudent
from learner.kernels_diagonal import hyperbolic_tangent
from learner.student import Student, gradients


def data(n: int, k: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.choice([-1, 1], (n, k, d)).astype(np.int8), rng.normal(size=(n, k, d))


@pytest.mark.parametrize("k", [1, 2, 5])
def test_gradients_are_differences_of_the_dense_layer(k):
    rng = np.random.default_rng(k)
    theta, w = rng.normal(size=(2, 3, 4, 4))
    x, y = data(6, k, 4, k)
    X = x.astype(float)
    by_theta, by_w = gradients(theta, w, X, y)
    for gradient, which in ((by_theta, 0), (by_w, 1)):
        for _ in range(4):
            at = tuple(rng.integers(0, s) for s in gradient.shape)
            ends = []
            for step in (1e-6, -1e-6):
                moved = [theta.copy(), w.copy()]
                moved[which][at] += step
                ends.append(((MultiHeadAttention(*moved)(x) - y) ** 2).sum() / 12)
            assert np.isclose(gradient[at], (ends[0] - ends[1]) / 2e-6, atol=1e-7)


def test_no_score_overflows():
    h = np.array([np.inf, -np.inf, 3e38, -3e38, 1e-30, 0, 9.02, -9.02, 88.8, -88.8], dtype=np.float32)
    h = np.concatenate([h, np.linspace(-12, 12, 100_001, dtype=np.float32)])
    values = h.copy()
    with np.errstate(all="raise"):
        hyperbolic_tangent(values)
    assert np.abs(values - np.tanh(h.astype(float))).max() < 3e-7
    assert np.abs(values).max() <= 1 + 2**-23


def parity(dim: int, heads: int, count: int, seed: int = 1) -> Examples:
    return Instance.generate(Parity(dim, heads), seed=0).examples(count, seed)


def test_pieces_and_whole_give_the_same_weights():
    train = parity(8, 2, 5000)
    whole, pieces = Student(random_state=4).partial_fit(train.X, train.Y), Student(random_state=4)
    for part in np.split(np.arange(5000), range(130, 5000, 130)):
        pieces.partial_fit(train.X[part], train.Y[part])
    assert np.array_equal(whole.layer_.theta, pieces.layer_.theta)
    assert not np.array_equal(whole.layer_.w, Student(random_state=5).partial_fit(train.X, train.Y).layer_.w)


def test_it_learns_a_parity_and_its_report_says_so():
    train, fresh = parity(8, 2, 150_000), parity(8, 2, 2000, seed=2)
    student = Student(random_state=0).fit(train.X, train.Y)
    assert student.report_.status == "solved"
    assert student.score(fresh.X, fresh.Y) > 0.9


def test_labels_of_any_scale_are_learned_alike():
    train = parity(8, 2, 20_000)
    plain, scaled = (Student(random_state=1).partial_fit(train.X, train.Y * s) for s in (1.0, 2.0**-300))
    assert np.array_equal(plain.layer_.w * 2.0**-300, scaled.layer_.w)


def test_three_tokens():
    nice = Instance.generate(Nondegenerate(dim=5, tokens=3, heads=1), seed=0).examples(30_000, 1)
    assert Student(heads=4, random_state=0).fit(nice.X, nice.Y).report_.relative_error < 0.3


@pytest.mark.parametrize("options", [{}, {"l1": 0.06, "rate": 0.01}], ids=["plain", "shrunk"])
def test_random_labels_are_not_learned(options):
    train = parity(8, 2, 100_000)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], len(train))[:, None, None]
    student = Student(random_state=0, **options).fit(train.X, train.Y * signs)
    assert student.report_.status == "wrong"
    assert student.report_.relative_error > 0.9


def test_a_rate_that_diverges_is_refused_in_words():
    train = parity(6, 2, 30_000)
    student = Student(heads=2, rate=1e39, random_state=0).fit(train.X, train.Y)
    assert student.report_.status == "refused"
    assert "rate" in student.report_.reason
    online = Student(heads=2, rate=1e39, random_state=0)
    assert np.isnan(online.partial_fit(train.X, train.Y).predict(train.X)).all()


def test_blocks_are_learned_where_the_whole_is_not():
    """Fixed seeds: a parity of six in d = 11 by three blocks, from examples too few for the parity alone."""
    count = 200_000
    nested = Instance.generate(Nested(dim=11, size=6, block=2), seed=1)
    data = nested.examples(count, 2)
    assert SIGNS.met(
        judge(nested, ChainStudent(labels=3, random_state=0).partial_fit(data.X, data.Y).predict, 1000, 3)
    )
    whole = ChainStudent(labels=1, random_state=0).partial_fit(data.X, data.Y)
    assert not SIGNS.met(judge(nested, whole.predict, 1000, 3))
