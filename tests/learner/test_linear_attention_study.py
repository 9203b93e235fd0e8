"""The study of linear attention: its data and trials, and automata executed by hand, learned, sure only when right."""

import numpy as np
import pytest

from learner.linear import LinearAttention, attention, certificate, features
from learner.studies.linear_attention import execute, random_automata, span_rank, steps, tokens


def ran(states, letters, count, seed=0, automata=200):
    rng = np.random.default_rng(seed)
    model = LinearAttention(query=-1, random_state=0).fit(*steps(count, states, letters, rng))
    unseen = random_automata(automata, states, letters, rng)
    return model, execute(model, unseen, rng.integers(letters, size=(automata, 20)))


def test_one_head_by_hand_executes_every_automaton():
    rng = np.random.default_rng(0)
    X, Y = steps(300, 3, 2, rng)
    V, Q = np.zeros((1, 3, 9)), np.zeros((1, 9, 9))
    V[0, :, 6:], Q[0, :6, :6] = np.eye(3), np.eye(6)
    assert np.array_equal(attention(V, Q, X), Y)


@pytest.mark.parametrize(
    ("states", "letters", "count", "rank", "parts"),
    [(2, 2, 200, 20, 4), (3, 2, 800, 78, 6)],
)
def test_a_full_span_is_exact_and_certified_on_unseen_automata(states, letters, count, rank, parts):
    model, run = ran(states, letters, count)
    assert set(run.values()) == {1}
    assert model.rank_ == span_rank(states, letters) == rank
    assert len(model.components_) == parts
    # Not certified in the paper's sense: lam_min is 0, for the rank is far below the number of features.
    X, _ = steps(count, states, letters, np.random.default_rng(1))
    assert not certificate(features(X)).identifiable


def test_components_change_nothing():
    rng = np.random.default_rng(2)
    X, Y = steps(60, 2, 2, rng)
    fresh = tokens(random_automata(50, 2, 2, rng), rng.integers(2, size=50), rng.integers(2, size=50))
    parts = LinearAttention(query=-1, random_state=0).fit(X, Y)
    whole = LinearAttention(query=-1, random_state=0)
    whole.orthogonal_parts = lambda rows: iter([(np.arange(len(rows)), np.arange(rows.shape[2]))])
    whole.fit(X, Y)
    assert (len(parts.components_), len(whole.components_)) == (4, 1)
    assert np.abs(parts.predict(fresh) - whole.predict(fresh)).max() < 1e-10
    assert np.abs(parts.residual(fresh) - whole.residual(fresh)).max() < 1e-10
    assert np.abs(parts.p_ - whole.p_).max() < 1e-10
