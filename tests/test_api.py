"""Python as users write it: names that load when they are used, mistakes told in one line, no secret printed."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hardness
import learner


@pytest.fixture(scope="module")
def instance():
    return hardness.generate("parity", dim=12, heads=3, seed=7)


SIXTEEN = {"dim": 16, "heads": 2}
WRONG = [
    (lambda: hardness.generate("parity", dim=16, heads="2"), "heads of parity must be of type int, got '2'"),
    (lambda: hardness.Parity(dim=8.0, heads=2), "parameter dim of parity must be of type int, got 8.0"),
    (lambda: hardness.generate("parity", **SIXTEEN, sharpnes=3), "did you mean 'sharpness'"),
    (lambda: hardness.generate("paritty", **SIXTEEN), "did you mean 'parity'"),
    (lambda: hardness.generate("parity", **SIXTEEN, seed="0"), "seed must be an integer >= 0, got '0'"),
    (lambda: hardness.estimate("parity", dim=16), "missing 1 required positional argument: 'heads'"),
    (lambda: hardness.attack(hardness.generate("parity", **SIXTEEN), "gaussian"), "how many examples"),
    (lambda: hardness.attack("nowhere.npz", "gausian"), "did you mean 'gaussian'"),
    (
        lambda: hardness.play(hardness.Nondegenerate(dim=8, tokens=2, heads=2), "flat"),
        "take parity or rounding",
    ),
    (lambda: hardness.play(hardness.Parity(dim=9, heads=2, bias=0.3), "characters"), "with these parameters"),
    (lambda: hardness.Instance.generate(hardness.Parity), "generate takes a family"),
    (lambda: hardness.sweep("parity", dim=8, heads=2, strategy=3), "give a name, a function or a class"),
]


@pytest.mark.parametrize(("call", "words"), WRONG)
def test_what_is_wrong_is_one_line(call, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(hardness.InputError, match=re.escape(words)) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_integers_of_numpy_are_integers():
    family = hardness.Parity(dim=np.int64(8), heads=np.int32(2))
    assert type(family.dim) is int
    assert json.dumps(vars(hardness.generate("parity", dim=np.int64(8), heads=2, seed=np.int64(0)).family))


def test_what_prints_shows_no_secret(instance):
    secret = instance.secret["support"].tolist()
    moved = hardness.generate("parity", dim=12, heads=3, seed=8)
    assert len(repr(instance)) < 3000
    assert repr(instance) == repr(moved)  # what is shown does not depend on the secret or the seed
    assert repr(instance.teacher) == repr(moved.teacher)
    assert len(repr(instance.teacher)) < 100
    assert len(repr(instance.layer())) < 100
    assert secret != moved.secret["support"].tolist()
    assert repr(instance.examples(10, 0)) == "Examples(10 of 2 tokens in 12 features)"


@pytest.mark.parametrize("package", [hardness, learner])
def test_every_name_offered_is_there(package):
    assert dir(package) == package.__all__ == sorted(set(package.__all__))
    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = package.nothing


def test_type_checkers_see_the_same_names():
    package = hardness
    tree = ast.parse(Path(package.__file__).read_text())
    (block,) = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
    ]
    seen = {
        alias.asname: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
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
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert completed.stdout.splitlines() == ["set()", "set()", "True False"]
