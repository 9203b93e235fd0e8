"""Label noise is keyed by the seeds of the instance and of the sampling, by the documented recipe (docs/seeds.md)."""

from itertools import combinations

import numpy as np
import pytest

from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.instance import Instance

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
