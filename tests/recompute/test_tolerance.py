"""What tolerance nice layers need, in reports/needs: recomputed from rows.csv without the lab."""

import json
from collections import defaultdict
from math import inf
from statistics import median

import pytest
from committed import rows, summary
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


def slope(points: list[tuple[int, float]]) -> list[float]:
    fit = linregress(*zip(*points, strict=True))
    half = t.ppf(0.975, len(points) - 2) * fit.stderr
    return [round(value, 2) for value in (fit.slope, fit.slope - half, fit.slope + half)]


def test_the_numbers_of_nice_layers(trials: dict[tuple[str, int, int], list[Trial]]) -> None:
    hulls = {place: needs(trials["phases", *place], 0.3) for place in CELLS}
    heads = {place: needs(trials["every head", *place], 0.1) for place in CELLS}
    units = [((m - 1), e) for m in (1, 2, 3, 4) for e in hulls[2, m] if e < inf]
    assert summary("needs")["numbers"]["nice"] == {
        "d": 12,
        "layers": 6,
        "phases": [2 ** median(hulls[2, m]) for m in (1, 4)],
        "rounds": [2 ** median(heads[2, m]) for m in (1, 4)],
        "slope": slope(units),
    }
    assert {len(cell) for cell in trials.values()} == {6}
