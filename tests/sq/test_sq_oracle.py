from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.concepts import ParityConcepts, RoundingConcepts
from hardness.families.parity import Parity
from hardness.sq.oracle import ORACLES, Oracle, Sampled, Window, best_answer
from hardness.sq.queries import LevelTable, SignBatch, SpanFunction, Table, character
from hardness.tokens import unpack


@given(st.lists(st.integers(-64, 64), min_size=1, max_size=25), st.integers(1, 40))
def test_the_window_answer_keeps_the_most(numerators: list[int], numerator: int):
    """In 64ths, where floats are exact: windows are closed."""
    means, tolerance = np.array(numerators) / 64, numerator / 64
    centre = best_answer(means, tolerance)
    kept = np.sum(np.abs(means - centre) <= tolerance)
    assert kept == max(np.sum((low <= means) & (means <= low + 2 * tolerance)) for low in means)


@pytest.mark.parametrize("peak", [1.5, float("nan")])
def test_a_query_outside_the_range_is_refused_with_its_index(peak: float):
    oracle = Window(ParityConcepts(4, 1).masks(), np.random.default_rng(0))
    oracle.answer(character(1), 0.1)
    values = np.zeros(16)
    values[5] = peak
    with pytest.raises(InputError, match="query 1 "):
        oracle.answer(Table(values), 0.1)
    assert oracle.ledger.queries == 1


PLUS = np.array([1])
PROMISING = ("exact", "noisy", "window", "null")


def test_no_answer_is_outside_its_tolerance():
    """Answers in every mode that promises a tolerance: none outside it.

    Honest answers lie within the radius of the secret's mean, an adversary's within that of every concept it keeps.
    """
    rng, every, answered = np.random.default_rng(3000), ParityConcepts(8, 3).masks(), 0
    while answered < 3000:
        mode = PROMISING[rng.integers(4)]
        oracle = ORACLES[mode](every, rng)
        for _ in range(50):
            live = oracle.live
            if rng.random() < 0.9:
                query = SignBatch(live[rng.integers(len(live))][None], PLUS)
            else:
                query = SignBatch(rng.choice(every, 3, replace=False), rng.choice([-1, 1], 3))
            tolerance = float(rng.uniform(0.001, 0.5))
            reply = oracle.answer(query, tolerance)
            kept = oracle.live if oracle.adversary else hidden(oracle)
            assert np.all(np.abs(query.means(kept) - reply) <= tolerance * (1 + 1e-12) + 1e-15)
            assert len(kept) >= 1
            answered += 1


def hidden(oracle: Oracle) -> NDArray[Any]:
    """The secret of an honest oracle, one row, found by asking whether a guess is right."""
    return oracle.live[[oracle.is_right(mask) for mask in oracle.live]]


def test_samples_have_the_means_of_their_queries():
    """Of every kind of query; and no answer of many from samples misses by more than its tolerance."""
    rng = np.random.default_rng(1)
    levels, sets = RoundingConcepts(3, 4, 3, "dot"), np.array([3, 9, 24], np.uint64)
    queries = (
        SignBatch(sets, np.array([1, -1, 1])),
        SpanFunction(3, np.array([3, 6], np.uint64), rng.uniform(-1, 1, 4)),
        Table(rng.uniform(-1, 1, 32)),
    )
    cases: list[Any] = [(q, np.arange(0, 32, 3, dtype=np.uint64)) for q in queries]
    elements, inputs = levels.elements(), len(levels.public()[0])
    cases += [(LevelTable(levels, rng.uniform(-1, 1, (inputs, 3))), elements[[3, 37]])]
    for query, secrets in cases:
        for secret, mean in zip(secrets, query.means(secrets), strict=True):
            values, odds = query.law(secret)
            assert values @ odds / 2 == pytest.approx(mean, abs=1e-12)
    oracle = Sampled(elements[:9], rng)  # delta = 1e-9 an answer: none of 300 may miss
    secret = hidden(oracle)
    for _ in range(300):
        query = LevelTable(levels, rng.uniform(-1, 1, (inputs, 3)))
        assert abs(oracle.answer(query, 0.15) - query.means(secret)[0]) <= 0.15


@pytest.mark.parametrize("heads", [2, 3])
def test_characters_have_the_means_of_theory_2_5_through_the_layer_s_own_labels(heads: int):
    """y chi_T over all inputs: 1/2 on its own set, 0 elsewhere (pitfall 2); y is the label less its public offset."""
    family, live = Parity(dim=6, heads=heads), ParityConcepts(5, heads).masks()
    words = np.arange(64, dtype=np.uint64)
    X = unpack(np.stack(np.meshgrid(words, words), axis=-1).reshape(-1, 2, 1), 6)
    queried = X[:, :, 1 : heads + 1].prod(axis=(1, 2))
    for mask in live:
        teacher = family.realize({"support": 1 + np.flatnonzero([int(mask) >> j & 1 for j in range(5)])})
        y = np.sign(teacher(X)[:, 0, 0] * X[:, 0, 0] - teacher.offset)
        mean = np.mean(y * queried * (X[:, 0, 0] != X[:, 1, 0]))
        assert mean == pytest.approx(character(int(live[0])).means(np.array([mask]))[0], abs=1e-12)
