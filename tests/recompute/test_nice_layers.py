"""Title and tables of nice-layers, recomputed from rows.csv: csv, json and the standard library, nothing of the lab."""

import math

import pytest
from committed import article_tables, rows, summary

KNOBS = {
    "coherence": (0.5, 0.7, 0.8, 0.9, 0.97),
    "stable_rank": (3, 2, 1.5, 1.2, 1.05),
    "diagonal": (4, 6, 8, 10, 11.5),
    "column": (0.5, 0.7, 0.8, 0.9, 0.97),
    "lattice": (0.1, 0.05, 0.02, 0.01, 0),
    "norm_ratio": (0.3, 0.2, 0.1, 0.05, 0.02),
    "scale": (8, 12, 16, 24, 32),
    "coherence_w": (0.7, 0.8, 0.9, 0.97, 0.99),
    "sum_w": (0.3, 0.2, 0.1, 0.05, 0),
}
METHODS = {"phases": 0.1, "rounds_head": 0.01, "random_rounds_head": 0.01, "search_head": 0.01}
LAYERS, DIM = 5, 16


def learned(row: dict[str, str], method: str) -> bool:
    text = row[f"detail.{method}"]
    return text not in ("", "null") and float(text) <= METHODS[method]


def breaking(knob: str, method: str) -> list[float]:
    """The first value, in the order of the knob, at which each of the layers is missed; infinite for none."""
    turned = rows("nice-layers", solver_kind="knob", solver_knob=knob)
    places = []
    for layer in range(LAYERS):
        missed = [
            value
            for value in KNOBS[knob]
            for row in turned
            if int(row["repetition"]) == layer
            and float(row[f"params.{knob}"]) == value
            and not learned(row, method)
        ]
        places.append(missed[0] if missed else math.inf)
    order = [*KNOBS[knob], math.inf]
    return sorted(places, key=order.index)


def words(value: float) -> str:
    return "never" if value == math.inf else f"{value:g}"


def enough(heads: int) -> list[float]:
    """Layer by layer, the least examples from which on local search finds the layer."""
    least = []
    for layer in range(6):
        chosen = rows("nice-layers", solver_kind="search", params_heads=str(heads), repetition=str(layer))
        trials = [(int(row["budget.samples"]), row["status"]) for row in chosen]
        missed = max((n for n, status in trials if status != "solved"), default=0)
        least.append(min((n for n, _ in trials if n > missed), default=math.inf))
    return sorted(least)


def test_where_each_knob_breaks_each_method():
    (by_knob,) = article_tables("nice-layers")
    for line, knob in zip(by_knob[1:], KNOBS, strict=True):
        cells = [line[2], *line[4:]]
        for cell, method in zip(cells, METHODS, strict=True):
            first = breaking(knob, method)
            middle, ends = words(first[LAYERS // 2]), (words(first[0]), words(first[-1]))
            assert cell == (middle if ends[0] == ends[1] else f"{middle} ({ends[0]} to {ends[1]})")


def a_parameter(least: list[float], heads: int) -> tuple[float, float, float]:
    """Numbers a parameter of the least, the median and the most examples over six layers, at two tokens.

    The middle two are averaged by their logarithms. The ends hold the median of all layers with 1 - 2^-5.
    """
    counts = (least[0], math.sqrt(least[2] * least[3]), least[5])
    low, middle, high = (count / (heads * DIM) for count in counts)
    return low, middle, high


def test_the_numbers_of_the_title():
    numbers = summary("nice-layers")["numbers"]
    assert numbers["sixteen"] == enough(16)[-1]
    assert numbers["sixteen_ratio"] == pytest.approx(numbers["sixteen"] / (16 * DIM))
    trials = rows("nice-layers", solver_kind="search", params_heads="16")
    solved = {int(row["budget.samples"]) for row in trials if row["status"] == "solved"}
    assert numbers["sixteen_missed"] == max({int(row["budget.samples"]) for row in trials} - solved)
    many = [a_parameter(enough(heads), heads) for heads in (8, 12, 16)]
    assert numbers["many"] == {"low": min(low for low, _, _ in many), "high": max(high for *_, high in many)}
    broken = {knob: breaking(knob, "phases")[LAYERS // 2] for knob in KNOBS}
    assert (numbers["spread"], numbers["sum"]) == (broken["scale"], broken["sum_w"])
    assert numbers["breaking"] == sum(value != math.inf for value in broken.values())
