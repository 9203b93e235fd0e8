"""The proofs in Coq: they pass, say what they prove, and rest on nothing but the axioms of Coq's real numbers."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROOFS = sorted((ROOT / "checker" / "proofs").glob("*.v"))
OF_THE_REALS = {"ClassicalDedekindReals.sig_forall_dec", "FunctionalExtensionality.functional_extensionality_dep"}
needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")


@pytest.mark.slow
@needs_coq
def test_make_proofs_checks_and_prints_what_is_proved(tmp_path: Path) -> None:
    done = subprocess.run(["make", "proofs", f"PROOFS={tmp_path}"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    theorem_a = ("theorem_A_upper", "theorem_A_lower", "theorem_A_query", "theorem_A_assembly", "theorem_A")
    theorem_b = [
        "reed_muller",
        "distance",
        "theorem_B_pairs",
        "theorem_B_query",
        "theorem_B_game",
        "T_six",
        "one_tenth",
    ]
    for theorem in ("lemma_L", "counting", "queries_needed", "pairing", "T_six", "one_tenth", *theorem_a, *theorem_b):
        assert f"\n{theorem}\n" in "\n" + done.stdout
    axioms = set(re.findall(r"^(\w+\.\w+)$", done.stdout, flags=re.MULTILINE))
    assert axioms == OF_THE_REALS


def test_nothing_is_assumed_or_left_open() -> None:
    assert len(PROOFS) == 4
    for path in PROOFS:
        assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Conjecture)\b", path.read_text()), path
