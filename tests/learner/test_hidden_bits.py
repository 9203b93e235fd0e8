"""The study `exponential-in-m`: trials, laws, the plans that no one changes, and what the rows say."""

import re
from dataclasses import replace
from math import comb, log
from pathlib import Path

import made_up
import numpy as np
import pytest
from commands import check_refused, run_command
from committed import ROOT

from hardness.engine.outcome import Outcome
from hardness.engine.store import Row, Store
from hardness.engine.task import Task
from hardness.errors import InputError
from hardness.statistics.regression import regress
from hardness.studies import catalog
from learner.studies import exponential_in_m as grid
from learner.studies.exponential_in_m import content, frames, laws, plan, settings
from learner.studies.exponential_in_m.arms import ARMS, COINS, HARD, MILD, TENT, Problem
from learner.studies.exponential_in_m.cells import hidden
from learner.studies.exponential_in_m.trial import trial

FILE = plan.PLANS[plan.THIRD]
PLAN = plan.read(FILE)
PLACES = [(cell.s, cell.d) for cell in hidden()]
LAW = laws.Law(laws.N_OVER_D, np.array([log(60.0)]))


# The plans


def test_a_plan_with_another_cell_is_refused(tmp_path: Path) -> None:
    """Whoever changes a cell, without or with a new digest, has another plan."""
    text = FILE.read_text(encoding="utf-8")
    changed = tmp_path / "plan3.toml"
    changed.write_text(text.replace('["hidden set", 16, 4,', '["hidden set", 17, 4,'), encoding="utf-8")
    with pytest.raises(InputError, match="was changed after it was fixed"):
        plan.tasks(changed)
    again = plan.digest({**PLAN, "cells": PLAN["cells"][1:]})
    first = next(line for line in text.splitlines(keepends=True) if line.startswith('  ["'))
    changed.write_text(text.replace(first, "", 1).replace(PLAN["digest"], again), encoding="utf-8")
    with pytest.raises(InputError, match="another plan"):
        plan.tasks(changed)
    line = f"study run exponential-in-m --plan {changed} --out {tmp_path}"
    check_refused(run_command(line), "another plan")
    assert not (tmp_path / "rows.db").exists()


@pytest.mark.parametrize("series", plan.PLANS)
def test_every_plan_lists_its_trials(series: str) -> None:
    tasks, fixed = plan.tasks(plan.PLANS[series]), plan.read(plan.PLANS[series])
    assert {task.solver["series"] for task in tasks} == {series}
    assert {task.solver["plan"] for task in tasks} == {fixed["digest"]}
    assert len({task.identity for task in tasks}) == len(tasks)


def test_rows_of_another_plan_are_refused() -> None:
    task = plan.tasks(FILE)[0]
    other = replace(task, solver={**task.solver, "plan": "0" * 64})
    with pytest.raises(InputError, match="run the study into another --out"):
        content.content([Row(other, Outcome("solved", 9, {}))])


def test_seeds_of_a_plan_are_its_digest() -> None:
    short = replace(plan.tasks(FILE)[0], budget={"samples": 2048})
    assert trial(short, 0, 60.0) == trial(short, 1, 60.0)  # whatever the root seed of the run
    free = replace(short, solver={k: v for k, v in short.solver.items() if k != "plan"})
    assert trial(free, 0, 60.0).detail != trial(short, 0, 60.0).detail


def test_the_plan_has_the_settings_of_the_tuning() -> None:
    for arm, d, s, *setting, _, _ in PLAN["cells"]:
        tuned = Problem(arm if arm in {cell.arm for cell in settings.winners()} else HARD, d, s)
        assert list(settings.tuned(tuned).values()) == setting


def test_a_plans_power_is_what_simulation_says() -> None:
    """The table that was written down before the run, again with other random numbers."""
    rng, truths = np.random.default_rng(11), {truth["law"]: truth["beta"] for truth in PLAN["truths"]}
    for row in (row for row in PLAN["power"] if row["scatter"] == 0.5):
        truth = laws.Law(row["truth"], np.array(truths[row["truth"]]))
        outcomes = [laws.answers(PLAN, laws.simulated(truth, PLACES, 0.5, rng)).outcomes for _ in range(40)]
        for key in (key for key in row if ": " in key):
            question, _, outcome = key.partition(": ")
            share = np.mean([each[question] == outcome for each in outcomes])
            assert abs(share - row[key]) < 0.3, (row["truth"], key)


