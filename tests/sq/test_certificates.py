"""Certificates and their checker: what holds is accepted and said, what does not is refused, and nothing is trusted."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import comb, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import answer
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.exact import certificate
from hardness.families.concepts import ParityConcepts
from hardness.sq.bounds.floors import exact_floor

CHECKER = Path(__file__).parents[2] / "checker" / "check_certificate.py"
COMMITTED = sorted((CHECKER.parent / "certificates").glob("*.json"))
Certificate = dict[str, Any]
Verdict = Callable[[Any], tuple[int, str]]

specification = importlib.util.spec_from_file_location("check_certificate", CHECKER)
assert specification is not None
assert specification.loader is not None
checker = importlib.util.module_from_spec(specification)
specification.loader.exec_module(checker)


@pytest.fixture
def verdict(tmp_path) -> Verdict:
    """Exit code and line that the checker gives to a certificate."""

    def check(content: Any) -> tuple[int, str]:
        path = tmp_path / "c.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        judgement: tuple[int, str] = checker.verdict(path)
        return judgement

    return check


@cache
def bases() -> dict[str, Certificate]:
    """Small certificates of each kind and source."""
    certificates = {
        "batches": certificate.transcript(ParityConcepts(10, 3), 0.1, "sign-batch"),
        "blocks": certificate.transcript(ParityConcepts(10, 4), 0.12, "bent", max_queries=30),
        "characters": certificate.transcript(ParityConcepts(6, 2), 0.2, "characters"),
        "theorem": certificate.bound(ParityConcepts(16, 6), 0.1),
        "value": certificate.value(4, [2], 0.15),
        "plane": certificate.value(2, [0, 1, 2], 0.15),
    }
    return json.loads(json.dumps(certificates))


def false_transcript(base: Certificate, rng: np.random.Generator):
    """Change a transcript so that it is false."""
    tau, i, side = Fraction(base["tolerance"]), int(rng.integers(base["queries"])), int(rng.integers(2))
    n = base["family"]["n"]
    match int(rng.integers(6)):
        case 0:
            base["queries"] += int(rng.integers(1, 50))
        case 1:  # both means are within tau of the answer, so they are not of this one
            base["answers"][i] = str(
                Fraction(base["answers"][i]) + (2 * tau + Fraction(1, 10**6)) * (1 - 2 * side)
            )
        case 2:
            base["concepts"][side] = base["concepts"][1 - side]
        case 3:
            base["concepts"][side] ^= 1 << int(rng.integers(n))  # of another size
        case 4:  # half away from the other answer's side of it
            base["tables"].append({"scale": 1, "values": [-1 if Fraction(base["answers"][i]) > 0 else 1]})
            query = {"table": len(base["tables"]) - 1, "base": base["concepts"][side], "generators": []}
            base["asked"][i] = query
        case 5:
            del base["asked"][i], base["answers"][i]


@pytest.mark.parametrize("name", ["batches", "blocks", "characters"])
def test_false_transcripts_are_refused(name: str, verdict: Verdict):
    rng = np.random.default_rng(17)
    for number in range(15):
        base = deepcopy(bases()[name])
        false_transcript(base, rng)
        assert base != bases()[name]
        code, line = verdict(base)
        assert code in (1, 2), (number, line)
        assert line.startswith("This "), line


@given(seed=st.integers(0, 2**32), name=st.sampled_from(["value", "plane", "theorem"]))
@settings(max_examples=40)
def test_a_changed_proof_never_proves_another_statement(tmp_path_factory: Any, seed: int, name: str):
    """Any integer of the proof, or several, changed at random: what is still accepted states what it stated before."""
    rng, base = np.random.default_rng(seed), deepcopy(bases()[name])
    parts = ["value", "strategy", "refutations", "tables"] if "value" in base else ["family"]
    for _ in range(int(rng.integers(1, 4))):
        item: Any = base
        key: Any = str(rng.choice(parts))
        while isinstance(item[key], (dict, list)) and len(item[key]):
            item = item[key]
            key = str(rng.choice(list(item))) if isinstance(item, dict) else int(rng.integers(len(item)))
        if isinstance(item[key], int):
            item[key] += int(rng.integers(-2, 3))
    path = tmp_path_factory.mktemp("changed") / "c.json"
    path.write_text(json.dumps(base))
    if checker.verdict(path)[0] == 0:
        statements = {certificate.statement(base), certificate.statement(complement(base))}
        assert certificate.statement(bases()[name]) in statements


def complement(proof: dict[str, Any]) -> dict[str, Any]:
    """Parities of w out of n bits are those of n - w times the parity of all: the same game, as true a statement."""
    family = proof.get("family", {})
    sizes = {"sizes": sorted(family["n"] - w for w in family["sizes"])} if "sizes" in family else {}
    return proof | {"family": family | sizes} if sizes else proof


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_committed_certificates_are_verified_alone(path: Path):
    """By a process that sees nothing of the lab."""
    command = [sys.executable, "-I", str(CHECKER), str(path)]
    completed = subprocess.run(command, capture_output=True, text=True, cwd="/")
    assert (completed.returncode, completed.stderr) == (0, "")
    assert completed.stdout == f"Verified: {certificate.statement(json.loads(path.read_text()))}.\n"


def test_the_headline_numbers_are_certified_and_one_more_is_refused(verdict: Verdict):
    kept = {path.stem: json.loads(path.read_text()) for path in COMMITTED}
    assert {stored["certificate"] for stored in kept.values()} == {"transcript", "bound", "value"}
    bounds = [stored for stored in kept.values() if stored["certificate"] == "bound"]
    assert len(bounds) == 7
    for stored in bounds:
        n, (s,), tau = stored["family"]["n"], stored["family"]["sizes"], float(Fraction(stored["tolerance"]))
        assert stored == json.loads(json.dumps(certificate.bound(ParityConcepts(n, s), tau)))
        assert stored["queries"] == exact_floor(comb(n, s), tau)
        assert verdict(stored | {"queries": stored["queries"] + 1})[0] == 1
    assert (kept["value-4-2-0.15"]["value"], kept["value-4-2-0.05"]["value"]) == (3, 2)


BOUND = {
    "certificate": "bound",
    "tolerance": "0.1",
    "family": {"n": 16, "sizes": [6]},
    "concepts": 8008,
    "queries": 1,
    "by": "theorem B",
}
HOSTILE = [
    ("{}", 2, "not a certificate"),
    ("[" * 10**5, 2, "not a certificate"),
    (BOUND | {"certificate": "proof"}, 2, "not a certificate"),
    *((BOUND | {"tolerance": bad}, 2, "not a certificate") for bad in (nan, "1/0", "\ud800")),
    (BOUND | {"\x1b[2K": 1}, 2, "expected the fields"),
    (BOUND | {"queries": True}, 2, "true is not an integer"),
    (json.dumps(BOUND) + " " * 2**22 + "garbage", 2, "larger than"),
    (json.dumps(BOUND)[:-1] + ', "queries": 2}', 2, "a field stands there twice"),
    (BOUND | {"family": {"n": 4096, "sizes": list(range(4000))}}, 2, "more steps than allowed"),
    (BOUND | {"by": "16"}, 2, "the only source of a bound is theorem B"),
]


@pytest.mark.parametrize(("content", "code", "reason"), HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_files_get_one_line(content: Any, code: int, reason: str, verdict: Verdict):
    exit_code, line = verdict(content)
    assert (exit_code, reason in line) == (code, True), line
    assert line.isascii()
    assert line.isprintable()


def test_the_exit_code_of_the_checker(tmp_path):
    """1 would say that the certificate does not hold; more steps than usual are allowed on demand."""
    path = tmp_path / "c.json"
    path.write_text(json.dumps(bases()["value"]))
    bad = [[], [tmp_path / "absent"], [path, "10000"], [path, "many"]]
    for arguments in [*bad, [path, "1000000"]]:
        command = [sys.executable, str(CHECKER), *map(str, arguments)]
        completed = subprocess.run(command, capture_output=True, text=True)
        assert (completed.returncode, completed.stderr) == (2 if arguments in bad else 0, "")


@settings(max_examples=100)
@given(
    n=st.integers(1, 40),
    s=st.integers(1, 40),
    tolerance=st.decimals("0.003", "0.249", places=4)
    | st.sampled_from([Decimal(around) for around in ("0.1354", "0.1355", "0.1374", "0.1375", "0.1389")]),
)
def test_theorem_b_is_computed_alike_on_both_sides(n: int, s: int, tolerance: Decimal):
    """Also around the two bounds on T(5), where the checker's is the weaker one."""
    concepts = ParityConcepts(max(n, s), min(n, s))
    queries = certificate.bound(concepts, float(tolerance))["queries"]
    assert queries == checker.theorem_b(concepts.size, Fraction(tolerance))
    assert queries <= exact_floor(concepts.size, Fraction(tolerance))
    if not Fraction(13, 96) <= tolerance < Fraction(11, 80):
        assert queries == exact_floor(concepts.size, Fraction(tolerance))


@pytest.mark.parametrize(
    "strategy",
    [
        *("characters", "random", "low-degree", "sign-batch", "bent", "spread"),
        pytest.param("flat", marks=pytest.mark.slow),
    ],
)
def test_every_strategy_on_parities_leaves_a_checkable_transcript(strategy: str, verdict: Verdict):
    transcript = certificate.transcript(ParityConcepts(8, 3), 0.1, strategy, seed=3)
    assert verdict(transcript) == (0, f"Verified: {certificate.statement(transcript)}.")


def test_the_command_writes_what_it_says(tmp_path):
    for kind, more in {"transcript": "--strategy sign-batch --seed 1", "bound": "", "value": ""}.items():
        out = tmp_path / "deep" / f"{kind}.json"
        line = f"sq certify parity --dim 5 --heads 2 --tolerance 0.15 --kind {kind} {more} --out"
        fields = answer(line, out)
        assert fields == {"kind": kind, "statement": fields["statement"], "out": str(out)}
        assert checker.verdict(out) == (0, f"Verified: {fields['statement']}.")
