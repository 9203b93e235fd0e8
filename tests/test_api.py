"""Python as users write it: types told in one line, what prints shows no secret, views of examples."""

import json
import re

import numpy as np
import pytest

import hardness


@pytest.fixture(scope="module")
def instance():
    return hardness.generate("parity", dim=12, heads=3, seed=7)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: hardness.generate("parity", dim=16, heads="2"), "heads of parity must be of type int, got '2'"),
        (lambda: hardness.Parity(dim=8.0, heads=2), "parameter dim of parity must be of type int, got 8.0"),
        (lambda: hardness.Parity(dim=8, heads=True), "parameter heads of parity must be of type int, got True"),
        (lambda: hardness.generate("parity", dim=16, heads=2, sharpnes=3), "did you mean 'sharpness'"),
        (lambda: hardness.generate("paritty", dim=16, heads=2), "did you mean 'parity'"),
        (lambda: hardness.generate("parity", dim=16, heads=2, seed="0"), "seed must be an integer >= 0, got '0'"),
        (lambda: hardness.generate("parity", dim=6, heads=2, seed=-1), "seed must be an integer >= 0, got -1"),
        (lambda: hardness.estimate("parity", dim=16), "lacks its parameter heads"),
        (lambda: hardness.attack(hardness.generate("parity", dim=8, heads=2), "gaussian"), "how many examples"),
        (lambda: hardness.attack("nowhere.npz", "gausian"), "did you mean 'gaussian'"),
        (lambda: hardness.play(hardness.Nondegenerate(dim=8, tokens=2, heads=2), "flat"), "no concept class"),
        (lambda: hardness.play(hardness.Parity(dim=9, heads=2, bias=0.3), "characters"), "no concept class"),
        (lambda: hardness.sweep("parity", dim=8, heads=2, strategy=3), "give a name, a function or a class"),
    ],
)
def test_what_is_wrong_is_one_line(call, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(hardness.InputError, match=re.escape(told)) as caught:
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


def test_load_attack_estimate_as_in_the_readme(instance, tmp_path):
    instance.save(tmp_path / "hard")
    with pytest.raises(hardness.InputError, match="No such file"):
        hardness.load("nowhere/p")
    assert repr(hardness.load(str(tmp_path / "hard"))) == repr(hardness.load(tmp_path / "hard")) == repr(instance)
    told = hardness.estimate(tmp_path / "hard")
    assert told.cheapest.name == hardness.estimate("parity", dim=12, heads=3).cheapest.name
    assert "gaussian" in told._repr_html_()
    assert hardness.attack(instance, "gaussian", 300, seed=1).status == "solved"
