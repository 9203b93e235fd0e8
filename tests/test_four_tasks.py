"""Four tasks that a user could not do once: each in at most fifteen lines of the user's own, and a command."""

import json

import pytest

from hardness.cli import run

GRID = """
family = "parity"
runs = 1
[params]
dim = [8, 9]
heads = [2, 3]
[solver]
strategy = "flat"
tolerance = 0.1
"""
FAMILY = '''
from dataclasses import dataclass
from typing import ClassVar
from hardness import Parity

@dataclass(frozen=True)
class Sharp(Parity):
    """Parities at another temperature."""
    sharpness: int = 3
    name: ClassVar[str] = "sharp"
'''
ATTACK = '''
from itertools import combinations
from hardness.attacks import Outcome
from hardness.examples import Examples

def tries(X, Y, public, *, budget=None, seed=0, progress=None):
    """Every set, on the first hundred informative rows."""
    if public["family"] != "parity" or public["dim"] > 17 or public["heads"] > 2:
        return Outcome("refused", None, 0, 0.0, {"reason": "too many sets"})
    view = Examples(X, Y).parity_view()
    for chosen in combinations(range(public["dim"] - 1), public["heads"]):
        if (view.sign[:100] == 1 - 2 * (view.bits[:100, chosen].sum(axis=1) % 2)).all():
            return Outcome("solved", {"support": [j + 1 for j in chosen]}, len(X), 0.0)
    return Outcome("wrong", None, len(X), 0.0)
'''
LEARNER = '''
import numpy as np

class Means:
    """Predicts the mean output."""
    def fit(self, X, Y):
        self.mean = Y.mean(axis=0)
        return self
    def predict(self, X):
        return np.broadcast_to(self.mean, X.shape)
'''


@pytest.fixture
def user(tmp_path, monkeypatch, capsys):
    """Runs a command in a folder of the user's own; returns what it says in JSON."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))

    def call(line):
        assert run([*line.split(), "--json"]) == 0, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return call


def test_each_is_at_most_fifteen_lines():
    assert max(len(text.strip().splitlines()) for text in (GRID, FAMILY, ATTACK, LEARNER)) <= 15


def test_a_grid_of_ones_own(user, tmp_path):
    (tmp_path / "grid.toml").write_text(GRID)
    assert user("sweep grid.toml --workers 0")["statuses"] == {"solved": 4}
    assert (tmp_path / "sweeps" / "grid" / "index.html").exists()


def test_a_family_of_ones_own_on_the_command_line(user, tmp_path):
    (tmp_path / "own_family.py").write_text(FAMILY)
    made = user("generate own_family:Sharp --dim 8 --heads 2 --seed 0 --out sharp")
    assert (made["family"], made["sharpness"]) == ("sharp", 3)
    assert user("verify sharp")["ok"]
    (tmp_path / "grid.toml").write_text(GRID.replace("parity", "own_family:Sharp"))
    assert user("sweep grid.toml --workers 0")["statuses"] == {"solved": 4}


def test_an_attack_of_ones_own_in_a_contest(user, tmp_path):
    (tmp_path / "own_attack.py").write_text(ATTACK)
    asked = "study run who-wins --quick --attack own_attack:tries --only own_attack:tries --family parity --workers 0"
    found = user(f"{asked} --out contest")["statuses"]
    assert found["solved"] >= 1  # at m = 2 without flips
    assert set(found) <= {"solved", "refused", "wrong", "budget"}
    assert "tries" in (tmp_path / "contest" / "index.html").read_text()


def test_one_learner_alone_in_stress(user, tmp_path):
    (tmp_path / "own_learner.py").write_text(LEARNER)
    asked = "study run stress --quick --learner own_learner:Means --only own_learner:Means --family parity --workers 0"
    assert set(user(f"{asked} --out stress")["statuses"]) == {"budget"}
    assert "Means" in (tmp_path / "stress" / "index.html").read_text()
