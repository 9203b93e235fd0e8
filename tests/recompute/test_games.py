"""Every number of the headline of reports/games, again from its rows: csv and arithmetic, nothing of the lab."""

import re
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise
from math import comb, sqrt
from statistics import mean, stdev

import pytest
from committed import Row, headline, page, plain
from committed import rows as committed_rows
from scipy.stats import t
from test_needs import surely_enough as enough
from theorem_b import floor, surely_enough

CLASSES = {(4, 2), (4, 3), (5, 2), (5, 3), (20, 4), (16, 6), (24, 6)}
TOLERANCES = ("0.2", "0.16", "0.14", "0.12", "0.1", "0.08", "0.06", "0.05", "0.04")


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return committed_rows("games")


@pytest.fixture(scope="module")
def figures() -> list[str]:
    """The numbers of the headline, in order."""
    return re.findall(r"\d[\d,.]*\d|\d", headline("games"))


def place(row: Row) -> tuple[int, int, str]:
    return int(row["params.dim"]) - 1, int(row["params.heads"]), row["solver.tolerance"]


def test_v_is_known_in_so_many_cells(rows: list[Row], figures: list[str]) -> None:
    """By search in small classes; in large ones where theorem B's floor is also surely enough."""
    parity = [row for row in rows if row["family"] == "parity" and place(row)[2] in TOLERANCES]
    cells = {place(row) for row in parity if place(row)[:2] in CLASSES}
    searched = {place(row): row for row in parity if row["solver.kind"] == "value"}
    known = small = 0
    for n, s, tau in cells:
        row = searched.get((n, s, tau))
        exact = Fraction(tau)
        between = (
            (row["detail.lower"], row["detail.upper"])
            if row
            else (floor(comb(n, s), exact), surely_enough(comb(n, s), exact))
        )
        known += between[0] == between[1]
        small += between[0] == between[1] and comb(n, s) <= 10
    assert [str(known), str(len(cells)), str(small), "10"] == figures[:4]
    assert f"The {len(searched)} planned trials that are no games" in plain(page("games"))


def test_how_far_apart_the_bounds_of_v_are_on_large_classes(figures: list[str]) -> None:
    """Once the headline gave the factor of G alone, which was read as that of V."""
    large = [place for place in CLASSES if comb(*place) > 100]
    factors = [
        Fraction(enough(comb(*place), float(tau)), floor(comb(*place), Fraction(tau)))
        for place in large
        for tau in TOLERANCES
    ]
    assert 0 <= Fraction(figures[4]) - max(factors) < Fraction(1, 100)  # rounded up
    assert figures[5] == str(len(large))
    assert f"V at most is up to {figures[4]} times the floor" in plain(page("games"))


def test_the_costliest_of_the_cheapest_games_on_large_classes(rows: list[Row], figures: list[str]) -> None:
    cheapest: dict[tuple[int, int, str], int] = {}
    for row in rows:
        if (
            row["family"] == "parity"
            and row["solver.strategy"] in ("sign-batch", "flat")
            and row["status"] == "solved"
        ):
            key = place(row)
            if key[:2] in CLASSES and key[2] in TOLERANCES and comb(*key[:2]) > 100:
                cheapest[key] = min(cheapest.get(key, 10**9), int(row["cost"]))
    ratios = [Fraction(cost, floor(comb(n, s), Fraction(tau))) for (n, s, tau), cost in cheapest.items()]
    assert min(ratios) >= 1  # or the theorem is refuted
    assert 0 <= Fraction(figures[6]) - max(ratios) < Fraction(1, 100)  # rounded up
    flat = {place(row) for row in rows if row["solver.strategy"] == "flat" and row["status"] == "solved"}
    played = [
        cost / Fraction(floor(comb(*at[:2]), Fraction(at[2]))) for at, cost in cheapest.items() if at in flat
    ]
    text = plain(page("games"))
    shown = re.search(
        rf"is up to {figures[6]} times the floor, and up to ([\d.]+) times where flat was played; "
        rf"in {ratios.count(1)} of {len(ratios)} pairs it meets",
        text,
    )
    assert shown
    assert 0 <= Fraction(shown[1]) - max(played) < Fraction(1, 100)  # rounded up


