"""Every number of four headlines, again from the rows: csv and arithmetic, nothing of the lab."""

import csv
import re
from collections import defaultdict
from itertools import combinations
from math import comb, exp, floor, isclose, log, sqrt
from statistics import fmean

import numpy as np
from committed import ROOT, Row, headline, page, plain, rows
from scipy.sparse.linalg import eigsh
from scipy.stats import t


def grouped(table: list[Row], *names: str) -> dict[tuple[str, ...], list[Row]]:
    groups = defaultdict(list)
    for row in table:
        groups[tuple(row.get(name, "") for name in names)].append(row)
    return groups


def test_linear_attention_exact_heads_and_certified_steps() -> None:
    heads = rows(
        "linear-attention", family="linear-attention", solver_method="regression", detail_identifiable="True"
    )
    largest = max(int(row["params.dim"]) for row in heads)
    exact = sum(float(row["detail.error"]) <= 1e-12 for row in heads)
    by_family = {}
    counted = []
    for row in rows("linear-attention", family="automata"):
        certified = round(float(row["detail.certified"]) * int(row["detail.steps"]))
        counted.append((certified, round(certified * float(row["detail.certified_right"] or 0))))
    by_family["automata"] = [sum(column) for column in zip(*counted, strict=True)]
    machines = programs_of_machines(rows("linear-attention", family="machine"))
    steps, wrong = (sum(counts[key] for _, counts in machines) for key in ("steps", "wrong"))
    by_family["machine"] = [steps, steps - wrong]
    sure, right = (sum(column) for column in zip(*by_family.values(), strict=True))
    assert f"{exact} of {len(heads)} runs on random heads (d ≤ {largest}) to squared error 1e-12" in headline(
        "linear-attention"
    )
    assert f"{right:,} of {sure:,} certified steps of automata and programs" in headline("linear-attention")
    words = plain(page("linear-attention"))
    for certified, good in by_family.values():
        assert f"{good:,} of {certified:,} certified steps were right" in words


def programs_of_machines(runs: list[Row]) -> list[tuple[str, dict[str, int]]]:
    """Counts of jobs and steps of every program that a run had, by the program's name."""
    listed = []
    for row in runs:
        names = {name.split(".")[2] for name in row if name.startswith("detail.programs.")}
        for program in sorted(names):
            start = f"detail.programs.{program}."
            counts = {name.removeprefix(start): int(row[name] or 0) for name in row if name.startswith(start)}
            if counts["jobs"]:
                listed.append((program, counts))
    return listed


def test_linear_attention_what_is_right_without_a_certificate() -> None:
    """Once shares were pooled over all numbers of rows, and automata of 16 tables were called unseen."""
    words = plain(page("linear-attention"))
    certified, others, exact = [], [], defaultdict(list)
    for (states, letters), runs in grouped(
        rows("linear-attention", family="automata"), "params.states", "params.letters"
    ).items():
        pairs = int(states) * int(letters)
        rank = pairs * (pairs * (int(states) - 1) + 1)
        for (samples,), cell in grouped(runs, "budget.samples").items():
            perfect = sum(float(row["detail.word_accuracy"]) == 1 for row in cell)
            exact[states, letters] += [int(samples) / rank] * (2 * perfect >= len(cell))
        cell = [row for row in runs if int(row["budget.samples"]) == rank]
        certified.append(fmean(float(row["detail.certified"]) for row in cell))
        lucky = []
        for row in cell:
            share, right = float(row["detail.certified"]), float(row["detail.certified_right"] or 0)
            lucky.append((float(row["detail.step_accuracy"]) - share * right) / (1 - share))
        others.append(fmean(lucky))
    shares = [f"{100 * min(values):.3g} to {100 * max(values):.3g} %" for values in (certified, others)]
    assert (
        f"With as many rows as the rank of the features, {shares[0]} of the steps are certified, by size, "
        f"and {shares[1]} of the others right" in words
    )
    first = [min(ratios) for ratios in exact.values()]
    assert (
        f"Of the ratios tried, {min(first):.3g} to {max(first):.3g} times the rank, by size, is the" in words
    )
    assert f"there are Q^(QA) automata, only {2**4} at Q = 2 and A = 2" in words
    wholes = []
    spans = {("3", "2"): 1792, ("4", "2"): 3780, ("6", "3"): 38313}
    assert "the features of all steps span 1,792, 3,780 and 38,313 dimensions" in words
    for ratio, sentence in ((0.5, "{} of {} jobs end so if"), (1.0, "filled the span in no run, {} of {};")):
        runs = [
            row
            for size, span in spans.items()
            for row in rows("linear-attention", family="machine", budget_samples=str(round(ratio * span)))
            if (row["params.states"], row["params.symbols"]) == size
        ]
        assert all(
            int(row["detail.rank"]) < spans[row["params.states"], row["params.symbols"]] for row in runs
        )
        jobs, blind, whole = (
            sum(counts[key] for _, counts in programs_of_machines(runs)) for key in ("jobs", "blind", "whole")
        )
        assert sentence.format(blind, jobs) in words
        wholes.append(whole)
    assert f"; {wholes[0]} and {wholes[1]} are certified to their end." in words


