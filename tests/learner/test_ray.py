"""One ray d = c m: the same rows by command and by call, whatever the workers; its table; what makes no sense."""

from math import comb
from pathlib import Path

import pytest
from commands import answer, check_refused, run_command

import hardness
from hardness.engine.outcome import Outcome, Row
from hardness.sq.bounds.floors import exact_floor
from hardness.studies import catalog
from hardness.studies.ray import tasks_along
from learner.studies.exponential_in_m import ray, ray_content

STUDY = "study run exponential-in-m"
LINES = [
    "statistical queries",
    "one bit an example",
    "sign-batch",
    "flat",
    "Gaussian elimination",
    "diagonal",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ray that was run in this process."""
    folder = tmp_path_factory.mktemp("ray")
    first = answer(f"{STUDY} --ray 3 --heads 2,3 --workers 0 --out {folder}")
    assert (first["planned"], first["ran"], first["statuses"]) == (34, 34, {"solved": 34})
    assert first["verdict"].startswith("Along d = 3m, diagonal reads ")
    return folder


def test_heads_in_any_order_write_the_same_bytes_and_the_same_command_has_nothing_to_do(folder, tmp_path):
    """That the number of workers changes nothing, tests/engine/test_study_engine.py says."""
    assert answer(f"{STUDY} --ray 3 --heads 3,2,3 --workers 0 --out {tmp_path}")["ran"] == 34
    for name in ("rows.csv", "ray.svg"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()
    assert answer(f"{STUDY} --ray 3 --heads 2,3 --out {folder}")["ran"] == 0
    before = (folder / "index.html").read_bytes()
    assert answer(f"study report {folder}")["verdict"]
    assert (folder / "index.html").read_bytes() == before
    assert answer(f"study status {folder}")["ray"] == 3


def test_a_call_gives_the_rows_of_the_command_as_a_table(folder):
    table = hardness.ray(3, heads=[2, 3], out=folder, workers=0)
    assert list(table.columns) == list(ray_content.COLUMNS) == list(table.attrs["columns"])
    assert table[table.layer == "hidden sets"].groupby("heads").name.apply(list).map(len).tolist() == [9, 9]
    for m, line in table.groupby("heads"):
        named = line[line.layer == "hidden sets"].set_index("name")
        assert named.index[:6].tolist() == LINES
        assert set(line.dim) == {3 * m}
        assert set(line.concepts) == {comb(3 * m - 1, m)}
        assert named.cost["statistical queries"] == exact_floor(comb(3 * m - 1, m), 0.1)
        assert named.cost["statistical queries"] <= named.cost["flat"] <= named.cost["sign-batch"]
        assert named.cost["C(d−1, m−1)"] == comb(3 * m - 1, m - 1)
        assert named.low["diagonal"] <= named.cost["diagonal"] <= named.high["diagonal"]
        assert named.setting["diagonal"].endswith(f"tuned at dim {3 * m}, {m} heads")
    assert table.censored.dtype == "boolean"
    assert not table.censored.any()
    at_two, at_three = table[(table.name == "diagonal") & (table.layer == "hidden sets")].cost
    reads = f"diagonal reads {at_two:,.0f} examples at m = 2 and {at_three:,.0f} at m = 3 on hidden sets"
    assert reads in table.attrs["verdict"]
    assert Path(table.attrs["page"]).exists()
    costs = hardness.rows(folder).query("kind == 'diagonal' and family == 'parity'")
    medians = costs.groupby("heads").cost.median().tolist()
    assert table[(table.name == "diagonal") & (table.layer == "hidden sets")].cost.tolist() == medians


def test_a_ray_has_the_trials_of_the_study_where_both_run():
    study = catalog.get("exponential-in-m")
    whole = {task.identity for task in study.tasks(False)}
    mine = tasks_along(study, 4, range(2, 8))
    assert {t.identity for t in mine if t.solver["kind"] in ("diagonal", "elimination")} <= whole


class Zero:
    """A learner that is always wrong, defined here as a user would."""

    def partial_fit(self, X, Y):
        return self

    def predict(self, X):
        return 0.0 * X


@pytest.mark.slow
def test_other_learners_run_with_defaults_and_what_failed_is_a_lower_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(ray, "STREAMED_CAP", 4000)
    table = hardness.ray(3, heads=[2], learner=[Zero, "diagonal"], workers=0, out=tmp_path)
    learned = table[(table.what == "learner") & (table.layer == "hidden sets")]
    assert learned.name.tolist() == [f"{__name__}:Zero", "diagonal"]
    assert [text.partition("; ")[2] or text for text in learned.setting] == [
        "defaults",
        "tuned at dim 6, 2 heads",
    ]
    assert learned.censored.tolist() == [True, False]
    assert learned.ended.tolist() == ["3 budget", "5 solved"]
    assert f"{__name__}:Zero reads more than 4,000 examples at m = 2" in table.attrs["verdict"]


def test_games_stop_where_they_would_take_long():
    tasks = tasks_along(catalog.get("exponential-in-m"), 4, [4, 6], [])
    played = [(t.solver["strategy"], t.params["heads"]) for t in tasks if t.solver["kind"] == "game"]
    assert played == [("sign-batch", 4), ("sign-batch", 6), ("flat", 4)]


def test_no_run_of_a_learner_is_said():
    tasks = tasks_along(catalog.get("exponential-in-m"), 4, [2])
    rows = [
        Row(t, Outcome("error", detail={"reason": "x"}) if "learner" in t.solver else None) for t in tasks
    ]
    page = ray_content.content(rows)
    assert page.missing == "No run of a learner has ended yet."
    assert [each["ended"] for each in page.tables["ray"] if each["what"] == "learner"] == ["5 error"] * 2


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--ray 1", "C >= 2, got 1"),
        ("--ray 4 --heads 1", "heads must be an integer >= 2"),
        ("--ray 4 --heads 2,30", "beyond the reach of 100,000,000; give heads up to 9 on this ray"),
        ("--ray 4000000 --heads 2", "give a smaller C"),
        ("--ray 4 --heads two", "got 'two'"),
        ("--ray 4 --heads ,", "numbers with commas between"),
        ("--ray 4 --learner diagonl", "did you mean 'diagonal'"),
        ("--ray 4 --plan plan.toml", "give --plan without --quick, --ray"),
        ("--ray 4 --quick", "give --ray with --heads and --learner alone"),
        ("--heads 2", "give --ray C with it"),
    ],
)
def test_what_makes_no_sense_on_a_ray_is_one_line(tmp_path, line, words):
    check_refused(run_command(f"{STUDY} {line} --out {tmp_path}/out"), words)
    assert not (tmp_path / "out").exists()


def test_studies_without_rays_and_folders_of_something_else_are_refused(folder, tmp_path):
    check_refused(run_command(f"study run games --ray 4 --out {tmp_path}/out"), "study games has no rays")
    check_refused(run_command(f"{STUDY} --ray 4 --out {folder}"), "name another --out")
    check_refused(run_command(f"{STUDY} --quick --out {folder}"), "name another --out")


@pytest.mark.parametrize("heads", [[], [2.5], ["2"], [True]])
def test_heads_of_a_call_are_numbers(heads, tmp_path):
    with pytest.raises(hardness.InputError, match="numbers of heads"):
        hardness.ray(4, heads=heads, out=tmp_path)
