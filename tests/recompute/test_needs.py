"""The numbers and main tables of reports/needs, recomputed from rows.csv: arithmetic, and nothing of the lab."""

import json
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import ceil, comb, inf, log2
from math import floor as down
from statistics import median

import pytest
from committed import Row, article_tables, rows, summary
from scipy.stats import linregress, t
from theorem_b import answers_floor, floor

STEPS, FINEST = 16, 12  # of the fine row of tolerances: steps in a factor of two, log2 of the last 1/τ
Place = tuple[int, int]
PRICES = (
    lambda q, tau: q / tau**2,
    lambda q, tau: max(q, tau**-2),
)


@pytest.fixture(scope="module")
def numbers() -> dict:
    return dict(summary("needs")["numbers"])


def place(row: Row) -> Place:
    return int(row["params.dim"]), int(row["params.heads"])


@cache
def games() -> dict[Place, list[tuple[int, float]]]:
    """Queries and tolerance of every game on parities that was won, by d and number of bits."""
    won = defaultdict(list)
    for row in rows("needs", family="parity", solver_kind="frontier", status="solved"):
        won[place(row)].append((int(row["cost"]), float(row["solver.tolerance"])))
    return won


def needed_at_least(sets: int, price: Callable[[int, float], float], root: int) -> float:
    """Between two tolerances of a fine row, the floor of the smaller one at the price of the larger one; theory 2.5."""
    exponents = [2 + (i + 0.5) / STEPS for i in range((FINEST - 2) * STEPS)]
    fine = [float(f"{2.0**-e:.3g}") for e in (2.0, *exponents)]
    cheapest = price(1, fine[-1])
    for coarser, finer in pairwise(fine):
        queries = max(floor(sets, Fraction(str(finer))), ceil(answers_floor(sets, finer)))
        cheapest = min(cheapest, price(queries, coarser))
    return max(cheapest, (8 * (sets - 1)) ** (1 / root))


def test_the_least_prices(numbers: dict):
    """What is needed is rounded down, what is reached is rounded up."""
    for line in article_tables("needs")[0][1:]:
        s, sets = int(line[0]), comb(23, int(line[0]))
        best = [min(games()[24, s], key=lambda game: (price(*game), game[1])) for price in PRICES]
        needed = [needed_at_least(sets, price, root) for root, price in enumerate(PRICES, 1)]
        reached = [price(*game) for price, game in zip(PRICES, best, strict=True)]
        assert line[1] == f"{sets:,}"
        assert line[2::2] == [f"{int(value):,}" for value in needed]
        assert line[3::2] == [f"{ceil(value - 1e-6):,}" for value in reached]
    assert max(games()) == (numbers["d"], s) == (24, 8)
    fresh = numbers["least"]["fresh"]
    assert int(fresh["needed"].replace(",", "")) == 8 * (sets - 1) == needed[0]
    assert fresh["reached"] == "6,291,092"
    assert numbers["times"] == f"{ceil(100 * reached[0] / needed[0]) / 100:g}"


def test_games_over_the_floor(numbers: dict):
    ratios = []
    for (d, bits), won in games().items():
        for tau in {tau for _, tau in won}:
            least = floor(comb(d - 1, bits), Fraction(str(tau)))
            least = max(least, ceil(answers_floor(comb(d - 1, bits), tau)))
            ratios.append(Fraction(min(q for q, at in won if at == tau), least))
    assert min(ratios) >= 1  # or the theorem is refuted
    worst = f"{ceil(100 * max(ratios)) / 100:g}"
    assert numbers["games"] == {"won": len(ratios), "exact": ratios.count(Fraction(1)), "worst": worst}


def power(log: float) -> str:
    return f"2^{down(10 * max(0.0, log)) / 10:g}"


def needed(bits: int, tau: Fraction) -> float:
    """log2 of the queries, 8τ²(N − 1), that a learner needs which must be certain of this many hidden bits of 255."""
    bound = 8 * tau**2 * (comb(255, bits) - 1)
    return log2(bound.numerator) - log2(bound.denominator)


def test_what_heads_buy(numbers: dict):
    """m heads of the gadget diag hide m bits, m of the gadget wide 2m - 1."""
    for name, tau in (("coarse", "0.1"), ("fine", "0.001")):
        bought = {gadget: power(needed(size, Fraction(tau))) for gadget, size in (("diag", 32), ("wide", 63))}
        assert numbers["heads"][name] == {"tau": float(tau), **bought}


def test_the_numbers_of_nice_layers(numbers: dict):
    """The largest tolerance at which the error is small enough, of each layer of two tokens."""
    needs: dict[str, dict[int, list[float]]] = {}
    for kind, aim in (("phases", 0.3), ("every head", 0.1)):
        needs[kind] = defaultdict(list)
        for row in rows("needs", solver_kind=kind, params_tokens="2"):
            errors = json.loads(row["detail.errors"].replace("None", "Infinity"))
            tried = zip(json.loads(row["detail.tried"]), errors, strict=True)
            least = min((e for e, error in tried if error <= aim), default=inf)
            needs[kind][int(row["params.heads"])].append(least)
    points = [(m, e) for m, layers in needs["phases"].items() for e in layers]
    fit = linregress(*zip(*points, strict=True))
    half = t.ppf(0.975, len(points) - 2) * fit.stderr
    assert numbers["nice"] == {
        "d": 12,
        "layers": 6,
        "phases": [2 ** median(needs["phases"][m]) for m in (1, 4)],
        "rounds": [2 ** median(needs["every head"][m]) for m in (1, 4)],
        "slope": [round(value, 2) for value in (fit.slope, fit.slope - half, fit.slope + half)],
        "squared": round(2 ** (2 * fit.slope)),
        "missed": [len(rows("needs", solver_kind=kind, status="wrong")) for kind in needs],
    }
    assert {len(layers) for kind in needs.values() for layers in kind.values()} == {6}
