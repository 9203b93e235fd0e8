"""What a first-time user types: a misspelt keyword, no count, a class of scikit-learn, a bound, a built-in grid."""

from dataclasses import replace

import pytest
from commands import answer, check_refused, run_command

import hardness
from hardness.errors import InputError
from hardness.evaluation.learning import FLATTEN
from hardness.studies.sweep.study import run_grid


@pytest.fixture(scope="module")
def hard():
    return hardness.Instance.generate(hardness.Parity(dim=6, heads=2), seed=0)


class Flat:
    """A learner that takes rows of features, as most of scikit-learn do."""

    def fit(self, X, Y):
        from sklearn.utils import check_array

        check_array(X)

    def predict(self, X):
        return X


def test_python_suggests_as_the_command_line_does(hard):
    with pytest.raises(InputError, match="learn needs the number of examples"):
        hardness.learn(hard, "direct")
    with pytest.raises(InputError, match="did you mean 'options'"):
        hardness.learn(hard, "direct", 100, optoins={})
    with pytest.raises(InputError, match="did you mean 'tune'"):
        hardness.sweep("parity", dim=8, heads=2, learner="mlp", tunes={})


def test_a_class_for_rows_is_told_to_flatten(hard):
    trial = hardness.learn(hard, Flat(), 100, seed=0)
    assert trial.status == "error"
    assert FLATTEN in trial.reason


def test_bounds_are_one_line_unless_all_are_asked_for():
    line = "sq bounds parity --dim 17 --heads 4 --tolerance 0.1"
    fields = answer(line)
    queries = {name: fields[name] for name in ("window", "null", "strict", "exact_floor")}
    strongest = max(queries, key=queries.get)
    printed = run_command(line).out
    assert [name for name in queries if f"\n{name} " in printed] == [strongest]
    every = run_command(f"{line} --all").out
    assert all(f"\n{name} " in every for name in (*queries, "sda", "szorenyi"))


def test_a_built_in_grid_is_not_changed(tmp_path):
    assert answer(f"sweep nice-and-hard --dry-run --out {tmp_path / 'o'}")["trials"] == 28
    check_refused(run_command("sweep nice-and-hard --set runs=1"), "--set changes a grid file")


def test_the_built_in_grid_separates_nice_from_hard(tmp_path):
    """Run the student's part with two and three heads: a hidden parity takes at least twice the examples."""
    from hardness.studies.sweep.grid import SHIPPED

    for grid in SHIPPED["nice-and-hard"][:2]:
        small = replace(grid, params={**grid.params, "heads": [2, 3]}, runs=1)
        run_grid(small, tmp_path, workers=0)
    rows = hardness.rows(tmp_path)
    assert set(rows["status"]) == {"solved"}
    costs = rows.pivot(index="heads", columns="family", values="cost")
    assert (costs["parity"] > 2 * costs["nondegenerate"]).all()


def test_a_stream_without_a_count_is_refused(hard):
    pytest.importorskip("torch")
    from hardness.torch import stream

    with pytest.raises(InputError, match="count=None"):
        stream(hard, 40_000)


@pytest.mark.parametrize(
    ("learner", "family", "count"),
    [
        ("student", hardness.Nondegenerate(dim=8, tokens=2, heads=2), 25_000),
        ("student", hardness.Parity(dim=8, heads=2), 80_000),
        ("mlp", hardness.Parity(dim=8, heads=2), 70_000),
        ("diagonal", hardness.Parity(dim=8, heads=2), 2_000),
    ],
)
def test_learners_at_their_defaults_solve_the_smallest_sizes(learner, family, count):
    instance = hardness.Instance.generate(family, seed=0)
    assert hardness.learn(instance, learner, count, seed=1).status == "solved"
