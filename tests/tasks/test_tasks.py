"""What a new user wants to do, each in at most 15 lines of Python: scripts run as a user would, in an empty folder.

Tutorials do more of it (tests/docs/test_site.py): an own family, an own attack, a challenge, an own network by
name and on the board. Interrupted runs: tests/cli/test_interrupt.py.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

LONGEST = 15
BIN = Path(sys.executable).parent
CLEAN = {**os.environ, "OMP_NUM_THREADS": "1", "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}


def run_script(folder: Path, script: str, *command: str) -> str:
    """What a user's script own.py prints, run by `python own.py` or by a command of the lab."""
    assert sum(bool(line.strip()) for line in script.splitlines()) <= LONGEST
    (folder / "own.py").write_text(script)
    words = ["hardness", *command] if command else [sys.executable, "own.py"]
    completed = subprocess.run(words, cwd=folder, env=CLEAN, capture_output=True, text=True, timeout=600)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout


RIDGE = """
import numpy as np
class Ridge:
    def __init__(self, strength: float = 1.0):
        self.strength = strength
    def fit(self, X, Y):
        A, B = X.reshape(len(X), -1).astype(float), Y.reshape(len(Y), -1)
        self.W = np.linalg.solve(A.T @ A + self.strength * np.eye(A.shape[1]), A.T @ B)
        return self
    def predict(self, X):
        return (X.reshape(len(X), -1) @ self.W).reshape(X.shape)
"""
GRID = """
family = "nondegenerate"
runs = 1
[params]
dim = [4, 6]
heads = [1, 2]
tokens = 2
[solver]
learner = ["direct", "own:Ridge"]
[budget]
samples = 400
"""
CELLS = 8


TABLE = """
import hardness
rows = hardness.rows("far")
print(rows.groupby(["solver.learner", "status"]).size().to_dict())
"""


@pytest.fixture
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`dask scheduler` and two of `dask worker`, each a process, started where no file of the user's lies."""
    pytest.importorskip("distributed", reason="extra `cluster` is not installed")
    folder = tmp_path_factory.mktemp("elsewhere")
    started = []
    try:
        for words in (
            "scheduler --port 0 --dashboard-address :0",
            *["worker --nthreads 1 --no-dashboard"] * 2,
        ):
            command = [sys.executable, "-m", "dask", *words.split(), "--scheduler-file", "scheduler.json"]
            started.append(subprocess.Popen(command, cwd=folder, env=CLEAN, stderr=subprocess.DEVNULL))
            while not (folder / "scheduler.json").exists():
                time.sleep(0.1)
        yield json.loads((folder / "scheduler.json").read_text())["address"]
    finally:
        for each in reversed(started):
            each.terminate()
            each.wait()


@pytest.mark.slow  # twice eight trials and a cluster: 40 s of CPU
def test_a_sweep_over_d_m_and_learners_here_and_on_a_cluster(tmp_path, scheduler: str):
    (tmp_path / "grid.toml").write_text(GRID)
    tables = []
    for out, where in (("here", ["--workers", "2"]), ("far", ["--scheduler", scheduler])):
        run_script(tmp_path, RIDGE, "sweep", "grid.toml", *where, "--out", out)
        run_script(tmp_path, RIDGE, "study", "export", out, "--no-timing", "--out", f"{out}.csv")
        tables.append((tmp_path / f"{out}.csv").read_bytes())
    assert tables[0] == tables[1]
    assert tables[0].count(b"\n") == CELLS + 1
    assert run_script(tmp_path, TABLE) == "{('direct', 'solved'): 4, ('own:Ridge', 'budget'): 4}\n"
