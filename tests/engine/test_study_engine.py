"""The engine: the same rows on every engine, and a status for everything that can happen to a trial."""

import time
from pathlib import Path
from typing import Any

import pytest
import study_trials
from study_trials import ABOUT, HERE, exported, learning, numbered

from hardness.engine import run as engine
from hardness.engine.outcome import Outcome
from hardness.engine.run import run
from hardness.engine.store import Store
from hardness.engine.task import Task
from hardness.errors import InputError
from hardness.studies.catalog import get
from hardness.studies.trials import online as trial
from learner.studies.stress import trial as stressed


def study(task: Task, root: int, guard: float) -> Outcome:
    """The trial of whichever study the task is of."""
    return (stressed if "instance" in task.params else get("exponential-in-m").trial)(task, root, guard)


def rows(path: Path, tasks: list[Task], **options: Any) -> bytes:
    """The exported rows of a run of `tasks`."""
    with Store(path, ABOUT) as store:
        run(tasks, store, **{"trial": study, **options})
    return exported(path)


def ends(path: Path) -> dict[int, Outcome]:
    with Store(path) as store:
        return {row.task.repetition: row.outcome for row in store.rows() if row.outcome}


def sampled() -> list[Task]:
    """A few tasks of both kinds of the study exponential-in-m, and one of stress."""
    tasks = [
        task
        for task in get("exponential-in-m").tasks(False)
        if task.solver.get("arm", "hidden set") == "hidden set"
        and task.params["dim"] == 8
        and task.repetition < 2
    ]
    climbs = [task for task in get("stress").user_learner_tasks(True, "sgd") if task.family == "parity"]
    return tasks + climbs[:1]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The rows of `sampled()` run in this process."""
    return rows(tmp_path_factory.mktemp("here") / "rows.db", sampled(), workers=0)


@pytest.mark.parametrize("workers", [2, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 4))])
def test_the_number_of_workers_changes_nothing(tmp_path, here: bytes, workers: int):
    assert rows(tmp_path / "rows.db", sampled(), workers=workers) == here
    assert here.count(b",solved,") == len(sampled())


@pytest.mark.parametrize("workers", [0, 2])
def test_dead_and_hanging_trials_end_alone(tmp_path, monkeypatch: pytest.MonkeyPatch, workers: int):
    monkeypatch.setattr(engine, "GRACE_SECONDS", 1.0)
    # In this process os._exit would end the test as well.
    tasks = [task for task in numbered(20) if workers or task.repetition % 10 != 1]
    rows(tmp_path / "rows.db", tasks, workers=workers, guard=2.0, trial=study_trials.troubled)
    expected = {1: "killed", 3: "timeout", 5: "error", 7: "killed"}
    outcomes = ends(tmp_path / "rows.db")
    assert {r: o.status for r, o in outcomes.items()} == {
        task.repetition: expected.get(task.repetition % 10, "solved") for task in tasks
    }
    assert outcomes[5].detail["reason"] == "RuntimeError: no luck"
    assert outcomes[7].detail["reason"] == "out of memory"


LEARNERS = {
    "Tunable": ("budget", None),
    "Raises": ("error", "RuntimeError: I give up"),
    "Sleeps": ("timeout", "over 1 s"),
    "Exits": ("killed", "the learner's process ended with code 3"),
    "NotFinite": ("wrong", "predictions are not finite"),
    "Shapeless": ("refused", "expected predictions of shape (4096, 2, 16), got (4096, 3)"),
    "Nobody": ("error", "cannot load the learner trial_learners:Nobody"),
}


@pytest.mark.parametrize("workers", [2, pytest.param(0, marks=pytest.mark.slow)])
def test_every_way_to_fail_has_its_status(tmp_path, monkeypatch: pytest.MonkeyPatch, workers: int):
    monkeypatch.chdir(HERE)
    tasks = {name: learning(f"trial_learners:{name}") for name in LEARNERS}
    with Store(tmp_path / "rows.db", ABOUT) as store:
        run([tasks["Sleeps"]], store, trial, workers=workers, guard=1.0)
        # A busy machine must not end these
        run(list(tasks.values()), store, trial, workers=workers, guard=60.0)
        outcomes = {row.task.solver["learner"].partition(":")[2]: row.outcome for row in store.rows()}
    for name, (status, reason) in LEARNERS.items():
        outcome = outcomes[name]
        assert outcome is not None
        assert (name, outcome.status) == (name, status)
        assert reason is None or str(outcome.detail["reason"]).startswith(reason)


def test_overhead_is_small_and_memory_flat(tmp_path):
    with Store(tmp_path / "rows.db", ABOUT) as store:
        began = time.process_time()
        run(numbered(3000), store, workers=0, trial=study_trials.trivial)
        assert (time.process_time() - began) / 3000 < 1e-3
    assert sum(f.stat().st_size for f in tmp_path.iterdir()) / 3000 < 600


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_rows(tmp_path, monkeypatch: pytest.MonkeyPatch, here: bytes):
    distributed = pytest.importorskip("distributed", reason="extra `cluster` is not installed")
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    trivial = rows(tmp_path / "trivial.db", numbered(12), workers=0, trial=study_trials.trivial)
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster:
        options = {"scheduler": cluster.scheduler_address}
        assert rows(tmp_path / "dask.db", numbered(12), trial=study_trials.trivial, **options) == trivial
        assert rows(tmp_path / "study.db", sampled(), **options) == here


def test_what_hangs_in_c_in_a_pool_ends_alone(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine, "GRACE_SECONDS", 1.0)
    rows(tmp_path / "rows.db", numbered(6), workers=2, guard=2.0, trial=study_trials.frozen)
    outcomes = ends(tmp_path / "rows.db")
    assert {r: o.status for r, o in outcomes.items()} == {
        r: "timeout" if r == 1 else "solved" for r in range(6)
    }


def test_workers_import_no_data_frames(tmp_path):
    rows(tmp_path / "rows.db", numbered(1), workers=1, trial=study_trials.imports)
    modules = ends(tmp_path / "rows.db")[0].detail["modules"]
    assert "hardness.engine.run" in modules
    assert not {"pandas", "galois"} & set(modules)


def test_an_unreachable_scheduler_is_one_sentence(tmp_path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("distributed", reason="extra `cluster` is not installed")
    monkeypatch.setattr(engine, "CONNECT", "0.5s")
    with pytest.raises(InputError, match="no Dask scheduler at tcp://127"):
        rows(tmp_path / "rows.db", numbered(1), scheduler="tcp://127.0.0.1:9")
