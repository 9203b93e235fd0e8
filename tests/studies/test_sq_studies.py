"""The studies of statistical queries: pages from few tasks, the same bytes, and rows that say little."""

from collections import Counter
from collections.abc import Callable
from math import comb, log2
from pathlib import Path

import numpy as np
import pytest

from hardness.engine.outcome import Outcome
from hardness.engine.run import run
from hardness.engine.store import Store
from hardness.engine.task import Task
from hardness.errors import InputError
from hardness.families.concepts import ParityConcepts, RoundingConcepts
from hardness.report.report import words
from hardness.sq.bounds import head_budget as budget
from hardness.sq.bounds.adversaries import adversary_bounds
from hardness.sq.bounds.parity import entropy_floor
from hardness.sq.exact import exact_floor
from hardness.sq.game import play
from hardness.sq.strategies.spread import spread
from hardness.studies import catalog, games, head_budget, query_frontier, rounding_games
from hardness.studies.exponential_in_m import proved
from hardness.studies.needs import formulas
from hardness.studies.needs.page import won
from hardness.studies.needs.tasks import tolerance as tolerance_of

NAMES = ("query-frontier", "needs", "head-budget", "rounding-games", "exact-games")
WANTED: dict[str, Callable[[Task], bool]] = {
    "query-frontier": lambda t: t.params["heads"] == 2 and t.solver["tolerance"] == 0.2,
    "needs": lambda t: t.params["heads"] in (2, 7) and t.solver["tolerance"] in (0.24, 0.125, 0.000244),
    "head-budget": lambda t: t.params["heads"] in (4, 16),
    "exact-games": lambda t: t.params["dim"] == 5 and t.solver["tolerance"] in (0.2, 0.1),
    "rounding-games": lambda t: t.params["dim"] <= 5 and t.solver["strategy"] != "gradient",
}
FIGURES = {"query-frontier": 2, "head-budget": 2, "needs": 4, "rounding-games": 2}


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


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n == "exact-games" else pytest.mark.slow) for n in NAMES])
def test_few_tasks_make_a_page_and_the_same_bytes_twice(name: str, tmp_path: Path) -> None:
    verdict, page = written(tmp_path / "one", name, catalog.get(name).trial)
    written(tmp_path / "two", name, catalog.get(name).trial)
    assert verdict in words(page)
    assert 'class="kind proved"' in page
    files = sorted(p.name for p in (tmp_path / "one").iterdir() if p.suffix != ".db")
    assert sum(file.endswith(".svg") for file in files) == FIGURES.get(name, 1)
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
        "needs": {"bound": 5.0, "concepts": 105, "remaining": 9},
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
    assert {line["family"] for line in table} == {"parity"}
    assert {line["strategy"] for line in table} == {"characters", "sign-batch", "bent", "adaptive"}
    for line in table:
        assert line["proven bound"] <= line["least"]
        if line["family"] == "parity" and line["strategy"] == "characters":
            assert line["queries"] == line["exhaustive"]


def test_intervals_are_those_of_students_t(tmp_path: Path) -> None:
    """Five equal runs have no spread; a deterministic strategy plays once and says so; the rest have one."""
    assert games.interval([3.0]) is games.interval([3.0, 5.0]) is None
    assert games.interval([4.0, 4.0, 4.0]) == (4.0, 4.0)
    low, high = games.interval([10.0, 12.0, 11.0, 9.0, 13.0]) or (0, 0)
    assert (low, high) == pytest.approx((11 - 1.963, 11 + 1.963), abs=1e-3)
    with Store(tmp_path / "rows.db", {"study": "query-frontier", "seed": 0, "quick": True}) as store:
        run(few("query-frontier"), store, workers=0, trial=games.game)
        for line in games.frontier_table(store.rows()):
            assert (line["low"] is None) == (line["exact"] == "yes" or int(line["runs"].split("/")[0]) < 3)


