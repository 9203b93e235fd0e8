"""Comparisons: their data, and rows that survive an interruption."""

import numpy as np
import pytest

from hardness.errors import InputError
from learner import comparisons
from learner.linear_attention import certificate, features


@pytest.mark.parametrize(("unitary", "rank"), [(0.0, 288), (1.0, 248)])
def test_memory_is_what_one_head_computes(unitary, rank):
    X, Y, p = comparisons.memory(2000, 4, unitary, np.random.default_rng(0))
    assert np.abs(features(X) @ p.T - Y).max() < 1e-11
    assert np.abs(Y[:, :4]).max() == 0
    assert certificate(features(X)).rank == rank
    assert np.linalg.norm(p) == pytest.approx(4)


def test_rows_are_written_as_they_come(tmp_path, monkeypatch):
    def interrupted(seed, quick):
        yield {"n": 1, "error": 0.5}
        raise KeyboardInterrupt

    monkeypatch.setitem(comparisons.COMPARISONS, "automata", interrupted)
    with pytest.raises(KeyboardInterrupt):
        comparisons.main(["automata", "--out", str(tmp_path / "rows.csv")])
    assert (tmp_path / "rows.csv").read_text() == "seed,n,error\n0,1,0.5\n"
    with pytest.raises(InputError, match="did you mean 'stress'"):
        comparisons.measure("stres")


def test_biased_heads_of_four_to_one_half_are_those_of_eight_to_one():
    X = comparisons.sphere(40, np.random.default_rng(0))
    y = comparisons.target("g11", X, np.eye(16)[0])
    assert y.std() == pytest.approx(1)
    models = [
        comparisons.RandomFeatureAttention(40, bias=b, std=s, alpha=1e-2, keys="others", random_state=0)
        for b, s in ((4.0, 0.5), (8.0, 1.0))
    ]
    said = [model.fit(X, y).predict(X) for model in models]
    assert np.allclose(*said, atol=1e-3)