def test_the_ratio_on_rounded_inner_products(rows: list[Row], figures: list[str]) -> None:
    runs: dict[tuple[int, str], list[tuple[float | None, float]]] = defaultdict(list)
    for row in rows:
        if row["family"] == "rounding" and not row["params.heads"]:
            cost = float(row["cost"]) if row["status"] == "solved" else None
            runs[int(row["params.dim"]) - 1, row["solver.strategy"]].append(
                (cost, float(row["detail.bound"]))
            )
    largest = max(
        n for (n, _), games in runs.items() if sum(cost is not None for cost, _ in games) * 2 >= len(games)
    )
    means = {
        who: (mean(cost for cost, _ in games if cost), games[0][1])
        for (n, who), games in runs.items()
        if n == largest and all(cost for cost, _ in games)
    }
    queries, bound = min(means.values())
    assert bound == pytest.approx(8 * 0.1**2 * 2**largest * (1 - 5.0**-largest), rel=1e-9)  # theory 2.6
    assert figures[7:9] == [str(largest), "5"]
    assert 0 <= float(figures[9]) - queries / bound < 0.1  # rounded up
    assert len(figures) == 10


def test_how_the_need_on_rounded_inner_products_grows(rows: list[Row]) -> None:
    """Once the figure was said to rise faster than the floor at every n: it rises more slowly at first."""
    paid: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        if (row["family"], row["solver.strategy"]) == ("rounding", "adaptive") and not row["params.heads"]:
            assert row["status"] == "solved"
            assert row["params.modulus"] == row["params.levels"] == "5"
            paid[int(row["params.dim"]) - 1].append(float(row["cost"]))
    means = {n: mean(costs) for n, costs in sorted(paid.items())}
    factors = [means[n + 1] / means[n] for n in list(means)[:-1]]
    doubled = [2 * (1 - 5.0 ** -(n + 1)) / (1 - 5.0**-n) for n in list(means)[:-1]]
    text = plain(page("games"))
    *first, last = [f"{factor:.2f}" for factor in factors]
    assert (
        f"grows from each n to the next, from n = {min(means)} on, by the factors {', '.join(first)} and {last},"
        in text
    )
    above = [factor > floor_factor for factor, floor_factor in zip(factors, doubled, strict=True)]
    assert above == sorted(above)
    assert set(above) == {False, True}
    assert all(abs(factor - 2) < 0.1 for factor in doubled)
    assert "the secret is a vector of n residues mod q = 5" in text
    costs = paid[max(means)]
    half = t.ppf(0.975, len(costs) - 1) * stdev(costs) / sqrt(len(costs))
    low, high = mean(costs) - half, mean(costs) + half
    assert f"adaptive, with {mean(costs):.0f} [{low:.0f}, {high:.0f}] queries on average" in text


def test_strategies_that_see_little_identify_nothing(rows: list[Row]) -> None:
    games = [row for row in rows if row["solver.strategy"] in ("low-degree", "gradient")]
    assert {row["family"] for row in games} == {"rounding"}
    won = sum(row["status"] == "solved" for row in games)
    sizes = [
        max(int(row["params.dim"]) - 1 for row in games if row["solver.strategy"] == who)
        for who in ("low-degree", "gradient")
    ]
    asked = {
        int(row["params.dim"]) - 1: int(row["cost"])
        for row in games
        if row["solver.strategy"] == "low-degree"
    }
    needed = {
        n: mean(
            int(row["cost"])
            for row in rows
            if (row["family"], row["solver.strategy"]) == ("rounding", "adaptive")
            and row["params.dim"] == str(n + 1)
            and not row["params.heads"]
        )
        for n in asked
    }
    fewer = sum(asked[n] < needed[n] for n in asked)
    words = (
        f"up to n = {sizes[0]} and {sizes[1]} respectively, and {won} of their {len(games)} games identified the "
        f"secret; at {fewer} of its {len(asked)} n low-degree has fewer queries than adaptive needs"
    )
    assert words in plain(page("games"))
    for row in games:
        n, low_degree = int(row["params.dim"]) - 1, row["solver.strategy"] == "low-degree"
        assert int(row["cost"]) == n * (n + 1) // 2 if low_degree else int(row["cost"]) <= 300


