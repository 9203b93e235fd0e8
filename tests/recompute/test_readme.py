"""What README.md says: what elimination takes, by one of its own and from committed rows; and what the plan gave."""

import csv
import random
import re
import subprocess
import sys
import tomllib
from math import comb, exp, floor, log
from pathlib import Path
from statistics import mean, median

from committed import ROOT, rows, summary

README_LINES = (ROOT / "README.md").read_text(encoding="utf-8")
README = " ".join(README_LINES.split())
SENTENCE = (
    "reads the parity off about 2(d − 1) examples, of which half carry information, and takes some sixty more"
)
ALONG = ("hidden set", "random layers", "steep random layers")
TUNED_TO = {3: 8, 4: 6, 8: 5}  # by d/m, the most heads at which the learner was tuned itself
TUNING = ROOT / "learner" / "studies" / "exponential_in_m" / "tuning.csv"


def examples_until_determined(bits: int, rng: random.Random) -> int:
    """Examples until those that carry information (half, by a fair coin) span all vectors of so many random bits."""
    basis: dict[int, int] = {}  # lead bit: vector
    count = 0
    while len(basis) < bits:
        count += 1
        row = rng.getrandbits(bits) if rng.random() < 0.5 else 0
        while row and row.bit_length() in basis:
            row ^= basis[row.bit_length()]
        if row:
            basis[row.bit_length()] = row
    return count


def test_twice_the_bits_determine_a_parity() -> None:
    """The expectation is 2 Σ 1/(1 − 2^−j), j = 1..d−1: 2(d − 1) + 3.2 at most."""
    assert SENTENCE in README
    rng = random.Random(0)
    for dim in (8, 16, 32, 64):
        expected = 2 * sum(1 / (1 - 0.5**j) for j in range(1, dim))
        assert 2 * (dim - 1) < expected < 2 * (dim - 1) + 3.22
        counts = [examples_until_determined(dim - 1, rng) for _ in range(400)]
        assert abs(mean(counts) - expected) < 5 * (2 * dim + 8) ** 0.5 / 20  # five standard errors


