"""What commands say of data and of their own progress, held against the examples themselves."""

import json
import time

import numpy as np
import pytest

import hardness
from hardness.cli import run
from hardness.evaluation.learning import learn
from hardness.instance import Instance


@pytest.fixture
def call(capsys):
    """Runs a command; returns what it says on stdout and on stderr."""

    def said(line):
        assert run(line.split()) == 0
        return capsys.readouterr()

    return said


@pytest.mark.parametrize("family", ["parity --dim 9 --heads 3", "rounding --dim 9 --modulus 5 --levels 2",
                                    "nested --dim 9 --size 4 --block 2"])  # fmt: skip
def test_inspect_says_what_X_and_Y_are(call, tmp_path, family):
    """The sentences, held against the examples themselves."""
    call(f"generate {family} --seed 3 --out {tmp_path}/f")
    said = json.loads(call(f"inspect --json {tmp_path}/f").out)["data"]
    text = call(f"inspect {tmp_path}/f").out
    assert all(f"  {name}: {value}" in text.splitlines() for name, value in said.items())
    examples = Instance.load(tmp_path / "f").examples(4000, 1)
    X, Y = examples.X, examples.Y
    A, C = (float(said[name].partition(",")[0]) for name in "AC")
    (low, high) = map(float, said["g"].rpartition("from ")[2].split(" to "))
    informative = X[:, 0, 0] != X[:, 1, 0]
    assert abs(informative.mean() - 0.5) < 5 * 0.5 / 4000**0.5  # a false alarm in two million seeds
    g = X[:, :, 0] * Y[:, :, 0] - A
    assert np.abs(g[informative].min() - low) < 1e-3 > np.abs(g[informative].max() - high)
    assert np.abs(X[:, :, 0] * Y[:, :, 0] - C)[~informative].max() < 1e-4
    shown = 0 if "intermediate" not in said["Y"] else 1
    assert (Y[:, :, 1 + shown :] == 0).all()
    assert f"{X.shape[1]}, {X.shape[2]}" in said["X"]


SLOW = """
import time
class Slow:
    def fit(self, X, Y):
        time.sleep(0.5)
        return self

    def predict(self, X):
        return 0.0 * X
"""


def test_learn_says_fitting_while_a_learner_of_the_users_own_fits(tmp_path, monkeypatch):
    (tmp_path / "slow_learner.py").write_text(SLOW)
    monkeypatch.syspath_prepend(tmp_path)
    told = []
    instance = hardness.generate("parity", dim=9, heads=3, seed=0)
    found = learn(instance, "slow_learner:Slow", 20, progress=lambda line: told.append((line, time.monotonic())))
    lines, times = zip(*told, strict=True)
    assert lines == (
        "making 20 examples to learn from, 2000 to judge on",
        "fitting 20 examples",
        "20 of 20 examples: -0.00 of the variance explained",
    )
    assert times[2] - times[1] > 0.5
    assert found["seconds"] > 0.5


@pytest.mark.parametrize("count", [10**10, 10**21])
def test_learn_refuses_what_it_cannot_do_before_it_says_anything(count):
    told = []
    with pytest.raises(hardness.InputError, match="--count"):
        learn(hardness.generate("parity", dim=64, heads=3, seed=0), "direct", count, progress=told.append)
    assert told == []


def test_learn_and_attack_say_what_they_do(call, tmp_path):
    call(f"generate parity --dim 9 --heads 3 --seed 3 --out {tmp_path}/f")
    out, err = call(f"learn sgd {tmp_path}/f --count 400 --seed 0 --json")
    curve = json.loads(out)["curve"]
    lines = [line for line in err.splitlines() if "of the variance explained" in line]
    assert [line.partition(" ")[0] for line in lines] == [str(size) for size, _ in curve]
    assert err.splitlines()[0] == "making 400 examples to learn from, 2000 to judge on"
    out, err = call(f"learn low-degree {tmp_path}/f --count 400 --seed 0 --json")
    assert "fitting 400 examples" in err.splitlines()
    assert json.loads(out)["train_examples"] == 400
