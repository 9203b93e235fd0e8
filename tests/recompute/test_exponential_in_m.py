"""The numbers of exponential-in-m's main text, from rows.csv: csv, numpy and scipy, nothing of the lab."""

import csv
import hashlib
import json
import tomllib
from collections import defaultdict
from functools import cache
from math import comb, exp, log, sqrt

import numpy as np
import pytest
from committed import ROOT, rows, summary
from scipy.optimize import least_squares
from scipy.stats import t

NAME = "exponential-in-m"
NUMBERS = summary(NAME)["numbers"]
CONTROLS = ("tent", "random layers", "steep random layers")
Cell = tuple[int, int, int]  # m, d, heads of the learner


@cache
def runs(series: str, arm: str = "hidden set") -> dict[Cell, list[dict[str, str]]]:
    """The runs that ended of every cell with nine of them."""
    cells = defaultdict(list)
    for row in rows(NAME, solver_kind="diagonal", solver_series=series, solver_arm=arm):
        if row["status"] != "planned":
            place = row["params.heads"], row["params.dim"], row["solver.params.heads"]
            cells[tuple(map(int, place))].append(row)
    return {cell: some for cell, some in cells.items() if len(some) >= 9}


def known(series: str, arm: str = "hidden set") -> dict[Cell, float]:
    """The medians that are no bounds: the geometric mean of the middle two costs."""
    medians = {}
    for cell, some in runs(series, arm).items():
        order = sorted((float(row["cost"]), row["status"] != "solved") for row in some)
        n = len(order)
        if not any(lost for _, lost in order[: n // 2 + 1]):
            medians[cell] = sqrt(order[(n - 1) // 2][0] * order[n // 2][0])
    return medians


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


def factors(best: dict[Cell, float]) -> list[float]:
    """What one more head multiplies examples by along each ray and at each width with three medians from m = 3 on."""
    slopes = []
    for ratio in (3, 4, 8):
        for width in (16, 64, 256):
            line = [cell for cell in best if cell[0] >= 3 and cell[1:] == (ratio * cell[0], width)]
            if len(line) > 2:
                slopes.append(exp(slope([m for m, *_ in line], [log(best[cell]) for cell in line])[0]))
    return slopes


def test_the_rows_are_those_of_the_plan():
    plan = tomllib.loads((ROOT / "learner/studies/exponential_in_m/plan4.toml").read_text(encoding="utf-8"))
    printed = {key: value for key, value in plan.items() if key != "digest"}
    text = json.dumps(printed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest() == plan["digest"]
    assert {row["solver.plan"] for row in rows(NAME)} == {plan["digest"]}


def test_how_many_medians_are_known():
    assert NUMBERS["sizes"] == len(runs("default"))
    assert NUMBERS["bounds"] == len(runs("default")) - len(DEFAULT)
    assert NUMBERS["largest"] == max(comb(d - 1, m) for m, d, _ in DEFAULT)


@pytest.mark.parametrize("width", [16, 64, 256])
def test_examples_as_a_power_of_n(width: int):
    """Of the cells in which settings were tuned."""
    places, best = {cell[:2] for cell in runs("tuned")}, cheapest("hidden set")
    kept = [
        cell
        for cell in best
        if cell[2] == width and comb(cell[1] - 1, cell[0]) >= 1000 and cell[:2] in places
    ]
    k = slope([log(comb(d - 1, m)) for m, d, _ in kept], [log(best[cell]) for cell in kept])
    printed = NUMBERS["exponent"]["tuned"][str(width)]
    assert [printed["value"], printed["low"], printed["high"]] == pytest.approx(k, rel=6e-3)


def test_the_factor_a_head_of_hidden_sets_and_of_controls():
    hidden = factors(cheapest("hidden set"))
    controls = [x for arm in CONTROLS for x in factors(cheapest(arm))]
    printed = [NUMBERS["factor"][name] for name in ("hidden", "most", "control")]
    assert printed == pytest.approx([min(hidden), max(hidden), max(controls)], rel=6e-3)


def lottery(cell: Cell) -> float:
    """x N P(rho² > x), at the batch with which most of what comes before a first head is read."""
    some = runs("default")[cell]
    read = sum(float(row["detail.seen"] or row["cost"]) for row in some)
    (drawn,) = rows(NAME, solver_kind="lottery", params_heads=str(cell[0]), params_dim=str(cell[1]))
    return float(drawn[f"detail.{16 if read / len(some) <= 2**17 else 64}.value"])


def test_the_errors_of_the_first_two_laws():
    """With a level of its own for even m, fitted to N below 500,000 and asked about the others."""
    cells = [cell for cell in DEFAULT if cell[0] < cell[1] - 1]
    m, d, M = np.array(cells, dtype=float).T
    N, p = np.array([(comb(cell[1] - 1, cell[0]), lottery(cell)) for cell in cells]).T
    y, small, first, errors = (
        np.log([DEFAULT[cell] for cell in cells]),
        N < 500_000,
        np.log(m**3 * (d - 1)),
        {},
    )
    for name, second in {"a m³ n + b N/(M p)": N / M / p, "a m³ n + b N/M": N / M}.items():

        def wrong(v, some, second=np.log(second)):
            return (np.logaddexp(v[0] + first, v[1] + second) + v[2] * (m % 2 == 0) - y)[some]

        fit = least_squares(wrong, [1.0, 2.0, 0.0], args=(small,))
        errors[name] = exp(sqrt(np.mean(wrong(fit.x, ~small) ** 2)))
    law = NUMBERS["law"]
    assert [law["name"], law["second"]] == sorted(errors, key=errors.__getitem__)
    assert law["error"] == pytest.approx(errors[law["name"]], rel=6e-3)


@pytest.mark.parametrize("name", ["work", "sparse"])
def test_heads_times_examples_over_n(name: str):
    shares = [
        M * cost / comb(d - 1, m)
        for (m, d, M), cost in DEFAULT.items()
        if 16 * comb(d - 1, m) / M > 110 * sqrt(comb(d - 1, m)) and (name == "work" or 2 * m < d)
    ]
    mean = exp(np.mean(np.log(shares)))
    printed = NUMBERS[name]
    ends = [printed[key] for key in ("low", "high", "mean")]
    assert ends == pytest.approx([min(shares), max(shares), mean], rel=6e-3)
    assert (printed["near"], printed["of"]) == (sum(mean / 3 < x < 3 * mean for x in shares), len(shares))


def test_heads_times_examples_by_width_and_their_growth_along_lines():
    """Where 16 N/M exceeds 110 √N: none of seven growths is shown to be slower than that of N."""
    work = {cell: (comb(cell[1] - 1, cell[0]), cost) for cell, cost in DEFAULT.items()}
    work = {cell: (N, cost) for cell, (N, cost) in work.items() if 16 * N / cell[2] > 110 * sqrt(N)}
    ends = []
    for width in (16, 64, 256):
        shares = [log(width * cost / N) for (m, d, M), (N, cost) in work.items() if width == M and 2 * m < d]
        assert NUMBERS["mean"][str(width)] == pytest.approx(exp(np.mean(shares)), rel=6e-3)
        for c in (3, 4, 8):
            line = np.log([at for (m, d, M), at in work.items() if width == M and d == c * m])
            ends += [slope(*line.T)[1:]] if len(line) > 2 else []
    assert NUMBERS["slower"] == {"of": len(ends), "rays": sum(high < 1 for _, high in ends)}
    assert NUMBERS["faster"] == sum(low > 1 for low, _ in ends)


def test_records_are_the_cheapest_medians():
    """Of every named hidden set by examples, and by heads x examples."""
    medians = [*DEFAULT.items(), *known("tuned").items()]
    text = (ROOT / "learner/studies/exponential_in_m/records.csv").read_text(encoding="utf-8")
    for line in csv.DictReader(text.splitlines()):
        here = [
            (cell[2], cost) for cell, cost in medians if cell[:2] == (int(line["heads"]), int(line["dim"]))
        ]
        by_work = line["least"] == "heads x examples"
        width, cost = min(here, key=lambda at: at[1] * (at[0] if by_work else 1))
        assert (int(line["examples"]), int(line["heads_examples"])) == (round(cost), width * round(cost))


def test_labels_that_are_coins_are_never_called_learned():
    coins = [row["status"] for some in runs("coins").values() for row in some]
    assert (
        NUMBERS["coins"] == {"runs": len(coins), "solved": coins.count("solved")} == {"runs": 80, "solved": 0}
    )
