"""What a family inherits: defaults always, claims only with the labels that they are about."""

from dataclasses import dataclass

import numpy as np
import pytest
from commands import answer, run_command
from hypothesis import given, settings
from hypothesis import strategies as st

import hardness
from hardness.errors import InputError
from hardness.families.base import CLAIMS, UNSTATED, Family
from hardness.families.controls import Nested
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.gadgets.coefficients import exact, public_vectors


@dataclass(frozen=True)
class Thresholds(Parity):
    """The parity of two thresholds of the level."""

    def realize(self, secret):
        weights = np.isin(np.arange(self.dim), secret["support"]).astype(int).tolist()
        return exact("diag", weights, range(5), [1, -1, -1, 1, 1], self.sharpness)


def test_thresholds_are_no_parities(tmp_path):
    """Their labels agree with a parity on 36 % of informative rows: no certificate that verifies."""
    line = f"generate {__name__}:Thresholds --dim 10 --heads 4 --seed 0 --out"
    assert run_command(line, tmp_path / "f").code == 0
    (failed,) = (check for check in answer("verify", tmp_path / "f", code=1)["checks"] if not check["ok"])
    assert "Thresholds has no `hypothesis` of its own" in failed["detail"]
    with pytest.raises(InputError, match="no hidden linear secret"):
        hardness.estimate(hardness.load(tmp_path / "f"))


@pytest.mark.parametrize("parent", [Parity, Rounding, Nested, Nondegenerate])
def test_a_class_states_its_own_claims_or_has_none(parent):
    derived = type("Derived", (parent,), {})
    assert derived.hypothesis == f"{UNSTATED}; Derived has no `hypothesis` of its own"
    assert all(getattr(derived, name) is getattr(Family, name) for name in CLAIMS)  # nothing else is known
    stated = type("Stated", (parent,), {"hypothesis": "None."})
    assert all(getattr(stated, name) is getattr(parent, name) for name in CLAIMS)
    mixed = type("Mixed", (type("Mixin", (), {"draw": lambda self, rng: {}}), parent), {})
    assert mixed.hypothesis.startswith(UNSTATED)
    assert mixed.concepts is Family.concepts


@settings(max_examples=25)
@given(
    st.integers(5, 70),
    st.sampled_from([4, 5, 12]),  # a prime takes a second
    st.sampled_from(["diag", "dot"]),
    st.sampled_from([None, 2, 3, 7]),
    st.integers(0, 2**31),
)
def test_labels_of_rounding_are_those_of_its_concept_class(dim, q, kind, heads, seed):
    """Those of few heads too, on every input: the class knows its heads."""
    family = Rounding(dim, q, 3, None, kind, heads)
    secret = family.draw(np.random.default_rng(seed))
    teacher, concepts = family.realize(secret), family.concepts()
    X = np.random.default_rng(0).choice([-1, 1], (200, 2, dim))
    t = public_vectors(X, kind) @ secret["w"]
    labels = concepts.level(t[None], secret["w"][None])[0]
    np.testing.assert_allclose(teacher.value(t), teacher.offset + labels, atol=1e-12)