def test_rivals_pass_for_combinatorial_in_at_most_one_of_twenty() -> None:
    for row in PLAN["power"]:
        if row["truth"] in laws.RIVALS:
            assert row["primary: combinatorial"] <= 0.05
            assert row["primary, new cells: combinatorial"] <= 0.05
        if row["truth"] in laws.COMBINATORIAL and row["scatter"] < 0.6:
            assert row["primary: combinatorial"] >= 0.9


# Laws


@pytest.mark.parametrize("name", laws.LAWS)
def test_laws_find_what_they_are_made_of(name: str) -> None:
    truth = laws.Law(name, np.array([1.0, 0.5, 0.25][: len(laws.LAWS[name].columns(2, 8))]))
    cells = laws.simulated(truth, PLACES, 0.0, np.random.default_rng(0))
    assert laws.fit(name, cells).beta == pytest.approx(truth.beta)
    assert laws.typical(laws.errors(truth, cells)) == pytest.approx(1.0)


def test_answers_when_the_law_is_known() -> None:
    cells = laws.simulated(LAW, PLACES, 1e-3, np.random.default_rng(0))
    answers = laws.answers(PLAN, cells)
    assert answers.outcomes["primary"] == answers.outcomes["primary, new cells"] == "combinatorial"
    assert answers.outcomes["tertiary"] == "N/d"
    cells = laws.simulated(
        laws.Law("c d^a s^b", np.array([-5.0, 2.3, 6.5])), PLACES, 1e-3, np.random.default_rng(0)
    )
    assert laws.answers(PLAN, cells).outcomes["primary"] == "rival"
    subsets = laws.Law(laws.SUBSETS, np.array([4.0]))
    answers = laws.answers(PLAN, laws.simulated(subsets, PLACES, 0.05, np.random.default_rng(0)))
    assert answers.outcomes["secondary"] == "as C(d-1, s-1)"
    assert answers.outcomes["tertiary"] == "C(d-1, s-1)"


def test_a_bound_scores_only_where_it_contradicts() -> None:
    law = laws.Law("c 2^(d-1)", np.array([0.0]))
    cells = [laws.LogMedian((3, 9), law.at((3, 9)) + off, off != 0.5) for off in (1.0, -1.0, 0.5)]
    assert laws.errors(law, cells).tolist() == pytest.approx([1.0, 0.0, 0.5])


def test_least_squares_and_its_interval() -> None:
    """The interval holds the truth in about 95 % of simulated data sets."""
    rng = np.random.default_rng(0)
    X, inside = np.column_stack([np.ones(12), np.arange(12.0)]), 0
    for _ in range(200):
        low, high = regress(X, X @ [1.0, 2.0] + 0.3 * rng.standard_normal(12)).limits(1)
        inside += low <= 2.0 <= high
    assert 0.9 <= inside / 200 <= 0.99


def test_censored_cells_pull_a_fit_upwards_and_are_not_dropped() -> None:
    X = np.column_stack([np.ones(8), np.arange(8.0)])
    y = 1.0 + 2.0 * X[:, 1] + np.tile([0.1, -0.1], 4)
    above = np.arange(8) == 7
    capped = np.where(above, 13.0, y)
    fit, without = regress(X, capped, above), regress(X[:7], y[:7])
    assert fit.beta == pytest.approx(without.beta, abs=0.05)  # a bound below the line says little
    capped[7] = 20.0  # and one above it pulls
    assert regress(X, capped, above).beta[1] > without.beta[1] + 0.05
    with pytest.raises(InputError, match="do not determine"):
        regress(X, capped, np.arange(8) > 0)


# Trials and rows


@pytest.mark.parametrize(
    ("arm", "status"), [(HARD, "solved"), (TENT, "solved"), (MILD, "solved"), (COINS, "budget")]
)
def test_every_arm_is_solved_but_random_labels(arm: str, status: str) -> None:
    setting = dict(zip(settings.OPTIONS, (0.03, 16, 0.03, 4), strict=True))
    (task,) = plan.diagonal(Problem(arm, 12, 4), setting, 150_000, range(1), {})
    outcome = trial(task, 0, 60.0)
    assert outcome.status == status
    assert outcome.detail["weights"] == 16 * 13
    assert (outcome.detail["open_error"] > 0.9) == (status == "budget")
    assert outcome.cost is not None
    assert abs(outcome.detail["informative"] - outcome.cost / 2) < 5 * outcome.cost**0.5


