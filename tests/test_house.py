"""The rules of docs/architecture.md, checked on the tree itself."""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from hardness.registry import GROUPS

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*ROOT.glob("hardness/**/*.py"), *ROOT.glob("learner/**/*.py")])


MODULES = {".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): p for p in SOURCES}


@cache
def parsed(path):
    return ast.parse(path.read_text())


@cache
def imports(path):
    """What a file imports at any level and by any spelling: statements, `import_module`, "module:Name" and the like.

    Of a package of ours, the modules that are named; not what is for type checkers alone, nor what a docstring says.
    Names of entry points are no modules, though spelled alike.
    """
    nodes = list(ast.walk(parsed(path)))
    typing = [node for node in nodes if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    passed = {id(node) for block in typing for part in block.body for node in ast.walk(part)}
    passed |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    names = set()
    for node in nodes:
        if not isinstance(node, ast.Import | ast.ImportFrom | ast.Constant) or id(node) in passed:
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            full = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if name in MODULES else node.module for name in full}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            module = "" if node.value in GROUPS.values() else node.value.partition(":")[0]
            names |= {module} if module in MODULES and "." in module else set()
    return names


def floors():
    """The folders of docs/architecture.md in their order."""
    listed = (ROOT / "docs" / "architecture.md").read_text().split("## The floors")[1].split("\n## ")[0]
    return [
        name
        for line in re.findall(r"^\d+\. (.*?):", listed, flags=re.M)
        for name in re.findall(r"`(.*?)`", line)
    ]


def floor_of(module, listed):
    """The longest listed name that is the module or holds it."""
    while module not in listed:
        module, _, _ = module.rpartition(".")
        assert module not in ("", "hardness"), "a folder that no line of docs/architecture.md names"
    return module


def test_a_folder_imports_only_from_folders_above_it():
    listed = floors()
    assert all(name in MODULES for name in listed), "docs/architecture.md names a folder that is not there"
    assert len(listed) == len(set(listed)) > 20
    whole = {"hardness", "learner"}  # what a user starts with
    uses = {(module, used) for module, path in MODULES.items() for used in imports(path) if used in MODULES}
    assert {(module, used) for module, used in uses if used in whole and module not in whole} == set()
    between = {
        (floor_of(module, listed), floor_of(used, listed)): f"{module} imports {used}"
        for module, used in uses
        if module not in whole and not module.startswith(f"{used}.")
    }
    upwards = {why for (user, used), why in between.items() if listed.index(used) > listed.index(user)}
    assert upwards == set()


def test_no_chain_of_imports_leads_back():
    graph = {
        module: {used for used in imports(path) if used in MODULES} - {module}
        for module, path in MODULES.items()
    }
    graph = {
        module: {used for used in after if not module.startswith(f"{used}.")}
        for module, after in graph.items()
    }
    tuple(TopologicalSorter(graph).static_order())  # raises CycleError and names the circle


def test_no_pickle_and_no_global_randomness():
    for path in SOURCES:
        text = path.read_text()
        assert not {"pickle", "random"} & {name.split(".")[0] for name in imports(path)}, path
        draws = re.findall(
            r"np\.random\.(?!default_rng|Generator|SeedSequence|Philox|PCG64|BitGenerator)\w+", text
        )
        assert not draws, (path, draws)


def undocumented(path):
    tree = parsed(path)
    public = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and node.name[0] != "_"
        and node.name != "register"
    ]
    return [node.name for node in public if not ast.get_docstring(node)] + [""] * (
        not ast.get_docstring(tree)
    )


def test_every_public_thing_has_a_docstring():
    assert {path: names for path in SOURCES if (names := undocumented(path))} == {}
