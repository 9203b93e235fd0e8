"""Online learners at the command line: streamed in portions, judged on fresh inputs, their curve in the answer."""

import json

import numpy as np
import pytest

from hardness.cli import run
from hardness.evaluation import online
from hardness.evaluation.learning import learn
from hardness.families.parity import Parity
from hardness.instance import Instance


def asked(capsys, *words: str) -> dict:
    capsys.readouterr()
    assert run([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def hard(tmp_path_factory):
    path = tmp_path_factory.mktemp("online") / "hard.safetensors"
    path.write_bytes(Instance.generate(Parity(8, 2), seed=0).to_bytes())
    return path


def test_learn_student_answers_with_its_curve(hard, capsys):
    found = asked(capsys, "learn", "student", str(hard), "--count", "120000", "--seed", "1")
    assert found["status"] == "solved"
    assert found["relative_error"] ** 2 <= 0.1
    assert {"learner", "train_examples", "test_error", "relative_error", "sign_accuracy", "phases"} < found.keys()
    sizes, shares = zip(*found["curve"], strict=True)
    assert sizes[-1] == 120_000
    assert list(sizes) == sorted(sizes)
    assert shares[-1] == pytest.approx(1 - found["relative_error"] ** 2)
    assert shares[0] < 0.1
    again = asked(capsys, "learn", "student", str(hard), "--count", "120000", "--seed", "1")
    assert again | {"seconds": 0} == found | {"seconds": 0}


def test_too_few_examples_are_wrong_and_heads_are_its_own(hard, capsys):
    instance = Instance.load(hard)
    own, told, wide = (learn(instance, "student", 3000, seed=1, heads=heads) for heads in (None, 16, 4))
    assert own["status"] == "wrong"
    assert own["curve"] == told["curve"] != wide["curve"]


def test_any_online_learner_is_streamed(hard):
    found = learn(Instance.load(hard), "sgd", 20_000, seed=1)
    assert found["status"] == "solved"
    assert found["curve"][-1][1] > 0.9


def test_portions_are_bounded_and_none_is_lost():
    class Counts:
        seen, largest = 0, 0

        def partial_fit(self, X, Y):
            self.seen, self.largest = self.seen + len(X), max(self.largest, len(X))

        def predict(self, X):
            return np.zeros(X.shape)

    counts, told = Counts(), list[str]()
    curve = online.learn(Instance.generate(Parity(6, 2), 0), counts, 100_000, 50, seed=3, tell=told.append)
    assert len(told) == len(curve)
    assert (counts.seen, curve[-1][0]) == (100_000, 100_000)
    assert counts.largest <= online.PORTION


def test_predictions_that_are_not_finite_are_wrong():
    class Broken:
        def partial_fit(self, X, Y):
            pass

        def predict(self, X):
            return np.full(X.shape, np.nan)

    curve = online.learn(Instance.generate(Parity(6, 2), 0), Broken(), 200, 50, seed=3, tell=lambda text: None)
    assert {share for _, share in curve} == {None}
