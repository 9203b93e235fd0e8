"""Label noise is keyed by the seeds of the instance and of the sampling, by the documented recipe (docs/seeds.md)."""

from itertools import combinations

import numpy as np
import pytest

from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.instance import Instance


@pytest.mark.parametrize("family", [Parity(9, 3, flip=0.2), Rounding(8, 97, 97, noise=3.0)], ids=repr)
def test_noise_of_other_instances_and_other_seeds_is_independent(family):
    """|Pearson's correlation| of 5 standard deviations or more: by chance in 1 of 2e6 pairs."""
    base, other = (Instance.generate(family, seed) for seed in (1, 2))
    streams = [base.noise(200_000, 7), other.noise(200_000, 7), base.noise(200_000, 8)]
    for u, v in combinations(streams, 2):
        assert abs(np.corrcoef(u, v)[0, 1]) < 5 / np.sqrt(len(u))


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
