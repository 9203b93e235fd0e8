"""The rules of docs/architecture.md, checked on the tree itself."""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import hardness.studies.catalog
import learner.studies.catalog
from hardness.registry import GROUPS

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*ROOT.glob("hardness/**/*.py"), *ROOT.glob("learner/**/*.py")])


MODULES = {".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): p for p in SOURCES}


class Facts(NamedTuple):
    """What the rules ask of a file, read off one parse of it."""

    imports: set[str]
    classes: list[str]
    undocumented: list[str]
    names: list[str]


@cache
def facts(path):
    tree = ast.parse(path.read_text())
    nodes = list(ast.walk(tree))
    public = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    ]
    documented = {node.name for node in public if ast.get_docstring(node) or node.name == "register"}
    return Facts(
        imports_in(nodes),
        [node.name for node in nodes if isinstance(node, ast.ClassDef)],
        [""] * (not ast.get_docstring(tree)) + sorted({node.name for node in public} - documented),
        [
            f"{path.relative_to(ROOT)}:{node.lineno}: {name}"
            for node in nodes
            if isinstance(node, (*BOUND, *DEFINED))
            for name in {*names_in(node)} & SAY_NOTHING | {*lasting_names(node)} & SHORT_LIVED
        ],
    )


def imports_in(nodes):
    """What a file imports at any level and by any spelling: statements, `import_module`, "module:Name" and the like.

    Of a package of ours, the modules that are named; not what is for type checkers alone, nor what a docstring says.
    Names of entry points are no modules, though spelled alike.
    """
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


def imports(path):
    """The modules that a file imports."""
    return facts(path).imports


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


def test_hardness_imports_no_learner_and_studies_draw_nothing():
    packages = {
        module: {used.partition(".")[0] for used in imports(path)} for module, path in MODULES.items()
    }
    assert {
        module for module, used in packages.items() if module.startswith("hardness") and "learner" in used
    } == set()
    drawing = {module for module, used in packages.items() if ".studies." in module and "matplotlib" in used}
    assert drawing == set()  # the kit draws


def test_no_pickle_and_no_global_randomness():
    for path in SOURCES:
        text = path.read_text()
        assert not {"pickle", "random"} & {name.split(".")[0] for name in imports(path)}, path
        draws = re.findall(
            r"np\.random\.(?!default_rng|Generator|SeedSequence|Philox|PCG64|BitGenerator)\w+", text
        )
        assert not draws, (path, draws)


def test_the_readme_names_exactly_the_studies_there_are():
    row = r"^\| [\w ]+ \| \[`([\w-]+)`\]\(reports/\1/index\.html\) \|"
    named = re.findall(row, (ROOT / "README.md").read_text(), flags=re.M)
    assert sorted(named) == sorted([*hardness.studies.catalog.STUDIES, *learner.studies.catalog.STUDIES])


def test_every_public_thing_has_a_docstring():
    assert {path: names for path in SOURCES if (names := facts(path).undocumented)} == {}


SAY_NOTHING = {"told", "found", "own", "said"}  # of what a value holds: nowhere
SHORT_LIVED = {"one", "each", "least", "most"}  # in loops only
BOUND = (ast.Name, ast.Attribute, ast.arg, ast.keyword, ast.alias)
DEFINED = (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
CODE = sorted(path for root in ("hardness", "learner", "tests") for path in ROOT.glob(f"{root}/**/*.py"))


def names_in(node):
    """The names that a node reads or binds, whatever kind of name it is."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=name):
            return [name]
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.ExceptHandler(name=name):
            return [name]
        case ast.MatchAs(name=name) | ast.MatchStar(name=name):
            return [name]
        case ast.alias():
            return [(node.asname or node.name).rpartition(".")[2]]
    return []


def lasting_names(node):
    """Names that outlive a loop: attributes, functions, fields of classes, parameters of public functions."""
    match node:
        case ast.Attribute(attr=name):
            return [name]
        case ast.FunctionDef(name=name, args=parameters):
            parts = (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs)
            return [name, *(part.arg for part in parts if not name.startswith("_"))]
        case ast.ClassDef(body=body):
            return [part.target.id for part in body if isinstance(part, ast.AnnAssign)]
    return []


def test_names_say_what_they_hold():
    assert [line for path in CODE for line in facts(path).names] == []


def test_no_two_classes_share_a_name_that_all_of_the_lab_uses():
    classes = [name for path in SOURCES for name in facts(path).classes]
    names = ("Outcome", "Cell", "Cost", "Check", "Grid")
    assert {name: classes.count(name) for name in names if classes.count(name) > 1} == {}
