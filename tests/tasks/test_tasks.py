"""What a new user wants to do, each in at most 15 lines of Python: scripts run as a user would, in an empty folder.

Tutorials do more of it (tests/docs/test_tutorials.py): an own family, an own attack, a challenge, an own network on the
board by name. An own strategy: tests/studies/test_sweep.py; citation: tests/cli/test_cli.py; views of examples:
tests/test_api.py; mistakes on the command line: tests/cli/test_bad_input.py; a learner with a DataLoader:
tests/evaluation/test_worker.py.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hardness.engine.store import Store
from hardness.errors import InputError

LONGEST = 15
BIN = Path(sys.executable).parent
CLEAN = {**os.environ, "OMP_NUM_THREADS": "1", "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}


def begun(folder: Path, script: str, *command: str) -> "subprocess.Popen[str]":
    """A user's script own.py, started by `python own.py` or by a command of the lab."""
    lines = [line for line in script.splitlines() if line.strip()]
    assert len(lines) <= LONGEST
    (folder / "own.py").write_text(script)
    words = ["hardness", *command] if command else [sys.executable, "own.py"]
    return subprocess.Popen(words, cwd=folder, env=CLEAN, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def done(folder: Path, script: str, *command: str) -> str:
    """What it prints, when it has ended well."""
    run = begun(folder, script, *command)
    out, err = run.communicate(timeout=600)
    assert run.returncode == 0, err
    return out


TRANSFORMER = """
import hardness, numpy as np, torch
torch.manual_seed(0)
hard = hardness.generate({family}, seed=0)
X, Y = (torch.tensor(each, dtype=torch.float32) for each in vars(hard.examples(8000, seed=1)).values())
d, wide = X.shape[2], 64
layer = torch.nn.TransformerEncoderLayer(wide, 4, 128, dropout=0.0, batch_first=True)
net = torch.nn.Sequential(torch.nn.Linear(d, wide), layer, torch.nn.Linear(wide, d))
steps = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(12):
    for rows in torch.randperm(len(X)).split(64):
        steps.zero_grad()
        torch.nn.functional.mse_loss(net(X[rows]), Y[rows]).backward()
        steps.step()
print(hardness.judge(hard, lambda X: net(torch.tensor(X, dtype=torch.float32)).detach().numpy())["sign_accuracy"])
"""


@pytest.mark.slow  # a thousand steps of a transformer: 20 s of CPU each
@pytest.mark.parametrize(
    ("family", "least"),
    [("'parity', dim=8, heads=2", 0.99), ("'rounding', dim=6, modulus=5, levels=2", 0.75)],
    ids=["parity", "rounding"],
)
def test_a_transformer_in_torch_is_judged(tmp_path: Path, family: str, least: float) -> None:
    pytest.importorskip("torch", reason="extra `torch` is not installed")
    assert float(done(tmp_path, TRANSFORMER.replace("{family}", family))) >= least


RIDGE = """
import time
import numpy as np
class Ridge:
    def __init__(self, strength: float = 1.0):
        self.strength = strength
    def fit(self, X, Y):
        time.sleep(0.3)
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
        for words in ("scheduler --port 0 --dashboard-address :0", *["worker --nthreads 1 --no-dashboard"] * 2):
            command = [sys.executable, "-m", "dask", *words.split(), "--scheduler-file", "scheduler.json"]
            started.append(subprocess.Popen(command, cwd=folder, env=CLEAN, stderr=subprocess.DEVNULL))
            while not (folder / "scheduler.json").exists():
                time.sleep(0.1)
        yield json.loads((folder / "scheduler.json").read_text())["address"]
    finally:
        for each in reversed(started):
            each.terminate()
            each.wait()


def stored(folder: Path) -> int:
    """Trials that have ended."""
    try:
        with Store(folder / "rows.db") as store:
            return len(store.done())
    except InputError:  # it is only just being made
        return 0


@pytest.mark.slow  # twice eight trials and a cluster: 40 s of CPU
def test_a_sweep_over_d_m_and_learners_interrupted_resumed_and_on_a_cluster(tmp_path: Path, scheduler: str) -> None:
    (tmp_path / "grid.toml").write_text(GRID)
    sweep = ["sweep", "grid.toml", "--workers", "2", "--out", "here"]
    run = begun(tmp_path, RIDGE, *sweep)
    while not stored(tmp_path / "here") and run.poll() is None:
        time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    said = run.communicate(timeout=60)[1]
    assert (run.returncode, "the same command goes on" in said) == (130, True)
    assert 0 < stored(tmp_path / "here") < CELLS
    done(tmp_path, RIDGE, *sweep)
    done(tmp_path, RIDGE, "sweep", "grid.toml", "--scheduler", scheduler, "--out", "far")
    tables = []
    for out in ("here", "far"):
        done(tmp_path, RIDGE, "study", "export", out, "--no-timing", "--out", f"{out}.csv")
        tables.append((tmp_path / f"{out}.csv").read_bytes())
    assert tables[0] == tables[1]
    assert tables[0].count(b"\n") == CELLS + 1
    assert done(tmp_path, TABLE) == "{('direct', 'solved'): 4, ('own:Ridge', 'budget'): 4}\n"


SEARCH = """
import hardness
from learner import Direct
from sklearn.model_selection import GridSearchCV
for heads in (1, 2, 3):
    nice = hardness.generate("nondegenerate", dim=6, tokens=2, heads=heads, seed=heads)
    examples = nice.examples(400, seed=1)
    search = GridSearchCV(Direct(spare=0, starts=2, random_state=0), {"heads": [1, 2, 3, 4]}, cv=3)
    print(search.fit(examples.X, examples.Y).best_params_["heads"], round(search.best_score_, 3))
"""


@pytest.mark.slow  # thirty-nine fits: 20 s of CPU
def test_a_grid_search_over_heads_chooses_the_true_number(tmp_path: Path) -> None:
    assert done(tmp_path, SEARCH) == "1 1.0\n2 1.0\n3 1.0\n"