def test_linear_attention_noise_is_worst_at_as_many_rows_as_features() -> None:
    """The page once said so of d = 2, where the fewest rows are twice the features."""
    peaks, fewest = [], {}
    for (dim,), runs in grouped(
        rows("linear-attention", family="linear-attention", solver_method="regression"), "params.dim"
    ).items():
        d = int(dim)
        features = d * d * (d + 1) // 2
        noisy = {
            int(samples): fmean(log(float(row["detail.noisy"])) for row in cell)
            for (samples,), cell in grouped(runs, "budget.samples").items()
        }
        if features in noisy:
            peaks += [d] * (max(noisy, key=noisy.__getitem__) == features)
        else:
            fewest[d] = min(noisy) / features
    assert (peaks, fewest) == ([4, 8, 16], {2: 2.0})
    words = plain(page("linear-attention"))
    assert "at d = 4, 8 and 16 the error is largest at as many rows as features" in words
    assert "(at d = 2 no fewer than 2ψ rows were tried)" in words


def memory_of_adam(unitary: str) -> dict[int, list[tuple[float, float]]]:
    """Distances and training errors of Adam's runs on one share of orthonormal examples, by its heads."""
    runs = rows("linear-attention", family="associative-memory", solver_method="Adam", solver_unitary=unitary)
    return {
        int(heads): [(float(row["detail.distance"]), float(row["detail.training"])) for row in lines]
        for (heads,), lines in grouped(runs, "solver.heads").items()
    }


def log_interval(values: list[float]) -> tuple[float, float, float]:
    """The geometric mean and its 95 % interval by Student's t."""
    logs = [log(value) for value in values]
    return exp(-upper_end([-value for value in logs])), exp(fmean(logs)), exp(upper_end(logs))


def test_linear_attention_what_adam_shows_of_the_memory() -> None:
    """Once "nearer on Gaussian data, as the paper claims" kept silent about mixtures that identify the head too."""
    words = plain(page("linear-attention"))
    orthonormal, gaussian, mixed = (memory_of_adam(unitary) for unitary in ("1", "0", "0.99"))
    distances = {
        share: {heads: log_interval([distance for distance, _ in runs]) for heads, runs in cells.items()}
        for share, cells in (("orthonormal", orthonormal), ("gaussian", gaussian), ("mixed", mixed))
    }
    nearer = [
        heads for heads in orthonormal if distances["gaussian"][heads][2] < distances["orthonormal"][heads][0]
    ]
    assert (
        f"nearer on Gaussian data, by the intervals with {len(nearer)} of {len(orthonormal)} numbers of heads"
        in words
    )
    nearer_mixed = []
    for share in ("0.95", "0.99"):
        ranks = {
            row["detail.rank"]
            for row in rows(
                "linear-attention",
                family="associative-memory",
                solver_method="regression",
                solver_unitary=share,
            )
        }
        assert ranks == {"288"}
        for heads, runs in memory_of_adam(share).items():
            high = log_interval([distance for distance, _ in runs])[2]
            if high < distances["orthonormal"][heads][0]:
                nearer_mixed.append(f"H = {heads} at {100 * float(share):g} %")
    assert (
        "95 and 99 % orthonormal examples identify it too (rank 288), and by the intervals Adam ends nearer there than "
        f"on orthonormal ones alone in {len(nearer_mixed)} of 8 cells of the table ({', '.join(nearer_mixed)}); "
        "elsewhere the intervals overlap" in words
    )
    assert all(
        log_interval([distance for distance, _ in runs])[0] < distances["orthonormal"][heads][2]
        for share in ("0.95", "0.99")
        for heads, runs in memory_of_adam(share).items()
    )
    error = exp(fmean(log(error) for _, error in mixed[4]))
    assert f"At 99 % its training error with 4 heads is {error:.3g}" in words
    several = [run for heads, runs in orthonormal.items() if heads > 1 for run in runs]
    farthest = max(distance for distance, _ in several)
    assert f"the farthest of {len(several)} runs with more than one head ends at {farthest:.2f}" in words
    stuck = [(distance, error) for distance, error in orthonormal[1] if distance > 4]
    assert (
        f"With one head {len(stuck)} of {len(orthonormal[1])} runs end beyond |p*|, but do not fit "
        f"(training error {min(error for _, error in stuck):.2f} or more)" in words
    )
    assert all(error > 0 for runs in orthonormal.values() for _, error in runs)
    assert "training errors are not 0, heads at most 8 of d² = 64" in words


