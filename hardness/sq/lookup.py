"""Strategies and oracles by name: built in, or plug-ins."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from hardness import registry
from hardness.errors import InputError
from hardness.families.base import Family, disagreement
from hardness.families.concepts import Concepts, ParityConcepts
from hardness.sq.oracle import ORACLES, Oracle
from hardness.sq.strategies import parity, rounding
from hardness.sq.strategies.base import Strategy


def class_of(concepts: Concepts | Family) -> Concepts:
    """The concept class of a family; a class is itself.

    Raises `InputError` where there is none to ask about, or where it is not the class of the family's labels.
    """
    return concepts if isinstance(concepts, Concepts) else _class_of_family(concepts)


@lru_cache(4096)  # once a process
def _class_of_family(family: Family) -> Concepts:
    found = family.concepts() if hasattr(family, "concepts") else None
    if not isinstance(found, Concepts):
        raise InputError(f"{type(family).__name__} has no concept class to ask about; parity and rounding do")
    if not type(family).__module__.startswith("hardness."):  # tests hold the lab's own labels to their classes
        secret = family.draw(np.random.default_rng(0))
        if wrong := disagreement(family, found, family.realize(secret), secret):
            raise InputError(f"{type(family).__name__} is not played: its {wrong}; mend its `concepts`")
    return found


def strategy_of(concepts: Concepts, strategy: str | Strategy) -> Any:
    """A strategy by name: built in for this class, or a plug-in, which must know how to ask about the class.

    A function is its own name. Raises `InputError` if there is none.
    """
    known = strategies_of(concepts)
    if not isinstance(strategy, str):
        return strategy
    return known[strategy] if strategy in known else registry.get("strategy", strategy, known)


def oracle_of(oracle: str | type[Oracle]) -> type[Oracle]:
    """An oracle by name, built in or a plug-in. Raises `InputError` if there is none.

    >>> oracle_of("null").name
    'null'
    """
    if isinstance(oracle, str):
        oracle = ORACLES[oracle] if oracle in ORACLES else registry.get("oracle", oracle, ORACLES)
    if not (isinstance(oracle, type) and issubclass(oracle, Oracle)):
        raise InputError(f"{oracle!r} is no oracle: an oracle is a class derived from hardness.sq.oracle.Oracle")
    return oracle


def strategies_of(concepts: Concepts) -> Mapping[str, Any]:
    """The strategies that know how to ask about a class, by name."""
    return parity.STRATEGIES if isinstance(concepts, ParityConcepts) else rounding.STRATEGIES
