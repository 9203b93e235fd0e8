"""The board is fair: who does not count its work solves as much as one that counts."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from commands import run_command

from hardness.engine.outcome import Row, run_trial
from learner.studies import stress as grid
from learner.studies.stress import trial

LAYERS = ("nice-m2-d8-0", "nice-m2-d8-1", "parity-s3-d16-0", "parity-s3-d16-1")


def rows_of(name: str, instances: Sequence[str], work: float, examples: int | None = None) -> list[Row]:
    """The trials of a learner on instances, within a budget."""
    tasks = [task for task in grid.user_learner_tasks(False, name) if task.params["instance"] in instances]
    tasks = [grid.within(task, examples, work) for task in tasks]
    return [Row(task, run_trial(trial, task, 0, 300.0)) for task in tasks]


def solved(rows: Sequence[Row]) -> set[str]:
    return {row.task.params["instance"] for row in rows if row.outcome and row.outcome.status == "solved"}


@pytest.mark.parametrize(("work", "count"), [(2e9, 2), (1e6, 0)])
@pytest.mark.slow
def test_a_learner_solves_as_much_without_its_count(work: float, count: int) -> None:
    counted, uncounted = (
        rows_of(f"board_learners:{name}", LAYERS, work, 4096) for name in ("Attention", "AttentionUncounted")
    )
    assert solved(counted) == solved(uncounted)
    assert len(solved(counted)) == count
    for row in (*counted, *uncounted):
        assert row.outcome
        detail = row.outcome.detail
        assert detail["counted"] == (row in counted)
        assert ("multiply_adds" in detail) == (row in counted and row.outcome.cost != 0)
        limits = ("multiply-adds", "examples") if row in counted else ("CPU time", "examples")
        assert row.outcome.status == "solved" or detail["limit"] in limits
        assert row.outcome.cost == 0 or detail["reference_seconds"] > 0


def test_budgets_of_a_board_are_said_once(tmp_path: Path) -> None:
    line = "board --suite easy --learner provable --learner mlp --family nondegenerate"
    run = run_command(f"{line} --examples 2000 --work 3e8 --workers 0 --out {tmp_path}/out")
    assert run.code == 0
    (other,) = run_command(f"{line} --examples 3000 --workers 0 --out {tmp_path}/out").err.splitlines()
    assert "holds examples 2000" in other
    assert "reference_seconds" not in (tmp_path / "out" / "rows.csv").read_text()
    assert (tmp_path / "out" / "timings.csv").read_text().startswith("identity,seconds,reference_seconds\n")
