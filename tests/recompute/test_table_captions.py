"""The numbers of captions of tables on two pages, from rows, tuning and formulas: nothing of the lab."""

import csv
import re
from collections import defaultdict
from math import comb, log

from committed import ROOT, Row, rows, tables

STUDY = ROOT / "learner" / "studies" / "exponential_in_m"
WORDS = ("zero", "one", "two", "three", "four", "five") + ("",) * 10 + ("sixteen",)
Place = tuple[int, int]


def captioned(study: str, start: str) -> tuple[str, list[list[str]]]:
    """A caption and the lines under it."""
    (table,) = [(caption, lines) for caption, lines in tables(study).items() if caption.startswith(start)]
    return table


def place(row: Row) -> Place:
    return int(row["params.heads"]), int(row["params.dim"])


def of_panels(arm: str) -> list[Row]:
    return [
        row for row in rows("exponential-in-m", solver_arm=arm) if row["solver.series"].startswith("panel")
    ]


def menu() -> set[tuple[float, ...]]:
    """The settings that were tried, read from the source by a regular expression."""
    source = (STUDY / "settings.py").read_text(encoding="utf-8")
    listed = re.findall(r"\(([\d.]+), (\d+), ([\d.]+), (\d+)\)", source[source.index("MENU = ") :])
    return {tuple(map(float, setting)) for setting in listed}


def test_a_bound_that_says_nothing() -> None:
    caption, lines = captioned("needs", "What m heads buy")
    for base, power in re.findall(r"\((\d)\^(\d) says nothing\)", caption):
        assert int(base) ** int(power) == 1  # a query
        assert any(f"{base}^{power}" in line for line in lines)


def test_the_caption_of_the_panel() -> None:
    """What was tuned where, rates of the menu times a factor, and whose weights the dense student has."""
    caption, lines = captioned("exponential-in-m", "Other gradient learners")
    heads, times, power = re.findall(r"(\d+) heads of (\d)d(.) weights", caption)[0]
    (dense,) = [line for line in lines if line[0] == "dense student"]
    d = int(dense[2])
    usual = next(line for line in lines if line[0] == "256 heads" and line[1:3] == dense[1:3])
    weights = int(heads) * int(times) * d ** "⁰¹²³⁴".index(power)
    ratios = [float(text.replace(",", "")) for text in (dense[-1], usual[-1])]
    costs = [float(line[3].replace(",", "")) for line in (dense, usual)]
    assert abs(ratios[0] / ratios[1] / (costs[0] * weights / (costs[1] * 256 * (d + 1))) - 1) < 1e-3
    factors = re.findall(r"rates times ([\d.]+) for the sign and ([\d.]+) for momentum", caption)[0]
    for factor, arm in zip(factors, ("sign of the gradient", "momentum"), strict=True):
        for row in of_panels(arm):
            rate, *rest = (float(row[f"solver.params.{name}"]) for name in ("rate", "batch", "l1", "start"))
            assert (round(rate / float(factor), 6), *rest) in menu()
    with (STUDY / "tuning.csv").open(newline="", encoding="utf-8") as file:
        tuned = {(int(row["s"]), int(row["d"])) for row in csv.DictReader(file) if row["arm"] == "momentum"}
    assert {(int(s), int(d)) for s, d in re.findall(r"s = (\d+), d = (\d+)", caption)} == tuned
    d, width, count = re.findall(
        r"At d = (\d+) the runs with (\d+) heads are of (\w+) (?:plans|panels)", caption
    )[0]
    series = {row["solver.series"] for row in of_panels(f"{width} heads") if row["params.dim"] == d}
    assert count == WORDS[len(series)]


def test_the_caption_of_what_a_gradient_sees() -> None:
    """In how many cells learning took less than the gradient shows at the start that it had."""
    caption, lines = captioned("exponential-in-m", "n₁, the informative")
    starts: dict[Place, dict[str, float]] = defaultdict(dict)
    for row in rows("exponential-in-m", solver_kind="gap"):
        starts[place(row)][row["solver.start"]] = float(row["detail.n_1"])
    fewer = 0
    for line in lines:
        cell = int(line[0]), int(line[1])
        hidden = [
            row
            for row in rows("exponential-in-m", solver_series="plan3", solver_arm="hidden set")
            if place(row) == cell
        ]
        (scale,) = {row["solver.params.start"] for row in hidden}
        (took,) = [text for text in line if text == line[-2 if line[-1] == scale else -1]][:1]
        fewer += float(took.replace(",", "")) < starts[cell][scale]
    assert re.findall(r"as in (\d+) of these cells", caption) == [str(fewer)]
    (words,) = re.findall(r"the gradient of the best of (\w+) heads", caption)
    (width,) = {
        row["solver.params.heads"]
        for row in rows("exponential-in-m", solver_series="gap")
        if row["solver.params.heads"]
    }
    assert words == WORDS[int(width)]
    assert caption.startswith("n₁")
    assert set(re.findall(r"n([₀-₉])", caption)) == {"₁"}


def test_the_caption_of_exponents() -> None:
    """Those of C(d−1, s−1): by its values at the ends of every line."""
    caption, lines = captioned("exponential-in-m", "The exponent of d at fixed s")
    taken, fewer, near, power = re.findall(r"C\(d−(\d), s−(\d)\) .*near s − (\d), .* d\^\(s−(\d)\)", caption)[
        0
    ]
    assert taken == "1"
    assert fewer == near == power
    for s, low, high, *_ in lines:
        ends = [comb(int(d) - int(taken), int(s) - int(fewer)) for d in (low, high)]
        rise = log(ends[1] / ends[0]) - (int(s) - int(near)) * log(int(high) / int(low))
        assert abs(rise) < 0.5


def test_the_tent_of_two_cells() -> None:
    """Along d = 8m, where no other test has its extent."""
    _, lines = captioned("exponential-in-m", "The factor that one more head costs")
    (line,) = [line for line in lines if line[:2] == ["8", "tent"]]
    cells = sorted(
        {place(row) for row in rows("exponential-in-m", solver_series="plan3", solver_arm="tent")},
        key=lambda at: at[1],
    )
    along = [(s, d) for s, d in cells if d == 8 * s]
    sets = [f"{comb(d - 1, s):,}" for s, d in along]
    assert line[-5:] == [str(len(along)), str(along[0][0]), str(along[-1][0]), sets[0], sets[-1]]
