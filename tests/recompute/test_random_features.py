"""Title and main table of random-features, recomputed from rows.csv: csv, json and numpy, nothing of the lab."""

from math import sqrt

import numpy as np
from committed import article_tables, rows, summary
from scipy.stats import t

TARGETS = ("f1", "f2", "f4", "g11", "g21", "g31", "g41")
COUNTS = (64, 128, 256, 512, 1024, 2048, 4096)
ATTENTION, NETWORK, BIASED = "RFA", "RFMLP, as many trained", "RFA biased 8:1"
PAIRS = "network on pairs"


def errors(target: str, model: str, samples: int) -> np.ndarray:
    """Test errors in order of repetition."""
    runs = rows("random-features", budget_samples=str(samples), solver_model=model, solver_heads="1000")
    runs.sort(key=lambda row: int(row["repetition"]))
    assert [row["repetition"] for row in runs] == list("01234")
    return np.array([float(row[f"detail.error.{target}"]) for row in runs])


def interval(values: np.ndarray) -> tuple[float, float, float]:
    """The mean and its 95 % interval by Student's t."""
    half = t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / sqrt(len(values))
    return values.mean(), values.mean() - half, values.mean() + half


def enough(target: str) -> int:
    """The examples from which on attention errs less than the network does after 4,096, by paired intervals."""
    network = errors(target, NETWORK, 4096)
    below = [interval(errors(target, ATTENTION, n) - network)[2] < 0 for n in COUNTS]
    behind = [i for i, lower in enumerate(below) if not lower]
    return COUNTS[behind[-1] + 1] if behind else COUNTS[0]


def test_half_the_examples_are_enough_on_every_target():
    numbers = summary("random-features")["numbers"]
    assert max(enough(name) for name in TARGETS) == numbers["enough"] == 2048
    wins = [interval(errors(name, ATTENTION, 2048) - errors(name, NETWORK, 4096))[2] < 0 for name in TARGETS]
    assert (sum(wins), len(wins)) == (numbers["won"], numbers["targets"]) == (7, 7)


def test_the_table_of_targets_and_who_beats_every_linear_function():
    """What linear functions leave is computed, and held by tests/learner/test_random_features_study.py."""
    (head, *lines), *_ = article_tables("random-features")
    assert [head[0], *(line[0] for line in lines)] == ["target", *TARGETS]
    for name, line in zip(TARGETS, lines, strict=True):
        attention, network = (interval(errors(name, model, 4096)) for model in (ATTENTION, NETWORK))
        assert line[2:4] == ["{:.3g} [{:.3g}, {:.3g}]".format(*each) for each in (attention, network)]
        assert line[5] == (f"{enough(name):,}" if network[0] < 1 else "–")
    assert summary("random-features")["numbers"]["mute"] == sum(line[5] == "–" for line in lines)
    for title, model in (("attention", ATTENTION), ("network", NETWORK), ("biased", BIASED)):
        highs = [interval(errors(name, model, 4096))[2] for name in TARGETS]
        beaten = sum(high < float(line[4]) for high, line in zip(highs, lines, strict=True))
        assert summary("random-features")["numbers"]["beaten"][title] == beaten


def test_a_network_that_treats_keys_alike_keeps_up():
    gaps = [interval(errors(name, ATTENTION, 2048) - errors(name, PAIRS, 2048)) for name in TARGETS]
    assert summary("random-features")["numbers"]["alike"] == {
        "examples": 2048,
        "better": sum(high < 0 for _, _, high in gaps),
        "worse": sum(low > 0 for _, low, _ in gaps),
    }
