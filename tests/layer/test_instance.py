"""Instance files: whole, self-describing, reproducible, and tight-lipped."""

import dataclasses
import hashlib
import json

import numpy as np
import pytest
from safetensors.numpy import load, load_file, save, save_file

from hardness.errors import InputError
from hardness.families.interpolation import Interpolation
from hardness.families.nested import Nested
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.instance import Instance

TWO_HEADED = [Parity(7, 2), Rounding(7, 5, 2, heads=2), Nondegenerate(7, 2, 2), Interpolation(7, 2, 0.5)]
GOLDEN = {
    "interpolation": "9f85ec2e0f8eabba015fdc2b4775ef1b36c4bd606e03fcfd442f325d670a70b8",
    "parity": "c0e6b7fd45aaf8a858ad6fc7c2607dee2a318fb44d36de15e8464370270cb4cd",
    "rounding": "7cc5319e9d7cee755b0d6213adbdf523f9365c56ca2ac634234ec2d4ee52790c",
    "nondegenerate": "54b98929e702c2699ff608339b428bc4976104ae253ae5d583740abeceef6e1e",
}


@pytest.mark.parametrize("family", TWO_HEADED, ids=str)
def test_round_trip_and_verify(tmp_path, family):
    instance = Instance.generate(family, 0)
    instance.save(tmp_path / "deep" / "x.safetensors")
    again = Instance.load(tmp_path / "deep" / "x.safetensors")
    assert again.header() == instance.header()
    assert again.heads == 2
    assert [check for check in again.verify() if not check.ok] == []
    first, second = (i.examples(500, seed=1) for i in (instance, again))
    assert np.array_equal(first.Y, second.Y)
    assert np.abs(again.layer()(first.X) - first.Y).max() < 1e-12


@pytest.mark.parametrize("family", TWO_HEADED, ids=str)
def test_golden_bytes(tmp_path, family):
    Instance.generate(family, 0).save(tmp_path / "x.safetensors")
    assert hashlib.sha256((tmp_path / "x.safetensors").read_bytes()).hexdigest() == GOLDEN[family.name]


def test_a_drawn_seed_is_recorded_and_regenerates(tmp_path):
    instance = Instance.generate(Parity(20, 5))
    assert instance.seed_drawn
    assert instance.seed.bit_length() > 64
    assert (
        Instance.generate(Parity(20, 5), instance.seed).secret["support"].tolist()
        == instance.secret["support"].tolist()
    )
    assert not Instance.generate(Parity(20, 5), 0).seed_drawn
    assert str(instance.seed) in instance.command()


def test_large_structured_instances_stay_small(tmp_path):
    Instance.generate(Rounding(513, 257, 2, heads=90), 0).save(tmp_path / "x.safetensors")
    assert (tmp_path / "x.safetensors").stat().st_size < 20_000


@pytest.mark.parametrize("damage", ["secret", "gadget", "seed"])
def test_verify_notices_damage(damage):
    instance = Instance.generate(Parity(7, 3), 0)
    if damage == "secret":
        broken = dataclasses.replace(instance, secret={"support": np.array([1, 2, 3])})
    elif damage == "gadget":
        weights = np.roll(instance.teacher.weights, 1)
        broken = dataclasses.replace(instance, teacher=dataclasses.replace(instance.teacher, weights=weights))
    else:
        broken = dataclasses.replace(instance, seed=1)
    assert not all(check.ok for check in broken.verify())


def test_foreign_and_truncated_files_are_one_clear_error(tmp_path):
    path = tmp_path / "x.safetensors"
    Instance.generate(Parity(20, 5), 0).save(path)
    whole = path.read_bytes()
    save_file({"a": np.zeros(3)}, tmp_path / "foreign.safetensors")
    (tmp_path / "text").write_text("hello")
    (tmp_path / "cut").write_bytes(whole[:-40])
    (tmp_path / "stub").write_bytes(whole[:100])
    for name in ("foreign.safetensors", "text", "cut", "stub", "missing", "."):
        with pytest.raises(InputError) as error:
            Instance.load(tmp_path / name)
        assert "\n" not in str(error.value)
        assert str(tmp_path) in str(error.value)


@pytest.mark.parametrize("family", [*TWO_HEADED, Nested(7, 3, 1), Rounding(7, 5, 2)], ids=str)
@pytest.mark.parametrize("dim", [8, 2**20, 2**30, 2**40])
def test_a_header_that_asks_for_more_than_its_arrays_hold_is_refused(tmp_path, family, dim):
    """Before anything of that size is made: 2**40 numbers would be a MemoryError."""
    instance = Instance.generate(family, 0)
    header = instance.header()
    header["parameters"] = {**header["parameters"], "dim": dim}
    (tmp_path / "f").write_bytes(save(load(instance.to_bytes()), {"instance": json.dumps(header)}))
    with pytest.raises(InputError, match="not a whole instance"):
        Instance.load(tmp_path / "f")


@pytest.mark.parametrize("family", [Parity(20, 5), Rounding(20, 97, 4)], ids=str)
def test_examples_and_public_hold_neither_secret_nor_seed(family):
    instance = Instance.generate(family)
    public = json.dumps(instance.public(5))
    assert str(instance.seed) not in public
    assert hex(instance.seed)[2:] not in public
    for name, value in instance.secret.items():
        assert name not in json.loads(public)
        assert str(value.tolist()) not in public
    assert "command" not in public


def test_export_holds_the_dense_layer(tmp_path):
    from hardness.cli import run

    Instance.generate(Parity(6, 2), 0).save(tmp_path / "x.safetensors")
    assert run(["export", str(tmp_path / "x.safetensors"), "--out", str(tmp_path / "layer.safetensors")]) == 0
    layer = load_file(tmp_path / "layer.safetensors")
    assert layer["theta"].shape == layer["w"].shape == (2, 6, 6)


def test_seeds_are_not_negative():
    with pytest.raises(InputError, match="seed"):
        Instance.generate(Parity(6, 2), -1)
