"""Numbers and tables of linear-attention, recomputed from rows.csv: csv, scipy, nothing of the lab."""

from collections import defaultdict
from collections.abc import Iterable
from math import exp, log, sqrt
from statistics import fmean, stdev

from committed import Row, article_tables, rows, summary
from scipy.stats import linregress, t


def of(family: str, **wanted: str) -> list[Row]:
    return rows("linear-attention", family=family, **wanted)


def grouped(table: Iterable[Row], *names: str) -> dict[tuple[str, ...], list[Row]]:
    groups = defaultdict(list)
    for row in table:
        groups[tuple(row[name] for name in names)].append(row)
    return groups


def numbers(row: Row, *names: str) -> list[float]:
    return [float(row[f"detail.{name}"] or 0) for name in names]


def shown(values: list[float]) -> str:
    """The geometric mean with its 95 % interval by Student's t, as the page prints it."""
    logs = [log(value) for value in values]
    half = t.ppf(0.975, len(logs) - 1) * stdev(logs) / sqrt(len(logs))
    low, middle, high = (exp(fmean(logs) + side * half) for side in (-1, 0, 1))
    return f"{middle:.3g} [{low:.3g}, {high:.3g}]"


def test_a_head_is_recovered_at_full_rank_and_never_below() -> None:
    printed = summary("linear-attention")["numbers"]
    counts = {"True": [0, 0], "False": [0, 0]}
    for row in of("linear-attention", solver_method="regression"):
        d = int(row["params.dim"])
        full = row["detail.rank"] == str(d * d * (d + 1) // 2)
        assert row["detail.identifiable"] == str(full)
        counts[str(full)][0] += 1
        counts[str(full)][1] += float(row["detail.error"]) <= 1e-12
    assert [printed[name] for name in ("full", "short")] == [
        {"runs": runs, "exact": exact} for runs, exact in counts.values()
    ]
    assert counts == {"True": [162, 162], "False": [64, 0]}


def test_noise_is_worst_at_as_many_rows_as_features() -> None:
    peaks = []
    for (dim,), runs in grouped(of("linear-attention", solver_method="regression"), "params.dim").items():
        d = int(dim)
        noisy = {
            int(samples): fmean(log(float(row["detail.noisy"])) for row in cell)
            for (samples,), cell in grouped(runs, "budget.samples").items()
        }
        peaks += [dim] * (max(noisy, key=noisy.__getitem__) == d * d * (d + 1) // 2)
    assert summary("linear-attention")["numbers"]["peaks"] == ", ".join(peaks)


def test_steps_of_automata() -> None:
    printed = summary("linear-attention")["numbers"]["automata"]
    sure, right, certified, others, least = 0, 0, [], [], []
    for (states, letters), runs in grouped(of("automata"), "params.states", "params.letters").items():
        pairs = int(states) * int(letters)
        rank, ratios = pairs * (pairs * (int(states) - 1) + 1), []
        for (samples,), cell in grouped(runs, "budget.samples").items():
            perfect = sum(row["detail.word_accuracy"] in ("1", "1.0") for row in cell)
            ratios += [int(samples) / rank] * (2 * perfect >= len(cell))
        least.append(min(ratios))
        for row in runs:
            share, good, steps = numbers(row, "certified", "certified_right", "steps")
            sure += round(share * steps)
            right += round(share * steps * good)
        cell = [
            numbers(row, "certified", "certified_right", "step_accuracy")
            for row in runs
            if row["budget.samples"] == str(rank)
        ]
        certified.append(fmean(share for share, _, _ in cell))
        others.append(fmean((steps - share * good) / (1 - share) for share, good, steps in cell))
    assert (printed["sure"], printed["right"]) == (sure, right)
    assert sure == right == 2115194
    assert printed["certified"] == [round(100 * min(certified)), round(100 * max(certified))]
    assert printed["others"] == [round(100 * min(others), 1), round(100 * max(others), 1)]
    assert printed["least"] == [round(min(least), 1), round(max(least), 1)]


def test_the_regret_against_the_best_linear_attention() -> None:
    printed = summary("linear-attention")["numbers"]["agnostic"]
    runs = grouped(of("linear-attention", solver_method="agnostic"), "params.dim", "budget.samples")
    regrets = {
        (int(d), 2 * int(count) / (int(d) ** 2 * (int(d) + 1))): [float(row["detail.regret"]) for row in cell]
        for (d, count), cell in runs.items()
    }
    for ratio, *texts in article_tables("linear-attention")[0][1:]:
        for d, text in zip((4, 8), texts, strict=True):
            assert text == (shown(regrets[d, float(ratio)]) if (d, float(ratio)) in regrets else "–")
    for d in (4, 8):
        points = [(r, y) for (dim, r), ys in regrets.items() if dim == d and r >= printed["from"] for y in ys]
        fit = linregress(*zip(*((log(x), log(y)) for x, y in points), strict=True))
        half = t.ppf(0.975, len(points) - 2) * fit.stderr
        assert printed["rate"][str(d)] == f"{fit.slope:.3g} [{fit.slope - half:.3g}, {fit.slope + half:.3g}]"
    least = [float(row["detail.least"]) for row in runs["4", "10240"]]
    assert printed["share"] == round(100 * fmean(least))
