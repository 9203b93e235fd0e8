"""The study `stress`: budgets, how runs end and are counted, learners of others, results that others send."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from commands import check_refused, run_command

from hardness import registry
from hardness.engine.frames import frame
from hardness.engine.outcome import Outcome, run_trial
from hardness.engine.rows import read
from hardness.engine.store import Row
from hardness.engine.task import Task
from hardness.families.parity import Parity
from hardness.instance import Instance, suite
from hardness.scores import open_error
from learner.provable.crude import crude, estimate, ols, refusal
from learner.studies import stress as grid
from learner.studies.stress import ATTACKS, trial

NAME = "parity-s2-d8-0"
HIDING = dict.fromkeys(name.rpartition("-")[0] for name in suite.entries() if not name.startswith("nice"))


def task_of(learner: str, cap: int = 1024, work: float = 1e9, digest: str | None = None) -> Task:
    """A task of a learner of the module trial_learners."""
    entry = suite.entry(NAME)
    named = {"instance": NAME, "tier": entry.tier, "digest": digest or f"sha256:{entry.digest[:16]}"}
    solver = {"kind": "learner", "learner": f"trial_learners:{learner}"}
    return Task(entry.family, {**entry.params, **named}, solver, {"samples": cap, "work": work}, 0)


@pytest.mark.parametrize(
    ("learner", "cap", "status", "cost", "reason"),
    [
        ("Late", 1024, "solved", 1024, None),
        ("Late", 512, "refused", 0, "too few"),
        ("Tires", 1024, "error", 256, "RuntimeError: no luck"),
        ("NotFinite", 1024, "wrong", 256, "predictions are not finite"),
        pytest.param(
            "Exits", 1024, "killed", 0, "the learner's process ended with code 3", marks=pytest.mark.slow
        ),
        pytest.param("Sleeps", 1024, "timeout", 0, "over 8 s", marks=pytest.mark.slow),
    ],
)
def test_every_end_has_its_status_and_a_crash_adds_no_cost(
    learner: str, cap: int, status: str, cost: int, reason: str | None
):
    # Work for a minute of the CPU: some load a library while they learn.
    outcome = run_trial(trial, task_of(learner, cap, 1e11), 0, 8.0 if learner == "Sleeps" else 60.0)
    assert (outcome.status, outcome.cost, outcome.detail.get("reason")) == (status, cost, reason)


@pytest.mark.parametrize(
    ("learner", "cap", "work", "cost", "limit", "counted"),
    [
        ("Costly", 1024, 1e9, 1024, "examples", 1792e3),  # 256 + 512 + 1024 examples in all
        ("Costly", 1024, 1e6, 512, "multiply-adds", 768e3),
        ("Costly", 1024, 1e4, 0, "multiply-adds", None),
        ("Online", 4096, 1e9, 4096, "examples", 4096e3),
        ("Online", 4096, 1.5e6, 1500, "multiply-adds", 1.5e6),
        ("Tunable", 512, 1e9, 512, "examples", None),  # it has no count
        ("Tunable", 512, 1.0, 0, "CPU time", None),
        ("Slow", 1 << 14, 5e8, None, "CPU time", None),
    ],
)
def test_a_run_ends_at_whichever_budget_it_meets_first(
    learner: str, cap: int, work: float, cost: int | None, limit: str, counted: float | None
):
    outcome = run_trial(trial, task_of(learner, cap, work), 0, 60.0)
    assert (outcome.status, outcome.detail["limit"]) == ("budget", limit)
    assert outcome.cost == cost or (cost is None and 0 <= (outcome.cost or 0) < cap)
    assert outcome.detail.get("multiply_adds") == counted
    assert outcome.detail["counted"] == (learner in ("Costly", "Online"))
    if limit == "CPU time":
        # The timer of the kernel counts in ticks
        assert outcome.detail["reference_seconds"] >= 0.8 * work / 1e9


def test_an_instance_of_another_version_is_refused():
    assert run_trial(trial, task_of("Tunable", digest="sha256:00"), 0, 60.0).status == "refused"


def test_every_built_in_learner_counts_its_work_and_the_counts_grow():
    for name in set(registry.names("learner", builtin=True)) - {"provable"}:
        learner = registry.get("learner", name)()
        few, many = (learner.multiply_adds(n, 2, 12) for n in (256, 1024))
        assert 0 < few < many, name


@pytest.mark.parametrize("name", ["linear-attention", "low-degree"])
def test_cubic_fits_explain_nothing_of_a_parity_of_two_bits(name: str):
    """On all inputs a parity of degree five is orthogonal to what they fit: no number of examples would do."""
    signs = np.array([*product((-1, 1), repeat=8)], dtype=np.int8)
    X, hidden = signs.reshape(-1, 2, 4), Instance.generate(Parity(4, 2), 0).teacher
    learner = registry.get("learner", name)(**grid.OPTIONS[name]).fit(X, hidden(X))
    assert open_error(X, learner.predict(X), hidden(X), variance=1.0) > 0.999


def test_the_grid_is_every_built_in_solver_on_every_instance():
    tasks = grid.tasks(False)
    assert len({task.identity for task in tasks}) == len(tasks)
    on: dict[tuple[str, str], set[str]] = {}
    for task in tasks:
        name = next(task.solver[key] for key in ("learner", "attack") if key in task.solver)
        on.setdefault((task.solver["kind"], name), set()).add(task.params["instance"])
    everything = set(suite.entries())
    hard = {name for name in everything if not name.startswith("nice")}
    # The student on torch takes the steps of the student, and is there only where torch is.
    for learner in set(registry.names("learner", builtin=True)) - {"adam", "sgd"}:
        assert on["learner", learner] == everything
    assert on["learner", "sgd"] == hard
    assert all(on["attack", attack] == hard for attack in ATTACKS)
    for name in everything:
        budgets = {
            task.budget["samples"]
            for task in tasks
            if task.params["instance"] == name and task.solver["kind"] == "learner"
        }
        assert len(budgets) == 1


def test_the_committed_rows_are_those_of_the_grid():
    """A fresh run would make the rows of the article: no task is left, and none is of an earlier grid."""
    committed = read(Path(__file__).parents[2] / "reports" / "stress")
    assert {row.task.identity for row in committed.rows} == {task.identity for task in grid.tasks(False)}


def test_a_budget_below_one_fit_is_told_apart_from_a_fit_that_was_ended():
    tasks = grid.user_learner_tasks(False, "lbfgs")
    ends = [("multiply-adds", 0), ("CPU time", 0), ("multiply-adds", 256), ("examples", 512)]
    rows = [
        Row(task, Outcome("budget", cost, {"limit": limit}))
        for task, (limit, cost) in zip(tasks, ends, strict=False)
    ]
    lbfgs = grid.board(frame(rows), "learner")
    assert lbfgs.ending.tolist() == ["never fitted", "budget", "budget", "budget"]
    assert grid.stopped_after(lbfgs).to_dict() == {("nice-m2-d8", "lbfgs"): 256.0}


@pytest.mark.parametrize("name", [f"{cell}-0" for cell in HIDING])
def test_the_sum_of_projections_of_a_hidden_secret_has_rank_one_on_any_examples(name: str):
    """Outputs are 0 but for their first coordinate, so phase 1 of `provable` refuses (docs/learner.md, section 5)."""
    data = suite.instance(name).examples(400, 3)
    assert not data.Y[:, :, 1:].any()
    for estimator in (crude, ols, estimate):
        sum_of_w = estimator(data.X.astype(float), data.Y)
        assert np.linalg.svd(sum_of_w, compute_uv=False)[1] == 0
        assert refusal(sum_of_w, data.Y)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("study run games --learner trial_learners:Late", "no trial of study games has a place for"),
        ("board --learner trial_learners:Absent", "cannot load the learner trial_learners:Absent"),
        ("board --learner direkt", "unknown learner 'direkt'; did you mean 'direct'?"),
        ("board --examples 9", "Invalid value for '--examples'"),
        ("board --suite harder", "unknown tier of study stress 'harder'"),
        ("study run stress --learner student", "`hardness board --suite TIER --learner NAME`"),
    ],
)
def test_what_cannot_join_is_one_line(tmp_path, line: str, message: str):
    check_refused(run_command(f"{line} --out {tmp_path}/out"), message)
    assert not (tmp_path / "out").exists()
