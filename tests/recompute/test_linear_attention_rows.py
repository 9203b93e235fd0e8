"""Numbers and tables of linear-attention, recomputed from rows.csv: csv, scipy, nothing of the lab."""

from collections import defaultdict
from collections.abc import Iterable
from math import exp, log, sqrt
from statistics import fmean, stdev

import pytest
from committed import Row, article_tables, rows, summary
from scipy.stats import linregress, t

SPANS = {("3", "2"): 1792, ("4", "2"): 3780, ("6", "3"): 38313}  # of programs, docs/baselines.md, E.3
COUNTS = ("jobs", "whole", "blind", "steps", "wrong")


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


def counted(runs: list[Row]) -> dict[str, dict[str, int]]:
    """Counts of jobs and steps by program."""
    sums: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(COUNTS, 0))
    for row in runs:
        for name in ("addition", "palindrome", "busy beaver", "random"):
            for count in COUNTS:
                sums[name][count] += int(row.get(f"detail.programs.{name}.{count}") or 0)
    return sums


def test_jobs_of_programs() -> None:
    printed = summary("linear-attention")["numbers"]["programs"]
    total = counted(of("machine")).values()
    steps, wrong = (sum(counts[name] for counts in total) for name in ("steps", "wrong"))
    assert (printed["sure"], printed["right"]) == (steps, steps - wrong)
    assert wrong == 0
    filled: list[Row] = []
    at: dict[float, list[Row]] = {0.5: [], 1.0: []}
    for (Q, A, samples), runs in grouped(
        of("machine"), "params.states", "params.symbols", "budget.samples"
    ).items():
        ranks = {int(row["detail.rank"]) for row in runs}
        filled += runs if ranks == {SPANS[Q, A]} else []
        for ratio, cell in at.items():
            cell += runs if int(samples) == round(ratio * SPANS[Q, A]) else []
    for name, ratio in (("half", 0.5), ("at", 1.0)):
        part = counted(at[ratio]).values()
        assert printed[name] == {
            count: sum(counts[count] for counts in part) for count in ("jobs", "whole", "blind")
        }
    table = article_tables("linear-attention")[0]
    assert table[1:] == [
        [name, str(counts["jobs"]), str(counts["whole"])] for name, counts in counted(filled).items()
    ]
    assert all(jobs == whole for _, jobs, whole in table[1:])


def test_descents_on_one_head() -> None:
    runs = grouped(of("linear-attention", solver_method="Adam"), "params.dim", "solver.heads")
    errors = {key: [float(row["detail.error"]) for row in cell] for key, cell in runs.items()}
    table = article_tables("linear-attention")[1][1:]
    assert {(d, heads): text for d, heads, text in table} == {
        key: shown(cell) for key, cell in errors.items()
    }
    closest = min(min(cell) for cell in errors.values())
    assert summary("linear-attention")["numbers"]["closest"] == pytest.approx(closest, rel=0.05)
    assert closest > 1e-12
    for d in ("2", "4", "8"):
        assert max(errors[d, str(int(d) ** 2)]) < 1e-4 < fmean(errors[d, "1"])


def test_the_memory() -> None:
    printed, memory = summary("linear-attention")["numbers"]["memory"], of("associative-memory")
    learned = grouped([row for row in memory if row["solver.method"] == "regression"], "solver.unitary")
    by_share = {float(share): part for (share,), part in learned.items()}
    hidden, seen = by_share[1], by_share[0]
    assert {int(row["detail.rank"]) for row in hidden} == {printed["rank"]}
    assert {int(row["detail.rank"]) for row in seen} == {printed["features"]}
    shares = [fmean(float(row["detail.certified"]) for row in part) for part in (hidden, seen)]
    assert printed["certified"] == [round(100 * share) for share in shares]
    assert max(float(row["detail.distance"]) for row in hidden) <= 1e-12
    assert {float(row["detail.other"]) for row in hidden} == {printed["other"]}
    adam = grouped(
        [row for row in memory if row["solver.method"] == "Adam"], "solver.heads", "solver.unitary"
    )
    far = [
        float(row["detail.distance"])
        for (heads, share), cell in adam.items()
        if int(heads) > 1 and float(share) == 1
        for row in cell
    ]
    assert printed["farthest"] == round(max(far), 2)
    cells = {
        (int(heads), float(share)): [float(row["detail.distance"]) for row in cell]
        for (heads, share), cell in adam.items()
    }
    for line in article_tables("linear-attention")[2][1:]:
        for share, text in zip((0.0, 0.95, 0.99, 1.0), line[1:], strict=True):
            values = cells[int(line[0]), share]
            assert text == ("≤ 1e-12" if max(values) <= 1e-12 else shown(values))


def test_the_regret_against_the_best_linear_attention() -> None:
    printed = summary("linear-attention")["numbers"]["agnostic"]
    runs = grouped(of("linear-attention", solver_method="agnostic"), "params.dim", "budget.samples")
    regrets = {
        (int(d), 2 * int(count) / (int(d) ** 2 * (int(d) + 1))): [float(row["detail.regret"]) for row in cell]
        for (d, count), cell in runs.items()
    }
    for ratio, *texts in article_tables("linear-attention")[3][1:]:
        for d, text in zip((4, 8), texts, strict=True):
            assert text == (shown(regrets[d, float(ratio)]) if (d, float(ratio)) in regrets else "–")
    for d in (4, 8):
        points = [(r, y) for (dim, r), ys in regrets.items() if dim == d and r >= printed["from"] for y in ys]
        fit = linregress(*zip(*((log(x), log(y)) for x, y in points), strict=True))
        half = t.ppf(0.975, len(points) - 2) * fit.stderr
        assert printed["rate"][str(d)] == f"{fit.slope:.3g} [{fit.slope - half:.3g}, {fit.slope + half:.3g}]"
    least = [float(row["detail.least"]) for row in runs["4", "10240"]]
    assert printed["share"] == round(100 * fmean(least))
