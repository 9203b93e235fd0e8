"""What README.md says: what elimination takes, by one of its own and from committed rows; and what the plan gave."""

import random
import re
import subprocess
import sys
import tomllib
from math import floor
from pathlib import Path
from statistics import mean, median

from committed import ROOT, rows, summary

README_LINES = (ROOT / "README.md").read_text(encoding="utf-8")
README = " ".join(README_LINES.split())
SENTENCE = (
    "reads the parity off about 2(d − 1) examples, of which half carry information, and takes some sixty more"
)


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


def test_the_rays_and_the_laws_are_those_of_the_page() -> None:
    """tests/recompute/test_exponential_in_m.py recomputes these numbers from the rows."""
    numbers = summary("exponential-in-m")["numbers"]
    factors = [numbers["factors"][f"hidden set, d = {ray}m"]["factor"] for ray in (3, 4, 8)]
    assert (
        README.count("{:.2f}, {:.2f} and {:.2f} times as many".format(*factors)) == 2
    )  # in short, and in full
    cells = [numbers["factors"][f"hidden set, d = {ray}m"] for ray in (3, 4, 8)]
    intervals = ", ".join(f"{cell['low']:.2f} to {cell['high']:.2f}" for cell in cells)
    assert f" 95 % intervals {intervals};" in README
    least = floor(100 * min(cell["low"] for cell in cells)) / 100
    assert f"(at least {least:.2f} times, by 95 % intervals)" in README
    assert numbers["nearest"] == 9
    assert "nine of the plan's {cells} sizes, the last of every ray".format(**numbers) in README
    heads = "for m from {} to {}, {} and {}".format(cells[0]["m from"], *(cell["m to"] for cell in cells))
    assert README.count(heads) == 2  # in short, and in full
    assert all(cell["m from"] == 2 for cell in cells)
    assert "d = 4m, m = {m from} to {m to}".format(**numbers["wide"]) in README
    wide = numbers["wide"]
    assert "A learner with 256 heads pays {:.2f} ({:.2f} to {:.2f}) times".format(*wide["wide"]) in README
    assert "where that with sixteen pays {:.2f} ({:.2f} to {:.2f}) times".format(*wide["usual"]) in README
    along = [
        row
        for row in rows("exponential-in-m", solver_series="plan3", solver_arm="hidden set")
        if int(row["params.dim"]) in {c * int(row["params.heads"]) for c in (3, 4, 8)}
    ]
    solved: dict[tuple[str, str], list[bool]] = {}
    for row in along:
        solved.setdefault((row["params.heads"], row["params.dim"]), []).append(row["status"] == "solved")
    bounds = [place for place, ended in solved.items() if 2 * sum(ended) <= len(ended)]
    assert (len(bounds), len(solved)) == (4, 21)
    assert {len(ended) for ended in solved.values()} == {5, 10}
    assert (
        "of small and of large entries, the factors are {:.2f} to {:.2f}".format(*numbers["nice"]) in README
    )
    assert "of the same form cost it {:.2f} to {:.2f} times as many".format(*numbers["nice"]) in README
    errors = {law["law"]: law["all"] for law in numbers["judged"]["laws"]}
    best = [errors["c C(d-1, s-1)"], errors["c N/d"]]
    assert "err by factors of {:.2f} and {:.2f} there".format(*best) in README
    rivals = (errors[name] for name in ("c d^a s^b", "c d^a e^(gs)", "c 2^(d-1)"))
    assert (
        f"and laws in which d has one and the same exponent for every m by {min(rivals):.2f} or more"
        in README
    )
    assert (
        "fitted to {fitted} sizes with N from 100 to 20,000 and compared on {asked} larger".format(
            **numbers["judged"]
        )
        in README
    )
    assert numbers["judged"]["outcomes"]["primary"] == "combinatorial"
    assert "with up to 20 million possible sets" in README
    assert "and N up to 20 million, every further head" in README
    assert round(numbers["most"] / 1e6) == 20


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
