"""Families of instances, found by name, built from what a file states, and spelled as options again."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from shlex import quote
from typing import Any, cast

from hardness import registry
from hardness.errors import InputError, check_names
from hardness.families.base import Family as Family
from hardness.families.base import Secret as Secret
from hardness.families.base import Teacher as Teacher
from hardness.families.base import types_of
from hardness.io.texts import sanitize


def get(name: str) -> type[Family]:
    """Return the family class that is registered as `name`, or named as ``package.module:Name``.

    Raises `InputError` if there is none, or if it is not a dataclass derived from `Family`.
    """
    family: Any = registry.get("family", name)
    derived = isinstance(family, type) and issubclass(family, Family) and is_dataclass(family)
    if not derived:
        raise InputError(f"{name} is not a family: derive a frozen dataclass from Family")
    return cast(type[Family], family)


def build(name: str | type[Family], parameters: Mapping[str, Any]) -> Family:
    """Return an instance of the family class `name` (a name or the class) with these parameters.

    Raises `InputError` for a parameter that is unknown, missing, of a wrong type or refused by the family.

    >>> build("parity", {"dim": 8, "heads": "2"})
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: parameter heads of parity must be of type int, got '2'
    """
    family = get(name) if isinstance(name, str) else name
    check_names(f"parameter of {family.name}", parameters, types_of(family))
    try:
        return family(**parameters)
    except InputError:
        raise
    except (TypeError, ValueError, ArithmeticError) as error:  # one is missing, or refused in other words
        raise InputError(f"{family.name} refuses its parameters: {sanitize(error)}") from error


def option(parameter: str) -> str:
    """Return the option of the command line for a parameter: ``noise_of`` is ``--noise-of``."""
    return "--" + parameter.replace("_", "-")


def parameters(family: Family) -> dict[str, Any]:
    """Return the parameters of a family by name, defaults included, as files state them.

    A field with ``"switch": True`` in its metadata is left out while it has its default, since older files lack it.
    """
    values = vars(family)
    kept = (
        f for f in fields(cast(Any, family)) if not f.metadata.get("switch") or values[f.name] != f.default
    )
    return {f.name: values[f.name] for f in kept}


def options_of(family: Family) -> list[str]:
    """Return the options, such as ``--dim 16``, with which `hardness generate` makes a family with these parameters."""
    options = []
    for f in fields(cast(Any, family)):
        value = getattr(family, f.name)
        if value is None or (value == f.default and (value is False or f.metadata.get("switch"))):
            continue
        options.append(
            option(f.name if value else f"no_{f.name}")
            if isinstance(value, bool)
            else f"{option(f.name)} {quote(str(value))}"
        )
    return options


def name_of(family: Family) -> str:
    """Return the name by which `get` finds the class of a family: the registered one, or ``package.module:Name``."""
    cls = type(family)
    if family.name in registry.points("family") and registry.get("family", family.name) is cls:
        return family.name
    return f"{cls.__module__}:{cls.__qualname__}"
