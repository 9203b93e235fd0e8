"""What README.md says: what elimination takes, by one of its own and from committed rows; and what the plan gave."""

import random
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from statistics import mean

from committed import ROOT, rows

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
