"""Instance files: whole, self-describing, reproducible, and tight-lipped."""

import hashlib
import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from safetensors.numpy import load, save

from hardness.errors import InputError
from hardness.families.controls import Nested
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.instance import Instance

TWO_HEADED = [Parity(7, 2), Rounding(7, 5, 2, heads=2), Nondegenerate(7, 2, 2)]
GOLDEN = {  # of format 2, which hold no arrays of a gadget; the header's text of the hypothesis is that of 0.4
    "parity": "3443c2ec27b9863065dc7a7acacead815ad29a8008e23a2128a520d74e3ef36e",
    "rounding": "0fcacc0a3f3689456ccd61c226a46e808a63b93835ddbc09aa1aaf0280bfda36",
    "nondegenerate": "70f40e071c7e7baf43ea9afee25e5ee1e6b8b1e4ea770475b93863ec1008a376",
}


SEVERAL = [
    Parity(7, 2, "sharp", balance=True),
    Parity(7, 2, "wide", bits=2),
    Parity(7, 2, bias=0.25),
]


@pytest.mark.parametrize("family", [*TWO_HEADED, *SEVERAL, Nested(7, 5, 2), Nested(6, 3, 1, "dot")], ids=str)
def test_round_trip_and_verify(tmp_path, family):
    instance = Instance.generate(family, 0)
    instance.save(tmp_path / "deep" / "x.safetensors")
    again = Instance.load(tmp_path / "deep" / "x.safetensors")
    assert again.header() == instance.header()
    assert again.heads == len(instance.layer().theta)
    assert again.heads == 2 or family.name == "nested"
    assert [check for check in again.verify() if not check.ok] == []
    first, second = (i.examples(500, seed=1) for i in (instance, again))
    assert np.array_equal(first.Y, second.Y)
    assert np.abs(again.layer()(first.X) - first.Y).max() < 1e-12


@pytest.mark.parametrize("family", TWO_HEADED, ids=str)
def test_golden_bytes(tmp_path, family):
    Instance.generate(family, 0).save(tmp_path / "x.safetensors")
    assert hashlib.sha256((tmp_path / "x.safetensors").read_bytes()).hexdigest() == GOLDEN[family.name]


def test_equal_seeds_of_different_parameters_hide_unrelated_secrets():
    """Of two independent w the coefficients correlate by 1/sqrt(40): five standard deviations, 21 pairs, one seed."""
    base = Rounding(41, 30, 2)
    others = [{"dim": 61}, {"modulus": 36}, {"levels": 4}, {"gadget": "dot"}, {"heads": 8}, {"weight": 39}]
    families = [base, *(replace(base, **other) for other in others)]
    secrets = [Instance.generate(family, 5).secret["w"][:40] for family in families]
    for first, second in combinations(secrets, 2):
        assert abs(np.corrcoef(first, second)[0, 1]) < 5 / 40**0.5


@pytest.mark.parametrize(
    ("family", "other"),
    [
        (Parity(30, 6), {"flip": 0.2}),
        (Parity(30, 6), {"bias": 0.5}),
        (Rounding(30, 97, 97), {"noise": 2.0}),
        (Nondegenerate(8, 2, 2), {"coherence": 0.75}),
    ],
    ids=lambda value: str(value),
)
def test_what_says_how_examples_are_drawn_leaves_the_secret_and_not_the_noise(family, other):
    first, second = Instance.generate(family, 5), Instance.generate(replace(family, **other), 5)
    assert all(np.array_equal(first.secret[name], second.secret[name]) for name in first.secret)
    assert abs(np.corrcoef(first.noise(10_000, 1), second.noise(10_000, 1))[0, 1]) < 0.05


@pytest.mark.parametrize("damage", ["secret", "gadget", "seed"])
@pytest.mark.parametrize("family", [Parity(7, 3), Parity(7, 2, "sharp"), Parity(7, 2, "wide")], ids=str)
def test_verify_notices_damage(damage, family):
    instance = Instance.generate(family, 0)
    change = {
        "secret": {"secret": {"support": np.sort(instance.secret["support"] % 6 + 1)}},
        "gadget": {"teacher": replace(instance.teacher, weights=np.roll(instance.teacher.weights, 1))},
        "seed": {"seed": 1},
    }[damage]
    assert not all(check.ok for check in replace(instance, **change).verify())


def changed(path, instance, header=None, arrays=None):
    """The file of an instance with changes of its header and its arrays; None takes an array away."""
    tensors = {
        name: array
        for name, array in {**load(instance.to_bytes()), **(arrays or {})}.items()
        if array is not None
    }
    path.write_bytes(save(tensors, {"instance": json.dumps({**instance.header(), **(header or {})})}))
    return path


@pytest.mark.parametrize("family", [*TWO_HEADED, *SEVERAL, Nested(7, 3, 1), Rounding(7, 5, 2)], ids=str)
def test_a_header_that_asks_for_more_than_there_is_memory_is_refused(tmp_path, family):
    """Before anything of that size is made: 2**40 numbers would be a MemoryError."""
    instance = Instance.generate(family, 0)
    stated = instance.header()["parameters"]
    for name in {"dim", "heads"} & stated.keys():
        asked = {"parameters": {**stated, name: 2**40}}
        with pytest.raises(InputError, match="not a whole instance"):
            Instance.load(changed(tmp_path / "f", instance, asked))


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"format_version": 1}, r"is of format 1, this version reads format 2: .*generate it anew"),
        ({"family": "json:a"}, "cannot load"),
        ({"family": "json:loads"}, "not a family"),
        ({"parameters": {"dim": 8, "heads": 4, "gadget": "sharp"}}, "the secret must hold .*support"),
    ],
)
def test_an_old_file_and_one_with_parts_that_do_not_fit_are_refused(tmp_path, header, words):
    with pytest.raises(InputError, match=words):
        Instance.load(changed(tmp_path / "f", Instance.generate(Parity(8, 3, "sharp"), 0), header))


def test_the_recipe_is_the_documented_one():
    """Of secrets and label noise: docs/seeds.md in numpy's own words, for a reader who has no lab."""
    instance = Instance.generate(Parity(9, 3, flip=0.25), seed=11)

    def child(parameters, *path):
        key = np.frombuffer(hashlib.sha256(f'["parity",{parameters}]'.encode()).digest(), ">u4").tolist()
        return np.random.SeedSequence(11, spawn_key=(*key, *path))

    layer = '{"dim":9,"gadget":"diag","heads":3,"sharpness":8}'
    drawn = np.random.default_rng(child(layer, 0)).choice(8, 3, replace=False)
    assert instance.secret["support"].tolist() == sorted((1 + drawn).tolist())
    everything = '{"dim":9,"flip":0.25,"gadget":"diag","heads":3,"sharpness":8}'
    raw = np.random.Philox(child(everything, 1, 2**100)).random_raw(50)
    assert np.array_equal(instance.noise(50, seed=2**100), ((raw >> np.uint64(11)) + 0.5) * 2.0**-53)
