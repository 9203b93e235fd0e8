"""The numbers and intervals of reports/switches, recomputed from rows.csv: arithmetic, and nothing of the lab."""

from collections import defaultdict
from math import ceil, comb, exp, floor, log, sqrt
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from committed import Row, rows, summary
from scipy.stats import linregress, t


@pytest.fixture(scope="module")
def numbers() -> dict[str, Any]:
    return dict(summary("switches")["numbers"])


def grouped(table: list[Row], *names: str) -> dict[tuple[str, ...], list[Row]]:
    groups = defaultdict(list)
    for row in table:
        groups[tuple(row.get(name, "") for name in names)].append(row)
    return groups


def logs(runs: list[Row]) -> list[float]:
    return [log(float(row["cost"])) for row in runs]


def all_solved(runs: list[Row]) -> bool:
    return all(row["status"] == "solved" for row in runs)


def test_students_of_chains(numbers: dict[str, Any]):
    students = rows("switches", family="nested", solver_kind="learner")
    cells = grouped(students, "params.block", "params.dim")
    whole = {(int(g), int(d)): logs(runs) for (g, d), runs in cells.items() if all_solved(runs)}
    d = max(d for g, d in whole if g == 6 and (1, d) in whole)
    pays = [f"{float(f'{exp(fmean(whole[g, d])):.2g}'):,.0f}" for g in (1, 6)]
    printed = numbers["students"]
    assert [printed["taught"], printed["untaught"], printed["d"]] == [*pays, d] == ["2,400", "1,100,000", 12]
    fits = [
        interval([(log(d), cost) for (g, d), costs in whole.items() if g == block for cost in costs])
        for block in (1, 6)
    ]
    assert printed["exponents"] == fits
    untaught = [row["status"] for row in students if row["params.block"] == "6"]
    assert (printed["solved"], printed["runs"]) == (untaught.count("solved"), len(untaught))


def test_students_on_biased_inputs(numbers: dict[str, Any]):
    cells = grouped(rows("switches", family="parity", solver_kind="learner"), "params.bias", "params.dim")
    whole = {mu: logs(runs) for (mu, d), runs in cells.items() if d == "16" and all_solved(runs)}
    fair = fmean(whole.pop("0"))
    saved = exp(fair - min(map(fmean, whole.values())))
    assert numbers["bias"]["saved"] == f"{floor(10 * saved) / 10:g}"
    extreme = [row["status"] for (mu, _), runs in cells.items() if mu == "0.9" for row in runs]
    assert numbers["bias"]["solved"] == extreme.count("solved")
    assert numbers["bias"]["runs"] == len(extreme)


def test_biases_of_n_queries(numbers: dict[str, Any]):
    """μ⁵(1 − μ²) > .08, inside the interval that is printed; √(1 − 4τ) ends what is proved to be enough."""
    bias = numbers["bias"]
    low, high = float(bias["from"]), float(bias["to"])
    assert all(mu**5 * (1 - mu**2) > 0.08 for mu in (low, high))
    assert all(mu**5 * (1 - mu**2) < 0.08 for mu in (low - 0.001, high + 0.001))
    assert bias["end"] == f"{ceil(1000 * sqrt(1 - 0.08)) / 1000:g}"
    assert numbers["alone"] == f"{8 * 0.02**2 * (comb(63, 6) - 1):,.0f}"


def test_elimination_under_noise(numbers: dict[str, Any]):
    runs = grouped(rows("switches", solver_kind="elimination"), "params.flip")
    tries = [float(row["cost"]) for row in runs[("0.25",)]]
    noise = numbers["noise"]
    assert (noise["mean"], noise["runs"]) == (round(fmean(tries)), len(tries))
    full_rank = np.prod([1 - 0.5**i for i in range(2, 60)])  # of n + 1 random equations
    assert noise["tries"] == round(1 / (full_rank * 0.75**20))
    assert {row["cost"] for row in runs[("0",)]} <= {"1", "1.0"}


def interval(points: list[tuple[float, float]]) -> str:
    """The slope of a line of least squares with its 95 % interval by Student's t."""
    fit = linregress(*zip(*points, strict=True))
    half = t.ppf(0.975, len(points) - 2) * fit.stderr
    return f"{fit.slope:.3g} [{fit.slope - half:.3g}, {fit.slope + half:.3g}]"
