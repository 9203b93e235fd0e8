"""A user's learner in its worker: what it may do, what it cannot find, and how it ends."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from hardness.errors import TrialEnded
from hardness.evaluation import worker
from hardness.evaluation.worker import opened
from hardness.families.parity import Parity
from hardness.instance import Instance

HERE = Path(__file__).parents[1] / "support"
X = np.random.default_rng(0).choice(np.array([-1, 1], dtype=np.int8), (40, 2, 5))


def used(name: str, seconds: float = 60.0) -> tuple[np.ndarray, dict]:
    with opened({"learner": f"trial_learners:{name}", "known": 2}, 0, time.monotonic() + seconds) as solver:
        solver.partial_fit(X, np.full(X.shape, 0.5))
        return solver.predict(X), solver.work()


def sleepers() -> list[psutil.Process]:
    return [each for each in psutil.process_iter(["cmdline"]) if each.info["cmdline"] == ["sleep", "987.654"]]


def test_threads_children_files_and_prints_are_its_own_business(capfd: pytest.CaptureFixture[str]) -> None:
    predicted, _ = used("Mean")
    assert (predicted == 0.5).all()
    said = capfd.readouterr()
    assert (said.out, "fitting 40" in said.err) == ("", True)


def test_it_finds_arrays_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OLDPWD", str(tmp_path / "store"))
    with (tmp_path / "rows.db").open("w"):
        _, found = used("Spy")
    assert set(found["objects"]) <= {"LearnerAdapter", "EntryPoint"}
    assert not any(str(tmp_path) in text for text in found["texts"])


@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        ("Exits", "killed", "ended with code 3"),
        ("Shapeless", "refused", "expected predictions of shape"),
        ("Batchwise", "refused", "depend on the order or the number"),
        ("Nobody", "error", "has no attribute 'Nobody'"),
    ],
)
def test_how_it_ends_is_said(name: str, status: str, reason: str) -> None:
    with pytest.raises(TrialEnded) as ended:
        used(name)
    assert ended.value.status == status
    assert reason in ended.value.reason


def test_what_is_no_figure_is_none() -> None:
    assert used("Nan")[1] == {"loss": None, "huge": None}


def test_memory_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "MEMORY", 0.3 * 2**30 / psutil.virtual_memory().available)
    with pytest.raises(TrialEnded, match="out of memory: more than 0"):
        used("Hungry")


def test_its_limit_ends_it_and_its_children() -> None:
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        used("Sleeps", 1.5)
    assert time.monotonic() - began < 1.5 + 5
    gone = time.monotonic() + 5
    while sleepers() and time.monotonic() < gone:
        time.sleep(0.05)
    assert sleepers() == []


def test_a_killed_run_leaves_nothing_behind(tmp_path: Path) -> None:
    hard = tmp_path / "hard.safetensors"
    Instance.generate(Parity(8, 2), seed=0).save(hard)
    command = [sys.executable, "-m", "hardness", "learn", "trial_learners:Sleeps", str(hard), "--count", "50"]
    run = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(HERE)}, stderr=subprocess.DEVNULL)
    try:
        patience = time.monotonic() + 30
        while not sleepers() and time.monotonic() < patience:
            time.sleep(0.05)
        assert sleepers()
        children = psutil.Process(run.pid).children(recursive=True)
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
    _, alive = psutil.wait_procs(children, timeout=5)
    assert alive == []
    assert sleepers() == []


def test_a_printing_learner_leaves_json_clean(tmp_path: Path) -> None:
    hard = tmp_path / "hard.safetensors"
    Instance.generate(Parity(8, 2), seed=0).save(hard)
    command = [sys.executable, "-m", "hardness", "learn", "trial_learners:Mean", str(hard), "--count", "50", "--json"]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(HERE)}, capture_output=True, check=True)
    found = json.loads(done.stdout)
    assert (found["status"], found["process"], found["learner"]) == ("wrong", "worker", "trial_learners:Mean")


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_the_container_line_of_the_security_page_works(tmp_path: Path) -> None:
    """The options of SECURITY.md: the command runs, writes into its folder, and nowhere else."""
    page = (HERE.parents[1] / "SECURITY.md").read_text()
    options = page.partition("bwrap ")[2].partition("\\")[0].replace("$PWD", str(tmp_path)).split()
    (tmp_path / "out").mkdir()
    inside = [sys.executable, "-m", "hardness", "generate", "parity", "--dim", "8", "--heads", "2", "--out"]
    for place, code in (("out/a.safetensors", 0), ("b.safetensors", 2)):
        done = subprocess.run(["bwrap", *options, *inside, place], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == code, done.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["out"]
