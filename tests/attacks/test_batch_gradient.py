"""Theory 2.10, 4: exact mean gradients of batches give linear equations, and noise between .2/B and .5/B ends it."""

import numpy as np
import pytest
from commands import answer, check_refused, run_command

import hardness
from hardness.attacks import batch_gradient


def instance_of(heads=10, dim=20, seed=0, **more):
    return hardness.Instance.generate(hardness.Parity(dim=dim, heads=heads, **more), seed=seed)


@pytest.mark.parametrize("batch", [1, 2, 3, 64, 1024])
@pytest.mark.parametrize(
    ("heads", "dim", "gadget"), [(10, 20, "diag"), (9, 12, "diag"), (4, 12, "dot"), (4, 12, "sharp")]
)
def test_odd_and_even_sets_of_every_gadget_fall(batch, heads, dim, gadget):
    """A rank deficit in d + 12 batches has probability below 2^-13 each."""
    ended = batch_gradient.attack(instance_of(heads, dim, gadget=gadget), batch, seed=1)
    assert ended["status"] == "solved"
    assert ended["batches"] <= dim + 12


def test_the_equation_holds_for_every_batch():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n, batch = int(rng.integers(1, 12)), int(rng.integers(1, 70))
        u, S = rng.integers(0, 2, (batch, n)), rng.random(n) < 0.5
        y, v = (-1) ** (u @ S), 1 - 2 * u
        gradient = -np.append(y.mean(), (y[:, None] * v).mean(axis=0))
        counts = np.rint(batch * (1 + gradient) / 2).astype(int)
        assert counts[0] == (y == -1).sum()
        assert (counts[1:][S].sum() - (S.sum() + 1) * counts[0]) % 2 == 0


def test_noise_ends_it():
    """At .2/B an entry is misread beyond 5 standard deviations (6e-7 each); at .5/B 4.6 % are: 60 % of equations."""
    for seed in range(10):
        quiet = batch_gradient.attack(instance_of(seed=seed), 64, seed=seed, noise=0.2 / 64)
        loud = batch_gradient.attack(instance_of(seed=seed), 64, seed=seed, noise=0.5 / 64)
        assert (quiet["status"], quiet["batches"]) == ("solved", 32)
        assert loud["status"] != "solved"


def test_the_attack_on_examples():
    instance = instance_of()
    ended = hardness.attack(instance, "batch-gradient", 5000, seed=2)
    assert ended.status == "solved"
    assert ended.secret == {"support": instance.secret["support"].tolist()}
    assert hardness.attack(instance, "batch-gradient", 1000, seed=2).status == "refused"
    assert hardness.attack(instance, "batch-gradient", 5000, seed=2, budget=3).status == "refused"
    assert hardness.attack(instance_of(flip=0.1), "batch-gradient", 5000, seed=2).status == "refused"


def test_the_command(tmp_path):
    path = tmp_path / "p.safetensors"
    instance_of().save(path)
    fields = answer("attack batch-gradient --batch 32 --batches 40 --seed 1", path)
    assert fields["secret"] == {"support": instance_of().secret["support"].tolist()}
    assert fields["examples"] == 32 * fields["batches"] <= 32 * 40
    assert answer("attack batch-gradient --batches 4", path)["status"] == "budget"
    check_refused(run_command("attack gaussian --batch 3", path), "--batch")
