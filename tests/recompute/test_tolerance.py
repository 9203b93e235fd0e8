"""What tolerance nice layers need, in docs/learner.md and reports/needs: recomputed from rows.csv without the lab."""

import json
from collections import defaultdict
from math import inf, log
from statistics import median

import pytest
from committed import ROOT, rows, summary
from scipy.stats import linregress, t

Trial = tuple[list[int], list[float]]
CELLS = [(k, m) for k in (2, 3) for m in (1, 2, 3, 4)]


@pytest.fixture(scope="module")
def trials() -> dict[tuple[str, int, int], list[Trial]]:
    """Exponents of 1/τ that were tried and the errors at them, by kind, k and m; no hull is an infinite error."""
    cells = defaultdict(list)
    for kind in ("phases", "every head"):
        for row in rows("needs", solver_kind=kind):
            errors = json.loads(row["detail.errors"].replace("None", "Infinity"))
            place = kind, int(row["params.tokens"]), int(row["params.heads"])
            cells[place].append((json.loads(row["detail.tried"]), errors))
    return cells


def needs(cell: list[Trial], aim: float) -> list[float]:
    return sorted(
        min((e for e, error in zip(*trial, strict=True) if error <= aim), default=inf) for trial in cell
    )


def crossing(trial: Trial, aim: float) -> float:
    """Where the error is the one aimed at, on straight lines in logarithms."""
    tried, errors = trial
    after = next(i for i, error in enumerate(errors) if error <= aim)
    if not after or errors[after - 1] == inf:
        return tried[after]
    left, right = log(errors[after - 1]), log(errors[after])
    return tried[after] - (log(aim) - right) / (left - right)


def shown(cell: list[float]) -> str:
    words = ["none" if e == inf else f"{e:g}" for e in (median(cell), cell[0], cell[-1])]
    return words[0] if len({*words}) == 1 else f"{words[0]} [{words[1]}, {words[2]}]"


def slope(points: list[tuple[int, float]]) -> list[float]:
    fit = linregress(*zip(*points, strict=True))
    half = t.ppf(0.975, len(points) - 2) * fit.stderr
    return [round(value, 2) for value in (fit.slope, fit.slope - half, fit.slope + half)]


def test_the_table_of_tolerances(trials: dict[tuple[str, int, int], list[Trial]]) -> None:
    """log2 1/τ of the largest tolerance tried that serves, on the page of the learner."""
    expected = []
    for k, m in CELLS:
        cell, closer, power = trials["phases", k, m], "–", "–"
        if all(needs([trial], 0.1)[0] < inf for trial in cell):
            closer = shown(needs(cell, 0.1))
            bits = [crossing(trial, 0.1) - crossing(trial, 0.3) for trial in cell]
            power = f"{median(bits) * log(2) / log(3):.2f}"
        heads = shown(needs(trials["every head", k, m], 0.1))
        line = [str(k), str(m), shown(needs(cell, 0.3)), closer, power, str((m - 1) * (k - 1) + 1), heads]
        costs = [
            {
                row["cost"]
                for row in rows("needs", solver_kind=kind, params_tokens=str(k), params_heads=str(m))
            }
            for kind in ("phases", "every head")
        ]
        expected.append(line + [f"{max(map(int, cost)):,}" for cost in costs])
    page = (ROOT / "docs" / "learner.md").read_text(encoding="utf-8")
    assert all(f"\n| {' | '.join(line)} |\n" in page for line in expected)


def test_the_numbers_of_nice_layers(trials: dict[tuple[str, int, int], list[Trial]]) -> None:
    hulls = {place: needs(trials["phases", *place], 0.3) for place in CELLS}
    heads = {place: needs(trials["every head", *place], 0.1) for place in CELLS}
    units, by_head = (
        {
            k: [((m - 1) * (k - 1) if agree else m, e) for m in (1, 2, 3, 4) for e in cells[k, m] if e < inf]
            for k in (2, 3)
        }
        for cells, agree in ((hulls, True), (heads, False))
    )
    assert summary("needs")["numbers"]["nice"] == {
        "d": 12,
        "layers": 6,
        "phases": [2 ** median(hulls[2, m]) for m in (1, 4)],
        "rounds": [2 ** median(heads[2, m]) for m in (1, 4)],
        "slope": slope(units[2]),
        "queries": max(int(row["cost"]) for row in rows("needs", family="nondegenerate")),
    }
    assert {len(cell) for cell in trials.values()} == {6}
    # Of docs/learner.md
    assert [slope(units[3]), *(slope(by_head[k]) for k in (2, 3))] == [
        [2.11, 1.83, 2.4],
        [0.58, 0.41, 0.74],
        [0.5, 0.38, 0.62],
    ]
    assert [hulls[3, m].count(inf) for m in (3, 4)] == [1, 6]
    last = sorted(errors[-1] for _, errors in trials["phases", 3, 4])
    assert [round(last[0], 2), round(last[-1], 2)] == [0.47, 0.62]
