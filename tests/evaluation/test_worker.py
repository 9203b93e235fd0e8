"""A user's learner in its worker: what it may do, what it cannot find, how it ends; in `learn` and on the board."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

import hardness
from hardness.engine.run import run
from hardness.engine.store import Store
from hardness.engine.task import Task
from hardness.errors import TrialEnded
from hardness.evaluation import worker
from hardness.evaluation.solver import Solver
from hardness.evaluation.worker import opened
from hardness.instance import suite
from hardness.scores import Judged, fresh
from learner.studies.stress import JUDGED, trial

HERE = Path(__file__).parents[1] / "support"
X = np.random.default_rng(0).choice(np.array([-1, 1], dtype=np.int8), (40, 2, 5))
SEED = 0x5EED_0F_BAD_C0FFEE  # of which no part is found by chance
NAME, COUNT = "parity-s3-d16-0", 256
SLOW = pytest.mark.slow  # starts a pool

Ended = dict[str, tuple[str, str]]  # status and reason, by the learner's name
Runs = Callable[..., Ended]


def in_learn(folder: Path, *learners: str, guard: float = 60.0) -> Ended:
    instance, statuses = suite.instance(NAME), {}
    for name in learners:
        ended = hardness.learn(instance, f"own:{name}", COUNT, seed=SEED, limit=guard, test=JUDGED)
        statuses[name] = ended.status, (ended.get("phases") or [{"reason": ""}])[0]["reason"]
    return statuses


def task(name: str) -> Task:
    entry = suite.entry(NAME)
    params = {**entry.params, "instance": NAME, "tier": entry.tier, "digest": f"sha256:{entry.digest[:16]}"}
    solver = {"kind": "learner", "learner": f"own:{name}"}
    return Task(entry.family, params, solver, {"samples": COUNT, "work": 1e9}, 0)


def in_stress(folder: Path, *learners: str, guard: float = 60.0) -> Ended:
    with Store(folder / "the-store" / "rows.db", {"study": "stress", "seed": SEED}) as store:
        run([task(name) for name in learners], store, trial, root=SEED, guard=guard, workers=1)
        rows = [(row.task.solver["learner"], row.outcome) for row in store.rows()]
    return {str(name)[4:]: (end.status, str(end.detail.get("reason", ""))) for name, end in rows if end}


def hidden(place: str) -> tuple[list[int], Judged]:
    """The seeds that a learner must not find, and the inputs that it is judged on, with their labels."""
    instance, shared = suite.instance(NAME), task("Spy").shared()
    if place == "learn":
        sampling = int(np.random.SeedSequence(SEED).spawn(2)[0].generate_state(1, np.uint64)[0])
        return [SEED, instance.seed, sampling], fresh(instance, JUDGED, sampling, start=COUNT)
    seeds = [shared.seed(SEED, role) for role in ("fresh", "examples")]
    return [SEED, instance.seed, *seeds], fresh(instance, JUDGED, seeds[0])


def spelled(seed: int) -> list[bytes]:
    """How a seed may lie in memory: as text, as a word, or as Python holds its integers, in digits of 30 bits."""
    digits = b"".join(
        (seed >> i & (1 << 30) - 1).to_bytes(4, "little") for i in range(0, seed.bit_length(), 30)
    )
    return [str(seed).encode(), f"{seed:x}".encode(), seed.to_bytes(16, "little").rstrip(b"\0"), digits]


@pytest.fixture(params=["learn", pytest.param("stress", marks=SLOW)])
def place(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def runs(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Runs learners of the module `own`, a copy of trial_learners in the working directory, and says how they end."""
    (tmp_path / "own").mkdir()
    shutil.copy(HERE / "trial_learners.py", tmp_path / "own" / "own.py")
    monkeypatch.chdir(tmp_path / "own")
    monkeypatch.syspath_prepend(tmp_path / "own")
    monkeypatch.delitem(sys.modules, "own", raising=False)

    return partial(in_learn if place == "learn" else in_stress, tmp_path)


def child() -> psutil.Process:
    """The process that the learner `Sleeps` in the working directory has started, in five minutes at most."""
    patience = time.monotonic() + 300
    while not (Path("child").exists() and Path("child").read_text()):
        assert time.monotonic() < patience
        time.sleep(0.05)
    return psutil.Process(int(Path("child").read_text()))


