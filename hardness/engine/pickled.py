"""Functions and classes that have no module of their own, of a notebook or a script, as plug-ins that have one.

They travel by value, as cloudpickle writes them, to the processes that this one starts, and are known there by name.
Their fingerprint is that of their source and of what it uses of the same notebook.
"""

import hashlib
import inspect
import re
import sys
import sysconfig
from pathlib import Path
from types import FunctionType
from typing import Any

from hardness import registry
from hardness.errors import InputError, missing_extra

PREFIX = "carried_"
# Constants that a function may use
PLAIN = str, bytes, int, float, complex, tuple, list, dict, set, frozenset


def importable_name(thing: Any) -> tuple[str, str | None]:
    """Return a name by which every process finds `thing`, and its fingerprint if it has no file; a name is itself.

    What cannot be imported is provided to them (`hardness.registry.provide`). Raises `InputError` for a thing that is
    neither a name nor a function or class.
    """
    if isinstance(thing, str):
        return thing, None
    if not isinstance(thing, (FunctionType, type)) or not thing.__name__.isidentifier():
        raise InputError(f"give a name, a function or a class that has one, not {thing!r:.60}")
    module, name = thing.__module__, thing.__qualname__
    if module != "__main__" and getattr(sys.modules.get(module), name, None) is thing:
        return f"{module}:{name}", None
    provided = f"{PREFIX}{thing.__name__}:{thing.__name__}"
    registry.provide({provided: _pickle().dumps(thing).hex()})
    return provided, fingerprint(thing)


def pickle_by_value(kind: str, name: str) -> None:
    """Provide to other machines what ``module:Name`` stands for, unless its module is installed there as here.

    The module of a user's working directory travels by value, with what it imports of the same folder.
    """
    if registry.is_builtin(kind, name) or name in registry.pickled():
        return
    thing = registry.get(kind, name)
    home = Path(str(sys.modules[thing.__module__].__file__)).resolve().parent
    installed = [Path(sysconfig.get_path(each)).resolve() for each in ("purelib", "platlib", "stdlib")]
    if any(home.is_relative_to(place) for place in installed):
        return
    for each in list(sys.modules.values()):
        file = getattr(each, "__file__", None)
        if file and home in Path(file).resolve().parents:
            _pickle().register_pickle_by_value(each)
    registry.provide({name: _pickle().dumps(thing).hex()})


def _pickle() -> Any:
    try:
        import cloudpickle
    except ImportError as error:
        raise missing_extra("cloudpickle", "notebook", "a function without a module") from error
    return cloudpickle


def fingerprint(thing: Any) -> str:
    """Return a digest of the source of a function or class, and of what it names of the module that defines it.

    >>> def helper(x): return x + 1
    >>> def one(x): return helper(x)
    >>> before = fingerprint(one)
    >>> def helper(x): return x + 2
    >>> before == fingerprint(one)
    False
    """
    parts, waiting, seen = list[str](), [thing], {id(thing)}
    while waiting:
        part = waiting.pop()
        used: list[Any] = []
        if isinstance(part, type):
            used = [getattr(value, "__func__", value) for _, value in sorted(vars(part).items())]
        elif isinstance(part, FunctionType):
            try:
                parts.append(inspect.getsource(part))
            except OSError:  # of ``python -c``
                code = part.__code__
                parts.append(repr((code.co_code, code.co_names, code.co_consts)))
            named = sorted(set(re.findall(r"\w+", parts[-1])) & part.__globals__.keys())
            used = [part.__globals__[name] for name in named]
            used += [cell.cell_contents for cell in part.__closure__ or ()]
        else:
            parts.append(repr(part))
        for each in used:
            local = isinstance(each, PLAIN) or getattr(each, "__module__", None) == thing.__module__
            if local and id(each) not in seen:
                seen.add(id(each))
                waiting.append(each)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
