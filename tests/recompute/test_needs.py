"""Every number of the headline of reports/needs, again from its rows, and the bounds of its table: arithmetic alone."""

import re
from fractions import Fraction
from itertools import pairwise
from math import ceil, comb, exp, log2, sqrt
from math import floor as down

import pytest
from committed import headline, page, plain, rows
from theorem_b import answers_floor, floor

STEPS, FINEST = 16, 12  # of the fine row of tolerances: steps in a factor of two, log2 of the last 1/τ


@pytest.fixture(scope="module")
def games() -> dict[tuple[int, int], list[tuple[int, float]]]:
    """Queries and tolerance of every game on parities that was won, by d and number of bits."""
    won: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for row in rows("needs", family="parity", solver_kind="frontier", status="solved"):
        key = int(row["params.dim"]), int(row["params.heads"])
        won.setdefault(key, []).append((int(row["cost"]), float(row["solver.tolerance"])))
    return won


@pytest.fixture(scope="module")
def figures() -> list[str]:
    """The numbers of the headline, in order, without those of the formulas q/τ² and max(q, 1/τ²)."""
    return [text.replace(",", "") for text in re.findall(r"\d[\d,]*", headline("needs").replace("1/τ", "τ"))]


def test_the_class_and_the_heads_of_both_gadgets(
    games: dict[tuple[int, int], object], figures: list[str]
) -> None:
    d, bits = max(games)
    # m diag heads hide m bits, sharp 2m - 1
    assert figures[:4] == [str(bits), str(d), str(bits), str(-(-(bits + 1) // 2))]


def test_what_is_needed_is_rounded_down(games: dict[tuple[int, int], object], figures: list[str]) -> None:
    """q/τ² is at least 8(N-1) at every τ; max(q, 1/τ²) is its root at least, and least between two of a fine row."""
    d, bits = max(games)
    sets = comb(d - 1, bits)
    assert figures[4] == str(8 * (sets - 1))
    row = [2.0, *(2 + (i + 0.5) / STEPS for i in range((FINEST - 2) * STEPS))]
    decimal = [float(f"{2.0**-e:.3g}") for e in row]
    cheapest = decimal[-1] ** -2
    for coarse, fine in pairwise(decimal):
        queries = max(floor(sets, Fraction(str(fine))), ceil(answers_floor(sets, fine)))
        cheapest = min(cheapest, max(queries, coarse**-2))
        assert queries / fine**2 >= 8 * (sets - 1)
    assert figures[5] == str(int(max(cheapest, (8 * (sets - 1)) ** 0.5)))


def test_what_games_reached_is_rounded_up(
    games: dict[tuple[int, int], list[tuple[int, float]]], figures: list[str]
) -> None:
    won = games[max(games)]
    fresh, sample = min(q / tau**2 for q, tau in won), min(max(q, tau**-2) for q, tau in won)
    assert figures[6:] == [str(ceil(fresh)), str(ceil(sample))]


def test_no_game_refutes_the_floor(games: dict[tuple[int, int], list[tuple[int, float]]]) -> None:
    for (d, bits), won in games.items():
        for queries, tau in won:
            assert queries >= floor(comb(d - 1, bits), Fraction(str(tau))), (d, bits, tau)


def needed(bits: int, tau: str) -> float:
    """log2 of the queries, 8τ²(N − 1), that a learner needs which must be certain of so many hidden bits of 255."""
    bound = 8 * Fraction(tau) ** 2 * (comb(255, bits) - 1)
    return log2(bound.numerator) - log2(bound.denominator)


def test_every_bound_of_the_page_on_parities_is_rounded_down() -> None:
    """2^200 for 64 heads at τ = .1 was once said, and proved for nobody."""
    shown = re.findall(r" (0\.0*1) (\d+) (2\^[\d.]+) (2\^[\d.]+)(?= )", plain(page("needs")))
    assert len(shown) >= 30
    assert f"{needed(64, '0.1'):.2f}" == "199.51"
    for tau, heads, diag, sharp in shown:
        m = int(heads)
        largest = max(needed(bits, tau) for bits in range(m, min(2 * m - 1, 254) + 1))
        expected = [f"2^{down(10 * max(0.0, bound)) / 10:g}" for bound in (needed(m, tau), largest)]
        assert [diag, sharp] == expected, (tau, m)


def test_the_shares_of_the_noisy_learner_and_what_is_proved() -> None:
    """kappa = 4, P = .9: N kappa^2 exp(-4.5/kappa^2)/(1 + 4/kappa^2) (1 - sqrt(.1 + 1/N))^2, against the runs."""
    runs: dict[tuple[int, int], dict[int, list[bool]]] = {}
    for row in rows("needs", solver_kind="noisy"):
        sizes = runs.setdefault((int(row["params.dim"]), int(row["params.heads"])), {})
        sizes.setdefault(int(row["budget.samples"]), []).append(row["status"] == "solved")
    text = plain(page("needs"))
    assert len(runs) == 8
    for (d, s), sizes in runs.items():
        sets = comb(d - 1, s)
        proved = int(16 * sets * exp(-4.5 / 16) / (1 + 4 / 16) * (1 - sqrt(0.1 + 1 / sets)) ** 2)
        assert all(len(right) >= 20 for right in sizes.values())
        enough = [
            size for size in sizes if all(sum(r) >= 0.9 * len(r) for at, r in sizes.items() if at >= size)
        ]
        assert f" {d} {s} {sets} {proved:,} " in text
        assert not enough or f" {min(enough) // 2:,} " in text
        assert not enough or f" {-(-(min(enough) // 2) // proved):,} " in text  # the ratio, rounded up


def test_the_largest_tolerance_of_every_descent() -> None:
    """Two of three seeds learn there, at one of the rates, and at no larger tolerance that was tried."""
    learned: dict[tuple[int, int], dict[float, dict[str, list[bool]]]] = {}
    for row in rows("needs", solver_kind="descent"):
        cell = learned.setdefault((int(row["params.dim"]), int(row["params.heads"])), {})
        rates = cell.setdefault(float(row["solver.tolerance"]), {})
        rates.setdefault(row["solver.params.rate"], []).append(row["status"] == "solved")
    text = plain(page("needs"))
    assert len(learned) == 12
    largest: dict[int, list[float]] = {}
    for (d, s), cell in sorted(learned.items()):
        enough = [tau for tau, rates in cell.items() if any(3 * sum(r) >= 2 * len(r) for r in rates.values())]
        assert f" {d} {s} {comb(d - 1, s)} {max(enough):g} " in text
        largest.setdefault(d, []).append(max(enough))
    steps = [more < fewer for taus in largest.values() for fewer, more in pairwise(taus)]
    assert f"one bit more takes a smaller tolerance in {sum(steps)} of {len(steps)} steps" in text


def test_precision_decides_whether_a_batch_tells_an_equation() -> None:
    right: dict[float, list[bool]] = {}
    for row in rows("needs", solver_kind="batches"):
        right.setdefault(float(row["solver.noise"]), []).append(row["status"] == "solved")
    text = plain(page("needs"))
    assert all(right[0.0])
    assert f"noise of up to {max(noise for noise, runs in right.items() if all(runs)):g}/B" in text
    assert f"from {min(noise for noise, runs in right.items() if not any(runs)):g}/B on in none" in text
