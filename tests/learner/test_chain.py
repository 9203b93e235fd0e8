"""The student taught block by block."""

import numpy as np
import pytest

from hardness.errors import InputError
from hardness.evaluation.judge import SIGNS, judge
from hardness.families.nested import Nested
from hardness.families.parity import Parity
from hardness.gadgets.coefficients import informative
from hardness.instance import Instance
from learner.chain import ChainStudent


def test_blocks_are_learned_where_the_whole_is_not():
    """Fixed seeds: a parity of six in d = 11 by three blocks, from examples too few for the parity alone."""
    count = 200_000
    nested = Instance.generate(Nested(dim=11, size=6, block=2), seed=1)
    data = nested.examples(count, 2)
    assert SIGNS.met(judge(nested, ChainStudent(labels=3, random_state=0).partial_fit(data.X, data.Y).predict, 1000, 3))
    whole = ChainStudent(labels=1, random_state=0).partial_fit(data.X, data.Y)
    assert not SIGNS.met(judge(nested, whole.predict, 1000, 3))


def test_pieces_do_not_matter():
    data = Instance.generate(Nested(dim=7, size=3, block=1), seed=0).examples(5000, 1)
    whole = ChainStudent(labels=3, random_state=0).partial_fit(data.X, data.Y)
    parts = ChainStudent(labels=3, random_state=0)
    for start in (0, 700, 3000):
        end = {0: 700, 700: 3000, 3000: 5000}[start]
        parts.partial_fit(data.X[start:end], data.Y[start:end])
    for one, other in zip(whole.students_, parts.students_, strict=True):
        assert (one.layer_.theta == other.layer_.theta).all()
    told = informative(data.X)
    assert (whole.predict(data.X)[told][:, :, 1:] == 0).all()


def test_labels_that_do_not_vary_are_refused():
    data = Instance.generate(Parity(dim=7, heads=3), seed=0).examples(200, 1)
    with pytest.raises(InputError, match="vary"):
        ChainStudent(labels=2).partial_fit(data.X, data.Y)
    with pytest.raises(InputError, match="labels"):
        ChainStudent(labels=0).partial_fit(data.X, data.Y)
    assert np.isfinite(ChainStudent().partial_fit(data.X, data.Y).predict(data.X)).all()
