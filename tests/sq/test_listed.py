"""Theory 2.8 for classes of one's own: the eigenvalue, and games that keep its bound."""

from dataclasses import dataclass

import numpy as np
import pytest
from commands import answer, check_refused, run_command
from listed_classes import Votes
from window import window_loss

import hardness
from hardness.errors import InputError
from hardness.sq.bounds.gram import eigenvalue, gram_bounds
from hardness.sq.bounds.parity import window_bound
from hardness.sq.queries import LabelTable


def brute(concepts):
    table = np.array([concepts.values(S, concepts.inputs) for S in concepts.secrets()], dtype=float)
    gram = table @ table.T / table.shape[1]
    off = np.eye(len(gram)) - 1 / len(gram)
    return float(np.linalg.eigvalsh(off @ gram @ off)[-1])


@pytest.mark.parametrize(
    ("n", "size", "product"), [(6, 3, False), (7, 5, False), (9, 1, False), (8, 2, True), (7, 3, True)]
)
def test_the_eigenvalue_is_that_of_the_gram_matrix(n, size, product):
    concepts = Votes(n, size, product)
    low, high = eigenvalue(concepts)
    assert low <= brute(concepts) <= high < low + 1e-6
    if product:
        bounds = gram_bounds(concepts, 0.05)
        assert bounds["window"] == pytest.approx(window_bound(concepts.size, 0.05), rel=1e-6)
        assert bounds["window"] <= window_bound(concepts.size, 0.05)


@pytest.mark.parametrize("tau", [0.02, 0.05, 0.1, 0.2])
def test_no_vote_loses_more_than_the_eigenvalue_allows(tau):
    concepts, rng = Votes(7, 3), np.random.default_rng(5)
    limit = eigenvalue(concepts)[1] / (8 * tau**2)
    for _ in range(200):
        chosen = rng.choice(concepts.size, int(rng.integers(1, 12)), replace=False)
        query = LabelTable(concepts, np.sign(rng.standard_normal(len(chosen)) @ concepts.table[chosen]))
        assert window_loss(query.means(concepts.elements()), tau) < limit


@pytest.mark.parametrize("strategy", ["characters", "random", "sign-batch"])
def test_games_keep_the_bound(strategy):
    for concepts, tau in ((Votes(8, 3), 0.05), (Votes(8, 2, product=True), 0.1)):
        game = hardness.play(concepts, strategy, "window", tau, seed=1)
        assert (game.status, game.remaining) == ("solved", 1)
        assert game.queries >= game.bound == gram_bounds(concepts, tau)["window"]
        assert game.ratio == game.queries / game.bound
        for oracle in ("null", "exact", "noisy", "sampled"):
            other = hardness.play(concepts, strategy, oracle, tau, seed=1)
            assert (other.status, other.bound) == ("solved", None)


def test_equal_labels_are_one_concept_and_one_concept_is_known():
    @dataclass(frozen=True)
    class Twins(Votes):
        def secrets(self):
            return [*super().secrets(), *super().secrets()]

    assert Twins(6, 3).size == 20
    assert hardness.play(Votes(3, 3), "characters", tolerance=0.1).queries == 0
    assert gram_bounds(Votes(3, 3), 0.1).keys() == {"eigenvalue"}
    assert gram_bounds(Votes(6, 2, product=True), 0.4)["identifiable"] is False
    assert "identifiable" not in gram_bounds(Votes(6, 2, product=True), 0.1)


def test_classes_that_are_refused():
    class Real(Votes):
        def values(self, secret, v):
            return v[:, secret["support"]].sum(axis=1)

    for concepts, reason in ((Real(6, 2), "must be"), (Votes(40, 4), "list"), (Votes(40, 1), "inputs")):
        with pytest.raises(InputError, match=reason):
            hardness.play(concepts, "characters", tolerance=0.1)


def test_the_command_line_takes_module_and_class():
    fields = answer("sq bounds listed_classes:Votes --n 7 --tolerance .1")
    assert fields["concepts"] == 35
    assert fields["window"] == pytest.approx(8 * 0.01 * 34 / brute(Votes(7, 3)), rel=1e-6)
    assert "eigenvalue" in run_command("sq bounds listed_classes:Votes --n 7 --tolerance .1").out
    game = answer("sq play listed_classes:Votes --n 7 --tolerance .05 --strategy sign-batch --seed 0")
    assert game["status"] == "solved"
    assert game["queries"] >= game["bound"]
    listed, known = (
        answer(f"sq bounds {name} --dim 8 --heads 3 --tolerance .1")
        for name in ("listed_classes:Hidden", "parity")
    )
    assert listed["window"] == pytest.approx(known["window"], rel=1e-6)
    check_refused(run_command("sq bounds listed_classes:Nope --tolerance .1"), "Nope")
    check_refused(run_command("sq bounds listed_classes:combinations --tolerance .1"), "neither")
