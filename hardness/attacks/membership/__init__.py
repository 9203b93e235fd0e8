"""Attacks by membership queries: the attacker chooses inputs, and a counting oracle labels them (theory 2.9)."""

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.linear import Hidden
from hardness.gadgets.coefficients import Gadget
from hardness.instance import Instance
from hardness.layer import MultiHeadAttention
from hardness.scores import EXACT, judge
from hardness.sq.bounds.parity import membership_floor
from hardness.sq.oracle import Membership

JUDGED = 2000  # fresh inputs on which a random layer is judged


def attack(instance: Instance, seed: int = 0) -> dict[str, Any]:
    """Attack an instance by membership queries: status, queries, `secret` or `layer_error`, and what was predicted.

    The learner gets the oracle and the public parameters, the lab judges. Parities take n queries, rounding about
    those of `structured.predicted`, random layers `layer.queries_of`. `floor` is what no learner can beat: answers of
    rounding have p values, of a parity 2; an input of a random layer shows k d numbers and k(k-1) scores a head.
    Raises `InputError` for a family of another kind.

    >>> from hardness.families.parity import Parity
    >>> ended = attack(Instance.generate(Parity(dim=512, heads=6), seed=0))
    >>> ended["status"], ended["queries"], ended["predicted"]
    ('solved', 511, 511)
    """
    oracle = Membership(instance.teacher, instance.family.tokens, instance.family.dim)
    started = perf_counter()
    fields = _recover(instance, oracle, seed)
    right = fields.pop("right")
    if fields.get("secret", fields.get("layer_error")) is None:
        fields["reason"] = "no queries of this kind determine the secret, or too many would be needed"
    status = "solved" if right else "refused" if "reason" in fields else "wrong"
    counted = {"queries": oracle.ledger.queries, "seconds": perf_counter() - started}
    return {"status": status, "attack": "membership", **fields, **counted}


def _recover(instance: Instance, oracle: Membership, seed: int) -> dict[str, Any]:
    """What the kind of layer allows: `secret` or `layer_error`, whether it is `right`, `predicted` and `floor`."""
    teacher, linear = instance.teacher, instance.family.linear
    if isinstance(teacher, Gadget) and linear is not None:
        return _equations(instance, linear.of(instance.public(0)), oracle, seed)
    if isinstance(teacher, MultiHeadAttention):
        return _layer(instance, teacher, oracle, seed)
    raise InputError(
        f"no attack by membership queries on family {instance.family.name}; give parity, rounding or a random layer"
    )


def _equations(instance: Instance, hidden: Hidden, oracle: Membership, seed: int) -> dict[str, Any]:
    """A secret w mod q: bit by bit where q is 2, else by bisection."""
    from hardness.attacks.membership import structured

    n, q, p = instance.family.dim - 1, hidden.q, hidden.p
    if q == 2:
        w: NDArray[np.int64] | None = structured.parity(oracle, hidden)
        counts = {"predicted": n, "floor": instance.family.log2_secrets()}
    else:
        w = structured.rounding(oracle, hidden, np.random.default_rng(seed))
        counts = {"predicted": structured.predicted(n, q, p), "floor": membership_floor(n, q, p)}
    right = w is not None and np.array_equal(w, hidden.read(instance.secret, n))
    return {"secret": None if w is None else hidden.write(w), "right": right, **counts}


def _layer(instance: Instance, teacher: MultiHeadAttention, oracle: Membership, seed: int) -> dict[str, Any]:
    """A layer of random heads, judged on fresh inputs."""
    from hardness.attacks.membership.layer import layer, queries_of

    recovered = layer(oracle, teacher.heads, np.random.default_rng(seed))
    scores = {} if recovered is None else judge(instance, recovered, JUDGED, seed)
    m, k, d = teacher.heads, instance.family.tokens, instance.family.dim
    # An input shows k d numbers, and of every head k (k - 1) scores: of 2 m d² unknowns no fewer inputs tell all.
    floor = max(2 * m * d / k, d * d / (k * (k - 1)))
    error, right = scores.get("relative_error"), EXACT.met(scores)
    return {"layer_error": error, "right": right, "predicted": queries_of(d), "floor": floor}
