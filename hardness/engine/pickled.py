"""Functions and classes that have no module of their own, of a notebook or a script, as plug-ins that have one.

They travel by value, as cloudpickle writes them, to the processes that this one starts, and are known there by name.
Their fingerprint is that of their source and of what it uses of the same notebook.
"""

import hashlib
import inspect
import linecache
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from hardness import registry
from hardness.errors import InputError, missing_extra

PREFIX = "carried_"


def importable_name(thing: Any) -> tuple[str, str | None]:
    """A name by which every process finds `thing`, and its fingerprint if it has no file; a name is itself.

    What cannot be imported is provided to them (`hardness.registry.provide`). Raises `InputError` for a thing that is
    neither a name nor a function or class.

    >>> importable_name("sign-batch"), importable_name(Path)
    (('sign-batch', None), ('pathlib:Path', None))
    """
    if isinstance(thing, str):
        return thing, None
    if not isinstance(thing, (FunctionType, type)):
        raise InputError(f"give a name, a function or a class, not {thing!r:.60}")
    module, name = thing.__module__, thing.__qualname__
    if module != "__main__" and getattr(sys.modules.get(module), name, None) is thing:
        return f"{module}:{name}", None
    name = thing.__name__
    if not name.isidentifier():
        raise InputError(f"give {name} a name: define it with def or class")
    found = f"{PREFIX}{name}:{name}"
    registry.provide({found: _pickle().dumps(thing).hex()})
    return found, fingerprint(thing)


def pickle_by_value(kind: str, name: str) -> None:
    """Provide to other machines what ``module:Name`` stands for, unless its module is installed there as here.

    The module of a user's working directory travels by value, with what it imports of the same folder.
    """
    if registry.is_builtin(kind, name) or name in registry.pickled():
        return
    thing = registry.get(kind, name)
    module = sys.modules[thing.__module__]
    home = Path(str(module.__file__)).resolve().parent
    if any(home.is_relative_to(Path(sysconfig.get_path(each)).resolve()) for each in ("purelib", "platlib", "stdlib")):
        return
    for each in list(sys.modules.values()):
        file = getattr(each, "__file__", None)
        if isinstance(each, ModuleType) and file and home in Path(file).resolve().parents:
            _pickle().register_pickle_by_value(each)
    registry.provide({name: _pickle().dumps(thing).hex()})


def _pickle() -> Any:
    try:
        import cloudpickle
    except ImportError as error:
        raise missing_extra("cloudpickle", "notebook", "a function that other processes cannot import") from error
    return cloudpickle


def fingerprint(thing: Any) -> str:
    """Digest of the source of a function or class, and of what it uses of the module that it is defined in.

    >>> def helper(x): return x + 1
    >>> def one(x): return helper(x)
    >>> before = fingerprint(one)
    >>> def helper(x): return x + 2
    >>> before == fingerprint(one)
    False
    """
    digest = hashlib.sha256()
    for part in _parts(thing, set()):
        digest.update(hashlib.sha256(part.encode()).digest())
    return digest.hexdigest()[:16]


def _parts(thing: Any, seen: set[int]) -> Iterator[str]:
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, type):
        yield thing.__name__
        for name, value in sorted(vars(thing).items()):
            if isinstance(value, FunctionType) or not name.startswith("__"):
                yield name
                yield from _parts(value, seen)
        for base in thing.__bases__:
            if base.__module__ == thing.__module__:
                yield from _parts(base, seen)
    elif isinstance(thing, FunctionType):
        try:
            yield inspect.getsource(thing)
        except (OSError, TypeError):
            yield thing.__code__.co_code.hex() + repr(thing.__code__.co_consts)
        for name in sorted(_names(thing.__code__) & thing.__globals__.keys()):
            used = thing.__globals__[name]
            if getattr(used, "__module__", thing.__module__) == thing.__module__ or not callable(used):
                yield from _parts(used, seen)
        for cell in thing.__closure__ or ():
            yield from _parts(cell.cell_contents, seen)
    elif isinstance(thing, (str, bytes, int, float, complex, bool, tuple, list, dict, set, frozenset, type(None))):
        yield repr(thing)
    elif isinstance(thing, (staticmethod, classmethod, property)):
        yield from _parts(thing.fget if isinstance(thing, property) else thing.__func__, seen)


def _names(code: CodeType) -> set[str]:
    """The names that a piece of code and the functions in it use."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def check_main() -> None:
    """Raise `InputError` if worker processes would run the calling script again: if its guard is missing.

    Processes are started afresh and import the script that started them, so a call that stands in it unguarded
    would be made by each of them too.
    """
    main = sys.modules["__main__"]
    path, spec = getattr(main, "__file__", None), getattr(main, "__spec__", None)
    if path is None or (spec is not None and spec.name.endswith("__main__")) or Path(path).suffix != ".py":
        return
    frame = inspect.currentframe()
    while frame and not (frame.f_globals is vars(main) and frame.f_code.co_name == "<module>"):
        frame = frame.f_back
    if frame and not linecache.getline(path, frame.f_lineno)[:1].isspace():
        raise InputError(
            f"{path}, line {frame.f_lineno}, starts worker processes, which import that file: put the call under "
            f'`if __name__ == "__main__":`, or give workers=0'
        )