def test_what_the_figures_are_said_to_show(rows: list[Row]) -> None:
    """Once every strategy was said to need more at a larger tolerance, characters too."""
    needs: dict[tuple[str, int, int], dict[float, int]] = defaultdict(dict)
    for row in rows:
        if row["family"] == "parity" and row["solver.kind"] == "frontier" and row["status"] == "solved":
            n, s, tau = place(row)
            needs[row["solver.strategy"], n, s][float(tau)] = int(row["cost"])
    compared = (0.03, 0.05, 0.0624, 0.08, 0.1, 0.1249, 0.16, 0.2)
    for (who, n, s), by in needs.items():
        costs = [by[tau] for tau in compared if tau in by]
        if n == 20 and s <= 5 and who in ("sign-batch", "bent", "characters"):
            assert len(costs) == len(compared)
            pairs = list(pairwise(costs))
            assert who != "sign-batch" or all(less < more for less, more in pairs)
            assert who != "bent" or all(less <= more for less, more in pairs)
            assert who != "characters" or set(costs) == {comb(n, s) - 1}
            assert by[0.2] == floor(comb(n, s), Fraction("0.2"))
        if who in ("sign-batch", "flat") and (n, s) in CLASSES and comb(n, s) > 100:
            for tau, cost in by.items():
                if f"{tau:g}" in TOLERANCES:
                    assert (cost == floor(comb(n, s), Fraction(f"{tau:g}"))) == (tau == 0.2)
                    assert who != "flat" or tau < 0.2


def test_blocks_over_the_limit(rows: list[Row]) -> None:
    """Theorem D's strategy: queries times e* over N, e* = 3 at .16 and 4 at .14, as the table has it."""
    played = {place(row): int(row["cost"]) for row in rows if row["solver.strategy"] == "blocks"}
    assert {n for n, _, _ in played} == {16, 32, 64}
    text = plain(page("games"))
    for (n, s, tau), queries in played.items():
        lost = {"0.16": 3, "0.14": 4}[tau]
        ratio = Fraction(queries * lost, comb(n, s))
        assert 1 <= ratio < Fraction(11, 10)
        limit = f"{round(comb(n, s) / lost):,}"
        assert f"{n} {s} {comb(n, s):,} {tau} {lost} {limit} " in text
        shown = Fraction(re.search(rf" {queries:,} (1\.\d\d) ", text)[1])  # type: ignore[index]
        assert 0 <= shown - ratio < Fraction(1, 100)  # rounded up
    largest = max(
        Fraction(queries * {"0.16": 3, "0.14": 4}[tau], comb(n, s))
        for (n, s, tau), queries in played.items()
        if n == 64
    )
    at_most = re.search(r"it takes at most ([\d.]+) times N/e⋆", text)
    assert at_most
    assert 0 <= Fraction(at_most[1]) - largest < Fraction(1, 100)


def test_what_the_cheapest_strategy_pays_over_the_floor(rows: list[Row]) -> None:
    """On n = 20, over every pair of s and tolerance at which strategies are compared; adaptive games are means."""
    taus = ("0.03", "0.05", "0.0624", "0.08", "0.1", "0.1249", "0.16", "0.2")
    paid: dict[tuple[int, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["family"] == "parity" and row["solver.kind"] == "frontier" and row["status"] == "solved":
            n, s, tau = place(row)
            if n == 20 and tau in taus:
                paid[s, tau][row["solver.strategy"]].append(int(row["cost"]))
    means = {cell: {who: Fraction(sum(q), len(q)) for who, q in by.items()} for cell, by in paid.items()}
    ratios = [min(by.values()) / floor(comb(20, s), Fraction(tau)) for (s, tau), by in means.items()]
    shown, low, high = re.search(  # type: ignore[misc]
        r"Over (\d+) pairs of s and τ the cheapest strategy played pays ([\d.]+) to ([\d.]+) times the floor",
        plain(page("games")),
    ).groups()
    assert int(shown) == len(ratios) == 32
    assert 0 <= Fraction(low) - min(ratios) < Fraction(1, 100)
    assert 0 <= Fraction(high) - max(ratios) < Fraction(1, 100)
    cheapest = {
        who: sum(by.get(who) == min(by.values()) for by in means.values())
        for who in ("sign-batch", "flat", "adaptive")
    }
    behind = [by["adaptive"] - min(by.values()) for by in means.values() if "adaptive" in by]
    assert max(behind) == 1
    assert (
        f"Sign batches are among the cheapest in {cheapest['sign-batch']} of these pairs. The strategy flat, "
        f"played in only {sum('flat' in by for by in means.values())} of them, for the first table, is among "
        f"the cheapest in {cheapest['flat']}; adaptive, played in {len(behind)}, in {cheapest['adaptive']}, "
        "and elsewhere it takes at most 1 query more on average. In the other "
        f"{sum(by.keys() <= {'sign-batch', 'characters', 'bent'} for by in means.values())} sign batches met at most "
        "characters and bent" in plain(page("games"))
    )
