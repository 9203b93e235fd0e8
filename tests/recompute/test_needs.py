"""Every number of the headline of reports/needs, again from its rows: csv and arithmetic, nothing of the lab."""

import csv
import json
import re
from fractions import Fraction
from itertools import pairwise
from math import ceil, comb
from pathlib import Path

import pytest
from theorem_b import answers_floor, floor

FOLDER = Path(__file__).parents[2] / "reports" / "needs"
STEPS, FINEST = 16, 12  # of the fine row of tolerances: steps in a factor of two, log2 of the last 1/τ


@pytest.fixture(scope="module")
def games() -> dict[tuple[int, int], list[tuple[int, float]]]:
    """Queries and tolerance of every game on parities that was won, by d and number of bits."""
    found: dict[tuple[int, int], list[tuple[int, float]]] = {}
    with (FOLDER / "rows.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["family"] == "parity" and row["solver.kind"] == "frontier" and row["status"] == "solved":
                key = int(row["params.dim"]), int(row["params.heads"])
                found.setdefault(key, []).append((int(row["cost"]), float(row["solver.tolerance"])))
    return found


@pytest.fixture(scope="module")
def said() -> list[str]:
    """The numbers of the headline, in order, without those of the formulas q/τ² and max(q, 1/τ²)."""
    headline = json.loads((FOLDER / "summary.json").read_text(encoding="utf-8"))["verdict"]
    assert len(headline.split()) <= 50
    return [text.replace(",", "") for text in re.findall(r"\d[\d,]*", headline.replace("1/τ", "τ"))]


def test_the_class_and_the_heads_of_both_gadgets(games: dict[tuple[int, int], object], said: list[str]) -> None:
    d, bits = max(games)
    assert said[:4] == [
        str(bits),
        str(d),
        str(bits),
        str(-(-(bits + 1) // 2)),
    ]  # m diag heads hide m bits, sharp 2m - 1


def test_what_is_needed_is_rounded_down(games: dict[tuple[int, int], object], said: list[str]) -> None:
    """q/τ² is at least 8(N-1) at every τ; max(q, 1/τ²) is its root at least, and least between two of a fine row."""
    d, bits = max(games)
    sets = comb(d - 1, bits)
    assert said[4] == str(8 * (sets - 1))
    row = [2.0, *(2 + (i + 0.5) / STEPS for i in range((FINEST - 2) * STEPS))]
    decimal = [float(f"{2.0**-e:.3g}") for e in row]
    least = decimal[-1] ** -2
    for coarse, fine in pairwise(decimal):
        queries = max(floor(sets, Fraction(str(fine))), ceil(answers_floor(sets, fine)))
        least = min(least, max(queries, coarse**-2))
        assert queries / fine**2 >= 8 * (sets - 1)
    assert said[5] == str(int(max(least, (8 * (sets - 1)) ** 0.5)))


def test_what_games_reached_is_rounded_up(
    games: dict[tuple[int, int], list[tuple[int, float]]], said: list[str]
) -> None:
    own = games[max(games)]
    fresh, sample = min(q / tau**2 for q, tau in own), min(max(q, tau**-2) for q, tau in own)
    assert said[6:] == [str(ceil(fresh)), str(ceil(sample))]


def test_no_game_refutes_the_floor(games: dict[tuple[int, int], list[tuple[int, float]]]) -> None:
    for (d, bits), own in games.items():
        for queries, tau in own:
            assert queries >= floor(comb(d - 1, bits), Fraction(str(tau))), (d, bits, tau)
