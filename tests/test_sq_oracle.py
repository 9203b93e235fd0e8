import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.concepts import ParityConcepts
from hardness.errors import InputError
from hardness.sq.oracle import ADVERSARIES, MODES, Ledger, Oracle, OutOfQueries, best_answer, samples_for
from hardness.sq.queries import SignBatch, Table, character


@given(st.lists(st.floats(0.001, 1), max_size=12), st.integers(0, 12))
def test_the_ledger_counts_and_refuses(tolerances: list[float], budget: int) -> None:
    ledger = Ledger(budget)
    for tolerance in tolerances[:budget]:
        ledger.charge(tolerance)
    assert ledger.queries == min(budget, len(tolerances))
    assert ledger.smallest_tolerance == min(tolerances[:budget], default=float("inf"))
    if len(tolerances) > budget:
        with pytest.raises(OutOfQueries):
            ledger.charge(tolerances[budget])
        assert ledger.queries == budget


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(MODES), st.floats(0.02, 0.3), st.integers(0, 2**32))
def test_answers_keep_their_tolerance(mode: str, tolerance: float, seed: int) -> None:
    """Every answer is within tau of some live concept's mean, and for honest oracles of the secret's."""
    rng = np.random.default_rng(seed)
    live = ParityConcepts(6, 2).masks()
    oracle = Oracle(mode, live, rng)
    for _ in range(5):
        query = Table(rng.uniform(-1, 1, 64))
        reply = oracle.answer(query, tolerance)
        assert np.min(np.abs(query.means(oracle.live) - reply)) <= tolerance * (1 + 1e-9)
        if mode not in ADVERSARIES:
            secret = next(mask for mask in live if oracle.is_right(mask))
            assert abs(query.means(np.array([secret]))[0] - reply) <= tolerance * (1 + 1e-9)
    assert oracle.ledger.queries == 5
    assert oracle.ledger.smallest_tolerance == tolerance
    assert len(oracle.live) >= 1


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=25), st.floats(0.01, 0.5))
def test_the_window_answer_keeps_the_most(means: list[float], tolerance: float) -> None:
    centre = best_answer(np.array(means), np.full(len(means), tolerance))
    slack = 1e-9
    kept = sum(abs(mean - centre) <= tolerance + slack for mean in means)
    assert kept >= max(sum(low <= mean <= low + 2 * tolerance for mean in means) for low in means)


@pytest.mark.parametrize("peak", [1.5, float("nan")])
def test_a_query_outside_the_range_is_refused_with_its_index(peak: float) -> None:
    oracle = Oracle("window", ParityConcepts(4, 1).masks(), np.random.default_rng(0))
    oracle.answer(character(1), 0.1)
    values = np.zeros(16)
    values[5] = peak
    with pytest.raises(InputError, match="query 1 "):
        oracle.answer(Table(values), 0.1)
    assert oracle.ledger.queries == 1


def test_sample_means_have_the_exact_mean() -> None:
    """Over 40,000 samples within 5 sd, for the secret and another concept (false alarm below 1e-5)."""
    rng = np.random.default_rng(2)
    concepts = ParityConcepts(7, 3)
    sets = concepts.masks()[[0, 4, 9]]
    batch = SignBatch(sets, np.array([1, -1, 1]))
    table = Table(rng.uniform(-1, 1, 128))
    for query in (batch, table, character(int(sets[0]))):
        for secret in (sets[0], sets[1], concepts.masks()[20]):
            mean = query.means(np.array([secret]))[0]
            assert abs(query.sample_mean(secret, 40_000, rng) - mean) < 5 / 40_000**0.5


def test_samples_promise_the_tolerance() -> None:
    """n = ceil(2 ln(2/delta)/tau^2) with delta = 1e-9."""
    assert samples_for(0.05) == int(np.ceil(2 * np.log(2e9) / 0.0025))
