"""`import hardness`, `import learner`: what they offer, lazily, and what type checkers see of it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import hardness
import learner

FAMILIES = ("Parity", "Rounding", "Nondegenerate", "Interpolation")
STARTING = ("Instance", "MultiHeadAttention", "Examples", "ParityConcepts", "RoundingConcepts", "InputError")
ACTING = ("__version__", "load", "learn", "learners", "play")


@pytest.mark.parametrize("package", [hardness, learner])
def test_every_name_offered_is_there(package):
    assert dir(package) == package.__all__ == sorted(set(package.__all__))
    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = package.nothing


def test_what_a_user_starts_with_is_offered():
    assert set(hardness.__all__) >= {*FAMILIES, *STARTING, *ACTING}
    assert {"provable", "direct"} <= set(hardness.learners())
    ours = {hardness.registry.get("learner", name) for name in hardness.learners()}
    assert {cls for cls in ours if cls.__module__.startswith("learner.")} <= {getattr(learner, n) for n in dir(learner)}


@pytest.mark.parametrize("package", [hardness, learner])
def test_type_checkers_see_the_same_names(package):
    tree = ast.parse(Path(package.__file__).read_text())
    (block,) = [
        node for node in tree.body if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
    ]
    seen = {
        alias.asname: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    seen |= {node.target.id: None for node in block.body if isinstance(node, ast.AnnAssign)}
    assert sorted(seen) == package.__all__
    assert {name: home for name, home in seen.items() if name in package._HOMES} == package._HOMES


def test_nothing_is_imported_before_it_is_used():
    """At first nothing heavy, then no more by looking at the names, then the home of a name alone."""
    code = """
import sys, hardness, learner
print({"numpy", "scipy", "numba", "matplotlib", "sympy"} & set(sys.modules))
before = set(sys.modules)
dir(hardness), dir(learner)
print(set(sys.modules) - before)
hardness.ParityConcepts
print("hardness.families.concepts" in sys.modules, "hardness.instance" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["set()", "set()", "True False"]


def test_a_file_may_name_a_family_and_nothing_else(tmp_path):
    instance = hardness.Instance.generate(hardness.Parity(dim=6, heads=2), seed=0)
    whole = instance.to_bytes()
    assert whole.count(b'\\"family\\": \\"parity\\"') == 1
    for name in (b"json:a", b"io:open"):  # of the length of "parity" or not, the header's own length stays right
        swapped = whole.replace(b'\\"family\\": \\"parity\\"', b'\\"family\\": \\"' + name.ljust(6) + b'\\"')
        size = int.from_bytes(whole[:8], "little") + len(swapped) - len(whole)
        (tmp_path / "p").write_bytes(size.to_bytes(8, "little") + swapped[8:])
        with pytest.raises(hardness.InputError, match=r"not a class|cannot load"):
            hardness.load(tmp_path / "p")
