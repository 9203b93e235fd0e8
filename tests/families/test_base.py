"""What a family inherits: defaults always, claims only with the labels that they are about."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from commands import answer, run_command
from hypothesis import given, settings
from hypothesis import strategies as st

import hardness
from hardness.errors import InputError
from hardness.families.base import CLAIMS, COMPARED, UNSTATED, Family, disagreement
from hardness.families.controls import Nested
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding


@dataclass(frozen=True)
class Thresholds(Parity):
    """The parity of two thresholds of the level."""

    def _levels(self):
        levels, _ = super()._levels()
        return levels, [(-1) ** ((t >= 1) + (t >= 3)) for t in levels]


@dataclass(frozen=True)
class Stated(Thresholds):
    """The same, with claims of its own that do not hold."""

    name: ClassVar[str] = "parity"

    hypothesis: ClassVar[str] = Parity.hypothesis
    concepts = Parity.concepts


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (Thresholds, "Thresholds has no `hypothesis` of its own"),
        (Stated, "labels differ from those of parity of 4 out of 9 bits"),
    ],
)
def test_thresholds_are_no_parities(tmp_path, cls, words):
    """Their labels agree with a parity on 36 % of informative rows: no certificate that verifies."""
    name = f"{__name__}:{cls.__name__}"
    assert run_command(f"generate {name} --dim 10 --heads 4 --seed 0 --out", tmp_path / "f").code == 0
    (failed,) = (check for check in answer("verify", tmp_path / "f", code=1)["checks"] if not check["ok"])
    assert words in failed["detail"]
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


def families():
    """Families with a concept class, of every kind there is."""
    dims, kind = st.integers(5, 70), st.sampled_from(["diag", "dot"])
    sizes, flip = st.sampled_from([2, 4]), st.sampled_from([0.0, 0.4])
    parity = st.builds(Parity, dims, sizes, kind, flip=flip)
    modulus, heads = st.sampled_from([4, 5, 12]), st.sampled_from([None, 2, 3, 7])  # a prime takes a second
    rounding = st.builds(
        Rounding, dims, modulus, st.just(3), st.none(), kind, heads, st.sampled_from([0.0, 2.0])
    )
    return st.one_of(parity, rounding)


@settings(max_examples=25)
@given(families(), st.integers(0, 2**31))
def test_labels_of_the_lab_are_those_of_its_concept_classes(family, seed):
    """Those of truncated rounding too, on every input: the class knows its heads. Another secret's are not."""
    rng = np.random.default_rng(seed)
    secret, other = family.draw(rng), family.draw(rng)
    teacher, concepts = family.realize(secret), family.concepts()
    assert disagreement(family, concepts, teacher, secret) is None
    tokens = np.random.default_rng(0).choice([-1, 1], (200, 2, family.dim))
    tokens[:, 1, 0] = -tokens[:, 0, 0]
    differ = (concepts.target(secret, tokens) != concepts.target(other, tokens)).mean()
    assert (disagreement(family, concepts, teacher, other) is not None) >= (differ > 0.05)


@pytest.mark.parametrize(
    "change",
    [
        lambda Y: Y * (1 + 1e-7),
        lambda Y: Y + 1e-7 * np.eye(*Y.shape[1:], 1),
        lambda Y: np.where(np.arange(len(Y))[:, None, None] == 7, 0.0, Y),
        lambda Y: Y[:, ::-1] * [[[1]], [[-1]]][0],
    ],
    ids=["scale", "column", "one row of 4096", "second token"],
)
def test_labels_that_are_nearly_right_are_not(change):
    class Changed(Parity):
        hypothesis = "None."

        def labels(self, teacher, words, noise):
            return change(super().labels(teacher, words, noise))

    family = Changed(dim=9, heads=3)
    secret = family.draw(np.random.default_rng(0))
    reason = disagreement(family, family.concepts(), family.realize(secret), secret)
    assert f"of {COMPARED} random inputs" in str(reason)
