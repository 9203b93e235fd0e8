"""The study `stress`: runs within two budgets, the null beside each learner, a learner of one's own, and the page."""

import json
from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hardness import cli, registry
from hardness.engine.outcome import Outcome, run_trial
from hardness.engine.store import Store
from hardness.engine.task import Task
from hardness.instance import Instance
from hardness.report.report import words
from hardness.studies import catalog
from hardness.studies.stress import page
from hardness.studies.stress import tasks as grid
from hardness.studies.stress import trial as stress
from hardness.studies.stress.page import Cell, learner_of, null
from hardness.studies.stress.trial import trial

TOYS = '''
import os, time
import numpy as np
from hardness.errors import InputError

class Late:
    """Refuses fewer than 1000 examples, then learns."""
    def fit(self, X, Y):
        if len(X) < 1000:
            raise InputError("too few")
        from learner.sgd import OnlineMLP  # here, since every fit of every toy imports this module
        self.inner = OnlineMLP().fit(X, Y)
    def predict(self, X):
        return self.inner.predict(X)

class Costly:
    """Counts a thousand multiply-adds an example, and learns nothing."""
    def multiply_adds(self, examples, tokens, dim):
        return 1000.0 * examples
    def fit(self, X, Y):
        return self
    def predict(self, X):
        return np.zeros(X.shape)

class Online(Costly):
    def partial_fit(self, X, Y):
        return self

class Lost(Online):
    def predict(self, X):
        return np.full(X.shape, np.nan)

class Zeros:
    def fit(self, X, Y):
        return self
    def predict(self, X):
        return np.zeros(X.shape)

class Never(Zeros):
    def fit(self, X, Y):
        raise InputError("not for me")

class Raises(Zeros):
    def fit(self, X, Y):
        if len(X) > 100:
            raise RuntimeError("no luck")

class Exits(Zeros):
    def fit(self, X, Y):
        if len(X) > 100 and not os.path.exists(__file__ + ".mended"):
            os._exit(3)

class Sleeps(Zeros):
    def fit(self, X, Y):
        if len(X) > 100:
            time.sleep(3600)

class Boasts(Zeros):
    def fit(self, X, Y):
        raise type("Ended", (Exception,), {})("solved: believe me")
'''


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module of learners in a package of its own, on PYTHONPATH."""
    room = tmp_path / "rooms" / "mypkg"
    room.mkdir(parents=True)
    (room / "__init__.py").touch()
    (room / "mod.py").write_text(TOYS)
    monkeypatch.syspath_prepend(str(room.parent))
    monkeypatch.setenv("PYTHONPATH", str(room.parent))
    return room / "mod.py"


def task_of(learner: str, most: int = 1024, work: float = 1e9, **params: Any) -> Task:
    budget = {"samples": most, "work": work, "from": 64}
    solver = {"kind": "stress", "learner": learner, "params": {}}
    return Task("parity", {"dim": 6, "heads": 2} | params, solver, budget, 0)


ENDS = {
    "Late": ("solved", 1024, None),
    "Zeros": ("budget", 4096, None),
    "Never": ("refused", 4096, "not for me"),
    "Raises": ("error", 64, "RuntimeError: no luck"),
    "Exits": ("killed", 64, "the learner's process ended with code 3"),
    "Boasts": ("error", 0, "Ended: solved: believe me"),
    "Sleeps": ("timeout", 64, "over 8 s"),
    "Lost": ("wrong", 1024, "predictions are not finite"),
}


def test_sizes_rise_until_solved_and_every_end_has_its_status(toys: Path) -> None:
    for name, (status, cost, reason) in ENDS.items():
        outcome = run_trial(trial, task_of(f"mypkg.mod:{name}", 4096), 0, 8.0 if name == "Sleeps" else 60.0)
        assert (name, outcome.status, outcome.cost) == (name, status, cost)
        assert outcome.detail.get("reason") == reason


@pytest.mark.parametrize(
    ("learner", "work", "cost", "spent", "counted"),
    [
        ("Costly", 1e9, 4096, "examples", 8128e3),  # 64 + 128 + ... + 4096 examples in all
        ("Costly", 5e6, 2048, "multiply-adds", 4032e3),
        ("Costly", 1e4, 0, "multiply-adds", None),
        ("Online", 1e9, 4096, "examples", 4096e3),
        ("Online", 2.5e6, 2500, "multiply-adds", 2.5e6),
        ("Zeros", 1.0, 4096, "examples", None),  # it has no count
    ],
)
def test_a_run_ends_at_whichever_budget_it_meets_first(
    toys: Path, learner: str, work: float, cost: int, spent: str, counted: float | None
) -> None:
    outcome = run_trial(trial, task_of(f"mypkg.mod:{learner}", 4096, work), 0, 60.0)
    assert (outcome.status, outcome.cost, outcome.detail["spent"]) == ("budget", cost, spent)
    assert outcome.detail["multiply_adds"] == counted


def test_every_learner_of_the_house_counts_its_work_and_the_count_grows() -> None:
    for name in set(registry.names("learner", builtin=True)) - {"provable"}:
        learner = registry.get("learner", name)()
        few, many = (learner.multiply_adds(n, 2, 12) for n in (256, 1024))
        assert 0 < few < many, name
    assert registry.get("learner", "provable")().multiply_adds(256, 2, 12) is None


def test_learners_meet_the_same_layer_and_repetitions_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seeds of instance and examples depend on family, parameters and repetition alone."""
    seen: list[int] = []

    def spy(family: Any, seed: int) -> Instance:
        seen.append(seed)
        raise RuntimeError("seen")

    monkeypatch.setattr(stress, "Instance", type("Spy", (), {"generate": staticmethod(spy)}))
    base = task_of("sgd")
    others = [
        task_of("direct"),
        task_of("sgd", most=2048),
        Task(base.family, base.params, base.solver, base.budget, 1),
        task_of("sgd", dim=7),
    ]
    for task in [base, *others]:
        run_trial(trial, task, 0, 60.0)
    assert seen[0] == seen[1] == seen[2]
    assert len(set(seen)) == 3


