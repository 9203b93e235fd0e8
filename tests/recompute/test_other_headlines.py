"""Every number of four headlines, again from the rows: csv and arithmetic, nothing of the lab."""

import re
from collections import defaultdict
from math import log, log2, sqrt
from statistics import fmean

from committed import Row, headline, page, rows
from scipy.stats import t

FLOOR, CLOSE = 2.0, 3  # seconds and bits of the predictions of `lattices`


def grouped(found: list[Row], *names: str) -> dict[tuple[str, ...], list[Row]]:
    groups = defaultdict(list)
    for row in found:
        groups[tuple(row.get(name, "") for name in names)].append(row)
    return groups


def test_lattices_the_largest_sizes() -> None:
    said = re.findall(r"\((\d+), (\d+)\) (\w+) and (\w+)", headline("lattices"))
    assert len(said) == len(grouped(rows("lattices"), "params.modulus", "params.levels"))
    for q, p, lattice, bkw in said:
        for attack, far in (("lattice", lattice), ("bkw", bkw)):
            own = rows("lattices", params_modulus=q, params_levels=p, solver_attack=attack, status="solved")
            assert max(int(row["params.dim"]) - 1 for row in own if not row.get("params.heads")) == int(far)


def test_lattices_the_predictions() -> None:
    """From the printed table, since seconds are in the store and not in rows.csv, which has no timing."""
    lines = [re.findall(r"<td[^>]*>(.*?)</td>", line) for line in re.findall(r"(?s)<tr>(.*?)</tr>", page("lattices"))]
    timed = [line[8:10] for line in lines if len(line) > 10 and line[8] and line[9]]  # log2 of seconds
    judged = [(float(predicted), float(took.split()[0])) for predicted, took in timed]
    above = [pair for pair in judged if max(pair) > log2(FLOOR)]
    close = sum(abs(took - predicted) <= CLOSE for predicted, took in above)
    assert f"{close} of {len(above)} times above {FLOOR:g} s, seen or predicted, lie within {CLOSE} bits" in headline(
        "lattices"
    )


def test_linear_attention_exact_heads_and_certified_steps() -> None:
    heads = rows("linear-attention", family="linear-attention", solver_method="regression", detail_identifiable="True")
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


def test_random_features_the_two_errors() -> None:
    attention, network = (
        fmean(
            float(row["detail.error.f2"])
            for row in rows("random-features", solver_model=model, solver_heads="1000", budget_samples="4096")
        )
        for model in ("RFA", "RFMLP, as many trained")
    )
    said = headline("random-features")
    assert f"1,000 frozen random heads ends at test error {attention:.3f} of the variance after 4,096" in said
    assert f"as many trained weights at {network:.2f}" in said


def test_switches_games_and_students() -> None:
    games = [row for row in rows("switches") if row["solver.kind"] in ("chain", "biased") and row["status"] == "solved"]
    inside = sum(float(row["detail.needed"]) <= float(row["cost"]) <= float(row["detail.suffice"]) for row in games)
    said = headline("switches")
    assert f"{inside} of {len(games)} games lie within bounds" in said
    students = rows("switches", family="nested", solver_kind="learner")
    untaught = [row for row in students if row["params.block"] == row["params.size"]]
    solved, spent = sum(row["status"] == "solved" for row in untaught), max(int(row["cost"]) for row in untaught)
    assert f"Untaught, {solved} of {len(untaught)} attention students end within {spent:,} examples" in said
    cells = grouped([row for row in students if row["params.block"] == "1"], "params.dim")
    points = [(log(int(d)), log(float(row["cost"]))) for (d,), own in cells.items()
              if all(row["status"] == "solved" for row in own) for row in own]  # fmt: skip
    assert f"they pay d^{interval(points)}." in said


def interval(points: list[tuple[float, float]]) -> str:
    """The slope of a line of least squares with its 95 % interval by Student's t."""
    mean_x, mean_y = fmean(x for x, _ in points), fmean(y for _, y in points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    rest = sum((y - mean_y - slope * (x - mean_x)) ** 2 for x, y in points)
    half = t.ppf(0.975, len(points) - 2) * sqrt(rest / (len(points) - 2) / spread)
    return f"{slope:.3g} [{slope - half:.3g}, {slope + half:.3g}]"
