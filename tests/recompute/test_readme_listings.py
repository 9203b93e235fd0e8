"""The numbers of README's listings and counts, and of the words beside its measurements: nothing of the lab."""

import ast
import hashlib
import json
import re
from itertools import product
from math import comb

import numpy as np
from committed import ROOT, rows

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


def test_what_is_cited_is_cited_alike() -> None:
    """The exponent of the theorem on layers that are learned, in every text that has it."""
    texts = [
        (ROOT / name).read_text(encoding="utf-8")
        for name in ("docs/theory.md", "docs/references.md", "docs/learner.md")
    ]
    exponents = {exponent for text in [README, *texts] for exponent in re.findall(r"\(dk\)\^O\((m.)\)", text)}
    assert exponents == {"m³"}
