"""The study exponential-in-m: its plan, its trials and its laws."""

from dataclasses import replace
from math import comb

import numpy as np
import pandas as pd
import pytest

from hardness.engine.outcome import Outcome
from hardness.engine.task import APART
from hardness.engine.tuning import Wanted
from hardness.errors import InputError
from learner.studies import exponential_in_m as study
from learner.studies.exponential_in_m import laws, plan
from learner.studies.exponential_in_m.plan import HARD, TENT, Cell

FIXED = plan.read()


def test_a_changed_plan_is_refused(tmp_path):
    text = plan.FILE.read_text(encoding="utf-8")
    changed = tmp_path / "changed.toml"
    changed.write_text(text.replace("[8, 32]", "[8, 33]", 1), encoding="utf-8")
    with pytest.raises(InputError, match="was changed after it was fixed"):
        plan.tasks(changed)
    other = {**FIXED, "runs": 3}
    signed = text.replace("runs = 15", "runs = 3", 1).replace(FIXED["digest"], plan.digest(other))
    changed.write_text(signed, encoding="utf-8")
    with pytest.raises(InputError, match="is another plan than this study fixed"):
        plan.tasks(changed)


def test_the_plan_lists_every_trial_once_and_no_judged_run_has_a_tuning_seed():
    tasks = plan.tasks()
    assert len({task.identity for task in tasks}) == len(tasks)
    assert not any(task.tuning for task in tasks)
    assert {task.solver["plan"] for task in tasks} == {FIXED["digest"]}
    cell = Cell(HARD, 4, 16, 64)
    chosen = plan.tuning(FIXED, cell, Wanted(1, 2, 5000))
    assert (chosen.repetition, chosen.budget["samples"]) == (APART + 2, 5000)
    assert chosen.solver["params"] == {"heads": 64, "batch": 64}


def test_the_plan_holds_what_it_says():
    cells = plan.hidden(FIXED)
    assert {cell.width for cell in cells if (cell.m, cell.d) == (8, 32)} == {16, 64, 256}
    assert {cell.width for cell in cells if (cell.m, cell.d) == (11, 33)} == {64, 256}
    assert all(cell.m < cell.d for cell in cells)
    controls = plan.controls(FIXED)
    assert {cell[1:] for cell in plan.tuned(FIXED) if cell.arm == HARD} >= {cell[1:] for cell in controls}
    assert {cell.m for cell in controls if cell.arm == TENT} == {4, 6, 8}


def test_winners_are_what_the_runs_of_their_cell_say():
    cell = Cell(HARD, 3, 9, 16)
    made = []

    def run(tasks):
        made.extend(tasks)
        slow = {task.identity for task in tasks if task.solver["params"].get("output_rate") != 0.01}
        return {task.identity: Outcome("solved", 700 if task.identity in slow else 400) for task in tasks}

    fresh = plan.winners(FIXED, cell, run)
    assert len(fresh) == FIXED["runs"]
    assert {task.solver["params"]["output_rate"] for task in fresh} == {0.01}
    assert len(made) == 9 * 3 + 3 * 6
    assert all(task.repetition >= APART for task in made)


def test_a_trial_is_repeated_bit_for_bit_and_widths_meet_the_same_examples():
    (task,) = plan.runs(FIXED, Cell(HARD, 3, 9, 16), "default", {}, [0])
    first = study.trial(task, root=7, guard=60)
    assert first.status == "solved"
    assert study.trial(task, root=8, guard=60) == first  # the root is the plan's digest
    wide = replace(task, solver={**task.solver, "params": {"heads": 64}})
    roles = [[each.shared().seed(5, role) for role in ("instance", "examples")] for each in (task, wide)]
    assert roles[0] == roles[1]


def test_labels_that_are_coins_are_never_learned_and_noise_is_not_judged():
    (task,) = plan.trials(Cell(HARD, 2, 8, 16), "coins", {}, 6000, [0], labels="coins")
    assert study.learned(task, 0).status == "budget"
    (clean,) = plan.trials(Cell(HARD, 2, 8, 16), "flips", {}, 50_000, [0])
    flipped = replace(clean, params={**clean.params, "flip": 0.1})
    assert study.learned(flipped, 0).detail["error"] <= 0.1


def test_heads_that_hold_the_set_are_counted():
    rng = np.random.default_rng(0)
    weights = np.vstack([rng.normal(size=(10, 5)) * 0.1, np.ones(5)])
    support = np.array([2, 5, 9])
    assert study.holders(weights, support) == 0
    weights[support, 3] = -4, 4, 0.9
    assert study.holders(weights, support) == 1
    weights[7, 3] = 0.5
    assert study.holders(weights, support) == 0


def test_laws_find_what_was_planted():
    """Costs by each law exactly: it is the one that predicts large classes, and the others err."""
    cells = pd.DataFrame(
        [(m, d, M) for m in range(2, 9) for d in (3 * m, 4 * m, 24) for M in (16, 64, 256)],
        columns=["m", "d", "M"],
    )
    sets = [comb(d - 1, m) for m, d in zip(cells.m, cells.d, strict=True)]
    cells = cells.assign(n=cells.d - 1, N=sets, p=0.06)
    for name, law in laws.LAWS.items():
        v = np.append(np.log([5, 16, *[1] * 9])[: len(law.columns) + law.exponents], np.log(1.5))
        planted = np.exp(law.predicted(law.logarithms(cells), v))
        assert laws.errors(cells, planted)[name] == pytest.approx(1, abs=1e-3)
    two = laws.LAWS["a √N + b N/M"]
    errors = laws.errors(cells, np.exp(two.predicted(two.logarithms(cells), np.log([110, 16, 1.5]))))
    assert errors["c N"] > 2 > 1.01 > errors["a √N + b N/M"]
