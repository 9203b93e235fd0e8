"""What README.md says: what elimination takes, by one of its own and from committed rows; and what the plan gave."""

import random
import re
from statistics import mean, median

from committed import ROOT, rows, summary

README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
SENTENCE = "reads the parity off about 2(d − 1) examples, of which half carry information, and takes some sixty more"


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
    assert 50 <= min(more.values()) <= max(more.values()) <= 80, more


def test_the_plan_gave_what_is_said_of_it() -> None:
    """tests/recompute/test_exponential_in_m.py recomputes that headline from the rows."""
    said = summary("exponential-in-m")
    headline = said["verdict"]
    (power,) = re.findall(r"s to the power ([\d.]+ \([\d.]+ to [\d.]+\))", headline)
    assert "better than an exponential law does" in headline
    assert f"s^{power}" in README
    assert [plan["outcomes"]["primary"] for plan in said["numbers"]["plans"]] == ["power", "power"]
