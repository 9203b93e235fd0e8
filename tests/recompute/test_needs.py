"""Every number of the headline of reports/needs, again from its rows, and the bounds of its table: arithmetic alone."""

import re
from fractions import Fraction
from itertools import pairwise
from math import ceil, comb, exp, log2, sqrt
from math import floor as down

import pytest
from committed import headline, page, plain, rows, summary
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
    text, ratios = plain(page("needs")), []
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
        ratios += [-(-(min(enough) // 2) // proved)] if enough else []  # rounded up
        assert not enough or f" {ratios[-1]:,} " in text
    assert f"the fewest such are {min(ratios):,} to {max(ratios):,} times what is proved" in text
    assert f"The noisy learner takes {min(ratios):,} to {max(ratios):,} times what is proved for it" in seen(
        "examples"
    )


def test_the_search_over_what_is_proved_for_one_bit() -> None:
    """Once the figure was said to show it "between one and five times" above; N (1 - sqrt(.1 + 1/N))^2 is proved."""
    ratios = []
    for row in rows("needs", solver_kind="one-bit"):
        sets = comb(int(row["params.dim"]) - 1, int(row["params.heads"]))
        proved = int(sets * (1 - sqrt(0.1 + 1 / sets)) ** 2)
        ratios.append(int(row["cost"]) / proved)
        low, high = int(row["detail.low"]), int(row["detail.high"])
        assert (
            0.97 * int(row["cost"]) < low <= int(row["cost"]) <= high < 1.03 * int(row["cost"])
        )  # hidden by marks
    share = f"{min(ratios):.3g} to {max(ratios):.3g} times what"
    assert f"keeps one bit an example takes {share} the theorem proves for one bit" in plain(page("needs"))
    assert f"the search {share} is proved for one bit" in seen("examples")


def seen(figure: str) -> str:
    """What a figure is said to show to who cannot see it, with its caption."""
    (alt,) = (one["alt"] for one in summary("needs")["figures"] if one["file"] == f"{figure}.svg")
    return str(alt)


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
    tried: dict[tuple[int, int], float] = {}
    for (d, s), cell in sorted(learned.items()):
        enough = [tau for tau, rates in cell.items() if any(3 * sum(r) >= 2 * len(r) for r in rates.values())]
        assert f" {d} {s} {comb(d - 1, s)} {max(enough):g} " in text
        largest.setdefault(d, []).append(max(enough))
        assert s == len(largest[d]) + 1
        tried[d, s] = max(cell)
    # A step to a class that learns at the largest tolerance tried says nothing, unless that is no smaller
    steps = [
        (fewer, more, tried[d, s])
        for d, taus in largest.items()
        for s, (fewer, more) in enumerate(pairwise(taus), 3)
    ]
    falls = [more < fewer for fewer, more, most in steps if more < most or more >= fewer]
    assert (
        f"one bit more takes a smaller tolerance in {sum(falls)} of the {len(falls)} steps that the runs"
        in text
    )
    assert (
        f"; {len(steps) - len(falls)} more steps lead to a class at which no larger tolerance was tried"
        in text
    )
    assert all(taus[-1] < taus[0] < 0.25 for taus in largest.values())
    assert any(more > fewer for fewer, more, _ in steps)  # or the figure is not said to show it


def test_precision_decides_whether_a_batch_tells_an_equation() -> None:
    right: dict[float, list[bool]] = {}
    for row in rows("needs", solver_kind="batches"):
        right.setdefault(float(row["solver.noise"]), []).append(row["status"] == "solved")
    text = plain(page("needs"))
    assert all(right[0.0])
    assert f"noise of up to {max(noise for noise, runs in right.items() if all(runs)):g}/B" in text
    assert f"from {min(noise for noise, runs in right.items() if not any(runs)):g}/B on in none" in text
    (count,) = {len(runs) for runs in right.values()}
    assert f"of Clopper and Pearson for {count} runs each" in text
    ends = (
        max(noise for noise, runs in right.items() if all(runs)),
        min(n for n, runs in right.items() if not any(runs)),
    )
    assert "one up to a noise of {:g}/B and zero from {:g}/B on".format(*ends) in seen("precision")
