"""Every number of four headlines, again from the rows: csv and arithmetic, nothing of the lab."""

import csv
import re
from collections import defaultdict
from math import exp, log, log2, sqrt
from statistics import fmean, median

from committed import ROOT, Row, headline, page, plain, rows, tables
from scipy.stats import t

FLOOR, CLOSE = 2.0, 3  # seconds and bits of the predictions of `lattices`


def grouped(table: list[Row], *names: str) -> dict[tuple[str, ...], list[Row]]:
    groups = defaultdict(list)
    for row in table:
        groups[tuple(row.get(name, "") for name in names)].append(row)
    return groups


def test_lattices_the_largest_sizes() -> None:
    """And the least n beyond them that was tried: once the largest solved was the largest tried in 7 of 8 entries."""
    entries = re.findall(r"\((\d+), (\d+)\) (\w+) and (\w+)", headline("lattices"))
    words = plain(page("lattices"))
    assert len(entries) == len(grouped(rows("lattices"), "params.modulus", "params.levels"))
    for q, p, lattice, bkw in entries:
        beyond = {}
        for attack, far in (("lattice", lattice), ("bkw", bkw)):
            tried = rows("lattices", params_modulus=q, params_levels=p, solver_attack=attack, params_heads="")
            ends = {
                n: [row["status"] for row in tried if int(row["params.dim"]) - 1 == n]
                for n in {int(row["params.dim"]) - 1 for row in tried}
            }
            assert max(n for n in ends if "solved" in ends[n]) == int(far)
            lost = min(n for n in ends if n > int(far))
            runs = [row["status"] for row in tried if int(row["params.dim"]) - 1 == int(far)]
            verb = "refused" if set(ends[lost]) == {"refused"} else "tried and did not solve"
            beyond[attack] = f"solved n = {far} ({runs.count('solved')}/{len(runs)}) and {verb} n = {lost}"
        lost_words = f"the lattice attack {beyond['lattice']}, BKW {beyond['bkw']}"
        assert f"({q}, {p}): {lost_words}" in words


def test_lattices_the_predictions() -> None:
    """From the seconds of timings.csv; what is below two counts as two, and agrees with nothing."""
    with (ROOT / "reports" / "lattices" / "timings.csv").open(newline="", encoding="utf-8") as file:
        seconds = {row["identity"]: float(row["seconds"]) for row in csv.DictReader(file)}
    names = (
        "params.modulus",
        "params.levels",
        "params.dim",
        "params.heads",
        "solver.attack",
        "budget.samples",
    )
    judged, solved, unsolved = [], 0, []
    for runs in grouped(rows("lattices"), *names).values():
        known = [row["detail.predicted_seconds"] or row["detail.forecast_seconds"] for row in runs]
        predicted = [max(float(text), FLOOR) for text in known if text]
        measured = [max(seconds[row["identity"]], FLOOR) for row in runs if row["status"] == "solved"]
        if not measured and {row["status"] for row in runs} != {"refused"}:
            unsolved += [median(predicted)] if predicted else [0.0]
        if predicted and measured:
            solved += 1
            pair = median(map(log2, predicted)), median(map(log2, measured))
            if min(pair) > log2(FLOOR) or max(pair) - min(pair) > CLOSE:
                judged.append(pair)
    close = sum(abs(measured - predicted) <= CLOSE for predicted, measured in judged)
    assert (
        f"Above {FLOOR:g} s, {close} of {len(judged)} predictions are within a factor of {2**CLOSE}"
        in headline("lattices")
    )
    words = plain(page("lattices"))
    assert f"{solved - len(judged)} solved cells more decide nothing" in words
    assert f"{len(unsolved)} cells that an attack took on, at up to {max(unsolved):.3g} s predicted" in words


def test_linear_attention_exact_heads_and_certified_steps() -> None:
    heads = rows(
        "linear-attention", family="linear-attention", solver_method="regression", detail_identifiable="True"
    )
    largest = max(int(row["params.dim"]) for row in heads)
    exact = sum(float(row["detail.error"]) <= 1e-12 for row in heads)
    sure = right = 0
    for row in rows("linear-attention", family="automata"):
        certified = round(float(row["detail.certified"]) * int(row["detail.steps"]))
        sure += certified
        right += round(certified * float(row["detail.certified_right"] or 0))
    for row in rows("linear-attention", family="machine"):
        for name, value in row.items():
            if value and name.startswith("detail.programs.") and name.endswith(".steps"):
                sure += int(value)
                right += int(value) - int(row[name.removesuffix("steps") + "wrong"])
    assert f"{exact} of {len(heads)} random heads (d at most {largest}) to squared error 1e-12" in headline(
        "linear-attention"
    )
    assert f"{right:,} of {sure:,} certified steps" in headline("linear-attention")