def test_the_null_counts_the_features_that_a_learner_could_not_tell_apart() -> None:
    """Monomials one by one: raw signs of two tokens of four features, and products at either value of the gate."""
    raw, handed = task_of("mlp", dim=4, heads=1), task_of("sgd", dim=4, heads=1)
    assert null(raw) == sum(1 for kept in product((0, 1), repeat=8) if sum(kept) <= 3)
    assert null(handed) == 2 * sum(1 for kept in product((0, 1), repeat=3) if sum(kept) <= 1)
    nice = Task("nondegenerate", {"dim": 4, "tokens": 2, "heads": 1}, raw.solver, raw.budget, 0)
    assert null(nice) is None


def test_the_degree_in_the_null_is_that_of_the_labels() -> None:
    """By correlation with every monomial of the signs, at d = 4: 2m + 1, and m in the products at each gate."""
    from hardness.examples import unpack
    from hardness.families.parity import Parity
    from hardness.instance import every_pair

    for m in (2, 3):
        words_ = every_pair(4)
        instance = Instance.generate(Parity(4, m), seed=0)
        signs, labels = unpack(words_, 4).reshape(256, 8), instance.teacher.labels(words_)[:, 0, 0]
        present = [sum(kept) for kept in product((0, 1), repeat=8)
                   if abs(np.mean(labels * np.prod(signs ** np.array(kept), axis=1))) > 1e-9]  # fmt: skip
        assert max(present) == 2 * m + 1
        gated, products = labels * signs[:, 0], signs[:, :4] * signs[:, 4:]
        open_ = products[:, 0] < 0
        met = [sum(kept) for kept in product((0, 1), repeat=3)
               if abs(np.mean((gated * np.prod(products[:, 1:] ** np.array(kept), axis=1))[open_])) > 1e-9]  # fmt: skip
        assert max(met) == m


