"""The student on torch takes the steps of the numpy reference; skipped, and said so, where torch is not installed."""

import numpy as np
import pytest

import hardness
from learner import TorchStudent
from learner.student import DenseStudent, TorchSteps, initial

torch = pytest.importorskip("torch", reason="torch is not installed: its student is not tested")


@pytest.mark.parametrize("tokens", [2, 3])
def test_a_hundred_steps_are_those_of_the_reference(tokens):
    rng = np.random.default_rng(7)
    theta, w = (weights.astype("float64") for weights in initial(rng, heads=4, dim=6))
    x = rng.choice(np.array([-1, 1], dtype=np.int8), size=(800, tokens, 6))
    y = rng.standard_normal((800, tokens, 6))
    reference, ours = DenseStudent(theta, w), TorchSteps(theta, w, "cpu")
    for steps in (reference, ours):
        steps.train(x, y, batch=8, rate=0.01, scale=0.7, l1=0.02)
    for left, right in zip(reference.layer(), ours.layer(), strict=True):
        assert np.abs(left - right).max() < 1e-9


def test_it_learns_a_nice_layer_like_the_student_and_says_where_it_ran():
    nice = hardness.Instance.generate(hardness.Nondegenerate(dim=6, tokens=2, heads=2), seed=0)
    examples = nice.examples(20_000, seed=1)
    student = TorchStudent(device="cpu", random_state=0).fit(examples.X, examples.Y)
    assert student.report_.status == "solved"
    assert student.device_ == "cpu"
    assert hardness.learn(nice, "torch-student", 100, options={"device": "cpu"}, seed=1).device == "cpu"
