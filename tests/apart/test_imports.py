"""What a stranger's module does when it is imported happens apart, on every road on which a study meets it."""

import os
import sys
from itertools import product
from pathlib import Path

import pytest

import hardness
from hardness.apart import ask, fence
from hardness.engine.plugins import chosen
from hardness.engine.run import run
from hardness.engine.store import Store
from hardness.errors import InputError
from hardness.families.parity import Parity
from hardness.instance import Instance
from hardness.studies import catalog
from hardness.studies.sweep.grid import Grid

# It leaves what it could see: a file in its own folder, in the lab's, beside itself, and word in the lab's environment.
MARKS = """
import os, sys
import numpy as np

os.environ["IMPORTED_IN"] = str(os.getpid())
SEEN = "IN_THE_LAB" in os.environ
for folder in (os.path.dirname(os.path.abspath(__file__)), os.environ.get("STORE", "/nowhere")):
    try:
        with open(os.path.join(folder, "marker"), "w") as file:
            file.write(f"{os.getpid()} {sys.argv} {os.listdir('/proc/self/fd')}")
    except OSError:
        pass

class Fits:
    multiplied = 0
    def __init__(self, heads=1, random_state=0):
        if SEEN:
            raise SystemExit("the lab's environment is here")
    def get_params(self, deep=True): return {}
    def set_params(self, **_): return self
    def multiply_adds(self, n, k, d):
        frame = sys._getframe()
        while frame is not None:
            assert "Instance" not in [type(v).__name__ for v in frame.f_locals.values()]
            frame = frame.f_back
        return float(n * k * d)
    def fit(self, X, Y): return self
    def predict(self, X): return np.zeros(X.shape)

class Streams(Fits):
    def partial_fit(self, X, Y): return self

class ByPlace(Streams):
    def predict(self, X): return np.broadcast_to(np.arange(len(X), dtype=float)[:, None, None], X.shape)

class FitsByPlace(Fits):
    predict = ByPlace.predict

class Undated(Fits):
    def multiply_adds(self, n, k, d): return float("nan")

def seeks(X, Y, public, *, budget=None, seed=0, progress=None):
    from hardness.attacks import Outcome
    return Outcome("wrong", None, len(X), 0.0, {"seen": SEEN})
"""
ROADS = [
    *(("learner", study, "Fits") for study in ("stress", "critical-rho", "who-wins")),
    *(("learner", study, "Streams") for study in ("stress", "wall", "exponential-in-m", "who-wins", "switches")),
    *(("attack", study, "seeks") for study in ("who-wins", "ladder")),
]


@pytest.fixture
def marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The module, and an environment in which it could be told that it runs in the lab."""
    folder = tmp_path / "strangers"
    folder.mkdir()
    (folder / "marks.py").write_text(MARKS)
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    monkeypatch.setenv("IN_THE_LAB", "1")
    monkeypatch.setenv("STORE", str(tmp_path))
    return folder


def untouched(folder: Path) -> bool:
    """Whether the module has never run in this process, nor reached out of its own."""
    left = [] if not fence.available() else [*folder.glob("marker"), *folder.parent.glob("marker")]
    return "marks" not in sys.modules and "IMPORTED_IN" not in os.environ and not left


@pytest.mark.parametrize(("kind", "study", "name"), ROADS)
def test_the_lab_imports_nothing_of_a_stranger(marks: Path, tmp_path: Path, kind: str, study: str, name: str) -> None:
    found = catalog.get(study)
    tasks = chosen(found, True, {kind: [f"marks:{name}"]}, only=[f"marks:{name}"])
    assert all(task.plugins for task in tasks)
    task = min(tasks, key=found.seconds)
    with Store(tmp_path / "rows.db", {"study": study, "seed": 0}) as store:
        assert run([task], store, found.trial, workers=0, guard=60.0) == 1
        (row,) = store.rows()
    assert row.outcome is not None
    assert row.outcome.status in ("wrong", "budget"), row.outcome
    assert untouched(marks)


def test_neither_does_a_sweep_nor_an_attack_of_the_library(marks: Path) -> None:
    (task,) = Grid("parity", {"dim": 8, "heads": 2}, {"learner": "marks:Streams"}, runs=1).tasks()
    assert task.solver["online"]
    assert not Grid("parity", {"dim": 8, "heads": 2}, {"learner": "marks:Fits"}, runs=1).tasks()[0].solver["online"]
    assert hardness.attack(Instance.generate(Parity(12, 3), seed=0), "marks:seeks", 50).status == "wrong"
    assert untouched(marks)


@pytest.mark.parametrize(
    ("study", "name"),
    [*product(("stress", "who-wins", "critical-rho"), ("ByPlace", "FitsByPlace")), ("wall", "ByPlace")],
)  # the wall takes only learners that learn online
def test_every_study_refuses_predictions_that_depend_on_order_or_number(marks: Path, study: str, name: str) -> None:
    found = catalog.get(study)
    tasks = chosen(found, True, {"learner": [f"marks:{name}"]}, only=[f"marks:{name}"])
    with Store(marks.parent / "rows.db", {"study": study, "seed": 0}) as store:
        run([min(tasks, key=found.seconds)], store, found.trial, workers=0, guard=60.0)
        (row,) = store.rows()
    assert row.outcome is not None
    assert row.outcome.status == "refused"
    assert "order or the number" in row.outcome.detail["reason"]


@pytest.mark.parametrize(
    ("text", "why"),
    [("import os; os._exit(3)", "code 3"), ("raise ValueError('no\\nno')", "no;"), ("x = 1", "no attribute"),
     ("raise SystemExit('out')", "out")],
)  # fmt: skip
def test_a_module_that_cannot_be_imported_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, why: str
) -> None:
    (tmp_path / "bad.py").write_text(text)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    with pytest.raises(InputError, match=why) as caught:
        ask.online("learner", "bad:Learner")
    assert str(caught.value).isprintable()
    assert "bad" not in sys.modules


def test_a_count_of_multiply_adds_that_is_no_figure_is_none(marks: Path) -> None:
    import time

    deadline = time.monotonic() + 60
    assert ask.price("marks:Fits", {}, 2, [(10, 2, 8), (1, 2, 8)], deadline) == (False, [160.0, 16.0])
    assert ask.price("marks:Undated", {}, 2, [(10, 2, 8)], deadline) == (False, [None])


@pytest.mark.parametrize("study", ["learner-scaling", "critical-rho"])
def test_a_word_of_a_study_is_no_stranger(tmp_path: Path, study: str) -> None:
    """The grids of two studies name learners that are registered nowhere; a run asks of each whether it is a guest."""
    from hardness.engine.run import foreign

    assert not any(foreign(task) for quick in (True, False) for task in catalog.get(study).tasks(quick))


def test_studies_whose_attacks_run_in_the_lab_take_no_guest(marks: Path) -> None:
    with pytest.raises(InputError, match="has a place for a --attack"):
        chosen(catalog.get("lattices"), True, {"attack": ["marks:seeks"]})
    with pytest.raises(InputError, match="has a place for a --learner"):
        chosen(catalog.get("learner-scaling"), True, {"learner": ["marks:Fits"]})
    assert untouched(marks)