@pytest.mark.parametrize("name", ["query-frontier"])
def test_every_point_has_five_seeds_or_is_deterministic(name: str) -> None:
    runs: dict[str, set[int]] = {}
    for task in catalog.get(name).tasks(False):
        point = Task(task.family, task.params, task.solver, task.budget, 0).identity
        runs.setdefault(f"{task.family} {task.solver['strategy']} {point}", set()).add(task.repetition)
    for point, seeds in runs.items():
        family, strategy, _ = point.split()
        assert len(seeds) == (1 if family == "parity" and strategy in games.DETERMINISTIC else 5)


def test_games_of_sign_batches_hardly_depend_on_what_they_draw() -> None:
    for s, tau in ((2, 0.1249), (3, 0.1), (3, 0.1249), (4, 0.16)):
        costs = [play(ParityConcepts(20, s), "sign-batch", "window", tau, seed=seed).queries for seed in range(6)]
        assert max(costs) - min(costs) <= query_frontier.DRIFT


def test_the_base_of_a_need_is_found_with_its_interval() -> None:
    """Of 300 series of needs 3^n with noise of a tenth on six cells the interval misses 5 %; 4 deviations allowed."""
    assert rounding_games.base([(2, 4.0), (2, 5.0), (3, 8.0)]) is None
    rng, missed = np.random.default_rng(5), 0
    for _ in range(300):
        cells = [(n, 3.0**n * float(np.exp(0.1 * rng.standard_normal()))) for n in (2, 3, 4, 5, 6, 7)]
        _, low, high = rounding_games.base(cells) or (0, 0, 0)
        missed += not low < 3 < high
    assert 1 <= missed <= 0.05 * 300 + 4 * (300 * 0.05 * 0.95) ** 0.5


def test_rounding_with_heads_has_ten_seeds_and_the_bounds_of_its_heads(tmp_path: Path) -> None:
    tasks = rounding_games.tasks(False)
    assert {task.params.get("heads") for task in tasks} >= set(range(3, 9))
    for q in (5, 17):
        own = [t for t in tasks if t.params["modulus"] == q and "heads" in t.params]
        assert len({t.params["dim"] for t in own}) >= 3
    cells = Counter((str(t.params), t.solver["strategy"]) for t in tasks)
    assert all(count == (1 if name == "low-degree" else 10) for (_, name), count in cells.items())
    with Store(tmp_path / "rows.db", {"study": "rounding-games", "seed": 0, "quick": True}) as store:
        adaptive = [t for t in few("rounding-games") if t.solver["strategy"] == "adaptive"]
        run(adaptive, store, workers=0, trial=games.game)
        table = rounding_games.games_table(store.rows())
    limited = [line for line in table if line["m"]]
    assert {line["m"] for line in limited} >= {5, 8}
    for line in limited:
        levels = rounding_games.LIMITED[line["q"]][0]
        concepts = RoundingConcepts(line["n"], line["q"], levels, heads=line["m"])
        assert line["proved at least"] == adversary_bounds(concepts, 0.1)["window"]


@pytest.mark.parametrize("m", [12, *(pytest.param(m, marks=pytest.mark.slow) for m in (16, 24))])
def test_what_heads_buy_in_rounding_is_what_the_adversaries_say(m: int) -> None:
    """The number of head-budget, whose logarithms leave the range of floats."""
    bought = budget.rounding(m, 0.1)
    concepts = RoundingConcepts(bought.size, 97, 2, heads=m)
    assert bought.log2_queries == pytest.approx(log2(adversary_bounds(concepts, 0.1)["window"]), abs=1e-9)


def test_the_bound_of_the_main_page_is_what_the_adversaries_say() -> None:
    for need in [need for need in proved.needs() if need.line.startswith("rounding")][:4]:
        concepts = RoundingConcepts(need.dim - 1, 97, 2, heads=need.heads)
        assert need.log2_queries == pytest.approx(log2(adversary_bounds(concepts, 0.1)["window"]), abs=1e-9)


