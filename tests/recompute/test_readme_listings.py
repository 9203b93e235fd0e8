"""The numbers of README's listings and counts, and of the words beside its measurements: nothing of the lab."""

import ast
import csv
import hashlib
import json
import re
import tomllib
from collections import defaultdict
from itertools import product
from math import comb, exp, log
from statistics import median

import numpy as np
from committed import ROOT, Row, rows
from scipy.stats import t

README_LINES = (ROOT / "README.md").read_text(encoding="utf-8")
README = " ".join(README_LINES.split())
BLOCKS = re.findall(r"(?ms)^```(\w+)\n(.*?)^```$", README_LINES)
STUDY = ROOT / "learner" / "studies" / "exponential_in_m"
UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
WORDS = dict(enumerate(UNITS)) | {16: "sixteen"}


def numbers(pattern: str) -> list[str]:
    """The groups of a pattern that stands in README once."""
    (match,) = re.finditer(pattern, README)
    return list(match.groups())


def listing(words: str) -> str:
    """The only block of README that has these words."""
    (block,) = [block for _, block in BLOCKS if words in block]
    return block


def of_plan(arm: str) -> list[Row]:
    return rows("exponential-in-m", solver_series="plan3", solver_arm=arm)


def drawn_set(dim: int, heads: int, seed: int) -> list[int]:
    """The hidden set of a parity layer by the recipe of docs/seeds.md, in numpy's words."""
    parameters = {"dim": dim, "gadget": "diag", "heads": heads, "sharpness": 8}
    text = json.dumps(["parity", parameters], separators=(",", ":"))
    key = np.frombuffer(hashlib.sha256(text.encode()).digest(), ">u4").tolist()
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(*key, 0)))
    return sorted((1 + rng.choice(dim - 1, heads, replace=False)).tolist())


def test_the_first_listing_and_the_sentences_about_it() -> None:
    block = listing("hardness.Nondegenerate")
    (nice,) = re.findall(r"Nondegenerate\(dim=(\d+), tokens=(\d+), heads=(\d+)\), seed=\d+", block)
    ((dim, heads, seed),) = re.findall(r"Parity\(dim=(\d+), heads=(\d+)\), seed=(\d+)", block)
    assert nice == (dim, "2", heads)  # layers of the same size
    (hidden,) = re.findall(r"'support': \[([\d, ]+)\]", block)
    assert [int(x) for x in hidden.split(", ")] == drawn_set(int(dim), int(heads), int(seed))
    learned = re.findall(r'learn\((\w+), "lbfgs", (\d+), seed=(\d+)\)', block)
    assert {learner[1:] for learner in learned} == {learned[0][1:]}  # the same examples and starts
    ((_, count, _), _), (read,) = learned, re.findall(r'"gaussian", (\d+)\)', block)
    assert (
        f"Both layers have {WORDS[int(heads)]} heads. A local search learns the random one from {count} examples; "
        f"the other, whose labels are a hidden parity of {WORDS[int(heads)]} bits"
    ) in README
    assert f"Gaussian elimination reads the parity off {read}. (" in README
    assert f"of {comb(int(dim) - 1, int(heads))} sets that could be hidden in so small a layer" in README


def test_what_the_first_command_runs() -> None:
    block = listing("make study ")
    count = sum(line.startswith("make ") for line in block.splitlines())
    assert f" {WORDS[count].capitalize()} commands install all they need" in README
    places = {
        (int(row["params.dim"]), int(row["params.heads"]))
        for row in rows("exponential-in-m", solver_series="ray")
    }
    (ray,) = {d / m for d, m in places}
    assert f"`make study` runs the middle ray to m = {max(places)[1]}," in README
    assert f"# runs d = {ray:g}m, m = {min(places)[1]} to {max(places)[1]}, " in block
    assert (
        f" Python {tomllib.loads((ROOT / 'pyproject.toml').read_text())['project']['requires-python'][2:]} or"
        in README
    )


