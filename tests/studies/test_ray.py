"""`hardness ray`: the same rows by command and by call; its table; what makes no sense."""

from collections.abc import Iterator
from math import comb
from pathlib import Path

import pytest
from commands import answer, check_refused, run_command

import hardness
from hardness.engine.outcome import Outcome, Row
from hardness.sq.bounds.floors import exact_floor
from hardness.studies.ray import COLUMNS, places_of, table_of, tasks_at, text_of

LEARNER = "trial_learners:Tunable"
MEASURED = ["sign-batch", "flat", "gaussian", LEARNER]


@pytest.fixture(scope="module", autouse=True)
def _small() -> Iterator[None]:
    """Own learners read few examples here and have one run, since each size starts a process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hardness.studies.ray.FITTED_CAP", 100)
        patch.setattr("hardness.studies.ray.RUNS", 1)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ray that was run in this process."""
    folder = tmp_path_factory.mktemp("ray")
    first = answer(f"ray 3 --heads 2,3 --learner {LEARNER} --workers 0 --out {folder}")
    assert (first["planned"], first["ran"]) == (10, 10)
    assert first["verdict"].startswith("ray: 10 of 10 trials ended (")
    return folder


def test_heads_in_any_order_are_the_same_trials_and_have_nothing_to_do(folder):
    rows = (folder / "rows.csv").read_bytes()
    assert answer(f"ray 3 --heads 3,2,3 --learner {LEARNER} --workers 0 --out {folder}")["ran"] == 0
    assert (folder / "rows.csv").read_bytes() == rows
    before = (folder / "index.html").read_bytes()
    assert answer(f"study report {folder}")["page"] == str(folder / "index.html")
    assert (folder / "index.html").read_bytes() == before
    assert answer(f"study status {folder}")["ray"] == 3


def test_a_call_gives_the_rows_of_the_command_as_a_table(folder):
    table = hardness.ray(3, heads=[2, 3], learner=LEARNER, out=folder, workers=0)
    assert list(table.columns) == list(COLUMNS)
    for m, line in table.groupby("heads"):
        named = line[line.layer == "hidden sets"].set_index("name")
        floors = ["statistical queries", "one bit an example"]
        assert named.index.tolist() == [*floors, *MEASURED]
        assert set(line.dim) == {3 * m}
        assert set(line.concepts) == {comb(3 * m - 1, m)}
        assert named.cost["statistical queries"] == exact_floor(comb(3 * m - 1, m), 0.1)
        assert named.cost["statistical queries"] <= named.cost["flat"] <= named.cost["sign-batch"]
        assert named.low["gaussian"] <= named.cost["gaussian"] <= named.high["gaussian"]
    assert table.censored.dtype == "boolean"
    assert Path(table.attrs["page"]).exists()
    costs = hardness.rows(folder).query("attack == 'gaussian'").groupby("heads").cost.median()
    assert table[table.name == "gaussian"].cost.tolist() == costs.tolist()


def test_games_stop_where_they_would_take_long():
    tasks = tasks_at(places_of([4, 6], 4), [])
    played = [(t.solver["strategy"], t.params["heads"]) for t in tasks if t.solver["kind"] == "game"]
    assert played == [("sign-batch", 4), ("sign-batch", 6), ("flat", 4)]


def test_what_has_no_cost_is_said():
    rows = [Row(t, Outcome("error", detail={"reason": "x"})) for t in tasks_at(places_of([2], 4))]
    table = table_of(rows)
    learned = table[table.what == "learner"]
    assert learned[["ended", "censored"]].values.tolist() == [["1 error", True]] * 2
    assert learned.cost.isna().all()
    cut = [Row(row.task, Outcome("budget", 5000)) for row in rows if "learner" in row.task.solver]
    assert sum("≥ 5,000 examples" in line for line in text_of(cut)) == 2


def test_at_a_fixed_d_heads_vary_and_learners_are_as_wide_as_asked(tmp_path):
    line = (
        f"ray --dim 6 --heads 2,3 --width 4 --learner diagonal --learner student --dry-run --out {tmp_path}"
    )
    assert answer(line)["trials"] == 2 * 2 + 2 + 2 * 2 * 2
    tasks = tasks_at(places_of([2, 3], None, 6), ["diagonal", "student"], 4)
    assert {(task.params["heads"], task.params["dim"]) for task in tasks} == {(2, 6), (3, 6)}
    assert {task.solver["params"]["heads"] for task in tasks if "learner" in task.solver} == {4}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ray 1", "C >= 2, got 1"),
        ("ray --heads 2", "name C for a ray d = C m, or --dim D"),
        ("ray 4 --dim 9", "not both"),
        ("ray 4 --heads 1", "heads must be an integer >= 2"),
        ("ray 4 --heads 2,9,30", "beyond the reach of 100,000,000"),
        ("ray 4 --heads ,", "numbers with commas between"),
        ("ray 4 --learner diagonl", "did you mean 'diagonal'"),
        ("ray 4 --learner low-degree --width 3", "unknown option of"),
    ],
)
def test_what_makes_no_sense_on_a_ray_is_one_line(tmp_path, line, words):
    check_refused(run_command(f"{line} --dry-run --out {tmp_path}/out"), words)
    assert not (tmp_path / "out").exists()


def test_folders_of_something_else_are_refused(folder):
    check_refused(run_command(f"ray 4 --learner {LEARNER} --out {folder}"), "name another --out")
