"""What README.md says: what elimination takes, by one of its own and from committed rows; and what the plan gave."""

import math
import random
import re
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from statistics import mean, median

import numpy as np
import pytest
from committed import ROOT, rows, summary
from safetensors.numpy import load_file
from scipy.optimize import linprog

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
        found = [examples_until_determined(dim - 1, rng) for _ in range(400)]
        assert abs(mean(found) - expected) < 5 * (2 * dim + 8) ** 0.5 / 20  # five standard errors


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
    assert "{:.2f}, {:.2f} and {:.2f} times as many examples".format(*factors) in README
    cells = [numbers["factors"][f"hidden set, d = {ray}m"] for ray in (3, 4, 8)]
    intervals = ", ".join(f"{cell['low']:.1f} to {cell['high']:.1f}" for cell in cells)
    assert f"(95 % intervals {intervals};" in README
    assert "{:.2f} to {:.2f} times as many on random layers".format(*numbers["nice"]) in README
    errors = {law["law"]: law["all"] for law in numbers["judged"]["laws"]}
    best = [errors["c C(d-1, s-1)"], errors["c N/d"]]
    assert "within factors of {:.2f} and {:.2f}".format(*best) in README
    rivals = (errors[name] for name in ("c d^a s^b", "c d^a e^(gs)", "c 2^(d-1)"))
    assert f"laws with one exponent of d err by {min(rivals):.2f} or more" in README
    assert numbers["judged"]["outcomes"]["primary"] == "combinatorial"
    assert "with up to 20 million possible sets" in README
    assert round(numbers["most"] / 1e6) == 20
    sizes = [math.comb(11, s) for s in range(2, 7)]
    assert sizes == [55, 165, 330, 462, 462]  # at d = 12 N stops growing


def test_where_the_bound_is_tight_and_where_it_is_not() -> None:
    """Single characters: N - 1 queries. At τ = .2 no query loses two sets, so that no strategy takes fewer."""
    assert "At τ = 0.2 it takes exactly N − 1 queries, 3.1 times the bound" in README
    assert round(1 / (8 * 0.2**2), 1) == 3.1
    assert 3 / 16 <= 0.2 < 1 / 4  # theory 2.7: T(2) = 3/16 <= τ < T(1) = 1/4
    assert round(4 * math.pi / 8, 9) == round(math.pi / 2, 9)  # 4πτ²N over 8τ²N
    assert "π/2 where τ → 0 and Nτ² is much larger than log(1/τ)" in README


def solved_exactly(system: list[list[Fraction]]) -> list[Fraction]:
    """The solution of a square system, by Gauss and Jordan; the right sides are the last column."""
    size = len(system)
    for i in range(size):
        pivot = next(j for j in range(i, size) if system[j][i])
        system[i], system[pivot] = system[pivot], system[i]
        system[i] = [value / system[i][i] for value in system[i]]
        for j in range(size):
            if j != i and system[j][i]:
                system[j] = [a - system[j][i] * b for a, b in zip(system[j], system[i], strict=True)]
    return [row[-1] for row in system]


def diag_coefficients(m: int, sharpness: int = 8) -> list[Fraction]:
    """c of Σ cᵢ tanh(β(t - i - 1/2)/2) - A = (-1)^t, t = 0..m, with e^(β/2) = sharpness."""

    def tanh(twice: int) -> Fraction:  # of β·twice/4
        power = Fraction(sharpness) ** twice
        return (power - 1) / (power + 1)

    system = [
        [*(tanh(2 * t - 2 * i - 1) for i in range(m)), Fraction(-1), Fraction((-1) ** t)]
        for t in range(m + 1)
    ]
    return solved_exactly(system)[:-1]


def test_the_coefficients_of_diag() -> None:
    """They were once said to be "about 1 each"."""
    assert "From m = 3 on their coefficients lie between 1.52 and 1.78" in README
    sizes = [abs(float(c)) for m in range(3, 17) for c in diag_coefficients(m)]
    assert (math.floor(100 * min(sizes)) / 100, math.ceil(100 * max(sizes)) / 100) == (1.52, 1.78)


WRITER = """
import sys
from hardness import Instance, Parity
for gadget, heads in [("sharp", m) for m in range(2, 9)] + [("wide", m) for m in (8, 31, 32)]:
    Instance.generate(Parity(dim=64, heads=heads, gadget=gadget), seed=0).save(f"{sys.argv[1]}/{gadget}-{heads}.st")
"""


def size_of(path: Path, bits: int) -> float:
    """Σ|c| of a layer's file, once its heads make (-1)^t at the levels t = 0..s."""
    heads = load_file(path)
    c, beta, b = (heads[f"gadget.{name}"] for name in ("coefficients", "betas", "thresholds"))
    made = np.tanh(beta * (np.arange(bits + 1)[:, None] - b) / 2) @ c
    assert np.abs(made - (-1.0) ** np.arange(bits + 1)).max() < 1e-9 * np.abs(c).sum()
    return float(np.abs(c).sum())


def least_size(m: int) -> float:
    """The least Σ|c| at one threshold, by the dual linear program on a grid of sharpnesses (theory 1.5)."""
    x = np.arange(1, m + 1) - 0.5
    slopes = np.tanh(np.outer(np.geomspace(0.01, 200, 1500), x) / 2)
    signs = (-1.0) ** (m - np.arange(1, m + 1))
    limits = np.vstack([slopes, -slopes])
    return float(-linprog(-signs, A_ub=limits, b_ub=np.ones(len(limits)), bounds=(None, None)).fun)


@pytest.mark.slow
def test_the_sizes_of_sharp_and_wide(tmp_path: Path) -> None:
    """Once "five- to sixfold with every head", and "below 3.6 a bit"."""
    subprocess.run([sys.executable, "-c", WRITER, str(tmp_path)], check=True)
    assert "4.5 to 5.3 times as much with every head from m = 3 to 8" in README
    sharp = [size_of(tmp_path / f"sharp-{m}.st", 2 * m - 1) for m in range(2, 9)]
    least = [least_size(m) for m in range(2, 9)]
    assert all(best < size < 1.02 * best for size, best in zip(sharp, least, strict=True))
    growths = [b / a for series in (sharp, least) for a, b in pairwise(series)]
    assert 4.5 < min(growths) < 4.55
    assert 5.25 < max(growths) < 5.3
    assert "to at most 3.61 a bit, up to 63 bits" in README
    wide = {2 * m - 1: size_of(tmp_path / f"wide-{m}.st", 2 * m - 1) for m in (8, 31, 32)}
    per_bit = {bits: size / bits for bits, size in wide.items()}
    assert max(per_bit.values()) == per_bit[63]
    assert 3.6 < per_bit[61] < per_bit[63] < 3.61


def test_the_listing_of_verify(tmp_path: Path) -> None:
    """The commands of README and all that `verify` prints; a line was missing once."""
    listing = re.search(
        r"(?s)```\n\$ hardness (generate [^\n]*)\n\$ hardness (verify [^\n]*)\n(.*?)```", README_LINES
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
