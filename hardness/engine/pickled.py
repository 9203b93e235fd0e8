"""Functions and classes that have no module of their own, of a notebook or a script, as plug-ins that have one.

They travel by value, as cloudpickle writes them, to the processes that this one starts, and are known there by name.
"""

import hashlib
import inspect
import sys
import sysconfig
from pathlib import Path
from types import FunctionType
from typing import Any

from hardness import registry
from hardness.errors import InputError, missing_extra

PREFIX = "carried_"


def importable_name(thing: Any) -> str:
    """Return a name under which every worker process finds `thing`; a `thing` that is a text is returned as it is.

    An importable function or class is named ``module:Name``. Any other is sent to workers as a pickle
    (`hardness.registry.provide`), under a name that contains a hash of its source, so that an edited class counts as a
    new one. Raises `InputError` for anything but a text, a named function or a class.
    """
    if isinstance(thing, str):
        return thing
    if not isinstance(thing, (FunctionType, type)) or not thing.__name__.isidentifier():
        raise InputError(f"give a name, a function or a class that has one, not {thing!r:.60}")
    module, name = thing.__module__, thing.__qualname__
    if module != "__main__" and getattr(sys.modules.get(module), name, None) is thing:
        return f"{module}:{name}"
    pickle = _pickle().dumps(thing)
    try:
        source = inspect.getsource(thing).encode()
    except OSError:  # of ``python -c``
        source = pickle
    provided = f"{PREFIX}{hashlib.sha256(source).hexdigest()[:12]}:{thing.__name__}"
    registry.provide({provided: pickle.hex()})
    return provided


def pickle_by_value(kind: str, name: str) -> None:
    """Let the object called `name` (``module:Name``) travel to workers as a pickle, unless its module is installed.

    The pickle contains the other modules of the same folder that it imports. `kind` is learner, attack, strategy,
    oracle or family. Built-in objects, and those that travel as pickles already, are left alone.
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
