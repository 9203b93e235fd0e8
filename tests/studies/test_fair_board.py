"""The board is fair: who does not count its work solves no more for that, and is never ahead of one that counts."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from commands import run_command
from committed import page as committed_page
from committed import plain
from hypothesis import given
from hypothesis import strategies as st
from pandas import DataFrame

from hardness.engine.outcome import Outcome, Row, run_trial
from hardness.engine.task import Task
from hardness.instance import suite
from hardness.report import lines_of
from learner.studies import stress as grid
from learner.studies.stress.content import CURRENCIES, content, ranked
from learner.studies.stress.trial import trial

LAYERS = ("nice-m2-d8-0", "nice-m2-d8-1", "parity-s3-d16-0", "parity-s3-d16-1")
TORCH = pytest.mark.skipif(
    find_spec("torch") is None, reason="torch is not installed: no transformer on the board is tested"
)


def rows_of(name: str, instances: Sequence[str], work: float, examples: int | None = None) -> list[Row]:
    """The trials of a learner on instances, within a budget."""
    tasks = [task for task in grid.user_learner_tasks(False, name) if task.params["instance"] in instances]
    tasks = [grid.within(task, examples, work) for task in tasks]
    return [Row(task, run_trial(trial, task, 0, 300.0)) for task in tasks]


def solved(rows: Sequence[Row]) -> set[str]:
    return {row.task.params["instance"] for row in rows if row.outcome and row.outcome.status == "solved"}


def check_apart(counted: Sequence[Row], uncounted: Sequence[Row]) -> None:
    """Of two learners that solved as much, the one that does not count stands behind, in a table of its own."""
    tables = content([*counted, *uncounted]).tables
    (first, *_), (second, *_) = lines_of(tables["ranks"]), lines_of(tables["uncounted"])
    assert (first["solver"], first["counted"]) == (second["solver"].removesuffix("Uncounted"), "yes")
    assert (second["solved"], second["counted"]) == (first["solved"], "no")
    for currency in CURRENCIES:
        place, ahead = second[f"rank by {currency}"], first[f"rank by {currency}"]
        assert (place is None) == (currency == "multiply-adds" or first["solved"] == 0)
        assert place is None or place > ahead == 1


@pytest.mark.parametrize(("work", "count"), [(2e9, 2), (1e6, 0)])
@pytest.mark.slow
def test_a_learner_solves_as_much_without_its_count_and_ranks_behind(work: float, count: int) -> None:
    counted, uncounted = (
        rows_of(f"board_learners:{name}", LAYERS, work, 4096) for name in ("Attention", "AttentionUncounted")
    )
    assert solved(counted) == solved(uncounted)
    assert len(solved(counted)) == count
    if count:
        check_apart(counted, uncounted)
    for row in (*counted, *uncounted):
        assert row.outcome
        detail = row.outcome.detail
        assert detail["counted"] == (row in counted)
        assert ("multiply_adds" in detail) == (row in counted and row.outcome.cost != 0)
        limits = ("multiply-adds", "examples") if row in counted else ("CPU time", "examples")
        assert row.outcome.status == "solved" or detail["limit"] in limits
        assert detail["reference_seconds"] > 0 or row.outcome.cost == 0


@TORCH
@pytest.mark.slow  # twice five trainings of a transformer
def test_a_transformer_solves_as_much_without_its_count_and_ranks_behind() -> None:
    names = ("Transformer", "TransformerUncounted")
    for work in (float(grid.WORK), 5e7):
        instances = [f"nice-m2-d8-{number}" for number in range(3)] + ["parity-s3-d16-0"]
        counted, uncounted = (rows_of(f"board_transformers:{name}", instances, work) for name in names)
        assert solved(counted) == solved(uncounted)
        assert bool(solved(counted)) == (work == grid.WORK)
        if solved(counted):
            check_apart(counted, uncounted)


@TORCH
def test_what_torch_loads_for_the_first_optimizer_is_no_work_of_the_learner() -> None:
    (row,) = rows_of("board_transformers:Optimizes", LAYERS[:1], float(grid.WORK), 256)
    assert row.outcome
    assert row.outcome.detail["limit"] == "examples"
    assert row.outcome.detail["reference_seconds"] < 1  # it takes more than three to load


LINES = st.lists(
    st.tuples(
        st.sampled_from(("easy", "open")),
        st.integers(0, 3),
        st.sampled_from(("yes", "no", "not recorded")),
        st.none() | st.sampled_from((1.0, 2.0, 5.0)),
    ),
    max_size=12,
)


@given(LINES)
def test_no_learner_that_does_not_count_is_first_or_ahead_of_one_that_does_as_well(lines: list[Any]) -> None:
    table = DataFrame(lines, columns=["tier", "solved", "counted", "examples"])
    table["examples"] = table["examples"].astype(float)
    ranks: list[Any] = (
        ranked(table, "examples").astype(object).where(table["examples"].notna(), None).tolist()
    )
    placed = [(*line, rank) for line, rank in zip(lines, ranks, strict=True)]
    for tier, won, counted, cost, rank in placed:
        assert (rank is None) == (cost is None)
        if rank is None:
            continue
        assert rank >= (2 if counted == "no" else 1)
        rivals = [other for other in placed if other[0] == tier and other[4] is not None]
        apart = [other for other in rivals if other[2] == "no"]
        counting = [other for other in rivals if other[2] != "no"]
        if counted == "no":
            assert all(other[4] < rank for other in counting if other[1] >= won)
            better = [other for other in apart if (-other[1], other[3]) < (-won, cost)]
            ahead = [other for other in counting if other[1] >= won]
            assert rank == max(2, 1 + len(better) + len(ahead))
        else:
            better = [other for other in counting if (-other[1], other[3]) < (-won, cost)]
            assert rank == 1 + len(better)


def test_the_page_says_what_each_limit_was(tmp_path: Path) -> None:
    line = "board --suite easy --learner provable --learner mlp --family nondegenerate"
    run = run_command(f"{line} --examples 2000 --work 3e8 --workers 0 --out {tmp_path}/out")
    assert run.code == 0
    page = plain((tmp_path / "out" / "index.html").read_text(encoding="utf-8"))
    for words in ("2,000 examples, fewer at d above 4194", "3·10⁸ multiply-adds", "0.30 reference seconds"):
        assert words in page
    assert "; attacks solve" not in page  # none was run
    assert "; attacks solve" in plain(committed_page("stress"))
    (other,) = run_command(f"{line} --examples 3000 --workers 0 --out {tmp_path}/out").err.splitlines()
    assert "holds examples 2000" in other
    assert "reference_seconds" not in (tmp_path / "out" / "rows.csv").read_text()
    assert (tmp_path / "out" / "timings.csv").read_text().startswith("identity,seconds,reference_seconds\n")


def test_a_forecast_of_a_learner_that_nobody_has_timed_is_unknown() -> None:
    mine = "board --quick --learner trial_learners:Slow --dry-run"
    alone = run_command(mine)
    assert "time unknown; nothing was run" in alone.out
    assert " s of one process" not in alone.out
    both = run_command(f"{mine} --learner mlp")
    assert "trial_learners:Slow: 2 trials, time unknown" in both.out
    assert "mlp: 2 trials, about " in both.out
    assert '"seconds": null' in run_command(f"{mine} --json").out


def test_rows_that_never_say_whether_they_counted_are_not_ranked_as_if_they_had() -> None:
    [task] = [t for t in grid.user_learner_tasks(False, "mlp") if t.params["instance"] == LAYERS[0]]

    def line_of(detail: dict[str, Any], status: str = "solved") -> dict[str, Any]:
        tables = content([Row(Task(**vars_of(task)), Outcome(status, 256, detail))]).tables
        (line,) = lines_of(tables["ranks"]) + lines_of(tables["uncounted"])
        return line

    assert line_of({"explained": 0.95, "multiply_adds": 1e6})["counted"] == "yes"
    assert line_of({"explained": 0.95})["counted"] == "no"
    assert line_of({"explained": 0.95})["rank by examples"] == 2
    assert line_of({"reason": "no"}, "refused")["counted"] == "not recorded"
    assert line_of({"limit": "multiply-adds"}, "budget")["counted"] == "yes"


def vars_of(task: Task) -> dict[str, Any]:
    """The fields of a task."""
    return {name: getattr(task, name) for name in ("family", "params", "solver", "budget", "repetition")}


def test_the_suite_has_the_layers_of_these_tests() -> None:
    assert set(LAYERS) <= set(suite.entries())
