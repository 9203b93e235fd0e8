"""The studies of statistical queries: pages from few tasks, the same bytes, and rows that say little."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hardness.concepts import ParityConcepts
from hardness.sq.game import play
from hardness.studies import catalog, games, head_budget, tolerance_in_m
from hardness.study.outcome import Outcome
from hardness.study.page.report import words
from hardness.study.run import run
from hardness.study.store import Store
from hardness.study.task import Task

NAMES = ("query-frontier", "tolerance-in-m", "head-budget", "rounding-games", "exact-games")
WANTED: dict[str, Callable[[Task], bool]] = {
    "query-frontier": lambda t: (
        t.params.get("heads", 2) == 2 and t.params["dim"] in (4, 21) and t.solver["tolerance"] == 0.2
    ),
    "tolerance-in-m": lambda t: (
        t.params["heads"] <= 2 and t.solver["strategy"] in ("sign-batch", "characters", "low-degree")
    ),
    "head-budget": lambda t: t.params["heads"] in (4, 16),
    "exact-games": lambda t: t.params["dim"] == 5 and t.solver["tolerance"] in (0.2, 0.1),
    "rounding-games": lambda t: t.params["dim"] <= 5 and t.solver["strategy"] != "gradient",
}


def few(name: str) -> list[Task]:
    return [task for task in catalog.get(name).tasks(True) if WANTED[name](task)]


def written(folder: Path, name: str, trial: Callable[[Task, int, float], Outcome] | None) -> tuple[str, str]:
    """Verdict and page of the few tasks of a study; with no trial, of no row at all."""
    folder.mkdir()
    with Store(folder / "rows.db", {"study": name, "seed": 0, "quick": True}) as store:
        if trial:
            run(few(name), store, workers=0, trial=trial)
        verdict = catalog.page(store, folder)
    return verdict, (folder / "index.html").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_few_tasks_make_a_page_and_the_same_bytes_twice(name: str, tmp_path: Path) -> None:
    verdict, page = written(tmp_path / "one", name, catalog.get(name).trial)
    written(tmp_path / "two", name, catalog.get(name).trial)
    assert verdict in words(page)
    assert 'class="kind proved"' in page or name in ("tolerance-in-m", "exact-games")
    files = sorted(p.name for p in (tmp_path / "one").iterdir() if p.suffix != ".db")
    assert sum(file.endswith(".svg") for file in files) == (2 if name == "head-budget" else 1)
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes(), file


@pytest.mark.parametrize("name", NAMES)
def test_no_rows_make_a_page_that_says_so(name: str, tmp_path: Path) -> None:
    verdict, page = written(tmp_path / "none", name, None)
    assert verdict == "no trial has been run."
    assert "No trial has been run." in page


@pytest.mark.parametrize("name", NAMES)
def test_rows_that_all_failed_are_not_called_a_result(name: str, tmp_path: Path) -> None:
    details = {
        "query-frontier": {"bound": 5.0, "exhaustive": 252, "concepts": 253, "remaining": 9},
        "tolerance-in-m": {"tolerance": None, "floor": 0.004, "ceiling": 0.5, "meaningful": False},
        "head-budget": {},
        "rounding-games": {"bound": 5.0, "concepts": 625, "remaining": 9},
        "exact-games": {"concepts": 6, "remaining": 3},
    }
    verdict, _ = written(tmp_path / "all", name, lambda task, root, guard: Outcome("budget", 99, details[name]))
    assert verdict == "no trial has been run." if name == "head-budget" else "nothing is measured" in verdict


def test_crashed_rows_leave_a_page_that_names_them(tmp_path: Path) -> None:
    for name in NAMES:
        crash = Outcome("error", None, {"reason": "no luck"})
        _, page = written(tmp_path / name, name, lambda task, root, guard, crash=crash: crash)
        assert "error: no luck" in page


def test_bounds_are_never_above_measured_points(tmp_path: Path) -> None:
    with Store(tmp_path / "rows.db", {"study": "query-frontier", "seed": 0, "quick": True}) as store:
        run(few("query-frontier"), store, workers=0, trial=games.game)
        table = games.frontier_table(store.rows())
    assert {line["family"] for line in table} == {"parity", "rounding"}
    assert {line["strategy"] for line in table} == {"characters", "sign-batch", "bent", "adaptive"}
    for line in table:
        assert line["proven bound"] <= line["least"]
        if line["family"] == "parity" and line["strategy"] == "characters":
            assert line["queries"] == line["exhaustive"]


def test_intervals_are_those_of_students_t(tmp_path: Path) -> None:
    """Five equal runs have no spread; a deterministic strategy plays once and says so; the rest have one."""
    assert games.interval([3.0]) is None
    assert games.interval([4.0, 4.0, 4.0]) == (4.0, 4.0)
    low, high = games.interval([10.0, 12.0, 11.0, 9.0, 13.0]) or (0, 0)
    assert (low, high) == pytest.approx((11 - 1.963, 11 + 1.963), abs=1e-3)
    with Store(tmp_path / "rows.db", {"study": "query-frontier", "seed": 0, "quick": True}) as store:
        run(few("query-frontier"), store, workers=0, trial=games.game)
        for line in games.frontier_table(store.rows()):
            assert (line["low"] is None) == (line["exact"] == "yes" or line["runs"] in ("1/1", "0/1"))


@pytest.mark.parametrize("name", ["query-frontier", "tolerance-in-m"])
def test_every_point_has_five_seeds_or_is_deterministic(name: str) -> None:
    runs: dict[str, set[int]] = {}
    for task in catalog.get(name).tasks(False):
        point = Task(task.family, task.params, task.solver, task.budget, 0).identity
        runs.setdefault(f"{task.family} {task.solver['strategy']} {point}", set()).add(task.repetition)
    for point, seeds in runs.items():
        family, strategy, _ = point.split()
        assert len(seeds) == (1 if family == "parity" and strategy in games.DETERMINISTIC else 5)


@pytest.mark.parametrize("strategy", ["characters", "bent", "low-degree"])
def test_deterministic_strategies_play_one_game_whatever_the_seed(strategy: str) -> None:
    for tolerance in (0.06, 0.12, 0.24):
        games = {
            (result.queries, result.remaining)
            for seed in range(4)
            for result in [play(ParityConcepts(11, 3), strategy, "window", tolerance, seed=seed)]
        }
        assert len(games) == 1


def test_a_need_lies_below_its_ceiling_and_low_degree_has_none() -> None:
    for task in few("tolerance-in-m"):
        detail = tolerance_in_m.trial(task, 0, 60.0).detail
        low = task.solver["strategy"] == "low-degree" and task.params["heads"] > 1
        assert (detail["tolerance"] is None) == low
        assert low or detail["floor"] < detail["tolerance"] <= detail["ceiling"]


def test_truncated_parity_buys_no_less_than_exact() -> None:
    for task in few("head-budget"):
        detail = head_budget.trial(task, 0, 60.0).detail
        if task.family == "parity":
            assert detail["truncated"] >= detail["exact"]
        elif detail.get("sda") is not None:
            assert detail["sda"] <= detail["rounding"] + 1


def test_adaptive_plays_where_a_batch_is_one_set() -> None:
    for tolerance in (0.24, 0.3):
        result = play(ParityConcepts(8, 2), "adaptive", "window", tolerance)
        assert result.solved == (tolerance < 0.25)
