"""Attacks by membership queries: the attacker chooses inputs, and a counting oracle labels them (theory 2.9)."""

from time import perf_counter
from typing import Any

import numpy as np

from hardness.errors import InputError
from hardness.gadgets.coefficients import Gadget
from hardness.instance import Instance
from hardness.layer import MultiHeadAttention
from hardness.scores import EXACT, judge
from hardness.sq.bounds.switches import membership_floor
from hardness.sq.oracle import Membership

JUDGED = 2000  # fresh inputs on which a random layer is judged


def attack(instance: Instance, seed: int = 0) -> dict[str, Any]:
    """Attack an instance by membership queries: status, queries, `secret` or `layer_error`, and what was predicted.

    The learner gets the oracle and the public parameters, the lab judges. Parities take n queries, rounding about
    those of `structured.predicted`, random layers `layer.queries_of`. `floor` is what no learner can beat: answers of
    rounding have p values, of a parity 2; an input of a random layer shows k d numbers and k(k-1) scores a head.
    Raises `InputError` for a family of another kind.

    >>> from hardness.families.parity import Parity
    >>> found = attack(Instance.generate(Parity(dim=512, heads=6), seed=0))
    >>> found["status"], found["queries"], found["predicted"]
    ('solved', 511, 511)
    """
    from hardness.attacks.membership import structured
    from hardness.attacks.membership.layer import layer, queries_of

    family, teacher = instance.family, instance.teacher
    oracle = Membership(teacher, family.tokens, family.dim)
    public, n, started = instance.public(0), family.dim - 1, perf_counter()
    found: dict[str, Any]
    if family.name == "parity" and isinstance(teacher, Gadget):
        support = structured.parity(oracle, public)
        right = support == instance.secret["support"].tolist()
        found = {
            "secret": {"support": support},
            "predicted": n,
            "floor": instance.certificate["log2_concepts"],
        }
    elif family.name == "rounding" and isinstance(teacher, Gadget):
        q, p = int(public["modulus"]), int(public["levels"])
        w = structured.rounding(oracle, public, np.random.default_rng(seed))
        right = w is not None and bool(np.array_equal(w, instance.secret["w"]))
        found = {
            "secret": None if w is None else {"w": w.tolist()},
            "predicted": structured.predicted(n, q, p),
        }
        found["floor"] = membership_floor(n, q, p)
    elif isinstance(teacher, MultiHeadAttention):
        made = layer(oracle, teacher.heads, np.random.default_rng(seed))
        found = {} if made is None else judge(instance, made, JUDGED, seed)
        error, right = found.get("relative_error"), EXACT.met(found)
        m, k, d = teacher.heads, family.tokens, family.dim
        found = {
            "layer_error": error,
            "predicted": queries_of(d),
            "floor": max(2 * m * d / k, d * d / (k * (k - 1))),
        }
    else:
        raise InputError(
            f"no attack by membership queries on family {family.name}; give parity, rounding or a random layer"
        )
    if found.get("secret", found.get("layer_error")) is None:
        found["reason"] = "no queries of this kind determine the secret, or too many would be needed"
    status = "solved" if right else "refused" if "reason" in found else "wrong"
    queries = oracle.ledger.queries
    return {
        "status": status,
        "attack": "membership",
        **found,
        "queries": queries,
        "seconds": perf_counter() - started,
    }
