"""One knob a condition: what is asked for is what is measured, and without a knob nothing changes."""

import hashlib

import numpy as np
import pytest

from hardness.errors import InputError
from hardness.families.nondegenerate import Nondegenerate
from hardness.gadgets.conditions import conditions
from hardness.instance import Instance

MEASURED = {
    "stable_rank": ("stable rank of theta", 1.5),
    "diagonal": ("diagonal of theta", 6.0),
    "column": ("heaviest column of theta", 0.7),
    "lattice": ("distance of theta to a lattice", 0.0),
    "coherence": ("incoherence of theta", 0.8),
    "coherence_w": ("incoherence of w", 0.9),
    "norm_ratio": ("ratio of norms of theta", 0.1),
    "sum_w": ("sum of w", 0.1),
}


@pytest.mark.parametrize("knob", MEASURED)
@pytest.mark.parametrize("tokens", [2, 3])
def test_what_is_asked_for_is_what_is_measured(knob: str, tokens: int):
    name, value = MEASURED[knob]
    plain, turned, again = (
        Instance.generate(Nondegenerate(12, tokens, 3, **asked), seed=1)
        for asked in ({}, {knob: value}, {knob: value})
    )
    table = {row.name: row.value for row in conditions(turned.layer(), tokens)}
    assert table[name] == pytest.approx(value, abs=1e-9)
    # One secret, several layers; and the norms stay, but for the knobs that are about them.
    assert all(np.array_equal(plain.secret[part], turned.secret[part]) for part in ("theta", "w"))
    if knob not in ("norm_ratio", "lattice", "sum_w"):
        norms = [np.linalg.norm([x.layer().theta, x.layer().w], axis=(2, 3)) for x in (plain, turned)]
        np.testing.assert_allclose(*norms)
    assert again.to_bytes() == turned.to_bytes() != plain.to_bytes()
    assert f"--{knob.replace('_', '-')} {value}" in turned.command()


def test_without_a_knob_a_layer_is_what_it_was():
    instance = Instance.generate(Nondegenerate(6, 3, 2), seed=7)
    assert instance.parameters == {"dim": 6, "tokens": 3, "heads": 2, "scale": 2.0}
    layer = instance.layer()
    digest = hashlib.sha256(layer.theta.tobytes() + layer.w.tobytes()).hexdigest()
    assert digest.startswith("14aa7b737be5abc5")


def test_what_no_layer_has_is_refused():
    for knob, value in {"stable_rank": 0.5, "coherence": 1.0, "norm_ratio": 0.0, "sum_w": 1.74}.items():
        with pytest.raises(InputError, match=knob):
            Nondegenerate(12, 2, 3, **{knob: value})
    with pytest.raises(InputError, match="at least 2 heads"):
        Nondegenerate(12, 2, 1, sum_w=0.5)


def test_gaussian_inputs_are_normal_and_the_same_in_any_chunks():
    instance = Instance.generate(Nondegenerate(8, 2, 2, inputs="gaussian"), seed=0)
    data = instance.examples(4000, seed=3)
    np.testing.assert_array_equal(data.X[100:200], instance.examples(100, seed=3, start=100).X)
    np.testing.assert_array_equal(data.Y, instance.layer()(data.X))
    # 64,000 numbers: mean and variance within 5 standard errors, 1e-6 of false alarm.
    assert abs(data.X.mean()) < 5 / 64_000**0.5
    assert abs(data.X.var() - 1) < 5 * (2 / 64_000) ** 0.5
    with pytest.raises(InputError, match="files of examples hold signs"):
        next(instance.chunks(10, seed=0))
    assert "--inputs gaussian" in instance.command()
