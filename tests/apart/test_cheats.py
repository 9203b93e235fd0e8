"""Learners that cheat win nothing: not the secret, not the labels, not a row, and not the next trial."""

import contextlib
import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

import cheats
import numpy as np
import pytest

from hardness.apart import fence
from hardness.apart.lab import Apart
from hardness.engine.outcome import Outcome
from hardness.engine.store import Store
from hardness.engine.task import Task
from hardness.errors import Ended, InputError
from hardness.evaluation import learning
from hardness.families.parity import Parity
from hardness.instance import Instance

HERE = Path(cheats.__file__).parent
FENCED = pytest.mark.skipif(fence.available() < 6, reason="this system has no Landlock, or an old one")
X = np.sign(np.random.default_rng(0).normal(size=(40, 2, 30))).astype(np.int8)
SOLVER = {"kind": "learner", "learner": "cheats:Regenerates", "params": {}}
TASK = Task("parity", {"dim": 30, "heads": 6}, SOLVER, {"samples": 64}, 0)


@pytest.fixture(autouse=True)
def _found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "rows.db")
    monkeypatch.setattr(sys, "path", [*sys.path, str(HERE)])


def found(name: str, root: int = 2**127 + 12345, **params: Any) -> float:
    """What a cheat finds: the first entry of its predictions."""
    instance = Instance.generate(Parity(30, 6), TASK.seed(root, "instance"))
    with Apart(f"cheats:{name}", params, 7, time.monotonic() + 60) as learner:
        learner.partial_fit(X, instance.teacher(X))
        return float(learner.predict(X)[0, 0, 0])


@pytest.mark.parametrize("name", ["Regenerates", "WalksFrames", "ReadsEnvironment", "ReadsDescriptors"])
def test_nothing_is_found_in_the_own_process(name: str) -> None:
    assert found(name) == 0


def test_a_lab_that_is_patched_in_the_child_is_none() -> None:
    """It answers 7 from its second answer on, so that it is refused as one that answers otherwise when asked again."""
    with pytest.raises(Ended, match="order or the number"):
        found("PatchesLab")


def test_a_root_seed_that_anybody_would_try_gives_the_instance_away() -> None:
    """So trials of guests have one of 128 bits: the cheat does work where it can."""
    assert found("Regenerates", root=3) == 1


@FENCED
@pytest.mark.parametrize("name", ["ReadsProc", "PlantsEntryPoint"])
def test_nothing_is_found_beside_it(name: str) -> None:
    assert found(name) == 0


@FENCED
def test_a_store_is_neither_read_nor_written_though_its_path_is_known(tmp_path: Path) -> None:
    with Store(tmp_path / "rows.db", {"study": "demo", "seed": 0}) as store:
        store.plan([TASK])
        store.add(TASK, Outcome("wrong", 1), {})
        assert found("OpensStore", target=str(tmp_path / "rows.db")) == 0
        assert store.counts() == {"wrong": 1}


@FENCED
def test_no_other_process_is_reached() -> None:
    assert found("KillsLab", target=str(os.getpid())) == 0
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert found("Dials", target=str(server.getsockname()[1])) == 0


@pytest.mark.parametrize("name", ["Counts", "KnowsTheNumber"])
def test_predictions_that_depend_on_order_or_number_are_refused(name: str) -> None:
    with Apart(f"cheats:{name}", {}, 7, time.monotonic() + 60) as learner, pytest.raises(Ended, match="order or the"):
        learner.predict(X)


def test_an_honest_learner_answers_the_same_twice() -> None:
    with Apart("study_trials:Quiet", {}, 7, time.monotonic() + 60) as learner:
        assert learner.predict(X).shape == X.shape


@pytest.mark.parametrize(
    ("name", "status"),
    [("Huge", "error|refused"), ("Garbage", "refused|killed"), ("Leaves", "killed"), ("Eats", "error|killed"),
     ("Shouts", "error"), ("ClaimsVictory", "error")],
)  # fmt: skip
def test_whatever_else_it_does_is_a_status_with_its_reason(name: str, status: str) -> None:
    with pytest.raises(Ended) as caught, Apart(f"cheats:{name}", {}, 7, time.monotonic() + 60) as learner:
        learner.predict(X)
    assert caught.value.status in status.split("|")
    assert len(caught.value.reason) < 1000
    assert caught.value.reason.isprintable()


def test_the_next_trial_is_clean() -> None:
    for name in ("AnswersLater", "PatchesLab", "Garbage"):
        with contextlib.suppress(Ended):
            found(name)
        with Apart("study_trials:Quiet", {}, 7, time.monotonic() + 60) as learner:
            time.sleep(0.2)
            assert not learner.predict(X).any()


def test_hardness_learn_keeps_its_instance_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """The learner that walks its frames had the instance, when it ran in the lab's own process."""
    instance = Instance.generate(Parity(30, 6))
    payload = learning.learn(instance, "cheats:WalksFrames", 10)
    assert payload["status"] == "wrong"
    assert payload["sign_accuracy"] is not None
    assert learning.learn(instance, "cheats:Counts", 10)["status"] == "refused"
    assert learning.learn(instance, "cheats:Shouts", 10)["status"] == "error"


def test_an_attack_of_a_stranger_runs_apart_and_is_not_believed() -> None:
    from hardness.attacks.guest import run

    instance = Instance.generate(Parity(30, 6))
    examples, public = instance.examples(50, 1), instance.public(1)
    assert run("cheats:lies", examples, public, None, 0).status == "wrong"
    assert run("cheats:shouts", examples, public, None, 0).status == "error"
    right = {name: value.tolist() for name, value in instance.secret.items()}
    found = run("cheats:lies", examples, {**public, "told": right["support"]}, None, 0)
    assert (found.status, found.secret) == ("solved", right)
    with pytest.raises(InputError, match="cannot load"):
        run("cheats:nothing", examples, public, None, 0)
