"""Axes of a grid: expressions of other parameters, zipped axes, a menu a learner."""

from itertools import product
from pathlib import Path

import pytest
from commands import answer, check_refused, run_command
from hypothesis import given
from hypothesis import strategies as st

import hardness
from hardness.engine.outcome import Outcome
from hardness.errors import InputError
from hardness.studies.sweep.axes import cells, size
from hardness.studies.sweep.grid import Grid

RAY = """
family = "parity"
runs = 1
{zip}
[params]
dim = {dim}
heads = [2, 3]

[solver]
strategy = "sign-batch"
"""
numbers = st.integers(0, 9).map(str)
texts = st.recursive(
    numbers | st.sampled_from(["heads", "bits"]),
    lambda part: st.tuples(part, st.sampled_from([" + ", "-", "*"]), part).map(lambda p: f"({''.join(p)})"),
    max_leaves=8,
).filter(lambda text: len(text) < 100 and text.startswith("("))


@given(texts, st.integers(-5, 40), st.integers(0, 40))
def test_an_expression_is_worth_what_python_says(text, heads, bits):
    (cell,) = cells({"dim": text, "heads": heads, "bits": bits})
    assert cell["dim"] == eval(text, {"heads": heads, "bits": bits})


def test_expressions_of_expressions_and_zipped_axes():
    table = {"a": "b//2", "b": "2*c+1", "c": [1, 2], "d": [5, 6], "e": [7, 8]}
    every = cells(table, zipped=["d", "e"])
    assert [tuple(cell.values()) for cell in every] == [
        ((2 * c + 1) // 2, 2 * c + 1, c, d, e) for c, (d, e) in product([1, 2], [(5, 7), (6, 8)])
    ]
    assert size(table, ["d", "e"]) == len(every) == 4


@pytest.mark.parametrize(
    ("dim", "axes", "words"),
    [
        ('"4*head"', "", "'head'; did you mean 'heads'"),
        ('"4*dim"', "", "lead in a circle: dim -> dim"),
        ('"4**heads"', "", "integers, names of other parameters"),
        ('"8//(heads-2)"', "", "by no zero"),
        ('"4 heads"', "", "dim of parity must be of type int"),
        ("[8, 9, 10]", 'zip = ["dim", "heads"]', "dim, heads have [3, 2]"),
        ("[8, 9]", 'zip = ["dim", "head"]', "unknown axis of zip 'head'"),
    ],
)
def test_what_is_no_expression_and_no_pair_is_one_line(tmp_path, dim, axes, words):
    (tmp_path / "grid.toml").write_text(RAY.format(dim=dim, zip=axes))
    check_refused(run_command(f"sweep {tmp_path}/grid.toml --out {tmp_path}/out --workers 0"), words)


def swept(family, out, **grid):
    """The rows of a grid, each cell run once in this process."""
    return hardness.sweep(family, **grid, runs=1, workers=0, out=out)


def test_a_ray_from_a_file_and_from_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("ray.toml").write_text(RAY.format(dim='"4*heads"', zip=""))
    assert answer("sweep ray.toml --workers 0 --out ray")["statuses"] == {"solved": 2}
    rows = swept("parity", "same", dim="4*heads", heads=[2, 3], strategy="sign-batch")
    assert rows[["dim", "heads"]].values.tolist() == [[8, 2], [12, 3]]
    zipped = {"dim": [8, 12], "heads": [2, 3], "zip": ["dim", "heads"]}
    pairs = swept("parity", "pairs", **zipped, strategy="sign-batch")
    without_times = [table.drop(columns="seconds", errors="ignore") for table in (rows, pairs)]
    assert without_times[0].equals(without_times[1])


LAYER = {"dim": 5, "tokens": 2, "heads": 1}


def test_each_learner_may_have_a_menu():
    solver = {"learner": ["lbfgs", "direct"]}
    tune = {"lbfgs": {"starts": [1, 2]}, "menu": {"starts": [3]}, "seeds": 1}
    grid = Grid("nondegenerate", LAYER, solver, tune=tune)
    assert (grid.menu("lbfgs"), grid.menu("direct")) == ([{"starts": 1}, {"starts": 2}], [{"starts": 3}])
    assert (
        len(
            Grid("nondegenerate", LAYER, solver, tune={"menu": {"starts": [1, 2, 3]}, "settings": 2}).menu(
                "lbfgs"
            )
        )
        == 2
    )


@pytest.mark.parametrize(
    ("tune", "words"),
    [
        ({"lbfgs": {"starts": [1]}}, r"no menu for direct, .* give \[tune\] menu.OPTION"),
        ({"settings": 2}, "no menu for lbfgs"),
        ({"menu": {"l1": [0.1]}}, "unknown option of the learner lbfgs 'l1'"),
        ({"menu": {"starts": []}}, "starts"),
    ],
)
def test_a_menu_has_options_of_the_learner_only(tune, words):
    with pytest.raises(InputError, match=words):
        Grid("nondegenerate", LAYER, {"learner": ["lbfgs", "direct"]}, tune=tune)


def test_the_setting_that_costs_least_with_restarts_is_run_on_fresh_seeds():
    """A cheap one that often fails loses, a crash is charged its budget, and a tie goes to the first."""
    tune = {"menu": {"starts": [1, 2, 3, 4]}, "seeds": 4}
    grid = Grid("nondegenerate", LAYER, {"learner": "lbfgs"}, {"samples": 1000}, runs=2, tune=tune)
    ((often_fails, sure, crashes, _),) = settings = grid.tuning()
    solved = {"often_fails": often_fails[:1], "sure": sure, "crashes": crashes[:3]}
    costs = {
        run.identity: {"often_fails": 100, "sure": 600, "crashes": 300}[name]
        for name in solved
        for run in solved[name]
    }
    ended = {
        run.identity: Outcome("solved", costs[run.identity]) if run.identity in costs else Outcome("error")
        for runs in settings[0]
        for run in runs
    }
    judged = grid.tuned(ended)
    assert [(task.solver["params"]["starts"], task.repetition) for task in judged] == [(2, 0), (2, 1)]
    assert all(run.tuning for run in sure)
    assert grid.tuned(dict.fromkeys(ended, Outcome("budget", 1000)))[0].solver["params"]["starts"] == 1


def test_a_sweep_tunes_a_learner(tmp_path):
    tune = {"menu": {"starts": [1, 4]}, "seeds": 1}
    rows = swept("nondegenerate", tmp_path / "tuned", **LAYER, learner="direct", tune=tune, samples=256)
    assert rows.status.tolist() == ["solved"]
    assert rows["params.starts" if "params.starts" in rows else "starts"][0] in (1, 4)
    results, whole = hardness.rows(tmp_path / "tuned"), hardness.rows(tmp_path / "tuned", tuning=True)
    assert (results.tuning.tolist(), results.censored.tolist()) == ([False], [False])
    assert whole.tuning.sum() == len(whole) - 1 == 2
