"""Numbers and tables of linear-attention, recomputed from rows.csv: csv, scipy, nothing of the lab."""

from collections import defaultdict
from collections.abc import Iterable
from math import log
from statistics import fmean

from committed import Row, rows, summary


def of(family: str, **wanted: str) -> list[Row]:
    return rows("linear-attention", family=family, **wanted)


def grouped(table: Iterable[Row], *names: str) -> dict[tuple[str, ...], list[Row]]:
    groups = defaultdict(list)
    for row in table:
        groups[tuple(row[name] for name in names)].append(row)
    return groups


def numbers(row: Row, *names: str) -> list[float]:
    return [float(row[f"detail.{name}"] or 0) for name in names]


def test_a_head_is_recovered_at_full_rank_and_never_below() -> None:
    printed = summary("linear-attention")["numbers"]
    counts = {"True": [0, 0], "False": [0, 0]}
    for row in of("linear-attention"):
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
    for (dim,), runs in grouped(of("linear-attention"), "params.dim").items():
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
    assert printed["enough"] == round(max(least), 1)
