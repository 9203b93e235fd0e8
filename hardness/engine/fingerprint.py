"""Fingerprints of plug-ins: digests of their sources, found without running anything of them."""

import ast
import hashlib
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from hardness import registry


def fingerprint(kind: str, name: str) -> str | None:
    """Digest of the source of a plug-in; None for what is built in, whose rows carry the version.

    It covers the module that defines the plug-in and what that imports, directly or not, of its own package; of a
    single file outside of site-packages, the files beside it. Nothing is run.

    >>> fingerprint("family", "parity") is fingerprint("strategy", "sign-batch") is None
    True
    """
    if (":" not in name and name not in registry.points(kind)) or name in registry.names(kind, builtin=True):
        return None
    return of_module(registry.module_of(kind, name))


def of_module(module: str) -> str | None:
    """The same of whatever stands in a module.

    >>> of_module("hardness.engine.run") is of_module("no.such.module") is None
    True
    """
    if module.partition(".")[0] in ("hardness", "learner"):
        return None
    files = sorted(set(_sources(module)))
    digest = hashlib.sha256()
    for file in files:
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16] if files else None


def _sources(module: str) -> Iterator[Path]:
    """The files of a module and of what it imports, as far as they lie in its own package or folder."""
    first = _file(module)
    if first is None:
        return
    home = first.parents[module.count(".") + (first.name == "__init__.py")]
    installed = {Path(sysconfig.get_path(kind)).resolve() for kind in ("purelib", "platlib", "stdlib")}
    top = module.partition(".")[0]
    waiting, seen = [(module, first)], {first}
    while waiting:
        name, file = waiting.pop()
        yield file
        for used in _imports(name, file):
            own = used.partition(".")[0] == top
            found = _file(used) if own or home.resolve() not in installed else None
            if found is not None and found not in seen and found.is_relative_to(home):
                seen.add(found)
                waiting.append((used, found))


def _imports(module: str, file: Path) -> Iterator[str]:
    """Whatever a file may import, as absolute names of modules; ``from a import b`` may mean a.b."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _file(module: str) -> Path | None:
    """The source file of a module, found without importing anything; None if there is none."""
    path, name, spec = None, "", None
    for part in module.split("."):
        name = f"{name}.{part}".strip(".")
        spec = _spec(name, path) if part else None
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or [])
    origin = Path(spec.origin).resolve() if spec and spec.origin and spec.has_location else None
    return origin if origin and origin.suffix == ".py" else None


def _spec(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    found = (finder.find_spec(name, path) for finder in sys.meta_path)
    return next(filter(None, found), None) or (PathFinder.find_spec(name, [""]) if path is None else None)
