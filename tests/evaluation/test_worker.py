"""A user's learner in its worker: what it may do, and how it ends."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numba
import numpy as np
import psutil
import pytest

import hardness
from hardness.errors import TrialEnded
from hardness.evaluation import worker
from hardness.evaluation.limits import alarm
from hardness.evaluation.solver import Solver
from hardness.evaluation.worker import opened
from hardness.instance import suite

HERE = Path(__file__).parents[1] / "support"
X = np.random.default_rng(0).choice(np.array([-1, 1], dtype=np.int8), (40, 2, 5))
NAME = "parity-s3-d16-0"


@pytest.fixture
def folder(tmp_path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the module `own`, a copy of trial_learners."""
    shutil.copy(HERE / "trial_learners.py", tmp_path / "own.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own", raising=False)
    return tmp_path


def child() -> psutil.Process:
    """The process that the learner `Sleeps` in the working directory has started, in five minutes at most."""
    patience = time.monotonic() + 300
    while not (Path("child").exists() and Path("child").read_text()):
        assert time.monotonic() < patience
        time.sleep(0.05)
    return psutil.Process(int(Path("child").read_text()))


def test_one_that_sleeps_is_gone_with_its_children(folder: Path):
    began = time.monotonic()
    ended = hardness.learn(suite.instance(NAME), "own:Sleeps", 256, seed=0, limit=4.0)
    assert (ended.status, ended.reason) == ("timeout", "over 4 s")
    assert time.monotonic() - began < 300  # and not an hour
    if not Path("child").exists():
        pytest.skip("the machine is so busy that the learner did not begin within its limit")
    number = int(Path("child").read_text())  # the child would sleep for sixteen minutes
    assert not psutil.pid_exists(number) or psutil.wait_procs([psutil.Process(number)], timeout=60)[1] == []


RUN = f"""
import hardness
from hardness.instance import suite
hardness.learn(suite.instance("{NAME}"), "own:Sleeps", 256, seed=0)
"""


def test_a_killed_run_leaves_no_learner_behind(folder: Path):
    killed = subprocess.Popen([sys.executable, "-c", RUN])
    sleeper = child()
    try:
        children = set(psutil.Process(killed.pid).children(recursive=True)) - {sleeper}
    finally:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        sleeper.kill()  # what a learner started outlives a run that was killed; the learner does not
    assert psutil.wait_procs(children, timeout=60)[1] == []


def test_a_printing_one_leaves_json_clean(tmp_path):
    suite.instance(NAME).save(tmp_path / "hard.safetensors")
    words = ["-m", "hardness", "learn", "trial_learners:Mean", "hard.safetensors", "--count", "50", "--json"]
    paths = {**os.environ, "PYTHONPATH": str(HERE)}
    completed = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, env=paths, capture_output=True, check=True
    )
    assert json.loads(completed.stdout).items() >= {"status": "wrong", "process": "worker"}.items()
    assert b"fitting 50" in completed.stderr


def test_work_that_is_no_figure_is_none_and_cpu_time_is_told():
    with opened(Solver("learner", "trial_learners:Nan", heads_known=2), 0, time.monotonic() + 60) as solver:
        solver.partial_fit(X, np.full(X.shape, 0.5))
        _, done = solver.predict(X)
        assert done["work"] == {"loss": None, "huge": None}
        assert 0 < done["reference_seconds"] < 60


def test_memory_has_a_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worker, "MEMORY", 0.7 * 2**30 / psutil.virtual_memory().available)
    solver = opened(Solver("learner", "trial_learners:Hungry"), 0, time.monotonic() + 60)
    with solver as hungry, pytest.raises(TrialEnded, match="out of memory: more than 0"):
        hungry.partial_fit(X, np.full(X.shape, 0.5))


def test_time_in_which_numba_compiles_does_not_count_for_an_alarm():
    compiled = numba.njit(lambda x: x + 1)
    with suppress(TimeoutError), alarm(60), alarm(0.05):
        assert compiled(np.ones(3))[0] == 2
        time.sleep(60)
        pytest.fail("the alarm did not ring after the compilation")
    assert len(compiled.signatures) == 1
