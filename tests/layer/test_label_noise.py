"""Label noise is as secret as the instance: nothing that is published gives it (docs/seeds.md)."""

import json
import random
import secrets
from itertools import combinations

import numpy as np
import pytest

from hardness.evaluation.until import signed, stream
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.instance import Instance
from hardness.instance.challenge import publish

ROWS = 200_000  # half of them informative
NOISY = [Parity(9, 3, flip=0.2), Rounding(8, 97, 97, noise=3.0)]


def truth(X, Y, public, secret):
    """The noise of the informative rows by the definition alone, and which rows these are: flips, or level shifts."""
    X = X.astype(int)
    (rows,) = np.nonzero(X[:, 0, 0] != X[:, 1, 0])
    g = X[rows, 0, 0] * Y[rows, 0, 0] - public["A"]
    differ = X[rows, 0] != X[rows, 1]
    if public["family"] == "parity":
        return g * (-1.0) ** differ[:, secret["support"]].sum(axis=1) < 0, rows
    q = public["modulus"]
    return (np.rint(g) - differ[:, 1:] @ np.array(secret["w"]) + q // 2) % q - q // 2, rows


def noise_of(instance, seed):
    data = instance.examples(ROWS, seed)
    return truth(data.X, data.Y, instance.public(seed), instance.secret)


def correlated(u, v):
    """|Pearson's correlation| of 5 standard deviations or more: by chance in 1 of 2e6 pairs."""
    assert len(u) == len(v) > ROWS / 5
    return abs(np.corrcoef(u, v)[0, 1]) >= 5 / np.sqrt(len(u))


def streams(number):
    """What anybody can make of a number: the generators that numpy seeds with it, and their first descendants."""
    roots = [np.random.SeedSequence(number), *np.random.SeedSequence(number).spawn(4)]
    yield from (np.random.Philox(root).random_raw(ROWS) / 2.0**64 for root in roots)
    yield from (np.random.default_rng(root).random(ROWS) for root in roots)


def numbers(value):
    """Every number of a JSON value, those written in hexadecimal too."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from numbers(each)
    elif type(value) is int and value >= 0:
        yield value
    elif isinstance(value, str) and len(value) == 64:
        yield int(value, 16)


@pytest.mark.parametrize("family", NOISY, ids=lambda family: family.name)
def test_noise_of_other_instances_and_other_seeds_is_independent(family):
    base, other = (Instance.generate(family, seed) for seed in (1, 2))
    kinds = [
        (instance, seed, *noise_of(instance, seed)) for instance, seed in ((base, 7), (other, 7), (base, 8))
    ]
    assert 0.15 < np.abs(kinds[0][2]).mean() < 4  # there is noise to speak of
    for (a, first, u, rows), (b, second, v, others) in combinations(kinds, 2):
        _, here, there = np.intersect1d(rows, others, return_indices=True)
        assert not correlated(u[here], v[there])
        assert not correlated(a.noise(ROWS, first), b.noise(ROWS, second))


@pytest.mark.parametrize("family", NOISY, ids=lambda family: family.name)
def test_no_number_of_a_challenge_gives_its_noise(family, tmp_path, monkeypatch):
    chance = random.Random(0)
    monkeypatch.setattr(secrets, "randbits", chance.getrandbits)
    monkeypatch.setattr(secrets, "token_hex", lambda n: f"{chance.getrandbits(8 * n):0{2 * n}x}")
    instance = Instance.generate(family)
    publish(instance, ROWS, tmp_path / "c", toy=True)
    header = json.loads((tmp_path / "c" / "challenge.json").read_text())
    with np.load(tmp_path / "c" / "examples.npz") as file:
        X, Y, public = file["X"], file["Y"], json.loads(str(file["public"]))
    noise, rows = truth(X, Y, public, instance.secret)
    assert np.array_equal(noise, noise_of(instance, public["sampling_seed"])[0])
    published = {*numbers(header), *numbers(public)}
    assert {public["sampling_seed"], public["dim"], int(header["salt"], 16)} <= published
    nothing_gives(noise, rows, published, family, public["sampling_seed"])


def nothing_gives(noise, rows, known, family, seed):
    """No generator seeded with one of the numbers `known` gives the noise, nor does another instance."""
    unrelated = Instance.generate(family, 1)
    for number in known:
        assert not any(correlated(stream[rows], noise) for stream in streams(number))
        for other, sampling in ((unrelated, number), (Instance.generate(family, number), seed)):
            assert not correlated(other.noise(ROWS, sampling)[rows], noise)


def test_signs_of_independent_labels_have_nothing_to_do_with_flips():
    """As long as both were one uniform number, no flipped label kept its sign."""
    instance = Instance.generate(NOISY[0], 0)
    flips, rows = noise_of(instance, 4)
    labels = signed(stream(instance, 4), 4)(0, ROWS).Y[:, 0, 0]
    signs = labels[rows] * instance.examples(ROWS, 4).Y[rows, 0, 0] > 0
    assert not correlated(signs, flips)


def test_the_recipe_is_the_documented_one():
    """docs/seeds.md in numpy's own words, for a reader who has no lab."""
    from hashlib import sha256

    instance = Instance.generate(Parity(9, 3, flip=0.25), seed=11)

    def child(parameters, *path):
        key = np.frombuffer(sha256(f'["parity",{parameters}]'.encode()).digest(), ">u4").tolist()
        return np.random.SeedSequence(11, spawn_key=(*key, *path))

    layer = '{"dim":9,"gadget":"diag","heads":3,"sharpness":8}'
    drawn = np.random.default_rng(child(layer, 0)).choice(8, 3, replace=False)
    assert instance.secret["support"].tolist() == sorted((1 + drawn).tolist())
    everything = '{"dim":9,"flip":0.25,"gadget":"diag","heads":3,"sharpness":8}'
    raw = np.random.Philox(child(everything, 1, 2**100)).random_raw(50)
    assert np.array_equal(instance.noise(50, seed=2**100), ((raw >> np.uint64(11)) + 0.5) * 2.0**-53)
