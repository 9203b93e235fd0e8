"""The proofs in Coq: they pass, say what they prove, and rest on nothing but the axioms of Coq's real numbers."""

import importlib
import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from hardness.sq.bounds.floors import max_separation

ROOT = Path(__file__).parents[2]
PROOFS = sorted((ROOT / "checker" / "proofs").glob("*.v"))
OF_THE_REALS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
}
needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed")


@pytest.mark.slow
@needs_coq
def test_make_proofs_checks_and_prints_what_is_proved(tmp_path):
    completed = subprocess.run(
        ["make", "proofs", f"PROOFS={tmp_path}"], cwd=ROOT, capture_output=True, text=True
    )
    assert completed.returncode == 0, completed.stderr
    lemmas = "lemma_L counting queries_needed pairing T_six one_tenth reed_muller distance"
    a_and_b = "A_upper A_lower A_query A_assembly A B_pairs B_query B_game"
    for theorem in (*lemmas.split(), *(f"theorem_{name}" for name in a_and_b.split())):
        assert f"\n{theorem}\n" in "\n" + completed.stdout
    axioms = set(re.findall(r"^(\w+\.\w+)$", completed.stdout, flags=re.MULTILINE))
    assert axioms == OF_THE_REALS


def test_nothing_is_assumed_or_left_open():
    assert len(PROOFS) == 4
    for path in PROOFS:
        assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Conjecture)\b", path.read_text()), path


@pytest.mark.slow
def test_t_of_five_by_computer(monkeypatch: pytest.MonkeyPatch):
    """Half a minute; a smaller bound is not shown."""
    monkeypatch.syspath_prepend(str(ROOT / "checker"))
    t_of_five = importlib.import_module("t_of_five")
    assert Fraction(t_of_five.LEAST, t_of_five.OVER) == max_separation(5)
    assert t_of_five.main() == 0
    t_of_five.excluded.cache_clear()
    monkeypatch.setattr(t_of_five, "LEAST", 1299)
    monkeypatch.setattr(t_of_five, "OVER", 9600)
    assert t_of_five.main() == 1
