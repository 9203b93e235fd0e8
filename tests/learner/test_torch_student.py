"""The student on torch takes the steps of the numpy reference; skipped, and said so, where torch is not installed."""

from itertools import product

import numpy as np
import pytest

import hardness
from hardness.errors import InputError
from learner import TorchStudent
from learner.student import ZONES, DenseStudent, TorchSteps, device_of, initial

torch = pytest.importorskip("torch", reason="torch is not installed: its student is not tested")


@pytest.mark.parametrize(("loss", "tokens"), [*product(ZONES, (2, 3))])
def test_a_hundred_steps_are_those_of_the_reference(loss, tokens):
    rng = np.random.default_rng(7)
    theta, w = (weights.astype("float64") for weights in initial(rng, heads=4, dim=6))
    x = rng.choice(np.array([-1, 1], dtype=np.int8), size=(800, tokens, 6))
    y = rng.standard_normal((800, tokens, 6))
    reference, ours = DenseStudent(theta, w, loss), TorchSteps(theta, w, loss, device_of("cpu"))
    squares = [steps.train(x, y, batch=8, rate=0.01, scale=0.7, l1=0.02) for steps in (reference, ours)]
    assert len(squares[0]) == 100
    assert np.abs(squares[0] - squares[1]).max() < 1e-9
    for left, right in zip(reference.layer(), ours.layer(), strict=True):
        assert np.abs(left - right).max() < 1e-9


def test_it_learns_a_nice_layer_like_the_student_and_says_where_it_ran():
    nice = hardness.Instance.generate(hardness.Nondegenerate(dim=6, tokens=2, heads=2), seed=0)
    examples = nice.examples(20_000, seed=1)
    student = TorchStudent(device="cpu", random_state=0).fit(examples.X, examples.Y)
    assert student.report_.status == "solved"
    assert student.report_.phases[0].diagnostics["device"] == student.device_ == "cpu"
    pieces = TorchStudent(device="cpu", random_state=0)
    for part in (slice(0, 7000), slice(7000, 18_000)):
        pieces.partial_fit(examples.X[part], examples.Y[part])
    whole = TorchStudent(device="cpu", random_state=0).partial_fit(examples.X[:18_000], examples.Y[:18_000])
    assert np.array_equal(pieces.predict(examples.X[18_000:]), whole.predict(examples.X[18_000:]))


def test_learn_says_where_it_ran():
    hard = hardness.generate("parity", dim=6, heads=2, seed=0)
    assert hardness.learn(hard, "torch-student", 100, options={"device": "cpu"}, seed=1).device == "cpu"


def test_a_device_that_there_is_not_is_one_line():
    for device in ("cuda:99", "nowhere"):
        with pytest.raises(InputError, match=f"torch cannot use device '{device}': "):
            TorchStudent(device=device).partial_fit(np.ones((2000, 2, 3), np.int8), np.ones((2000, 2, 3)))
    with pytest.raises(InputError, match="kind must be one of float32, float64"):
        TorchStudent(kind="int8").partial_fit(np.ones((2000, 2, 3), np.int8), np.ones((2000, 2, 3)))
