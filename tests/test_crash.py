"""Runs that are killed or interrupted: no child stays, no row is lost or torn, and the same command goes on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import study_trials
from study_trials import alive, descendants, numbered

from hardness.engine.run import run
from hardness.engine.store import Store
from hardness.engine.table import export
from hardness.errors import InputError

ROOT, HERE = Path(__file__).parents[1], Path(study_trials.__file__).parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE)])}
COMMAND = [sys.executable, "-c", "from hardness.cli import main; main()"]
ABOUT = {"study": "test", "seed": 0}
PARITY = ["generate", "parity", "--dim", "16", "--heads", "4"]

# A study of 150 trials of 20 ms on two workers: the prey of the killing tests.
PREY = """
import sys
from pathlib import Path
import study_trials
from hardness.engine.run import Interrupted, run
from hardness.engine.store import Store
if __name__ == "__main__":
    with Store(Path(sys.argv[1]), {"study": "test", "seed": 0}) as store:
        print("ready", flush=True)
        try:
            run(study_trials.numbered(150), store, workers=2, trial=getattr(study_trials, sys.argv[2]))
        except Interrupted as stop:
            sys.exit(stop.code)
"""


def hardness(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    options = {"capture_output": True, "text": True, "timeout": 120, "env": ENVIRONMENT} | options
    return subprocess.run([*COMMAND, *arguments], **options)


def hunt(folder: Path, trial: str = "brief") -> "subprocess.Popen[str]":
    """The prey, started and past its imports."""
    (folder / "prey.py").write_text(PREY)
    command = [sys.executable, str(folder / "prey.py"), str(folder / "rows.db"), trial]
    prey = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=ENVIRONMENT)
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


def wait_until_stored(folder: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    while stored(folder) < count:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def undisturbed(folder: Path) -> bytes:
    return exported(folder / "undisturbed.db", run_first=True)


def exported(path: Path, run_first: bool = False) -> bytes:
    with Store(path, ABOUT) as store:
        if run_first:
            run(numbered(150), store, workers=0, trial=study_trials.trivial)
        export(store.rows, path.with_suffix(".csv"), timing=False)
    return path.with_suffix(".csv").read_bytes()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("signum", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("trial", ["brief", "learns"])
def test_killed_parents_leave_no_children_and_a_store_that_resumes(
    tmp_path: Path, signum: int, code: int, trial: str
) -> None:
    prey = hunt(tmp_path, trial)
    wait_until_stored(tmp_path, 5)
    children = descendants(prey.pid)
    assert len(children) >= 2
    prey.send_signal(signum)
    assert prey.wait(10) == code
    deadline = time.monotonic() + 5
    while alive(children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive(children) == set()
    left = stored(tmp_path)
    assert 5 <= left < 150
    if trial == "brief":
        with Store(tmp_path / "rows.db", ABOUT) as store:
            assert run(numbered(150), store, workers=0, trial=study_trials.trivial) == 150 - left
        assert exported(tmp_path / "rows.db") == undisturbed(tmp_path)


@pytest.mark.parametrize("kills", [2, pytest.param(200, marks=pytest.mark.slow)])
def test_kill_9_at_random_moments(tmp_path: Path, kills: int) -> None:
    rng = np.random.default_rng(kills)
    for _ in range(kills):
        prey = hunt(tmp_path)
        time.sleep(float(rng.uniform(0, 1.5)))
        prey.kill()
        prey.wait()
        if stored(tmp_path) == 150:
            (tmp_path / "rows.db").unlink()  # the next hunt starts a new store
    prey = hunt(tmp_path)
    assert prey.wait(120) == 0
    assert exported(tmp_path / "rows.db") == undisturbed(tmp_path)


@pytest.mark.slow  # tests/test_interrupt.py tries the first instants by default
def test_an_interrupted_command_says_so_and_goes_on(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    arguments = ["study", "run", "games", "--quick", "--out", out]
    prey = subprocess.Popen([*COMMAND, *arguments], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not stored(tmp_path / "out"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    prey.send_signal(signal.SIGINT)
    told = prey.communicate(timeout=30)[1]
    assert prey.returncode == 130
    assert "the same command goes on" in told
    assert "Traceback" not in told
    assert "to run" in hardness("study", "status", out).stdout
