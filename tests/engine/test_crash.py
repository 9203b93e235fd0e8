"""Runs that are killed, two on one store, full disks, long runs: no child stays, no row is lost, all goes on."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
import study_trials
from study_trials import ABOUT, COMMAND, ENVIRONMENT, exported, numbered

from hardness.engine.run import run
from hardness.engine.store import Store
from hardness.errors import InputError

COUNT = 150  # trials of 20 ms
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, or needs a mount")


def started(
    folder: Path, trial: str = "brief", count: int = COUNT, workers: int = 2
) -> "subprocess.Popen[str]":
    """A run in a process of its own, past its imports."""
    command = [*COMMAND, str(folder / "rows.db"), str(count), str(workers), trial]
    prey = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=ENVIRONMENT
    )
    assert prey.stdout is not None
    assert prey.stdout.readline() == "ready\n"
    return prey


def stored(folder: Path) -> int:
    try:
        with Store(folder / "rows.db") as store:
            return len(store.done())
    except InputError as error:  # the run has not made it yet
        if "run the study first" not in str(error):
            raise
        return 0


def wait_until_stored(folder: Path, count: int):
    deadline = time.monotonic() + 60
    while stored(folder) < count:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@linux
@pytest.mark.parametrize(
    ("signum", "code", "trial"),
    [(signal.SIGKILL, -9, "learns"), (signal.SIGINT, 130, "stalls")],
)
def test_killed_parents_leave_no_children_and_a_store_that_resumes(
    tmp_path, signum: int, code: int, trial: str
):
    prey = started(tmp_path, trial)
    wait_until_stored(tmp_path, 5)
    children = psutil.Process(prey.pid).children(recursive=True)
    assert len(children) >= 2
    prey.send_signal(signum)
    assert prey.wait(60) == code
    assert psutil.wait_procs(children, timeout=60)[1] == []
    left = stored(tmp_path)
    assert 5 <= left < COUNT
    if trial == "stalls":
        with Store(tmp_path / "rows.db", ABOUT) as store:
            assert run(numbered(COUNT), store, workers=0, trial=study_trials.trivial) == COUNT - left
        assert exported(tmp_path / "rows.db") == exported(tmp_path / "undisturbed.db", COUNT)


@pytest.mark.parametrize("kills", [2, pytest.param(200, marks=pytest.mark.slow)])
def test_kill_9_at_random_moments(tmp_path, kills: int):
    rng = np.random.default_rng(kills)
    for _ in range(kills):
        prey = started(tmp_path)
        time.sleep(float(rng.uniform(0, 1.5)))
        prey.kill()
        prey.wait()
        if stored(tmp_path) == COUNT:
            (tmp_path / "rows.db").unlink()  # the next run starts a new store
    assert started(tmp_path).wait(120) == 0
    assert exported(tmp_path / "rows.db") == exported(tmp_path / "undisturbed.db", COUNT)


def test_two_runs_on_one_store_do_the_work_once(tmp_path):
    """Both end well, every row is there once and is what one run would have made."""
    runs = [started(tmp_path, count=40, workers=1) for _ in range(2)]
    assert [each.wait(120) for each in runs] == [0, 0]
    assert exported(tmp_path / "rows.db") == exported(tmp_path / "undisturbed.db", 40)


LIMITED = """
import resource, signal, sys
from pathlib import Path
from study_trials import ABOUT, numbered
from hardness.errors import InputError
from hardness.engine.outcome import Outcome
from hardness.engine.store import Store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
tasks = numbered(3000)
with Store(Path(sys.argv[1]), ABOUT) as store:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
    for write in (lambda: store.plan(tasks),
                  lambda: [store.add(t, Outcome("solved", 1, {"text": "x" * 3000}), {}) for t in tasks[25:50]]):
        try:
            write()
            print("written")
        except InputError as error:
            print(error)
        assert not store._db.in_transaction
"""


@linux
def test_a_file_that_may_not_grow_is_one_line_for_every_writer(tmp_path):
    """A limit on the size of files stands in for a full disk: planning and adding."""
    path = tmp_path / "rows.db"
    with Store(path, ABOUT) as store:
        store.plan(numbered(50))
    command = [sys.executable, "-c", LIMITED, str(path)]
    printed = subprocess.run(
        command, env=ENVIRONMENT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len(printed) == 2
    assert all(line == "written" or line.startswith(f"cannot write {path}: ") for line in printed)
    assert any(line.startswith("cannot write") for line in printed)
    with Store(path, ABOUT) as store:  # whole, and goes on
        assert len(list(store.rows())) == 50
        run(numbered(50), store, workers=0, trial=study_trials.trivial)
        assert len(store.done()) == 50