def test_the_other_listings_and_the_sentences_about_them() -> None:
    (heads,) = re.findall(r"Parity\(dim=\d+, heads=(\d)\)", listing(">>> layer = instance.layer()"))
    assert f"A {WORDS[int(heads)]}-head layer whose labels" in README
    command = re.search(r"--ray (\d+) --heads ([\d,]+) --learner diagonal", listing("--ray "))
    assert command
    assert f"`hardness.ray({command[1]}, heads=[{', '.join(command[2].split(','))}], learner=" in README
    generated, size = numbers(r"`--heads (\d)` gives the (\w+)-head instance of every family")
    assert size == WORDS[int(generated)]
    assert f" --heads {generated} " in listing("$ hardness verify")
    assert f" {WORDS[len({row['solver.attack'] for row in rows('lattices')})]} attacks on rounding" in README
    start, _, rest = numbers(
        r"`interpolation` \| \((\d) − ρ\) parity \+ ρ random, in Θ and W \| nothing (\w+) for ρ > (\d);"
    )
    assert (int(start), int(rest)) == (1, 0)  # all of it is the parity there, and none at the other end


def test_how_many_examples_there_are_and_how_long() -> None:
    statements, questions, longest = numbers(
        r"as a notebook of (\w+) statements, and (\w+) questions of at most (\d+) lines"
    )
    files = {path: path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.py")}
    assert questions == WORDS[len(files)]
    counts = [sum(bool(line.strip()) for line in text.splitlines()) for text in files.values()]
    assert max(counts) <= int(longest) <= max(counts) + 3
    cells = json.loads((ROOT / "examples" / "ray.ipynb").read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    assert statements == WORDS[len(ast.parse(code).body)]


def test_the_studies_named_in_their_table() -> None:
    rays = sorted({int(row["params.dim"]) // int(row["params.heads"]) for row in of_plan("random layers")})
    along = re.findall(
        r"[Aa]long d = (\d)m, (\d)m and (\d)m", README
    )  # in the answer, at the figure, of the study
    assert len(along) >= 3
    assert {*along} == {tuple(map(str, rays))}
    tiers = {row["params.tier"] for row in rows("stress")}
    assert f"on named instances of {WORDS[len(tiers)]} tiers" in README


def test_what_elimination_reads_in_short() -> None:
    """About twice d, and sixty: by medians of the rows, to tens."""
    rise, more = numbers(r" the parity off about (\d)d \+ (\d+) examples")
    taken: dict[int, list[float]] = defaultdict(list)
    for row in rows("exponential-in-m", family="parity", solver_kind="elimination", status="solved"):
        taken[int(row["params.dim"])].append(float(row["cost"]))
    middle = {d: median(costs) for d, costs in taken.items()}
    assert round(float(np.polyfit([*middle], [*middle.values()], 1)[0])) == int(rise)
    assert round(median(cost - int(rise) * d for d, cost in middle.items()), -1) == int(more)
    (gates,) = numbers(r"for layers of m heads that hide a parity of m out of d − (\d) bits")
    for row in rows("needs", family="parity", solver_kind="frontier"):
        assert int(row["detail.concepts"]) == comb(
            int(row["params.dim"]) - int(gates), int(row["params.heads"])
        )


def test_how_the_learner_was_run_and_judged() -> None:
    hard = of_plan("hidden set")
    (width,) = {int(row["solver.params.heads"]) for row in hard}
    assert f"trains an attention layer of {WORDS[width]} heads" in README
    assert f"**For {WORDS[len({row['solver.learner'] for row in hard})]} tuned gradient learner," in README
    ends = defaultdict(list)
    for row in hard:
        ends[row["status"] == "solved"].append(float(row["detail.open_error"]))
    share, target = (
        {"tenth": 0.1},
        numbers(r"with an open gate, is a (\w+) of the variance of their labels")[0],
    )
    assert share[target] - 0.001 < max(ends[True]) <= share[target] < min(ends[False])  # labels are ±1
    runs: dict[tuple[str, str], int] = defaultdict(int)
    for row in hard:
        if int(row["params.dim"]) in (
            3 * int(row["params.heads"]),
            4 * int(row["params.heads"]),
            8 * int(row["params.heads"]),
        ):
            runs[row["params.heads"], row["params.dim"]] += 1
    assert (
        f"a median of {' or '.join(WORDS[count] for count in sorted({*runs.values()}))} runs, each" in README
    )


def test_the_sizes_that_were_not_tuned_and_the_rays_with_medians_at_the_first_step() -> None:
    with (STUDY / "tuning.csv").open(newline="", encoding="utf-8") as file:
        tuned = {(int(row["s"]), int(row["d"])) for row in csv.DictReader(file) if row["arm"] == "hidden set"}
    runs: dict[tuple[str, int, int], list[tuple[bool, float]]] = defaultdict(list)
    for arm in ("hidden set", "random layers", "steep random layers"):
        for row in of_plan(arm):
            cost = float(row["cost"] if row["status"] == "solved" else row["budget.samples"])
            runs[arm, int(row["params.heads"]), int(row["params.dim"])].append(
                (row["status"] != "solved", log(cost))
            )
    sizes = sorted(
        {(m, d) for arm, m, d in runs if arm == "hidden set"}, key=lambda size: comb(size[1] - 1, size[0])
    )
    borrowed = [size for size in sizes if size not in tuned]
    assert borrowed == sizes[-len(borrowed) :]
    for count in re.findall(r"tuned at each size but (\w+) of the largest", README):
        assert count == WORDS[len(borrowed)]
    middle = {cell: round(exp(middle_of(costs)[1])) for cell, costs in runs.items()}
    flat = {d // m for (_, m, d), cost in middle.items() if cost == min(middle.values()) and d % m == 0}
    for rays in re.findall(r"flattens factors along d = (\d)m and (\d)m", README):
        assert [*map(int, rays)] == sorted(flat)


def test_the_level_of_the_intervals() -> None:
    """By the steep random layers, none of whose medians is a bound: least squares and Student's t."""
    (level,) = {*re.findall(r"(\d+) %", README)}
    fewest = next(
        n for n in range(2, 10) if 1 - 2.0 ** (1 - n) >= int(level) / 100
    )  # the median lies in the range
    assert f"(the range, where there are fewer than {WORDS[fewest]} runs)" in README
    cells: dict[int, list[float]] = defaultdict(list)
    for row in of_plan("steep random layers"):
        if int(row["params.dim"]) == 8 * int(row["params.heads"]):
            cells[int(row["params.heads"])].append(log(float(row["cost"])))
    x, y = np.array([*cells], dtype=float), np.array([median(costs) for costs in cells.values()])
    slope, constant = np.polyfit(x, y, 1)
    variance = np.sum((y - constant - slope * x) ** 2) / (len(x) - 2)
    half = t.ppf((1 + int(level) / 100) / 2, len(x) - 2) * np.sqrt(variance / np.sum((x - x.mean()) ** 2))
    factor, low, high = (exp(slope + shift) for shift in (0, -half, half))
    assert f"| {factor:.2f} ({low:.2f} to {high:.2f}) |" in README


def test_the_laws_and_the_sizes_that_they_were_fitted_to() -> None:
    rule = tomllib.loads((STUDY / "plan3.toml").read_text(encoding="utf-8"))["primary"]
    assert f"with N from {rule['sets above']:,} to {rule['fitted to sets']:,}," in README
    taken, fewer = numbers(r"in the number of sets, a·C\(d − (\d), m − (\d)\)")
    assert f"beside them C(d − {taken}, m − {fewer})," in README
    hard: dict[tuple[int, int], list[tuple[bool, float]]] = defaultdict(list)
    for row in of_plan("hidden set"):
        cost = float(row["cost"] if row["status"] == "solved" else row["budget.samples"])
        hard[int(row["params.heads"]), int(row["params.dim"])].append((row["status"] != "solved", log(cost)))
    middle = {place: middle_of(runs) for place, runs in hard.items()}
    small, large = {}, {}
    for (m, d), (bound, cost) in middle.items():
        sets = comb(d - 1, m)
        if sets > rule["sets above"]:
            offset = log(comb(d - int(taken), m - int(fewer)))
            (small if sets < rule["fitted to sets"] else large)[m, d] = bound, cost - offset
    constant = float(np.mean([rest for _, rest in small.values()]))
    wrong = [max(rest - constant, 0.0) if bound else rest - constant for bound, rest in large.values()]
    assert f"err there by factors of {exp(float(np.mean(np.square(wrong))) ** 0.5):.2f} and" in README


def test_the_lookup_table() -> None:
    """By all inputs of three coordinates with an open gate: in how many ways the tokens differ."""
    base, less = numbers(
        r"The lookup table is one of all (\d)\^\(d − (\d)\) patterns in which the tokens can differ"
    )
    tokens = list(product((1, -1), repeat=3))
    patterns = {
        tuple(a == b for a, b in zip(x, y, strict=True)) for x in tokens for y in tokens if x[0] != y[0]
    }
    assert len(patterns) == int(base) ** (3 - int(less)) > 1


def middle_of(runs: list[tuple[bool, float]]) -> tuple[bool, float]:
    """Whether the median is a bound, and its value: runs that did not solve are the costliest."""
    ranked, half = sorted(runs), len(runs) // 2
    low, high = ranked[(len(ranked) - 1) // 2], ranked[half]
    return high[0], (low[1] + high[1]) / 2


def test_the_wide_learner_and_the_pool() -> None:
    wide = rows("exponential-in-m", solver_arm="256 heads")
    (width,) = {row["solver.params.heads"] for row in wide}
    assert f"One with {width} heads reads fewer examples" in README
    assert f"{WORDS[1].capitalize()} with {width} heads" in README
    sizes = {row["params.heads"] for row in wide if int(row["params.dim"]) == 4 * int(row["params.heads"])}
    assert re.findall(r"on the same (\w+) sizes", README) == [WORDS[len(sizes)]]
    known = [
        m
        for m in sizes
        if 2 * sum(row["status"] == "solved" for row in runs_of_the_wide_learner(m))
        > len(runs_of_the_wide_learner(m))
    ]
    for count, first, last in re.findall(
        r"Over the (\w+) of them whose medians are known, m = (\d+) to (\d+),", README
    ):
        assert (count, first, last) == (WORDS[len(known)], min(known), max(known))
    (pool,) = {row["solver.params.pool"] for row in rows("exponential-in-m", solver_arm="pool of 4096")}
    pools = re.findall(r"(?:the same ([\d,]+) examples|([\d,]+) of them), read again and again", README)
    assert {"".join(texts) for texts in pools} == {f"{int(pool):,}"}
    cells = {
        (int(row["params.heads"]), int(row["params.dim"]))
        for row in rows("exponential-in-m", solver_arm="pool of 4096")
    }
    count, heads, dims = numbers(
        r"In the (\w+) cells that were tried \(m = ([\d, and]+) at d = ([\d, and]+)\)"
    )
    shown = [map(int, re.findall(r"\d+", text)) for text in (heads, dims)]
    assert (WORDS[len(cells)], sorted(cells)) == (count, list(zip(*shown, strict=True)))


def runs_of_the_wide_learner(m: str) -> list[Row]:
    """The runs with 256 heads along d = 4m."""
    wide = rows("exponential-in-m", solver_arm="256 heads", params_heads=m)
    return [row for row in wide if int(row["params.dim"]) == 4 * int(m)]


def test_the_withdrawn_power() -> None:
    """Of s in the median of hidden sets over that of random layers, fitted to s up to 4 of the second plan.

    A level for every d and a term for odd s; residuals of one s are correlated along d, as that plan says.
    """
    power, half = numbers(
        r"in proportion to s\^([\d.]+) for s hidden bits at a fixed .* stops growing as s nears d/(\d)\."
    )
    costs: dict[tuple[str, int, int], list[tuple[bool, float]]] = defaultdict(list)
    for row in rows("exponential-in-m", solver_series="plan2"):
        cost = float(row["cost"] if row["status"] == "solved" else row["budget.samples"])
        costs[row["family"], int(row["params.heads"]), int(row["params.dim"])].append(
            (row["status"] != "solved", log(cost))
        )
    rule = tomllib.loads((STUDY / "plan.toml").read_text(encoding="utf-8"))["primary"]
    places = sorted((s, d) for family, s, d in costs if family == "parity" and s <= rule["fitted up to s"])
    dims = sorted({d for _, d in places})
    y = np.array(
        [middle_of(costs["parity", *p])[1] - middle_of(costs["nondegenerate", *p])[1] for p in places]
    )
    X = np.array([[*(float(d == dim) for dim in dims), s % 2, log(s)] for s, d in places])
    correlated = np.array(
        [
            [
                rule["correlation"] ** abs(dims.index(d) - dims.index(other)) * (s == size)
                for size, other in places
            ]
            for s, d in places
        ]
    )
    inverse = np.linalg.inv(correlated)
    beta = np.linalg.solve(X.T @ inverse @ X, X.T @ inverse @ y)
    assert f"{beta[-1]:.2f}" == power
    for d in (16, 30, 64):
        assert abs(max(range(d), key=lambda s: comb(d - 1, s)) - d / int(half)) <= 1


def test_what_is_cited_is_cited_alike() -> None:
    """The exponent of the theorem on layers that are learned, in every text that has it."""
    texts = [
        (ROOT / name).read_text(encoding="utf-8")
        for name in ("docs/theory.md", "docs/references.md", "docs/learner.md")
    ]
    exponents = {exponent for text in [README, *texts] for exponent in re.findall(r"\(dk\)\^O\((m.)\)", text)}
    assert exponents == {"m³"}
