"""The rules of the house, checked on the tree itself."""

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*ROOT.glob("hardness/**/*.py"), *ROOT.glob("learner/**/*.py")])


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module


def test_hardness_never_imports_learner():
    offenders = [
        p for p in SOURCES if p.is_relative_to(ROOT / "hardness") for n in imports(p) if n.split(".")[0] == "learner"
    ]
    assert len(SOURCES) > 15
    assert offenders == []


def test_no_pickle_and_no_global_randomness():
    for path in SOURCES:
        text = path.read_text()
        assert not {"pickle", "random"} & {name.split(".")[0] for name in imports(path)}, path
        found = re.findall(r"np\.random\.(?!default_rng|Generator|SeedSequence|Philox|PCG64|BitGenerator)\w+", text)
        assert not found, (path, found)


def test_importing_the_package_is_light():
    heavy = ("numpy", "scipy", "numba", "matplotlib", "sympy")
    code = f"import sys, hardness; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_every_public_thing_has_a_docstring():
    for path in SOURCES:
        tree = ast.parse(path.read_text())
        assert ast.get_docstring(tree), path
        for node in tree.body:
            if (
                isinstance(node, ast.FunctionDef | ast.ClassDef)
                and not node.name.startswith("_")
                and node.name != "register"
            ):
                assert ast.get_docstring(node), f"{path}: {node.name}"