def test_linear_attention_calls_it_an_identity() -> None:
    """That certified outputs are right is a lemma, and was once called measured."""
    assert "is right by a lemma" in headline("linear-attention")
    verdict = re.search(r'(?s)<div class="verdict">.*?</div>', page("linear-attention"))
    assert verdict
    assert re.findall(r'class="kind (\w+)"', verdict[0]) == ["identity"]


def upper_end(values: list[float]) -> float:
    """The upper end of the 95 % interval of a mean, by Student's t."""
    centre = fmean(values)
    deviation = sqrt(sum((value - centre) ** 2 for value in values) / (len(values) - 1))
    return centre + float(t.ppf(0.975, len(values) - 1)) * deviation / sqrt(len(values))


def test_switches_games_and_students() -> None:
    games = [
        row
        for row in rows("switches")
        if row["solver.kind"] in ("chain", "biased") and row["status"] == "solved"
    ]
    inside = sum(
        float(row["detail.needed"]) <= float(row["cost"]) <= float(row["detail.suffice"]) for row in games
    )
    text = headline("switches")
    largest = max(int(row["params.dim"]) - 1 for row in games)
    assert inside == len(games)
    assert f"all {inside} games within bounds (n ≤ {largest})" in text
    free = sum(float(row["detail.needed"]) < 1 for row in games)
    proving = sum(row["solver.strategy"] != "sign-batch" for row in games)
    words = plain(page("switches"))
    assert (
        f"In {free} of the {len(games)} games on chains or biased inputs less than one query is needed"
        in words
    )
    assert (
        f"{proving}, all but those with sign batches, play the strategy that proves the upper bound" in words
    )
    students = grouped(rows("switches", family="nested", solver_kind="learner"), "params.block", "params.dim")
    whole = {cell: runs for cell, runs in students.items() if all(row["status"] == "solved" for row in runs)}
    d = max(int(dim) for block, dim in whole if block == "6" and ("1", dim) in whole)
    taught, untaught = (geometric(whole[block, str(d)]) for block in ("1", "6"))
    assert (
        f"Attention students (d = {d}) need {taught:,} examples taught bit by bit (6 layers; order, gate given), "
        f"{untaught:,} untaught." in text
    )


def geometric(runs: list[Row]) -> int:
    """The geometric mean of costs, to two digits."""
    return int(float(f"{exp(fmean(log(float(row['cost'])) for row in runs)):.2g}"))


