"""Gradient descent through an oracle: the gradient that it adds up to, and what is learned."""

from itertools import islice

import numpy as np
import pytest
from commands import answer, check_refused, run_command
from diagonal_rows import gradients

from hardness.families.concepts import ParityConcepts
from hardness.sq.descent import descend
from hardness.sq.queries import bit_products
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