def test_the_grid_runs_along_one_ray_with_its_controls() -> None:
    tasks = grid.tasks(False)
    runs = [task for task in tasks if task.solver["kind"] == "diagonal"]
    assert {task.solver["arm"] for task in runs} == {HARD, *grid.CONTROLS}
    assert {(task.params["heads"], task.params["dim"]) for task in runs} == {(m, 4 * m) for m in grid.HEADS}
    assert len({task.identity for task in tasks}) == len(tasks)
    assert sum(map(grid.seconds, tasks)) < 240
    assert len(grid.tasks(True)) < 100


def test_a_row_that_did_not_end_leaves_the_plan_open() -> None:
    tasks, rng = plan.tasks(FILE), np.random.default_rng(0)
    rows = [Row(task, made_up.outcome(task, rng)) for task in (*grid.tasks(True), *tasks[:-1])]
    assert content.content([*rows, Row(tasks[-1])]).numbers["judged"] is None
    whole = content.content([*rows, Row(tasks[-1], made_up.outcome(tasks[-1], rng))]).numbers
    assert whole["judged"]["outcomes"]["primary"] == "combinatorial"


def test_a_page_of_made_up_rows(tmp_path: Path) -> None:
    """A page with a headline, its figures and tables; without rows of the plan, tests/studies/test_study_report.py."""
    rng, study = np.random.default_rng(0), catalog.get("exponential-in-m")
    tasks = [*study.tasks(False), *study.plan(FILE)]
    with Store(tmp_path / "rows.db", {"study": study.name, "seed": 0, "quick": False}) as store:
        store.plan(tasks)
        for task in tasks:
            store.add(task, made_up.outcome(task, rng), {})
        headline = catalog.page(store, tmp_path)
    assert "Along d = 3m, 4m, 8m" in headline
    assert "; random layers: " in headline
    assert len(headline.split()) <= 50
    assert "What else the plan would have said" in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert (tmp_path / "costs.svg").exists()


def test_a_page_of_the_ray_alone_speaks_of_no_other_and_links_to_places_that_exist(tmp_path: Path) -> None:
    """What `make study` shows; a factor behind the word learner was once taken for a section of docs/learner.md."""
    rng, study = np.random.default_rng(0), catalog.get("exponential-in-m")
    with Store(tmp_path / "rows.db", {"study": study.name, "seed": 0, "quick": False}) as store:
        store.plan(study.tasks(False))
        for task in study.tasks(False):
            store.add(task, made_up.outcome(task, rng), {})
        assert catalog.page(store, tmp_path).startswith("Along d = 4m")
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "heads, along the ray d = 4m: hidden sets" in page
    assert "d = 3m" not in page.partition("What was done")[0]
    for file, anchor in re.findall(r'"\.\./\.\./docs/([\w-]+\.md)#([^"]+)"', page):
        assert f'<a id="{anchor}"></a>' in (ROOT / "docs" / file).read_text(encoding="utf-8")


def test_medians_of_cells_count_unsolved_runs_as_costlier() -> None:
    tasks = [task for task in grid.tasks(True) if task.solver.get("arm") == HARD][:5]
    costs = (1000.0, 2000.0, 4000.0, None, None)
    rows = [
        Row(
            task,
            Outcome("solved" if cost else "budget", cost or float(task.budget["samples"]), {"weights": 144}),
        )
        for task, cost in zip(tasks, costs, strict=True)
    ]
    (line,) = frames.medians(frames.runs_of(rows)).to_dict("records")
    assert (line["median"], bool(line["censored"]), line["solved"], line["runs"]) == (4000.0, False, 3, 5)
    assert line["work"] == 4000.0 * ARMS[HARD].width * 9
    assert line["sets"] == comb(7, 2)
    assert line["high"] == tasks[0].budget["samples"]


def test_the_dense_student_still_runs() -> None:
    solver = {"kind": "learner", "learner": "student", "params": {"rate": 0.03, "l1": 0.12}}
    task = Task("parity", {"dim": 8, "heads": 2}, solver, {"samples": 60_000}, 0)
    assert trial(task, 0, 60.0).status == "solved"
