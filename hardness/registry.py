"""What is found by name: entry points of the groups `hardness.families`, `.learners`, `.attacks` and `.studies`."""

import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from hardness.errors import InputError, unknown

GROUPS = {
    "family": "hardness.families",
    "learner": "hardness.learners",
    "attack": "hardness.attacks",
    "studies": "hardness.studies",
}
CLASSES = ("family", "learner")  # these kinds are classes, the others functions and mappings


@cache  # a look into every installed distribution, 10 ms and more
def points(kind: str) -> Mapping[str, EntryPoint]:
    """The entry points of one of `GROUPS`, by name, in order, as they were when first asked for."""
    return {point.name: point for point in sorted(entry_points(group=GROUPS[kind]), key=lambda point: point.name)}


def names(kind: str) -> list[str]:
    """The registered names of a kind, in order.

    >>> names("family")
    ['interpolation', 'nested', 'nondegenerate', 'parity', 'rounding']
    """
    return list(points(kind))


def get(kind: str, name: str) -> Any:
    """What is registered as `name`, or stands behind ``package.module:Name`` (the working directory is searched too).

    Raises `InputError` for a misspelt name, a module that cannot be imported (of a plug-in too), and a name it does
    not hold.

    >>> get("learner", "dierct")
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: unknown learner 'dierct'; did you mean 'direct'? ...
    """
    known = points(kind)
    module, _, attribute = name.partition(":")
    if name not in known and not attribute:
        raise unknown(kind, name, known)
    try:
        if name in known:
            return known[name].load()
        if "" not in sys.path:
            sys.path.append("")
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        hint = f"mend or remove its package {known[name].value}" if name in known else "write it as package.module:Name"
        raise InputError(f"cannot load the {kind} {name}: {error}; {hint}") from error
    if kind in CLASSES and not isinstance(found, type):
        raise InputError(f"{name} is not a class; a {kind} is one")
    return found


def module_of(kind: str, name: str) -> str:
    """The module that holds what `name` stands for, without importing it."""
    known = points(kind)
    return known[name].module if name in known else name.partition(":")[0]
