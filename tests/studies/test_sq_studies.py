"""The studies of statistical queries: pages from few tasks, the same bytes, and rows that say little."""

from collections import Counter
from collections.abc import Callable
from math import comb, log2
from pathlib import Path

import numpy as np
import pytest
from page_reading import words

from hardness.engine.frames import frame
from hardness.engine.outcome import Outcome
from hardness.engine.run import run
from hardness.engine.store import Row, Store
from hardness.engine.task import Task
from hardness.errors import InputError
from hardness.families.concepts import ParityConcepts, RoundingConcepts
from hardness.report import Content, lines_of
from hardness.sq.bounds import head_budget as budget
from hardness.sq.bounds.floors import exact_floor
from hardness.sq.bounds.parity import adversary_bounds, entropy_floor
from hardness.sq.game import play
from hardness.sq.strategies import spread
from hardness.studies import catalog, games
from hardness.studies.needs import content as needs
from hardness.studies.needs import gradients
from hardness.studies.needs.tasks import AT, HEADS, HELD, LEVELS, MODULUS, bought
from hardness.studies.needs.tasks import tolerance as tolerance_of

NAMES = ("needs",)
DRIFT = 5  # queries by which games of sign batches at one s and τ of DRIFT_AT differ, over what they draw
DRIFT_AT = ((2, 0.03), (4, 0.03), (2, 0.1249), (3, 0.1), (3, 0.1249), (4, 0.16))


def wanted(name: str, task: Task) -> bool:
    """A few tasks of every part of a quick grid: enough for an answer."""
    params, tau = task.params, task.solver.get("tolerance")
    if task.solver["kind"] in gradients.TRIALS:
        return params["dim"] in (8, 20) and params["heads"] in (2, 10) and (tau or 0.0884) in (0.0884, 0.0625)
    if task.solver["kind"] == "budget":
        return params["heads"] in (4, 16)
    return params["heads"] in (2, 7) and tau in (0.24, 0.125, 0.000244)


def few(name: str) -> list[Task]:
    return [task for task in catalog.get(name).tasks(True) if wanted(name, task)]


def written(folder: Path, name: str, trial: Callable[[Task, int, float], Outcome] | None) -> tuple[str, str]:
    """Headline and page of the few tasks of a study; with no trial, of no row at all."""
    folder.mkdir()
    with Store(folder / "rows.db", {"study": name, "seed": 0, "quick": True}) as store:
        if trial:
            run(few(name), store, workers=0, trial=trial)
        headline = catalog.page(store, folder)
    return headline, (folder / "index.html").read_text()


def ended(tasks: list[Task], trial: Callable[[Task, int, float], Outcome] = games.game) -> list[Row]:
    return [Row(task, trial(task, 0, 60.0), {}) for task in tasks]


@pytest.mark.slow  # two pages of six figures each
@pytest.mark.parametrize("name", NAMES)
def test_few_tasks_make_a_page_and_the_same_bytes_twice(name: str, tmp_path: Path) -> None:
    headline, html = written(tmp_path / "one", name, catalog.get(name).trial)
    written(tmp_path / "two", name, catalog.get(name).trial)
    assert headline in words(html)
    assert len(headline.split()) > 30
    assert all(
        part in html for part in ('class="kind proved"', "<h2>What was done", "<summary><h2>Statistics")
    )
    files = sorted(p.name for p in (tmp_path / "one").iterdir() if p.suffix != ".db")
    assert sum(file.endswith(".svg") for file in files) == 7
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes(), file


@pytest.mark.parametrize(("name", "content"), [("needs", needs.content)])
def test_rows_that_all_failed_are_not_called_a_result(
    name: str, content: Callable[[list[Row]], Content]
) -> None:
    gave_up = Outcome("budget", 99, {"bound": 5.0, "concepts": 105, "remaining": 9})
    page = content([Row(task, gave_up, {}) for task in few(name)])
    assert "too few" in page.missing
    assert not page.numbers


def test_bounds_are_never_above_measured_points() -> None:
    chosen = [
        task
        for task in games.tasks(True)
        if task.params["dim"] == 21 and task.params["heads"] == 2 and task.solver["tolerance"] == 0.2
    ]
    lines = games.compared(frame(ended(chosen)))
    assert len(lines) == 1
    assert lines[list(games.PLAYED)].ge(lines.floor, axis=0).all(axis=None)
    assert (lines.characters == lines.N - 1).all()


def test_every_point_has_its_seeds_or_is_deterministic() -> None:
    tasks = games.tasks(False)
    assert len({task.identity for task in tasks}) == len(tasks)
    seeds = Counter((t.family, str(t.params), t.solver.get("strategy"), t.solver["tolerance"]) for t in tasks)
    for (family, _, strategy, _), count in seeds.items():
        alone = strategy in (None, "low-degree") or (family == "parity" and strategy != "adaptive")
        assert count == (1 if alone else 5 if family == "parity" else 10), (family, strategy)


def test_games_of_sign_batches_hardly_depend_on_what_they_draw() -> None:
    for s, tau in DRIFT_AT:
        concepts = ParityConcepts(games.FRONTIER_DIM - 1, s)
        costs = [play(concepts, "sign-batch", "window", tau, seed=seed).queries for seed in range(6)]
        assert max(costs) - min(costs) <= DRIFT