def test_switches_taught_and_untaught_students_are_given_the_same() -> None:
    """Once "0 of 6 untaught within 1,000,000" stood beside taught ones that had 20,000,000."""
    students = rows("switches", family="nested", solver_kind="learner")
    assert len({row["budget.samples"] for row in students}) == 1
    assert {len(runs) for runs in grouped(students, "params.block", "params.dim").values()} == {4}
    with (ROOT / "learner" / "studies" / "switches" / "tuning.csv").open(
        newline="", encoding="utf-8"
    ) as file:
        runs = grouped(list(csv.DictReader(file)), "g")
    tried = [{(row["rate"], row["batch"], row["l1"]) for row in block} for block in runs.values()]
    assert len(tried) == 4
    assert all(settings == tried[0] for settings in tried)
    assert all(int(row["cost"]) <= 5_000_000 and row["d"] == "12" for block in runs.values() for row in block)
    for (g,), block in runs.items():
        chosen = {
            (row["solver.params.rate"], row["solver.params.batch"], row["solver.params.l1"])
            for row in students
            if row["params.block"] == g
        }
        assert chosen == {cheapest(block)}
    untaught = [row for row in students if row["params.block"] == "6"]
    solved = sum(row["status"] == "solved" for row in untaught)
    words = plain(page("switches"))
    assert f"Untaught, {solved} of {len(untaught)} solve within it." in words
    for name, block in (("Untaught students", "6"), ("those taught bit by bit", "1")):
        cells = grouped([row for row in students if row["params.block"] == block], "params.dim")
        points = [
            (log(int(d)), log(float(row["cost"])))
            for (d,), cell_runs in cells.items()
            if all(row["status"] == "solved" for row in cell_runs)
            for row in cell_runs
        ]
        dims = [d for (d,), runs in cells.items() if all(row["status"] == "solved" for row in runs)]
        fit = f"d^{interval(points)} over d = {', '.join(dims[:-1])} and {dims[-1]}"
        assert f"{name} pay {fit}" in words or f"{name} {fit}" in words
    lost = [row["status"] for row in untaught if row["params.dim"] == "16"]
    assert f"leave out d = 16, solved by {lost.count('solved')} of {len(lost)}" in words


def cheapest(block: list[Row]) -> tuple[str, str, str]:
    """Of the settings with three seeds the one that costs least a solution."""
    prices = {}
    for setting, runs in grouped(block, "rate", "batch", "l1").items():
        solved = sum(row["status"] == "solved" for row in runs)
        if len(runs) == 3 and solved:
            prices[setting] = sum(int(row["cost"]) for row in runs) / solved
    return min(prices, key=prices.__getitem__)


def test_switches_bias_helps_students_a_little() -> None:
    """Once "bias helps queries and not these students"; then the best of three biases at the best d alone."""
    cells = grouped(rows("switches", family="parity", solver_kind="learner"), "params.dim", "params.bias")
    whole = {
        (d, float(mu)): [log(float(row["cost"])) for row in runs]
        for (d, mu), runs in cells.items()
        if all(row["status"] == "solved" for row in runs)
    }
    assert sorted({mu for _, mu in whole}) == [0.0, 0.3, 0.5, 0.7]
    factors, apart, costlier = [], [], []
    for d in ("10", "12", "16"):
        fair, best = whole[d, 0.0], min((whole[d, mu] for mu in (0.3, 0.5, 0.7)), key=fmean)
        factors.append(f"{int(10 * exp(fmean(fair) - fmean(best))) / 10:g} in d = {d}")
        apart += [d] * (upper_end(best) < -upper_end([-cost for cost in fair]))
        costlier += [(mu, d) for mu in (0.3, 0.5, 0.7) if fmean(whole[d, mu]) > fmean(fair)]
    assert all(upper_end(whole[d, 0.0]) > -upper_end([-cost for cost in whole[d, mu]]) for mu, d in costlier)
    words = plain(page("switches"))
    assert (
        "The least mean over μ = 0.3, 0.5 and 0.7, chosen afterwards, is below that on fair inputs by a factor "
        f"of at least {', '.join(factors[:-1])} and {factors[-1]}, with disjoint intervals in d = {apart[0]} only"
        in words
    )
    assert len(apart) == 1
    assert {mu for mu, _ in costlier} == {0.7}
    assert (
        "At μ = 0.7 the mean is above that on fair inputs in d = "
        f"{' and '.join(d for _, d in costlier)}, with overlapping intervals" in words
    )
    extreme = [row for (_, mu), runs in cells.items() if mu == "0.9" for row in runs]
    solved = sum(row["status"] == "solved" for row in extreme)
    assert f"At μ = 0.9 only {solved} of {len(extreme)} solve within 2,000,000 examples" in words


