"""What is found by name: one rule for families, learners, attacks, strategies, oracles and studies.

A name is built in, or an entry point of `GROUPS` in any installed distribution, or ``package.module:Name``. A built-in
name stays built in, whatever is installed.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from hardness.errors import InputError, one_line, sanitize, unknown

GROUPS = {
    "family": "hardness.families",
    "learner": "hardness.learners",
    "attack": "hardness.attacks",
    "strategy": "hardness.strategies",
    "oracle": "hardness.oracles",
    "studies": "hardness.studies",
    "published": "hardness.published",
}
PACKAGES = ("hardness", "learner")
_PROVIDED: dict[str, str] = {}  # pickles, in hex, of what other processes cannot import, by name


def provide(pickles: Mapping[str, str]) -> None:
    """Let `get` find classes and functions by the names in `pickles`: each maps to a pickle in hex from this run."""
    _PROVIDED.update(pickles)


def pickled() -> dict[str, str]:
    """Return a copy of all pickles that `provide` was given, to hand on to a process that this one starts."""
    return dict(_PROVIDED)


@cache  # reads every installed distribution: 10 ms and more
def points(kind: str) -> Mapping[str, EntryPoint]:
    """Return the installed entry points of a kind, such as "learner", in order of name, as at the first call."""
    ordered = sorted(entry_points(group=GROUPS[kind]), key=lambda point: (point.name, _is_ours(point.module)))
    return {point.name: point for point in ordered}


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in PACKAGES


def names(kind: str, builtin: bool = False) -> list[str]:
    """Return the names registered for a kind, such as "learner"; if `builtin`, only those of this distribution."""
    return [name for name, point in points(kind).items() if not builtin or _is_ours(point.module)]


def module_of(kind: str, name: str, also: Iterable[str] = ()) -> str:
    """Return the name of the module that holds what `name` of a kind, such as "learner", stands for; import nothing.
    Raises `InputError` for an unknown name; its message lists the names in `also` too."""
    known = points(kind)
    if name not in known and ":" not in name:
        raise unknown(kind, name, [*known, *also])
    return known[name].module if name in known else name.partition(":")[0]


def is_builtin(kind: str, name: str) -> bool:
    """Say whether `name`, of a kind such as "learner", stands for code of this distribution, without importing it.
    True also for a name that is registered nowhere, such as "phases 1 to 6": it is a study's label and runs no code."""
    unregistered = ":" not in name and name not in points(kind)
    return unregistered or (name not in _PROVIDED and _is_ours(module_of(kind, name)))


def get(kind: str, name: str, also: Iterable[str] = ()) -> Any:
    """Return the object of a kind, such as "learner", that is registered as `name` or named as ``package.module:Name``.

    Modules are also looked for in the working directory. Raises `InputError` for an unknown name (its message lists the
    names in `also` too), and for a module that cannot be imported or does not hold the name.
    """
    module, known = module_of(kind, name, also), points(kind)
    try:
        if name in known:
            return known[name].load()
        if name in _PROVIDED:
            from cloudpickle import loads  # of what this very run sent, never of a file

            return loads(bytes.fromhex(_PROVIDED[name]))
        if "" not in sys.path:
            sys.path.append("")
        return getattr(import_module(module), name.partition(":")[2])
    except TimeoutError:  # of the trial that asked
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"cannot load the {kind} {sanitize(name, 60)}: {one_line(error)[:200]}") from error


def loaded(kind: str) -> Iterator[tuple[str, Any]]:
    """Yield every registered name of a kind with its object, or with the `InputError` that loading it raised."""
    for name in names(kind):
        try:
            yield name, get(kind, name)
        except InputError as error:
            yield name, error