def test_the_sizes_that_heads_hold_are_those_at_which_most_is_proved() -> None:
    largest = max(HELD.values())
    for m, n in HELD.items():
        classes = {n: RoundingConcepts(n, MODULUS, LEVELS, heads=m) for n in range(1, largest + 1)}
        proved = {n: adversary_bounds(concepts, AT).get("window", 0.0) for n, concepts in classes.items()}
        for limit in range(1, largest + 1):  # a quick grid takes smaller ones
            assert max(range(1, limit + 1), key=lambda k: proved[k]) == min(n, limit)


def test_what_heads_buy_in_rounding_is_what_the_adversaries_say() -> None:
    """A number whose logarithm is taken, since it leaves the range of floats."""
    bought = budget.rounding(12, 0.1)
    concepts = RoundingConcepts(bought.size, 97, 2, heads=12)
    assert bought.log2_queries == pytest.approx(log2(adversary_bounds(concepts, 0.1)["window"]), abs=1e-9)


@pytest.mark.parametrize(("n", "s"), [(8, 2), (10, 3), (12, 6)])
def test_spread_pays_no_more_than_sign_batches_where_sets_are_few_and_no_less_than_the_floor(
    n: int, s: int
) -> None:
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


def test_the_least_price_is_below_every_price_and_near_its_law() -> None:
    """No tolerance is cheaper; it is about 8N, (8N)^(1/2) and (8N)^(1/3), more where sets are few."""
    rng = np.random.default_rng(0)
    for dim, size in ((16, 2), (24, 8)):
        sets = comb(dim - 1, size)
        for price, root in zip(needs.PRICES.values(), (1, 2, 3), strict=True):
            cheapest = needs.least_needed(dim, size, price)
            assert 0.95 <= cheapest / (8 * (sets - 1)) ** (1 / root) <= (1.3 if dim == 16 else 1.1)
            for exponent in rng.uniform(2.01, 13, 40):
                tau = 2.0**-exponent
                assert cheapest <= price(exact_floor(sets, tau), tau) + 1e-9


def test_at_sixty_three_bits_what_suffices_is_near_what_is_needed() -> None:
    """Independent batches alone paid up to 20,000 times what is needed."""
    formulas = needs.sufficient(needs.cheapest([]))
    gaps = formulas.assign(gap=formulas.queries / formulas.floor).groupby("s").gap.max()
    assert set(formulas.d) == {64}
    assert list(gaps.index) == list(HEADS)
    assert gaps.max() <= 6
    assert gaps[8] < 2.2
    assert needs.independent_batches(64, 8, 10.0) > 2000 * needs.parity_floor(64, 8, 10.0)


def test_sharp_heads_hide_the_classes_that_the_page_gives_them() -> None:
    """m sharp heads hide 2m - 1 bits: half the heads of diag, and no class is larger than that of half the bits."""
    assert [needs.sharp_heads(s) for s in range(2, 9)] == [2, 2, 3, 3, 4, 4, 5]
    budget_tasks = [task for task in few("needs") if task.solver["kind"] == "budget"]
    rows = ended(budget_tasks, lambda task, root, guard: bought(task))
    lines = lines_of(needs.budget(rows))
    assert len(lines) == 6
    for line in lines:
        assert line["sharp"] == pytest.approx(
            log2(8 * line["τ"] ** 2) + log2(comb(255, 2 * line["m"] - 1) - 1)
        )
        assert line["truncated"] >= line["exact"]


def test_the_map_s_floors_are_the_bounds_of_the_adversaries() -> None:
    """Parities: theorem B is no less than 8 tau^2 (N-1); rounding: theory 2.6 with those heads, or the entropy."""
    for exponent in (3.0, 5.0, 8.0):
        tau = tolerance_of(exponent)
        for size in (2, 5):
            concepts = ParityConcepts(15, size)
            assert needs.parity_floor(16, size, exponent) >= adversary_bounds(concepts, tau)["window"]
        labels = RoundingConcepts(5, 5, 5, heads=8)
        floor = needs.rounding_floor(labels, exponent)
        assert floor >= adversary_bounds(labels, tau).get("window", 0.0)
        assert floor <= max(
            adversary_bounds(labels, tau).get("window", 0.0) + 1, 1 + entropy_floor(5**5, tau)
        )


def test_sign_batches_of_independent_sets_need_no_less_than_their_game() -> None:
    for exponent in (2.06, 3.0, 4.0):
        paid = play(ParityConcepts(15, 3), "sign-batch", "window", tolerance_of(exponent)).queries
        assert paid <= (needs.independent_batches(16, 3, exponent) or 0) + 5
    assert play(ParityConcepts(15, 3), "sign-batch", "window", 0.24).queries == needs.independent_batches(
        16, 3, 2.06
    )


def test_no_game_lies_in_the_grey() -> None:
    games_played = needs.cheapest(ended([t for t in few("needs") if t.solver["kind"] == "frontier"]))
    parity = games_played[games_played.family == "parity"]
    assert len(parity) == 3
    for d, s, exponent, queries in parity[["d", "s", "e", "queries"]].itertuples(index=False):
        assert needs.parity_floor(d, s, exponent) <= queries <= needs.parity_suffices(d, s, exponent)