def test_linear_attention_calls_it_an_identity() -> None:
    """That certified outputs are right is a lemma, and was once called measured."""
    assert "is right by a lemma" in headline("linear-attention")
    verdict = re.search(r'(?s)<div class="verdict">.*?</div>', page("linear-attention"))
    assert verdict
    assert re.findall(r'class="kind (\w+)"', verdict[0]) == ["identity"]


def test_random_features_all_targets() -> None:
    """Once the headline named f2 alone, its most favourable target."""
    targets = [name for name in rows("random-features")[0] if name.startswith("detail.error.")]
    errors = {}
    for model in ("RFA", "RFMLP, as many trained"):
        runs = rows("random-features", solver_model=model, solver_heads="1000", budget_samples="4096")
        errors[model] = {name: fmean(float(row[name]) for row in runs) for name in targets}
    attention, network = errors.values()
    lower = sum(attention[name] < network[name] for name in targets)
    learned = sum(attention[name] < 0.5 for name in targets)
    words = headline("random-features")
    assert f"has the lower test error on {lower} of {len(targets)} targets" in words
    assert f"an error below half the variance on {learned}" in words
    reached = []
    for name in targets:
        means = {
            int(samples): fmean(float(row[name]) for row in runs)
            for (samples,), runs in grouped(
                rows("random-features", solver_model="RFA", solver_heads="1000"), "budget.samples"
            ).items()
        }
        reached.append(min(samples for samples, error in means.items() if error <= network[name]))
    assert f"It has the network's errors after {min(reached)} to {max(reached)} examples." in words
    (table,) = (
        lines for caption, lines in tables("random-features").items() if caption.startswith("Errors in units")
    )
    shown = {line[0]: [float(cell.split()[0].replace(",", "")) for cell in line[1:]] for line in table}
    for name, examples in zip(targets, reached, strict=True):
        expected = [float(f"{model[name]:.3g}") for model in (attention, network)]
        assert shown[name.removeprefix("detail.error.")] == [*expected, examples]


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
    assert f"{inside} of {len(games)} games lie within bounds (n ≤ {largest})" in text
    free = sum(float(row["detail.needed"]) < 1 for row in games)
    assert f"In {free} of the {len(games)} games less than one query is needed" in plain(page("switches"))
    students = grouped(rows("switches", family="nested", solver_kind="learner"), "params.block", "params.dim")
    whole = {cell: runs for cell, runs in students.items() if all(row["status"] == "solved" for row in runs)}
    d = max(int(dim) for block, dim in whole if block == "6" and ("1", dim) in whole)
    taught, untaught = (geometric(whole[block, str(d)]) for block in ("1", "6"))
    assert (
        f"In d = {d} tuned attention students need {taught:,} examples taught bit by bit (order, gate given), "
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
    for name, block in (("Untaught", "6"), ("taught bit by bit", "1")):
        cells = grouped([row for row in students if row["params.block"] == block], "params.dim")
        points = [
            (log(int(d)), log(float(row["cost"])))
            for (d,), cell_runs in cells.items()
            if all(row["status"] == "solved" for row in cell_runs)
            for row in cell_runs
        ]
        assert f"{name} they pay d^{interval(points)}" in words or f"{name} d^{interval(points)}" in words


def cheapest(block: list[Row]) -> tuple[str, str, str]:
    """Of the settings with three seeds the one that costs least a solution."""
    prices = {}
    for setting, runs in grouped(block, "rate", "batch", "l1").items():
        solved = sum(row["status"] == "solved" for row in runs)
        if len(runs) == 3 and solved:
            prices[setting] = sum(int(row["cost"]) for row in runs) / solved
    return min(prices, key=prices.__getitem__)


def test_switches_bias_helps_students_a_little() -> None:
    """Once "bias helps queries and not these students": at d = 16 they pay less than half at μ = .3."""
    cells = grouped(rows("switches", family="parity", solver_kind="learner"), "params.dim", "params.bias")
    largest = {
        float(mu): geometric(runs)
        for (d, mu), runs in cells.items()
        if d == "16" and all(row["status"] == "solved" for row in runs)
    }
    best = min(largest, key=largest.__getitem__)
    extreme = [row for (_, mu), runs in cells.items() if mu == "0.9" for row in runs]
    solved = sum(row["status"] == "solved" for row in extreme)
    words = plain(page("switches"))
    assert (
        f"in d = 16 they need {largest[0.0]:,} examples on fair inputs and {largest[best]:,} at μ = {best}, the least "
        "mean of that d" in words
    )
    assert f"At μ = 0.9 only {solved} of {len(extreme)} solve within 2,000,000 examples" in words


def interval(points: list[tuple[float, float]]) -> str:
    """The slope of a line of least squares with its 95 % interval by Student's t."""
    mean_x, mean_y = fmean(x for x, _ in points), fmean(y for _, y in points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    rest = sum((y - mean_y - slope * (x - mean_x)) ** 2 for x, y in points)
    half = t.ppf(0.975, len(points) - 2) * sqrt(rest / (len(points) - 2) / spread)
    return f"{slope:.3g} [{slope - half:.3g}, {slope + half:.3g}]"