def test_every_text_on_elimination_gives_the_same_numbers() -> None:
    sources = [
        README,
        " ".join((ROOT / "docs" / "data.md").read_text(encoding="utf-8").split()),
        re.sub(r'"\s+"', "", (ROOT / "hardness" / "families" / "parity.py").read_text(encoding="utf-8")),
    ]
    for text in sources:
        assert re.search(
            r"reads (the parity|S) off about 2\(d [−-] 1\) examples\b.* takes some sixty more", text
        )
    assert "sixty more than 2n = 2(d − 1)" in (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")


def test_the_families_that_the_readme_leaves_out_are_named() -> None:
    """In docs/data.md, which has all of them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    known = sorted(project["entry-points"]["hardness.families"])
    data = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^\| `([\w-]+)` \|", data.partition("## The families")[2])[: len(known)] == known
    section = README_LINES.partition("## The families")[2].partition("\n## ")[0]
    table, _, left_out = section.partition("These are four of seven:")
    shown = re.findall(r"(?m)^\| `([\w-]+)` \|", table)
    assert (len(shown), len(known)) == (4, 7)
    assert sorted(shown + re.findall(r"`([\w-]+)`", left_out)) == known


def test_some_sixty_more_are_taken() -> None:
    """The first try was "about twice as many examples as coordinates": 9 times at d = 8, 2.8 times at d = 64."""
    taken: dict[int, list[float]] = {}
    for row in rows("exponential-in-m", family="parity", solver_kind="elimination", status="solved"):
        taken.setdefault(int(row["params.dim"]), []).append(float(row["cost"]))
    more = {dim: median(counts) - 2 * (dim - 1) for dim, counts in taken.items()}
    assert len(more) >= 3
    assert 55 <= median(more.values()) <= 65, more
    assert 45 <= min(more.values()) <= max(more.values()) <= 90, more


def slope(values: dict[int, float]) -> float:
    """e to the least-squares slope of the logarithm of the values on their keys."""
    middle = mean(values)
    up = sum((m - middle) * log(value) for m, value in values.items())
    return exp(up / sum((m - middle) ** 2 for m in values))


def test_the_table_of_the_rays() -> None:
    """tests/recompute/test_exponential_in_m.py recomputes the numbers of the summary from the rows."""
    numbers = summary("exponential-in-m")["numbers"]
    lines = re.findall(r"(?m)^\| d = (\d)m \| (.*) \|$", README_LINES)
    assert [int(ray) for ray, _ in lines] == [*TUNED_TO]
    for (ray, cells), alone in zip(lines, numbers["tuned"], strict=True):
        factors = {arm: numbers["factors"][f"{arm}, d = {ray}m"] for arm in ALONG}
        hard = factors["hidden set"]
        heads = range(hard["m from"], hard["m to"] + 1)
        sets = {m: comb(int(ray) * m - 1, m) for m in heads}
        tuned = {m: sets[m] for m in heads if m <= TUNED_TO[int(ray)]}
        with_intervals = {
            arm: "{factor:.2f} ({low:.2f} to {high:.2f})".format(**factors[arm]) for arm in ALONG
        }
        assert cells.split(" | ") == [
            f"{heads[0]} to {heads[-1]}",
            f"{sets[heads[-1]]:,}",
            with_intervals["hidden set"],
            f"{slope(sets):.2f}",
            f"{alone:.2f}",
            f"{slope(tuned):.2f}",
            with_intervals["random layers"],
            with_intervals["steep random layers"],
        ]


def test_up_to_where_the_rays_were_tuned() -> None:
    """A setting that is a cell's own is one that the tuning runs of that cell tried."""
    tuned = {
        (int(line["s"]), int(line["d"]))
        for line in csv.DictReader(TUNING.open(encoding="utf-8"))
        if line["arm"] == "hidden set"
    }
    assert {ray: max(s for s, d in tuned if d == ray * s) for ray in TUNED_TO} == TUNED_TO
    assert "goes to m = {}, {} and {}".format(*TUNED_TO.values()) in README


def test_what_the_first_check_hides() -> None:
    """tests/recompute/test_exponential_in_m.py recomputes these factors."""
    floor_ = summary("exponential-in-m")["numbers"]["floor"]
    assert f"The first step comes after {floor_['examples']:,} examples, so that no cost is lower" in README
    hidden = "those of hidden parities are {:.2f}, {:.2f} and {:.2f}".format(*floor_["hidden"])
    assert f"{hidden}, those of random layers {{:.2f}} to {{:.2f}}".format(*floor_["nice"]) in README


def test_the_answer_in_short_is_that_of_the_table() -> None:
    numbers = summary("exponential-in-m")["numbers"]
    hard = [numbers["factors"][f"hidden set, d = {ray}m"] for ray in (3, 4, 8)]
    ends = "for m from {} to {}, {} and {}".format(hard[0]["m from"], *(line["m to"] for line in hard))
    assert f"Along d = 3m, 4m and 8m, {ends}, one more head" in README
    factors = "{:.2f}, {:.2f} and {:.2f}".format(*(line["factor"] for line in hard))
    assert f"multiplies the examples that it reads by {factors} on average" in README
    tuned = "{:.2f}, {:.2f} and {:.2f}".format(*numbers["tuned"])
    grown = [slope({m: comb(ray * m - 1, m) for m in range(2, last + 1)}) for ray, last in TUNED_TO.items()]
    sets = "N grows {:.2f}-, {:.2f}- and {:.2f}-fold".format(*grown)
    assert f"at which it was tuned itself it does so by {tuned}, where {sets}" in README
    nice = "{:.2f} to {:.2f} times as many".format(*numbers["nice"])
    assert f"Random layers of the same form cost {nice} with every head" in README


def test_the_sizes_that_are_bounds_and_those_with_settings_of_others() -> None:
    numbers = summary("exponential-in-m")["numbers"]
    assert numbers["nearest"] == 9
    assert "Nine of the plan's {cells} sizes, the last of every ray".format(**numbers) in README
    runs: dict[tuple[int, int], list[bool]] = {}
    for row in rows("exponential-in-m", solver_series="plan3", solver_arm="hidden set"):
        place = int(row["params.heads"]), int(row["params.dim"])
        runs.setdefault(place, []).append(row["status"] == "solved")
    along = {(m, d): solved for (m, d), solved in runs.items() if d in (3 * m, 4 * m, 8 * m)}
    bounds = {place for place, solved in along.items() if 2 * sum(solved) <= len(solved)}
    assert (len(bounds), len(along), len(runs)) == (4, 21, numbers["cells"])
    assert (
        "Four of the 21 medians on the rays are bounds: the last of each ray, and that at m = 9, d = 27"
        in README
    )
    assert bounds == {
        (9, 27),
        *(max(place for place in along if place[1] == c * place[0]) for c in (3, 4, 8)),
    }
    assert {len(solved) for solved in along.values()} == {5, 10}
    costs = [
        float(row["cost"])
        for row in rows("exponential-in-m", solver_series="plan3", status="solved")
        if row["solver.arm"] in ALONG
    ]
    assert f"The first step comes after {min(costs):,.0f} examples" in README


def test_the_tent_beside_the_parity() -> None:
    signs = summary("exponential-in-m")["numbers"]["signs"]
    assert "at m = {s}, d = {d} it costs {tent:,.0f} examples".format(**signs) in README
    assert signs["censored"]
    assert f"No run learned the parity there within {floor(signs['parity'] / 1e5) / 10} million" in README


def test_the_laws() -> None:
    judged = summary("exponential-in-m")["numbers"]["judged"]
    errors = {law["law"]: law["all"] for law in judged["laws"]}
    best = [errors["c C(d-1, s-1)"], errors["c N/d"]]
    assert "err there by factors of {:.2f} and {:.2f} (root mean square".format(*best) in README
    rivals = [errors[name] for name in ("c d^a s^b", "c d^a e^(gs)", "c 2^(d-1)")]
    least = floor(100 * min(rivals)) / 100
    assert f"Laws in which d has one and the same exponent for every m err by {least:.2f} or more" in README
    assert (
        "fitted to {fitted} sizes with N from 100 to 20,000, on the rays and off them".format(**judged)
        in README
    )
    assert "and compared on the {asked} larger ones (three have smaller N)".format(**judged) in README
    assert judged["cells"] - judged["fitted"] - judged["asked"] == 3
    assert judged["low"]["bounds"] == 5
    assert "Five of the {cells} sizes with the most sets have bounds".format(**judged["low"]) in README
    assert judged["outcomes"]["primary"] == "combinatorial"


def test_the_learner_with_256_heads() -> None:
    wide = summary("exponential-in-m")["numbers"]["wide"]
    ends = "times as many along m = {m from} to {m to}, where that with sixteen pays".format(**wide)
    pays, usual_pays = ("{:.2f} ({:.2f} to {:.2f})".format(*wide[learner]) for learner in ("wide", "usual"))
    assert f"For one more head of the layer it pays {pays} {ends} {usual_pays} times as many" in README
    sets = {m: comb(4 * m - 1, m) for m in range(wide["m from"], wide["m to"] + 1)}
    assert f"and N grows {slope(sets):.2f}-fold" in README
    known = {m: sets[m] for m in (4, 5, 6, 7)}
    factors = "m = 4 to 7, the factors are {:.2f} and {:.2f}, and N's is".format(*wide["known"])
    assert f"{factors} {slope(known):.2f}: the wider learner's cost grows" in README
    read: dict[tuple[str, int], list[float]] = {}
    for row in rows("exponential-in-m", family="parity"):
        m, arm = int(row["params.heads"]), row["solver.arm"]
        usual = arm == "hidden set" and row["solver.series"] == "plan3"
        if int(row["params.dim"]) == 4 * m and (usual or arm == "256 heads"):
            cost = float(row["cost"]) if row["status"] == "solved" else float("inf")
            read.setdefault((arm, m), []).append(cost)
    ratios = [
        exp(mean(map(log, middle(read["256 heads", m]))) - mean(map(log, middle(read["hidden set", m]))))
        for m in (4, 5, 6, 7)
    ]
    assert f"at m = 4 to 7 along d = 4m {max(ratios):.2f} to {min(ratios):.2f} times as many" in README
    assert ratios == sorted(ratios, reverse=True)
    assert "at m = 7 fewer than 0.93 N, which bounds one-bit learners alone" in README
    assert exp(mean(map(log, middle(read["256 heads", 7])))) < 0.93 * sets[7]


def middle(values: list[float]) -> list[float]:
    """The one or two values in the middle; medians here are geometric means of two."""
    ranked, half = sorted(values), len(values) // 2
    return ranked[half : half + 1] if len(ranked) % 2 else ranked[half - 1 : half + 1]


def test_the_rounding_vectors_that_are_recovered_at_q_97_and_p_2() -> None:
    ends: dict[str, dict[int, list[str]]] = {}
    for row in rows("lattices", params_modulus="97", params_levels="2", params_heads=""):
        ends.setdefault(row["solver.attack"], {}).setdefault(int(row["params.dim"]) - 1, []).append(
            row["status"]
        )
    largest = {
        attack: max(n for n, runs in by_n.items() if "solved" in runs) for attack, by_n in ends.items()
    }
    assert (
        "at q = 97, p = 2 the first n = {bkw} and the second n = {lattice} (one run each)".format(**largest)
        in README
    )
    assert all(ends[attack][n] == ["solved"] for attack, n in largest.items())


def test_where_the_bound_is_tight_and_where_it_is_not() -> None:
    """Single characters take N - 1 queries: at τ = .2 none loses two sets (tests/sq/test_sq_exact.py)."""
    times = 1 / (8 * 0.2**2)
    assert f"takes exactly N − 1 queries, {times:.1f} times the bound" in README
    assert "π/2 where τ → 0 and Nτ² is much larger than log(1/τ)" in README  # 4πτ²N over 8τ²N


def test_the_listing_of_verify(tmp_path: Path) -> None:
    """The commands of README and all that `verify` prints; a line was missing once."""
    listing = re.search(
        r"(?s)```console\n\$ hardness (generate [^\n]*)\n\$ hardness (verify [^\n]*)\n(.*?)```", README_LINES
    )
    assert listing
    prints = [
        subprocess.run(
            [sys.executable, "-m", "hardness", *command.split()],
            cwd=tmp_path,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for command in listing.groups()[:2]
    ]
    assert prints[1] == listing[3]
