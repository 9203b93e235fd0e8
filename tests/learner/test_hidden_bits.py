"""The study exponential-in-m: its plan, its trials and its laws."""

from dataclasses import replace
from math import comb
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hardness.engine import rows
from hardness.errors import InputError
from learner.studies import exponential_in_m as study
from learner.studies.exponential_in_m import laws, plan
from learner.studies.exponential_in_m.plan import HARD, Cell

FIXED = plan.read()


def test_a_changed_plan_is_refused(tmp_path):
    text = plan.FILE.read_text(encoding="utf-8")
    changed = tmp_path / "changed.toml"
    changed.write_text(text.replace("[8, 32]", "[8, 33]", 1), encoding="utf-8")
    with pytest.raises(InputError, match="is not the plan that was fixed before the rows"):
        plan.tasks(changed)


def test_the_plan_lists_the_committed_rows_each_once():
    """Settings that won follow from tuning.csv; none was judged on a seed that it was tuned on."""
    tasks = plan.tasks()
    committed = rows.read(Path(__file__).parents[2] / "reports" / "exponential-in-m").rows
    assert sorted(task.identity for task in tasks) == sorted(row.task.identity for row in committed)
    assert not any(task.tuning for task in tasks)
    assert {task.solver["plan"] for task in tasks} == {FIXED["digest"]}


def test_a_trial_is_repeated_bit_for_bit_and_widths_meet_the_same_examples():
    (task,) = plan.runs(FIXED, Cell(HARD, 3, 9, 16), "default", {}, [0])
    first = study.trial(task, root=7, guard=60)
    assert first.status == "solved"
    assert study.trial(task, root=8, guard=60) == first  # the root is the plan's digest
    wide = replace(task, solver={**task.solver, "params": {"heads": 64}})
    roles = [[each.shared().seed(5, role) for role in ("instance", "examples")] for each in (task, wide)]
    assert roles[0] == roles[1]


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
        (errors,) = laws.errors(cells, [planted])
        assert errors[name] == pytest.approx(1, abs=1e-3)
    two = laws.LAWS["a √N + b N/M"]
    (errors,) = laws.errors(cells, [np.exp(two.predicted(two.logarithms(cells), np.log([110, 16, 1.5])))])
    assert errors["c N"] > 2 > 1.01 > errors["a √N + b N/M"]
