"""The study `switches`: its grid, its tuning, and a trial of every kind."""

from collections import Counter

import pandas as pd
import pytest

from hardness.engine.task import Task
from learner.studies.switches import (
    BLOCKS,
    CHAIN_CAP,
    RUNS,
    SIZE,
    STUDY,
    elimination_tries,
    exponent,
    tasks,
    tuning,
)


def test_students_taught_and_untaught_are_given_the_same() -> None:
    """Untaught ones had a cap of 1M examples once, and taught ones of 20M."""
    students = [task for task in tasks(False) if task.family == "nested" and task.solver["kind"] == "learner"]
    assert {task.budget["samples"] for task in students} == {CHAIN_CAP}
    assert {task.params["block"] for task in students} == set(BLOCKS)
    runs = Counter((task.params["block"], task.params["dim"]) for task in students)
    assert set(runs.values()) == {RUNS}
    for g in BLOCKS:
        settings = {setting for setting, seed in tuning.runs(g) if seed == 0}
        assert settings == set(range(len(tuning.MENU)))
        assert len(tuning.runs(g)) <= len(tuning.MENU) + 3 * 2
        assert max(run.cost for run in tuning.runs(g).values()) <= tuning.CAP


@pytest.mark.slow  # four seconds a setting
@pytest.mark.parametrize("setting", range(len(tuning.MENU)))
def test_the_gate_alone_helps_no_untaught_student(setting: int) -> None:
    """As taught ones are handed it: signs, and 0 where the gate is closed. Fixed seed; the page says it of the menu."""
    params = {"labels": 1, **tuning.options_of(setting)}
    solver = {"kind": "learner", "learner": "learner.chain:ChainStudent", "params": params}
    budget = {"samples": tuning.CAP}
    task = Task("nested", {"dim": tuning.DIM, "size": SIZE, "block": SIZE}, solver, budget, tuning.APART)
    outcome = STUDY.trial(task, 0, 600.0)
    assert outcome.status == "budget"
    assert abs(outcome.detail["accuracy"] - 0.5) < 0.05


@pytest.mark.parametrize(
    "kind", ["chain", "biased", "membership", "sq", "low degree", "elimination", "lattice"]
)
def test_every_kind_of_trial_ends(kind):
    task = min((t for t in tasks(True) if t.solver["kind"] == kind), key=STUDY.seconds)
    outcome = STUDY.trial(task, 0, 60.0)
    assert outcome.status == ("refused" if kind == "lattice" else "solved")
    if kind in ("chain", "biased"):
        assert outcome.detail["needed"] <= outcome.cost <= outcome.detail["suffice"]


def test_low_degree_stands_where_it_is_predicted():
    """Fixed seed: 4000 data sets each, so the shift is known to about 2 %; five of these."""
    task = next(t for t in tasks(False) if t.solver["kind"] == "low degree")
    outcome = STUDY.trial(task, 0, 60.0)
    assert abs(outcome.detail["shift"] - 1) < 0.12
    assert abs(outcome.detail["shift at degree s"]) < 0.12
    assert elimination_tries(0.0) == 1


def test_censored_cells_have_no_part_in_an_exponent() -> None:
    lines = pd.DataFrame({"dim": [12, 16], "costs": [[10.0, 12.0], [20.0, 30.0]], "whole": [True, False]})
    assert exponent(lines) is None
    whole = exponent(lines.assign(whole=True))
    assert whole is not None
    assert whole.value > 0
