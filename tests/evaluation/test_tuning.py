"""Tuning by successive halving: the menu, which runs are asked for, who wins; and a sweep that tunes a learner."""

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.engine.outcome import Outcome
from hardness.engine.task import Task
from hardness.engine.tuned import run_of, tune
from hardness.errors import InputError
from hardness.evaluation.tuning import APART, Halving, Run, Wanted, check, halving, menu
from hardness.studies.sweep.grid import read
from hardness.studies.sweep.study import run_grid

BY_HEART = """
import numpy as np
from sklearn.base import BaseEstimator


class ByHeart(BaseEstimator):
    def __init__(self, level: float = 1.0):
        self.level = level

    def fit(self, X, Y):
        self.known_ = {x.tobytes(): y for x, y in zip(X, Y)}
        return self

    def predict(self, X):
        return self.level * np.stack([self.known_.get(x.tobytes(), np.zeros(x.shape)) for x in X])
"""


def task(cell: str, wanted: Wanted) -> Task:
    return Task("parity", {"cell": cell}, {"setting": wanted.setting}, {"samples": wanted.cap}, APART + wanted.seed)


def tuned(costs: dict[str, Sequence[float]], start: int, most: int) -> tuple[dict[str, int | None], int]:
    """Winners where setting i of a cell solves every seed at a cost of its own; and the examples that were spent."""
    spent = 0

    def run(tasks: Sequence[Task]) -> dict[str, Outcome]:
        nonlocal spent
        ended = {}
        for each in tasks:
            cost, cap = costs[each.params["cell"]][each.solver["setting"]], each.budget["samples"]
            spent += min(cost, cap)
            ended[each.identity] = Outcome("solved" if cost <= cap else "budget", min(cost, cap))
        return ended

    rungs = {cell: halving(len(own), 3, start, most) for cell, own in costs.items()}
    return tune(rungs, task, run), spent


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=12, unique=True), st.integers(1, 10**4))
@settings(max_examples=50, deadline=None)
def test_the_cheapest_setting_wins_wherever_the_cap_starts(costs: list[int], start: int) -> None:
    winners, _ = tuned({"a": costs, "b": costs[::-1]}, start, 2_000_000)
    assert winners == {"a": costs.index(min(costs)), "b": len(costs) - 1 - costs.index(min(costs))}


def test_where_nothing_solves_nobody_wins() -> None:
    assert tuned({"a": [10, 20, 30]}, 2, 8)[0] == {"a": None}


def test_a_dear_setting_costs_no_more_than_the_cap_of_its_rung() -> None:
    assert tuned({"a": [100, 10**9, 10**9, 10**9]}, 100, 10**10)[1] == 4 * 100 + 2 * 100


def test_a_setting_that_often_fails_loses_to_one_that_costs_more() -> None:
    rungs = Halving(2, (4,), (1,), 1000, 1000)
    runs = {(0, j): Run(100, True) if j == 0 else Run(1000, False) for j in range(4)} | {
        (1, j): Run(600, True) for j in range(4)
    }
    assert rungs.winner(runs) == 1


def test_only_what_solved_goes_on_and_the_cap_rises_until_the_second_rung_is_filled() -> None:
    rungs = Halving(4, (1, 2, 3), (3, 2, 1), 100, 400)
    found = {(i, 0): Run(cost, cost < 100) for i, cost in enumerate((50, 100, 60, 100))}
    assert rungs.wanted(found) == [Wanted(0, 1, 200), Wanted(2, 1, 200)]
    found[2, 0] = Run(100, False)
    assert {wanted.cap for wanted in rungs.wanted(found)} == {200}
    assert {wanted.setting for wanted in rungs.wanted(found)} == {1, 2, 3}


def test_crashes_are_final_and_do_not_run_again_with_more() -> None:
    assert run_of(Outcome("error", None), 50) == Run(50, False, True)
    assert run_of(Outcome("budget", 50), 50).final is False


def test_a_menu_has_options_of_the_learner_only() -> None:
    assert len(menu({"rate": [1, 2, 3], "l1": [0, 1]}, 4, seed=1)) == 4
    check("student", [{"rate": 0.1, "l1": 0.0}])
    with pytest.raises(InputError, match="unknown option of Student 'speed'"):
        check("student", [{"speed": 1}])


@pytest.mark.parametrize(
    "bad", ["[tune]\nsettings = 2", "[tune]\nmenu.rate = []", "[tune]\nmenu.rate = [1]\nspeed = 1"]
)
def test_what_is_no_tuning_is_refused(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "grid.toml"
    path.write_text(
        f'family = "nondegenerate"\n[params]\ndim = 4\ntokens = 2\nheads = 1\n[solver]\nlearner = "student"\n{bad}\n'
    )
    with pytest.raises(InputError):
        read(path)


USERS = pytest.param("by_heart:ByHeart", "parity", "heads = 2", "level", -1, 1, 512, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("learner", "family", "more", "option", "bad", "good", "samples"),
    [("student", "nondegenerate", "tokens = 2\nheads = 1", "rate", 1e-09, 0.03, 20_000), USERS],
)
def test_a_sweep_tunes_a_learner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, learner: str, family: str, more: str, option: str, bad: float,
    good: float, samples: int,
) -> None:  # fmt: skip
    """Of two settings the one that solves is found on seeds of its own, and all judged runs have it; a user's too."""
    (tmp_path / "by_heart.py").write_text(BY_HEART)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    path = tmp_path / "grid.toml"
    path.write_text(
        f'family = "{family}"\nruns = 2\n[params]\ndim = 3\n{more}\n[solver]\nlearner = "{learner}"\n'
        f"[budget]\nsamples = {samples}\n[tune]\nmenu.{option} = [{bad}, {good}]\nseeds = 2\n"
    )
    run_grid(read(path), tmp_path / "out", workers=0)
    with (tmp_path / "out" / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    judged = [row for row in rows if int(row["repetition"]) < APART]
    assert [float(row[f"solver.params.{option}"]) for row in judged] == [good, good]
    assert [row["status"] for row in judged] == ["solved", "solved"]
    assert {float(row[f"solver.params.{option}"]) for row in rows} == {bad, good}
    assert "tuned over the same menu" in (tmp_path / "out" / "index.html").read_text()