def gone() -> bool:
    """Whether the child of `Sleeps` has ended, or does within a minute: it would sleep for sixteen."""
    try:
        return psutil.wait_procs([child()], timeout=60)[1] == []
    except psutil.NoSuchProcess:
        return True


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_it_finds_arrays_and_nothing_else(place: str, runs: Runs, tmp_path: Path) -> None:
    """In all the memory of its process, arguments and environment among it, and in the names of its open files."""
    assert runs("Spy")["Spy"][0] in ("wrong", "budget")
    file = tmp_path / "own" / "held"
    held, (seeds, judged) = file.read_bytes(), hidden(place)
    file.unlink()
    for present in (str(tmp_path / "own").encode(), judged.X[:64].tobytes()):
        assert present in held  # what is there is found
    secret = suite.instance(NAME).secret["support"]
    arrays = [judged.Y[:64].tobytes(), *(secret.astype(kind).tobytes() for kind in (np.int64, np.int32))]
    for absent in (*arrays, *(word for seed in seeds for word in spelled(seed))):
        assert absent not in held
    assert b"Instance" not in held[held.rindex(b"objects:") :]


def test_one_that_is_not_finite_ends_its_own_trial(place: str, runs: Runs) -> None:
    in_learn = place == "learn"
    expected = {
        "NotFinite": ("wrong", "" if in_learn else "predictions are not finite"),
        "Mean": ("wrong" if in_learn else "budget", ""),
    }
    assert runs("NotFinite", "Mean") == expected


def test_one_that_sleeps_is_gone_with_its_children(runs: Runs) -> None:
    began = time.monotonic()
    assert runs("Sleeps", guard=4.0)["Sleeps"] == ("timeout", "over 4 s")
    assert time.monotonic() - began < 300  # and not an hour
    if not Path("child").exists():
        pytest.skip("the machine is so busy that the learner did not begin within its limit")
    assert gone()


RUN = """
import sys
from pathlib import Path
import test_worker
if __name__ == "__main__":
    run = test_worker.in_learn if sys.argv[1] == "learn" else test_worker.in_stress
    run(Path(sys.argv[2]), "Sleeps")
"""


def test_a_killed_run_leaves_no_learner_behind(place: str, runs: Runs, tmp_path: Path) -> None:
    Path("run.py").write_text(RUN)
    paths = os.pathsep.join([str(tmp_path / "own"), str(Path(__file__).parent), str(HERE)])
    command = [sys.executable, "run.py", place, str(tmp_path)]
    killed = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths})
    sleeper = child()
    try:
        children = set(psutil.Process(killed.pid).children(recursive=True)) - {sleeper}
    finally:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        sleeper.kill()  # what a learner started outlives a run that was killed; the learner does not
    assert psutil.wait_procs(children, timeout=60)[1] == []


STUDY = "board --quick --family parity --learner trial_learners:Mean --out o"


@pytest.mark.parametrize(
    ("command", "fields"),
    [
        ("learn trial_learners:Mean hard.safetensors --count 50", {"status": "wrong", "process": "worker"}),
        pytest.param(STUDY, {"study": "stress", "statuses": {"budget": 2}}, marks=SLOW),
    ],
)
def test_a_printing_one_leaves_json_clean(tmp_path: Path, command: str, fields: dict[str, Any]) -> None:
    suite.instance(NAME).save(tmp_path / "hard.safetensors")
    words = [sys.executable, "-m", "hardness", *command.split(), "--json"]
    paths = {**os.environ, "PYTHONPATH": str(HERE)}
    completed = subprocess.run(words, cwd=tmp_path, env=paths, capture_output=True, check=True)
    assert json.loads(completed.stdout).items() >= fields.items()
    assert b"fitting 50" in completed.stderr or b"fitting 256" in completed.stderr


def test_work_that_is_no_figure_is_none() -> None:
    with opened(Solver("learner", "trial_learners:Nan", heads_known=2), 0, time.monotonic() + 60) as solver:
        solver.partial_fit(X, np.full(X.shape, 0.5))
        assert solver.work() == {"loss": None, "huge": None}


def test_memory_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "MEMORY", 0.7 * 2**30 / psutil.virtual_memory().available)
    solver = opened(Solver("learner", "trial_learners:Hungry"), 0, time.monotonic() + 60)
    with solver as hungry, pytest.raises(TrialEnded, match="out of memory: more than 0"):
        hungry.partial_fit(X, np.full(X.shape, 0.5))


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_the_container_line_of_the_security_page_works(tmp_path: Path) -> None:
    """The options of SECURITY.md: the command runs, writes into its folder, and nowhere else."""
    page = (HERE.parents[1] / "SECURITY.md").read_text()
    options = page.partition("bwrap ")[2].partition("\\")[0].replace("$PWD", str(tmp_path)).split()
    (tmp_path / "out").mkdir()
    inside = [sys.executable, "-m", "hardness", "generate", "parity", "--dim", "8", "--heads", "2", "--out"]
    for place, code in (("out/a.safetensors", 0), ("b.safetensors", 2)):
        completed = subprocess.run(
            ["bwrap", *options, *inside, place], cwd=tmp_path, capture_output=True, check=False
        )
        assert completed.returncode == code, completed.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["out"]
