"""The rules of docs/architecture.md, checked on the tree itself."""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import hardness.studies.catalog
import learner.studies.catalog
from hardness.registry import GROUPS

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*ROOT.glob("hardness/**/*.py"), *ROOT.glob("learner/**/*.py")])


MODULES = {".".join(p.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): p for p in SOURCES}


@cache
def code_of(path):
    """The nodes of a file that run: what is for type checkers alone, and docstrings, are passed over."""
    tree = ast.parse(path.read_text())
    typing = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    passed = {id(node) for block in typing for part in block.body for node in ast.walk(part)}
    passed |= {id(node) for text in texts for node in ast.walk(text)}
    return [node for node in ast.walk(tree) if id(node) not in passed]


@cache
def imports(path):
    """What a file imports at any level and by any spelling: statements, `import_module`, "module:Name" and the like.

    Of a package of ours, the modules that are named. Names of entry points are no modules, though spelled alike.
    """
    found = set()
    for node in code_of(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            full = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else node.module for name in full}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in GROUPS.values():
            module = node.value.partition(":")[0]
            found |= {module} if module in MODULES and "." in module else set()
    return found


def rooms():
    """The names of docs/architecture.md with the number of their room."""
    listed = (ROOT / "docs" / "architecture.md").read_text().split("## The rooms")[1].split("\n## ")[0]
    found = {}
    for number, text in re.findall(r"^(\d+)\. (.*?)(?=^\d+\. |\Z)", listed, flags=re.M | re.S):
        found |= dict.fromkeys(re.findall(r"`((?:hardness|learner)[\w.]*)`", text.split("\n\n")[0]), int(number))
    return found


def room_of(module, known):
    """The room of the longest listed name that is the module or holds it; `hardness` itself holds nothing."""
    while module not in known:
        module, _, _ = module.rpartition(".")
        assert module not in ("", "hardness"), "a module that no line of docs/architecture.md names"
    return known[module]


def test_imports_run_only_downwards_between_rooms():
    known = rooms()
    assert sorted(set(known.values())) == list(range(1, 18))
    assert all(name in MODULES for name in known), "docs/architecture.md names a module that is not there"
    offenders = [
        (module, used)
        for module, path in MODULES.items()
        for used in imports(path)
        if used in MODULES and not module.startswith(f"{used}.") and room_of(used, known) > room_of(module, known)
    ]
    assert offenders == []


def test_no_chain_of_imports_leads_back():
    graph = {module: {used for used in imports(path) if used in MODULES} - {module} for module, path in MODULES.items()}
    graph = {module: {used for used in after if not module.startswith(f"{used}.")} for module, after in graph.items()}
    tuple(TopologicalSorter(graph).static_order())  # raises CycleError and names the circle


def test_hardness_imports_no_learner_and_studies_draw_nothing():
    found = {module: {used.partition(".")[0] for used in imports(path)} for module, path in MODULES.items()}
    assert {module for module, used in found.items() if module.startswith("hardness") and "learner" in used} == set()
    drawing = {module for module, used in found.items() if ".studies." in module and "matplotlib" in used}
    assert drawing == set()  # the kit draws


def test_every_reference_resolves_to_a_heading():
    """Every "theory 2.5", "learner 9", … in the code, its tests and docs is a heading of docs/theory.md, …"""
    headings = {
        name: set(re.findall(r"^#+ (\d+(?:\.\d+)?[a-z]?)\b", (ROOT / "docs" / f"{name}.md").read_text(), flags=re.M))
        for name in ("theory", "learner")
    }
    code = [*SOURCES, *ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/*.py")]
    places = [*code, *ROOT.glob("docs/*.md"), ROOT / "README.md"]
    cited = [
        (path.name, name, number)
        for path in places
        for name, number in re.findall(r"\b(theory|learner) (\d+(?:\.\d+)?b?)", path.read_text())
    ]
    assert len(cited) > 100
    assert [c for c in cited if c[2] not in headings[c[1]]] == []


def test_no_pickle_and_no_global_randomness():
    for path in SOURCES:
        text = path.read_text()
        assert not {"pickle", "random"} & {name.split(".")[0] for name in imports(path)}, path
        found = re.findall(r"np\.random\.(?!default_rng|Generator|SeedSequence|Philox|PCG64|BitGenerator)\w+", text)
        assert not found, (path, found)


def test_no_file_is_longer_than_a_reader_can_hold_and_the_root_holds_few():
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in SOURCES}
    assert {path: lines for path, lines in lengths.items() if lines > 400} == {}
    assert len(list(ROOT.glob("hardness/*.py"))) <= 13


def test_the_readme_names_exactly_the_studies_there_are():
    row = r"^\| [\w ]+ \| \[`([\w-]+)`\]\(reports/\1/index\.html\) \|"
    named = re.findall(row, (ROOT / "README.md").read_text(), flags=re.M)
    assert sorted(named) == sorted([*hardness.studies.catalog.STUDIES, *learner.studies.catalog.STUDIES])


def test_every_public_thing_has_a_docstring():
    for path in SOURCES:
        tree = ast.parse(path.read_text())
        assert ast.get_docstring(tree), path
        public = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        for node in public:
            assert node.name.startswith("_") or node.name == "register" or ast.get_docstring(node), (path, node.name)
