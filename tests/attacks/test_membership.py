"""Attacks by membership queries: right answers, exact counts, floors respected (theory 2.9)."""

from math import ceil, log2

import numpy as np
import pytest
from commands import answer

from hardness.attacks.membership import attack, queries_of
from hardness.errors import InputError
from hardness.families.controls import Nested
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.instance import Instance
from hardness.sq.oracle import Membership, OutOfQueries


def bisection(n, q, p):
    """Theory 2.9: queries if every coordinate takes a bisection."""
    return n * (1 + ceil(log2(-(-q // p))))


def membership_floor(n, q, p):
    """Theory 2.9: chosen inputs that tell all q^n secrets apart by levels 0..p-1."""
    return n * log2(q) / log2(p)


@pytest.mark.parametrize("options", [{}, {"gadget": "dot"}, {"flip": 0.4}])
def test_parity_falls_in_n_queries_and_label_noise_does_not_touch_the_oracle(options):
    report = attack(Instance.generate(Parity(dim=512, heads=12, **options), seed=1))
    assert (report["status"], report["queries"]) == ("solved", 511)


@pytest.mark.parametrize(("q", "p", "n"), [(17, 2, 12), (16, 4, 10), (23, 5, 9), (4, 3, 9), (257, 16, 64)])
@pytest.mark.parametrize("gadget", ["diag", "dot"])
def test_rounding_by_bisection(q, p, n, gadget):
    for seed in range(3):
        instance = Instance.generate(Rounding(dim=n + 1, modulus=q, levels=p, gadget=gadget), seed)
        report = attack(instance)
        if report["status"] == "refused":  # some secrets cannot be told apart by levels alone
            continue
        assert report["status"] == "solved"
        assert report["secret"]["w"] == instance.secret["w"].tolist()
        assert max(n, 0.9 * np.floor(membership_floor(n, q, p)) * (p == 2)) <= report["queries"]
        assert report["queries"] <= 1.1 * bisection(n, q, p)


@pytest.mark.parametrize(("m", "k", "d"), [(3, 2, 16), (2, 3, 6), (3, 4, 8), (1, 2, 4)])
def test_random_layers_to_rounding(m, k, d):
    instance = Instance.generate(Nondegenerate(dim=d, tokens=k, heads=m), seed=2)
    report = attack(instance)
    assert report["status"] == "solved"
    assert report["layer_error"] < 1e-9
    assert report["queries"] == queries_of(d)


def test_more_heads_than_the_equations_determine_are_refused():
    report = attack(Instance.generate(Nondegenerate(dim=2, tokens=2, heads=4), seed=0))
    assert (report["status"], report["layer_error"]) == ("refused", None)


def test_the_oracle_counts_and_refuses():
    oracle = Membership(lambda X: X.astype(float), 2, 3, budget=1)
    for bad in (np.zeros((2, 3)), np.ones((2, 4)), np.ones((1, 2, 3))):
        with pytest.raises(InputError):
            oracle.label(bad)
    assert oracle.ledger.queries == 0
    oracle.label(np.ones((2, 3), int))
    with pytest.raises(OutOfQueries):
        oracle.label(np.ones((2, 3), int))
    with pytest.raises(InputError, match="nested"):
        attack(Instance.generate(Nested(dim=8, size=4, block=2), seed=0))


def test_the_command(tmp_path):
    Instance.generate(Parity(dim=12, heads=3), seed=0).save(tmp_path / "f")
    fields = answer("attack membership", tmp_path / "f")
    assert (fields["status"], fields["queries"], len(fields["secret"]["support"])) == ("solved", 11, 3)