@pytest.mark.parametrize("strategy", ["characters", "bent", "low-degree"])
def test_deterministic_strategies_play_one_game_whatever_the_seed(strategy: str) -> None:
    for tolerance in (0.06, 0.12, 0.24):
        games = {
            (result.queries, result.remaining)
            for seed in range(4)
            for result in [play(ParityConcepts(11, 3), strategy, "window", tolerance, seed=seed)]
        }
        assert len(games) == 1


@pytest.mark.parametrize(("n", "s"), [(8, 2), (10, 3), (12, 6)])
def test_spread_pays_no_more_than_sign_batches_where_sets_are_few_and_no_less_than_the_floor(n: int, s: int) -> None:
    """And at a tolerance small enough two queries that it asks name the set."""
    concepts = ParityConcepts(n, s)
    for exponent in (2.06, 3.0, 4.0, 5.0, 6.0, 8.0):
        tau = tolerance_of(exponent)
        game = play(concepts, "spread", "window", tau)
        assert game.solved
        assert game.queries >= exact_floor(concepts.size, tau)
        batches = play(concepts, "sign-batch", "window", tau).queries
        assert game.queries <= batches * (1.1 if concepts.size * tau**2 > 0.5 else 1)
    assert play(concepts, "spread", "window", 1e-7).queries <= 2
    assert not play(concepts, "spread", "window", 0.25, max_queries=40).solved
    wide = ParityConcepts(25, 2)
    with pytest.raises(InputError, match="n at most 24"):
        next(spread(wide, wide.masks(), 0.1, np.random.default_rng(0)))


def test_the_least_need_is_below_every_price_and_near_its_law() -> None:
    """Whatever the tolerance, max(q, price) with the floor there is no less; it is about (8N)^(1/2) and (8N)^(1/3)."""
    rng = np.random.default_rng(0)
    for dim, heads in ((16, 2), (24, 8)):
        size = comb(dim - 1, heads)
        for price, root in ((formulas.samples, 2), (formulas.inverse, 3)):
            least = formulas.least_needed(dim, heads, price)
            assert least == pytest.approx((8 * size) ** (1 / root), rel=0.25)
            for exponent in rng.uniform(2.01, 13, 40):
                tau = 2.0**-exponent
                assert least <= max(exact_floor(size, tau), price(tau)) + 1e-9


def test_the_map_s_floors_are_the_bounds_of_the_adversaries() -> None:
    """Parities: theorem B is no less than 8 tau^2 (N-1); rounding: theory 2.6 with those heads, or the entropy."""
    for exponent in (3.0, 5.0, 8.0):
        tau = tolerance_of(exponent)
        for heads in (2, 5):
            concepts = ParityConcepts(15, heads)
            assert formulas.parity_floor(16, heads, exponent) >= adversary_bounds(concepts, tau)["window"]
        labels = RoundingConcepts(5, 5, 5, heads=8)
        floor = formulas.rounding_floor(labels, exponent)
        assert floor >= adversary_bounds(labels, tau).get("window", 0.0)
        assert floor <= max(adversary_bounds(labels, tau).get("window", 0.0) + 1, 1 + entropy_floor(5**5, tau))


def test_sign_batches_of_independent_sets_need_no_less_than_their_game() -> None:
    for exponent in (2.06, 3.0, 4.0):
        paid = play(ParityConcepts(15, 3), "sign-batch", "window", tolerance_of(exponent)).queries
        assert paid <= (formulas.independent_batches(16, 3, exponent) or 0) + 5
    assert play(ParityConcepts(15, 3), "sign-batch", "window", 0.24).queries == formulas.independent_batches(
        16, 3, 2.06
    )


def test_no_seen_game_lies_below_the_grey(tmp_path: Path) -> None:
    with Store(tmp_path / "rows.db", {"study": "needs", "seed": 0, "quick": True}) as store:
        run(few("needs"), store, workers=0, trial=games.game)
        parity = won(list(store.rows()), "parity")
    assert parity
    for (d, m), found in parity.items():
        for exponent, queries, _ in found:
            assert formulas.parity_floor(d, m, exponent) <= queries <= formulas.parity_suffices(d, m, exponent)


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
