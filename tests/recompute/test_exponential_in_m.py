"""Headline and every law's error of exponential-in-m, from rows.csv: csv, numpy and scipy, nothing of the lab."""

import hashlib
import json
import tomllib
from collections import defaultdict
from functools import cache
from math import comb, exp, log, sqrt

import numpy as np
import pytest
from committed import ROOT, article_tables, rows, summary
from scipy.optimize import least_squares
from scipy.stats import t

NAME = "exponential-in-m"
Cell = tuple[int, int, int]  # m, d, heads of the learner


@cache
def runs(series: str, arm: str = "hidden set", least: int = 9) -> dict[Cell, list[dict[str, str]]]:
    """The runs that ended of every cell with nine of them, or as many as asked."""
    cells = defaultdict(list)
    for row in rows(NAME, solver_kind="diagonal", solver_series=series, solver_arm=arm):
        if row["status"] != "planned":
            place = row["params.heads"], row["params.dim"], row["solver.params.heads"]
            cells[tuple(map(int, place))].append(row)
    return {cell: some for cell, some in cells.items() if len(some) >= least}


def median(some: list[dict[str, str]]) -> tuple[float, bool]:
    """The geometric mean of the middle two costs, and whether it is only a bound."""
    order = sorted((float(row["cost"]), row["status"] != "solved") for row in some)
    n = len(order)
    low, high = order[(n - 1) // 2], order[n // 2]
    return sqrt(low[0] * high[0]), any(lost for _, lost in order[: n // 2 + 1])


def known(series: str, arm: str = "hidden set") -> dict[Cell, float]:
    medians = {cell: median(some) for cell, some in runs(series, arm).items()}
    return {cell: value for cell, (value, bound) in medians.items() if not bound}


DEFAULT = known("default")


def cheapest(arm: str) -> dict[Cell, float]:
    """The cheaper of default and tuned setting where a median is known."""
    both = known("default", arm), known("tuned", arm)
    return {cell: min(some[cell] for some in both if cell in some) for cell in {**both[0], **both[1]}}


def slope(x: list[float], y: list[float]) -> tuple[float, float, float]:
    """The slope of least squares and its 95 % interval by Student's t."""
    X = np.column_stack([np.ones(len(x)), x])
    beta, *_ = np.linalg.lstsq(X, np.array(y), rcond=None)
    left = len(x) - 2
    sigma = np.sum((np.array(y) - X @ beta) ** 2) / left
    half = t.ppf(0.975, left) * sqrt(sigma * np.linalg.inv(X.T @ X)[1, 1])
    return beta[1], beta[1] - half, beta[1] + half


def test_the_rows_are_those_of_the_plan() -> None:
    plan = tomllib.loads((ROOT / "learner/studies/exponential_in_m/plan4.toml").read_text(encoding="utf-8"))
    printed = {key: value for key, value in plan.items() if key != "digest"}
    text = json.dumps(printed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest() == plan["digest"]
    assert {row["solver.plan"] for row in rows(NAME)} == {plan["digest"]}
    places = {(m, d) for line in plan["hidden"].values() for m, d in line}
    places |= {(m, d) for _, m, d in [*plan["largest"], *plan["wider"]]}
    assert {cell[:2] for cell in runs("default")} <= places
    tuned = {tuple(place) for place in plan["tuned"]}
    assert {cell[:2] for cell in runs("tuned")} <= tuned
    for arm in ("tent", "random layers", "steep random layers"):
        assert {cell[:2] for cell in [*runs("default", arm), *runs("tuned", arm)]} <= tuned


def test_how_many_medians_are_known() -> None:
    numbers = summary(NAME)["numbers"]
    assert numbers["sizes"] == len(runs("default"))
    assert numbers["bounds"] == len(runs("default")) - len(DEFAULT)
    assert numbers["largest"] == max(comb(d - 1, m) for m, d, _ in DEFAULT)


@pytest.mark.parametrize("width", [16, 64, 256])
@pytest.mark.parametrize("name", ["tuned", "default"])
def test_examples_as_a_power_of_n(name: str, width: int) -> None:
    places = {cell[:2] for cell in runs("tuned")}
    some = cheapest("hidden set") if name == "tuned" else DEFAULT
    assert not [
        cell for cell in runs("default") if cell not in DEFAULT and 2 * cell[0] < cell[1]
    ]  # no bounds
    large = [cell for cell in some if cell[2] == width and comb(cell[1] - 1, cell[0]) >= 1000]
    kept = [cell for cell in large if (cell[:2] in places if name == "tuned" else 2 * cell[0] < cell[1])]
    k = slope([log(comb(d - 1, m)) for m, d, _ in kept], [log(some[cell]) for cell in kept])
    printed = summary(NAME)["numbers"]["exponent"][name][str(width)]
    assert [printed["value"], printed["low"], printed["high"]] == pytest.approx(k, rel=6e-3)


def test_the_factor_with_the_cell_of_few_runs() -> None:
    (cell,) = [cell for cell, some in runs("default", least=1).items() if len(some) < 9]
    assert cell == (7, 56, 64)
    few = runs("default", least=1)[cell]
    assert [row["status"] for row in few] == ["solved"] * 2
    best = cheapest("hidden set") | {cell: median(few)[0]}
    line = [place for place in best if place[0] >= 3 and place[1:] == (8 * place[0], 64)]
    factor = exp(slope([float(m) for m, *_ in line], [log(best[place]) for place in line])[0])
    assert summary(NAME)["numbers"]["few"] == {"cells": 1, "factor": pytest.approx(factor, rel=6e-3)}


def test_the_factor_a_head_of_hidden_sets_and_of_controls() -> None:
    def factors(arm: str) -> list[float]:
        found, best = [], cheapest(arm)
        for ratio in (3, 4, 8):
            for width in (16, 64, 256):
                line = sorted(cell for cell in best if cell[0] >= 3 and cell[1:] == (ratio * cell[0], width))
                if len(line) > 2:
                    costs = [log(best[cell]) for cell in line]
                    found.append(exp(slope([float(m) for m, *_ in line], costs)[0]))
        return found

    hidden = factors("hidden set")
    controls = [x for arm in ("tent", "random layers", "steep random layers") for x in factors(arm)]
    printed = summary(NAME)["numbers"]["factor"]
    assert printed["hidden"] == pytest.approx(min(hidden), rel=6e-3)
    assert printed["most"] == pytest.approx(max(hidden), rel=6e-3)
    assert printed["control"] == pytest.approx(max(controls), rel=6e-3)


@cache
def drawn() -> dict[tuple[int, int], dict[str, str]]:
    return {
        (int(row["params.heads"]), int(row["params.dim"])): row for row in rows(NAME, solver_kind="lottery")
    }


def lottery(cell: Cell) -> float:
    """x N P(rho² > x), at the batch with which most of what comes before a first head is read."""
    batch = "16" if clock(cell)[0] / len(runs("default")[cell]) <= 2**17 else "64"
    return float(drawn()[cell[:2]][f"detail.{batch}.value"])


def clock(cell: Cell) -> tuple[float, int]:
    """What all runs read before a first head held the set, and in how many runs one did."""
    some = runs("default")[cell]
    return sum(float(row["detail.seen"] or row["cost"]) for row in some), sum(
        bool(row["detail.seen"]) for row in some
    )


LAWS = {  # log examples at (m, d, M, N, lottery) for given logarithms of constants, and exponents
    "a m³ n + b N/M": lambda m, d, M, N, p, v: np.logaddexp(
        v[0] + np.log(m**3 * (d - 1)), v[1] + np.log(N / M)
    ),
    "a √N + b N/M": lambda m, d, M, N, p, v: np.logaddexp(v[0] + np.log(N) / 2, v[1] + np.log(N / M)),
    "a m³ n + b N/(M d)": lambda m, d, M, N, p, v: np.logaddexp(
        v[0] + np.log(m**3 * (d - 1)), v[1] + np.log(N / M / d)
    ),
    "a m³ n + b N/(M p), p of the lottery": lambda m, d, M, N, p, v: np.logaddexp(
        v[0] + np.log(m**3 * (d - 1)), v[1] + np.log(N / M / p)
    ),
    "c N/M": lambda m, d, M, N, p, v: v[0] + np.log(N / M),
    "c N/(M d)": lambda m, d, M, N, p, v: v[0] + np.log(N / M / d),
    "c N": lambda m, d, M, N, p, v: v[0] + np.log(N),
    "c N/d": lambda m, d, M, N, p, v: v[0] + np.log(N / d),
    "c C(d-1, m-1)": lambda m, d, M, N, p, v: v[0] + np.log(N * m / (d - m)),
    "c N^k M^-l": lambda m, d, M, N, p, v: v[0] + v[1] * np.log(N) - v[2] * np.log(M),
    "c d^a m^b M^-l": lambda m, d, M, N, p, v: v[0] + v[1] * np.log(d) + v[2] * np.log(m) - v[3] * np.log(M),
    "c d^a e^(g m) M^-l": lambda m, d, M, N, p, v: v[0] + v[1] * np.log(d) + v[2] * m - v[3] * np.log(M),
}


def test_the_error_of_every_law() -> None:
    cells = [cell for cell in DEFAULT if cell[0] < cell[1] - 1]
    table = np.array([(*cell, comb(cell[1] - 1, cell[0]), lottery(cell)) for cell in cells], dtype=float)
    y, even = np.log([DEFAULT[cell] for cell in cells]), table[:, 0] % 2 == 0
    small, sparse = table[:, 3] < 500_000, 2 * table[:, 0] < table[:, 1]
    (printed,) = (lines for lines in article_tables(NAME) if lines[0][0] == "law")
    assert {line[0] for line in printed[1:]} == set(LAWS)
    for line in printed[1:]:
        for column, chosen in (("factor of error", even | ~even), ("m ≤ n/2", sparse)):
            fit, ask = chosen & small, chosen & ~small
            assert error(LAWS[line[0]], table, even, y, fit, ask) == pytest.approx(
                float(line[printed[0].index(column)]), rel=0.02
            )
    first = printed[1]
    assert summary(NAME)["numbers"]["law"]["name"] == first[0]


def error(law, table, even, y, fit, ask) -> float:
    """The factor by which a law errs where it is asked, fitted elsewhere, with a level of its own for even m."""

    def value(v, some):
        return law(*table[some].T, v[:-1]) + v[-1] * even[some]

    starts = [np.array([a, b, 1.0, 0.0, 0.0]) for a, b in ((0.0, 0.5), (4.0, 3.0))]
    best = min((least_squares(lambda v: value(v, fit) - y[fit], v) for v in starts), key=lambda end: end.cost)
    return exp(sqrt(np.mean((value(best.x, ask) - y[ask]) ** 2)))


@pytest.mark.parametrize("name", ["work", "sparse"])
def test_heads_times_examples_over_n(name: str) -> None:
    shares = [
        M * cost / comb(d - 1, m)
        for (m, d, M), cost in DEFAULT.items()
        if 16 * comb(d - 1, m) / M > 110 * sqrt(comb(d - 1, m)) and (name == "work" or 2 * m < d)
    ]
    mean = exp(np.mean(np.log(shares)))
    printed = summary(NAME)["numbers"][name]
    ends = [printed[key] for key in ("low", "high", "mean")]
    assert ends == pytest.approx([min(shares), max(shares), mean], rel=6e-3)
    assert (printed["near"], printed["of"]) == (sum(mean / 3 < x < 3 * mean for x in shares), len(shares))


def test_the_lottery_and_the_coins() -> None:
    ratios = {}
    for cell in runs("default"):
        m, d, M = cell
        read, seen = clock(cell)
        if m < d - 1 and read / len(runs("default")[cell]) > 2 * 16 / (8 * 0.03**2):
            ratios[cell] = seen / (read / 2 * M) * comb(d - 1, m) / (1.4 * lottery(cell))
    for name, most in (("all", 99), ("small", 7)):
        some = [ratio for cell, ratio in ratios.items() if cell[0] <= most]
        printed = summary(NAME)["numbers"]["hazard"][name]
        assert (printed["cells"], printed["near"]) == (len(some), sum(0.5 < x < 2 for x in some))
        assert printed["ratio"] == pytest.approx(exp(np.mean(np.log(some))), rel=6e-3)
    coins = [row for some in runs("coins").values() for row in some]
    assert summary(NAME)["numbers"]["coins"] == {
        "runs": len(coins),
        "solved": sum(row["status"] == "solved" for row in coins),
    }