def test_switches_games_are_no_measure_of_what_bias_saves() -> None:
    """Once 10,625 queries without bias stood beside 23 with it, and sign batches beside neither."""
    games = {
        row["params.bias"]: int(float(row["cost"]))
        for row in rows("switches", solver_kind="biased", params_dim="25")
    }
    words = plain(page("switches"))
    assert f"take {games['0']:,} queries at μ = 0 and {games['0.9']:,} at μ = 0.9" in words
    batches = [int(float(row["cost"])) for row in rows("switches", solver_kind="sq", params_flip="0")]
    assert (
        f"sign batches take {min(batches)} to {max(batches)} queries where such products take {comb(20, 4) - 1:,}"
        in words
    )
    need = 8 * 0.02**2 * (comb(24, 4) - 1)
    assert 24 < need < comb(24, 2)  # so many queries suffice at j = 1 and 2
    assert (
        f"fewer suffice than the {floor(need)} that are needed at μ = 0: here where j = 1 works, by 24 queries"
        in words
    )


def test_switches_eigenvalue_on_vectors_of_sum_0() -> None:
    """The largest of the whole matrix, which the page once named, gives a lower need than the page prints."""
    n, s = 12, 4
    sets = np.array([[j in chosen for j in range(n)] for chosen in combinations(range(n), s)], dtype=float)
    size = len(sets)
    for row in rows("switches", solver_kind="biased", params_dim=str(n + 1)):
        matrix = float(row["params.bias"]) ** (2 * s - 2 * sets @ sets.T)
        mean = matrix.mean(axis=0)  # that of every column: the sets of one size are alike
        largest = float(eigsh(matrix - mean, k=1, which="LA", return_eigenvectors=False)[0])
        assert isclose(8 * 0.02**2 * (size - 1) / largest, float(row["detail.needed"]), rel_tol=1e-3)
    assert "the largest eigenvalue, on vectors of sum 0, of the matrix of correlations" in plain(
        page("switches")
    )


def test_switches_biases_of_n_queries() -> None:
    """μ³(1 − μ²) > .08, inside the interval that is printed; √(1 − 4τ) ends what is proved to suffice."""
    words = plain(page("switches"))
    printed = re.search(
        r"here that is for μ from ([\d.]+) to ([\d.]+)\. For s \+ 1 ≥ 1/\(2τ\) no μ allows j = 1\.", words
    )
    assert printed
    low, high = float(printed[1]), float(printed[2])
    assert all(mu**3 * (1 - mu**2) > 0.08 for mu in (low, high))
    assert all(mu**3 * (1 - mu**2) < 0.08 for mu in (low - 0.001, high + 0.001))
    assert all(
        mu ** (s - 1) * (1 - mu**2) <= 2 / (s + 1) for s in range(1, 40) for mu in np.linspace(0, 1, 201)
    )
    ended = re.search(r"nothing from μ = ([\d.]+) on", words)
    assert ended
    assert 0 <= float(ended[1]) - sqrt(1 - 0.08) < 0.001


def test_switches_supervision_alone_saves_and_small_biases_do_not() -> None:
    """The corner needs 8τ²(N − 1); blocks of g suffice with Σ(N_i − 1), biases with C(63, j) products of j bits."""
    tau, n, s = 0.02, 63, 6
    corner = 8 * tau**2 * (comb(n, s) - 1)
    assert all(sum(comb(n - start, g) - 1 for start in range(0, s, g)) < corner for g in (1, 2, 3))
    small = []
    for mu in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        least = min(j for j in range(1, s + 1) if mu ** (s - j) * (1 - mu**2) > 4 * tau)
        small += [f"{mu:g}"] * (comb(n, least) >= corner)
    assert (
        "Fewer queries suffice than the corner without switches needs, except for g = 6 at μ = "
        f"{', '.join(small[:-1])} and {small[-1]}." in plain(page("switches"))
    )
    largest = [
        8 * 0.05**2 * (20 - s),
        8 * tau**2 * (n - s) / (1 - 0.9**2),
    ]  # for g = 1, of the games and of the map
    assert max(largest) < 1
    assert "for g = 1 less than one query is needed at every size shown" in plain(page("switches"))


def interval(points: list[tuple[float, float]]) -> str:
    """The slope of a line of least squares with its 95 % interval by Student's t."""
    mean_x, mean_y = fmean(x for x, _ in points), fmean(y for _, y in points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    rest = sum((y - mean_y - slope * (x - mean_x)) ** 2 for x, y in points)
    half = t.ppf(0.975, len(points) - 2) * sqrt(rest / (len(points) - 2) / spread)
    return f"{slope:.3g} [{slope - half:.3g}, {slope + half:.3g}]"
