"""Strategies and oracles by name: the house's, and plug-ins."""

from collections.abc import Mapping
from typing import Any

from hardness import registry
from hardness.errors import InputError
from hardness.families import Family
from hardness.families.concepts import Concepts, ParityConcepts, RoundingConcepts
from hardness.sq.oracle import ORACLES, Oracle
from hardness.sq.strategies import parity, rounding
from hardness.sq.strategies.base import Strategy


def class_of(concepts: Concepts | Family) -> Concepts:
    """The concept class of a family; a class is itself. Raises `InputError` where there is none to ask about."""
    if isinstance(concepts, (ParityConcepts, RoundingConcepts)):
        return concepts
    found = concepts.concepts() if hasattr(concepts, "concepts") else None
    if found is None:
        raise InputError(f"{type(concepts).__name__} has no concept class to ask about; parity and rounding do")
    return found


def strategy_of(concepts: Concepts, strategy: str | Strategy) -> Any:
    """A strategy by name: the house's for this class, or a plug-in, which must know how to ask about the class.

    A function is its own name. Raises `InputError` if there is none.
    """
    known = strategies_of(concepts)
    if not isinstance(strategy, str):
        return strategy
    return known[strategy] if strategy in known else registry.get("strategy", strategy, known)


def oracle_of(oracle: str | type[Oracle]) -> type[Oracle]:
    """An oracle by name, of the house or a plug-in. Raises `InputError` if there is none.

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
