"""Tuning by successive halving: the menu, which runs are asked for, who wins; and a sweep that tunes a learner."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hardness
from hardness.engine.outcome import Outcome
from hardness.engine.task import Task
from hardness.engine.tuning import APART, Halving, Run, Wanted, halving, menu, run_of, tune
from hardness.errors import InputError
from hardness.studies.sweep.grid import Grid, read
from hardness.studies.sweep.study import run_grid


def task(cell: str, wanted: Wanted) -> Task:
    return Task(
        "parity", {"cell": cell}, {"setting": wanted.setting}, {"samples": wanted.cap}, APART + wanted.seed
    )


def tuned(costs: dict[str, Sequence[float]], start: int, highest: int) -> tuple[dict[str, int | None], int]:
    """Winners where setting i of a cell solves every seed at a cost of its own; and the examples that were spent."""
    spent = 0

    def run(tasks: Sequence[Task]) -> dict[str, Outcome]:
        nonlocal spent
        ended = {}
        for asked in tasks:
            cost, cap = costs[asked.params["cell"]][asked.solver["setting"]], asked.budget["samples"]
            spent += min(cost, cap)
            ended[asked.identity] = Outcome("solved" if cost <= cap else "budget", min(cost, cap))
        return ended

    rungs = {cell: halving(len(setting_costs), 3, start, highest) for cell, setting_costs in costs.items()}
    return tune(rungs, task, run), spent


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=12, unique=True), st.integers(1, 10**4))
@settings(max_examples=50, deadline=None)
def test_the_cheapest_setting_wins_wherever_the_cap_starts(costs: list[int], start: int) -> None:
    winners, _ = tuned({"a": costs, "b": costs[::-1]}, start, 2_000_000)
    assert winners == {"a": costs.index(min(costs)), "b": len(costs) - 1 - costs.index(min(costs))}


def test_where_nothing_solves_nobody_wins_and_a_rung_has_its_cap() -> None:
    assert tuned({"a": [10, 20, 30]}, 2, 8)[0] == {"a": None}
    assert tuned({"a": [100, 10**9, 10**9, 10**9]}, 100, 10**10)[1] == 4 * 100 + 2 * 100


def test_a_setting_that_often_fails_loses_to_one_that_costs_more() -> None:
    rungs = Halving(2, (4,), (1,), 1000, 1000)
    runs = {(0, j): Run(100, True) if j == 0 else Run(1000, False) for j in range(4)} | {
        (1, j): Run(600, True) for j in range(4)
    }
    assert rungs.winner(runs) == 1


def test_only_what_solved_goes_on_and_the_cap_rises_until_the_second_rung_is_filled() -> None:
    rungs = Halving(4, (1, 2, 3), (3, 2, 1), 100, 400)
    runs = {(i, 0): Run(cost, cost < 100) for i, cost in enumerate((50, 100, 60, 100))}
    assert rungs.wanted(runs) == [Wanted(0, 1, 200), Wanted(2, 1, 200)]
    runs[2, 0] = Run(100, False)
    assert {wanted.cap for wanted in rungs.wanted(runs)} == {200}
    assert {wanted.setting for wanted in rungs.wanted(runs)} == {1, 2, 3}


def test_crashes_are_final_and_do_not_run_again_with_more() -> None:
    assert run_of(Outcome("error", None), 50) == Run(50, False, True)
    assert run_of(Outcome("budget", 50), 50).final is False


def test_a_menu_has_options_of_the_learner_only() -> None:
    assert len(menu({"rate": [1, 2, 3], "l1": [0, 1]}, 4, seed=1)) == 4
    for bad in (
        {"menu": {"speed": [1]}},
        {"settings": 2},
        {"menu": {"rate": []}},
        {"menu": {"rate": [1]}, "speed": 1},
    ):
        with pytest.raises(InputError):
            Grid("nondegenerate", {"dim": 4, "tokens": 2, "heads": 1}, {"learner": "student"}, tune=bad)


def test_a_sweep_tunes_a_learner(tmp_path: Path) -> None:
    """Of two settings the one that solves is found on seeds of its own, and all judged runs have it."""
    path = tmp_path / "grid.toml"
    path.write_text(
        'family = "nondegenerate"\nruns = 2\n[params]\ndim = 3\ntokens = 2\nheads = 1\n[solver]\nlearner = "student"\n'
        "[budget]\nsamples = 20000\n[tune]\nmenu.rate = [1e-09, 0.03]\nseeds = 2\n"
    )
    run_grid(read(path), tmp_path / "out", workers=0)
    rows = hardness.rows(tmp_path / "out", tuning=True)
    judged = rows[~rows.tuning]
    assert judged[["status", "params.rate"]].values.tolist() == [["solved", 0.03]] * 2
    assert set(rows["params.rate"]) == {1e-09, 0.03}