@pytest.mark.parametrize("torch", [True, False])
def test_the_grid_is_what_the_study_promises(torch: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "find_spec", lambda name: object() if torch else None)
    tasks = grid.tasks(False)
    names = {name for name in registry.names("learner", builtin=True) if torch or name != "adam"}
    assert {task.solver["learner"] for task in tasks} == names >= {"student", "mlp", "sgd", "provable"}
    on = {(task.solver["learner"], task.family) for task in tasks}
    assert {name for name, family in on if family == "parity"} == names
    assert {name for name, family in on if family == "nondegenerate"} == names - {"sgd"}
    assert {task.params["heads"] for task in tasks} == set(range(2, 9))
    assert {task.params["dim"] for task in tasks} == {12}
    assert {task.repetition for task in tasks} == set(range(5))
    assert len({(task.budget["samples"], task.budget["work"]) for task in tasks}) == 1
    assert len({task.identity for task in tasks}) == len(tasks)
    assert {learner_of(task) for task in tasks} >= {"student", "student with optimizer sgd", "sgd (products)"}
    assert sum(map(grid.seconds, tasks)) < 900


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study on one layer, with sgd for a learner, and no page."""
    quiet = replace(catalog.get("stress"), page=lambda store, folder: "No page.")
    monkeypatch.setitem(catalog.STUDIES, "stress", quiet)
    monkeypatch.setattr(registry, "names", lambda kind, house=False: ["sgd"] if kind == "learner" else [])
    monkeypatch.setattr(grid, "cells", lambda quick: [("parity", {"dim": 6, "heads": 2})])


@pytest.mark.slow  # three runs of the command: 6 s of CPU
def test_a_learner_of_ones_own_joins(
    toys: Path, small: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["study", "run", "stress", "--quick", "--workers", "0", "--out", str(out), "--json"]
    assert cli.run(command) == 0
    assert json.loads(capsys.readouterr().out)["planned"] == 1
    own = ["--learner", "mypkg.mod:Late", "--learner", "mypkg.mod:Zeros", "--learner", "mypkg.mod:Late"]
    assert cli.run([*command, *own]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["ran"], told["statuses"]) == (2, {"solved": 2, "budget": 1})
    with Store(out / "rows.db") as store:
        assert len({row.task.identity for row in store.rows()}) == 3
    toys.write_text(TOYS + "\n# edited\n")
    assert cli.run([*command, *own]) == 0
    out_, err = capsys.readouterr()
    assert "2 trials of plug-ins that were edited since will run again" in err
    assert json.loads(out_)["ran"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["games", "--learner", "mypkg.mod:Late"],
            "error: no trial of study games has a place for",
        ),
        (["stress", "--learner", "mypkg.mod:Absent"], "error: cannot load the learner mypkg.mod:Absent"),
        (["stress", "--learner", "no.such:Thing"], "error: cannot load the learner no.such:Thing"),
        (["stress", "--learner", "direkt"], "error: unknown learner 'direkt'; did you mean 'direct'?"),
    ],
)
def test_what_cannot_join_is_one_line(
    toys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert cli.run(["study", "run", *arguments, "--out", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert told.startswith(message)
    assert told.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.slow  # 4 s of CPU
def test_retry_runs_crashed_trials_again_and_keeps_one_row(
    toys: Path, small: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["study", "run", "stress", "--quick", "--workers", "0", "--out", str(out)]
    command += ["--learner", "mypkg.mod:Exits", "--learner", "mypkg.mod:Zeros"]
    assert cli.run(command) == 1
    assert "--retry runs them again" in capsys.readouterr().err
    toys.with_name("mod.py.mended").touch()
    assert cli.run([*command, "--retry"]) == 0
    assert "1 trials that ended in error or were killed will run again" in capsys.readouterr().err
    with Store(out / "rows.db") as store:
        assert store.counts() == {"solved": 1, "budget": 2}
        assert len(list(store.rows())) == 3


ABOUT = {"study": "stress", "seed": 0, "quick": False}


def invented(task: Task, rng: np.random.Generator) -> Outcome:
    """Random layers are learned by everybody, parities by sgd alone; provable refuses them; the cost grows with m."""
    m, learner = int(task.params["heads"]), task.solver["learner"]
    detail = {"explained": 0.5, "multiply_adds": 1e9}
    if task.family == "nondegenerate" or learner == "sgd":
        return Outcome("solved", 100 * m + int(rng.integers(50)), detail, 0.5)
    if learner == "provable":
        return Outcome("refused", grid.EXAMPLES, detail | {"reason": "not for me"}, 0.1)
    return Outcome("budget", grid.EXAMPLES, detail | {"spent": "examples"}, 3.0)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, rng = tmp_path_factory.mktemp("stress"), np.random.default_rng(0)
    with Store(folder / "rows.db", ABOUT) as store:
        tasks = grid.tasks(False)
        store.plan(tasks)
        for task in tasks:
            store.add(task, invented(task, rng), {"numpy": "2"})
        catalog.page(store, folder)
    return folder


def test_the_page_shows_outcomes_and_no_caps(written: Path) -> None:
    text = (written / "index.html").read_text()
    said = words(text)
    for part in (
        "own null model",
        "censored",
        "A refusal is the learner",
        "solve most of their runs",
        "sgd (products) at every m",
        "mlp, provable, random-features",
        "nowhere",
    ):
        assert part in said, part
    assert "stuck" not in said
    assert "sgd (products) on hidden parities, d = 12, m = 2: 5 solved; median" in text
    assert "mlp on hidden parities, d = 12, m = 3: 5 budget; more than 1,048,576 examples" in text
    assert "provable on hidden parities, d = 12, m = 2: 5 refused<" in text  # with no number behind it
    assert {path.name for path in written.iterdir()} >= {"stress.svg", "stress.pdf", "rows.csv"}
    verdict = json.loads((written / "summary.json").read_text())["verdict"]
    assert verdict in said
    assert "None" not in said


def test_a_refusal_has_no_number_in_the_table(written: Path) -> None:
    with Store(written / "rows.db") as store:
        lines = page._table(page.places(row for row in store.rows() if row.outcome))
    refused = [line for line in lines if line["learner"] == "provable" and line["layers"].startswith("hidden")]
    assert len(refused) == 7
    assert all(line["examples"] is None and line["multiply-adds"] is None for line in refused)
    censored = next(line for line in lines if line["learner"] == "mlp" and line["layers"].startswith("hidden"))
    assert (censored["examples"], censored["examples / null"]) == ("> 1,048,576", None)
    assert censored["null model"] == sum(prod(range(24 - j + 1, 25)) // prod(range(1, j + 1)) for j in range(6))


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome("budget", 1024, {"explained": 0.1}),
        Outcome("killed", 0, {"reason": "its worker died"}),
        Outcome("error"),
        Outcome("solved", 64, {}),
        None,
    ],
    ids=str,
)
def test_degenerate_rows_give_a_page(tmp_path: Path, outcome: Outcome | None) -> None:
    task = task_of("direct")
    with Store(tmp_path / "rows.db", ABOUT) as store:
        store.plan([task])
        if outcome:
            store.add(task, outcome, {})
        verdict = catalog.page(store, tmp_path)
    assert "nan" not in words((tmp_path / "index.html").read_text()).split()
    assert (verdict == "No trial has been run.") == (outcome is None)
    if outcome and outcome.status != "solved":
        assert "direct nowhere" in verdict


def cell(*outcomes: tuple[str, float | None]) -> Cell:
    return Cell(tuple(Outcome(status, cost) for status, cost in outcomes))


def test_a_run_that_failed_is_a_lower_bound() -> None:
    assert cell(("solved", 64), ("solved", 256), ("budget", 1024)).median == 256
    lost = cell(("solved", 64), ("budget", 1024), ("budget", 1024))
    assert (lost.median, lost.bound, lost.silent) == (None, 1024, "")
    crashed = cell(("killed", 0), ("error", None), ("solved", 512))
    assert (crashed.median, crashed.bound) == (None, 0)  # a crash adds no hardness
    assert crashed.ended == "1 solved, 1 error, 1 killed"
    assert cell(("refused", 9), ("refused", 9), ("budget", 9)).silent == "refused"
