"""Gradient descent through an oracle: the gradient that it adds up to, blocks of queries, and what is learned."""

from itertools import islice

import numpy as np
import pytest
from commands import answer, check_refused, run_command
from diagonal_rows import gradients
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.families.concepts import ParityConcepts
from hardness.sq.descent import descend
from hardness.sq.oracle import ORACLES
from hardness.sq.queries import Tables, bit_products
from learner import diagonal_network
from learner.diagonal import Diagonal
from learner.diagonal_network import Rule, by_centred, centred, entries, starting, updated

N = 5
WORDS = np.arange(2**N, dtype=np.uint64)
BITS = np.stack([np.ones(2**N), *(WORDS >> np.uint64(j) & np.uint64(1) for j in range(N))], axis=1)


def test_with_true_means_it_is_gradient_descent_on_the_whole_population():
    """The entries, asked one by one, are the mean over all sign vectors of the gradients of single rows."""
    labels = bit_products(WORDS, np.uint64(0b10110)).astype(float)
    weights = starting(np.random.default_rng(0), 3, N + 1, 1.0)
    rule, moments = (
        Rule(rate=0.1, output_rate=0.5, l1=0.01, beta1=0.5),
        (np.zeros((N + 2, 3)), np.zeros((N + 2, 3))),
    )
    values = diagonal_network.descend(lambda h: h @ labels / 2**N, weights.copy(), rule)
    for step, shown in enumerate(islice(values, 4), 1):
        errors, by_row = gradients(weights, BITS, labels)
        assert shown - labels == pytest.approx(errors, abs=1e-12)
        gradient = by_centred(by_row.mean(axis=0))
        weights = entries(updated(centred(weights), gradient, moments, step, rule))


@pytest.mark.parametrize("name", ORACLES)
def test_a_block_is_answered_as_its_queries_are_one_after_another(name):
    block, concepts = Tables(np.random.default_rng(1).normal(size=(40, 2**N))), ParityConcepts(N, 2)
    for live in (concepts.masks(3, 1), concepts.masks()):
        blockwise, singly = (ORACLES[name](live, np.random.default_rng(2)) for _ in "ab")
        answers = blockwise.answers(block, 0.05)
        assert answers == pytest.approx([singly.answer(query, 0.05) for query in block], abs=1e-12)
        assert blockwise.ledger.queries == singly.ledger.queries == 40
        assert blockwise.possible.tolist() == singly.possible.tolist()


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from([0.02, 0.1, 0.3]))
def test_null_answers_for_coins_up_to_the_tolerance_and_exactly_above(seed, tolerance):
    rng = np.random.default_rng(seed)
    tables, mask = rng.normal(size=(9, 2**N)), ParityConcepts(N, 3).masks(4, 1)
    oracle = ORACLES["null"](mask, rng)
    middle, half = (tables.max(1) + tables.min(1)) / 2, (tables.max(1) - tables.min(1)) / 2
    signs = np.array([(-1) ** int(np.bitwise_count(word & mask[0])) for word in WORDS])
    means = ((tables - middle[:, None]) / half[:, None] * signs).mean(
        axis=1
    ) / 2  # half of all rows are informative
    expected = [0.0 if abs(mean) <= tolerance else mean for mean in means]
    assert oracle.answers(Tables(tables), tolerance) == pytest.approx(expected, abs=1e-12)


def test_it_learns_below_its_tolerance_and_not_above():
    student, concepts = Diagonal(rate=0.1, l1=0.0, random_state=0), ParityConcepts(7, 2)
    below = descend(student.descend, concepts, "null", 0.05, seed=0)
    assert below.status == "solved"
    assert below.queries == below.steps * 16 * 9
    above = descend(student.descend, concepts, "null", 0.25, seed=0, steps=200)
    assert (above.status, above.steps, above.queries) == ("budget", 200, 200 * 16 * 9)
    assert above.error > 0.9


@pytest.mark.parametrize("oracle", ["window", "sampled", "noisy"])
def test_other_oracles_teach_it_too(oracle):
    student = Diagonal(heads=8, rate=0.1, l1=0.0, random_state=1)
    ended = descend(student.descend, ParityConcepts(4, 2), oracle, 0.01, seed=3, steps=400)
    assert ended.status == "solved"


def test_the_command():
    line = "sq learn parity --dim 8 --heads 2 --tolerance 0.05 --seed 1 --set rate=0.1 --set l1=0"
    fields = answer(line)
    assert {"status", "queries", "steps", "smallest_tolerance"} <= fields.keys()
    assert (fields["status"], fields["smallest_tolerance"]) == ("solved", 0.05)
    ended = answer(f"{line} --queries 1000")
    assert ended["status"] == "budget"
    assert ended["queries"] <= 1000
    check_refused(run_command(f"{line} --set batch=64"), "batch")
    check_refused(run_command(f"{line} --tolerance 2"), "tolerance")
    check_refused(run_command(f"{line} --dim 19"), "up to d = 18")
