"""Published runs of gradient descent on sparse parities, repeated on the informative rows of the lab's instances.

The network, its loss and its steps are those of the published experiments (SutroYaro, 2026: a public replication that
was not reviewed): one hidden layer of ReLU units on n bits of ±1, weights N(0, 2/n) and N(0, 2/width), hinge loss,
batches of 32, weight decay .01, all rows in a new order each epoch. The bits are v_j = x_1j x_2j of the rows with an
open gate, and the label is the sign of the hidden parity (theory 1.1): so a row of the lab is a row of theirs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.families.parity import Parity
from hardness.gadgets.coefficients import informative
from hardness.instance import Instance

Floats = NDArray[np.float64]
BATCH, DECAY = 32, 0.01
SOURCE = "SutroYaro, 2026"
TEST_ROWS, RUNS = 500, 5
SEED = 20260303  # of our instances; run i has the seed (this, i)


@dataclass(frozen=True)
class Setting:
    """Hold one line of a published table: a parity of k of n bits, a network, and how it is trained.

    A run ends at the share `target` of right test rows, or after `limit` epochs. `sign`: steps follow the signs of the
    gradient. `violators`: the gradient is a mean over the rows of a batch with margin below 1 only. `published` has the
    epochs of each run (None: it failed), or their mean if no more was published.
    """

    table: str
    n: int
    k: int
    width: int
    rows: int
    target: float
    published: tuple[int | None, ...]
    limit: int
    rate: float = 0.1
    sign: bool = False
    violators: bool = False


SETTINGS = (
    Setting("exp_noprop", 50, 3, 200, 2000, 0.95, (43, 66, 68, 47, 67), 500),
    Setting("exp_noprop", 20, 5, 200, 2000, 0.95, (69, 68, 78, 61, 72), 500),
    Setting("exp_noprop", 50, 5, 200, 2000, 0.95, (None,) * 5, 300),
    Setting("exp_sign_sgd", 20, 5, 500, 5000, 0.90, (14,), 100),
    Setting("exp_sign_sgd", 20, 5, 500, 5000, 0.90, (7,), 100, rate=0.01, sign=True),
    Setting("exp_sign_sgd", 30, 3, 200, 2000, 0.90, (22,), 100),
    Setting("exp_sign_sgd", 30, 3, 200, 2000, 0.90, (15,), 100, rate=0.01, sign=True),
    Setting("exp1", 20, 3, 1000, 500, 0.99, (52,), 300, violators=True),
)


def settings() -> Iterator[dict[str, Any]]:
    """Yield the rows of `hardness validate`: each published experiment, with its epochs and those of our reruns."""
    for line in SETTINGS:
        ours = tuple(epochs(line, run) for run in range(RUNS))
        size = f"{line.table}: n = {line.n}, k = {line.k}, width {line.width}, {line.rows:,} rows"
        steps = f"{'sign ' * line.sign}descent, rate {line.rate}{', means over margin violators' * line.violators}"
        text = f"{size}, {steps}, to {line.target:.0%}"
        runs = {"published": line.published, "ours": ours, "unit": "epochs", "limit": line.limit}
        yield {"source": SOURCE, "setting": text, **runs, "within": within(line.published, ours)}


def within(published: tuple[int | None, ...], ours: tuple[int | None, ...]) -> bool:
    """Return whether two ranges of epochs to a solution overlap (None: not solved), or no run of either was solved."""
    first, second = ([run for run in runs if run is not None] for runs in (published, ours))
    if not (first and second):
        return not first and not second
    return min(first) <= max(second) and min(second) <= max(first)


def open_rows(n: int, k: int, count: int, run: int) -> tuple[Floats, Floats]:
    """Return random bits ±1 (count, n) and their parities (count,) over k hidden bits, from instance number `run`."""
    instance = Instance.generate(Parity(dim=n + 1, heads=k), SEED + run)
    examples = instance.examples(3 * count, seed=run)
    opened = np.flatnonzero(informative(examples.X))[:count]
    X, Y = examples.X[opened], examples.Y[opened]
    labels = X[:, 0, 0] * Y[:, 0, 0]
    offset = (labels.max() + labels.min()) / 2  # the public A: labels are A ± 1
    v = (X[:, 0, 1:] * X[:, 1, 1:]).astype(np.float64)
    return v, np.sign(labels - offset)


def epochs(setting: Setting, run: int) -> int | None:
    """Return after how many epochs the setting's share of test rows is right, or None if never; `run` is the seed."""
    v, y = open_rows(setting.n, setting.k, setting.rows + TEST_ROWS, run)
    test, parity = v[setting.rows :], y[setting.rows :]
    v, y = v[: setting.rows], y[: setting.rows]
    rng = np.random.default_rng((SEED, run))
    weights = [
        rng.standard_normal((setting.n, setting.width)) * (2 / setting.n) ** 0.5,
        np.zeros(setting.width),
        rng.standard_normal(setting.width) * (2 / setting.width) ** 0.5,
        np.zeros(1),
    ]
    for epoch in range(1, setting.limit + 1):
        order = rng.permutation(len(v))
        for start in range(0, len(v), BATCH):
            batch = order[start : start + BATCH]
            step(setting, weights, v[batch], y[batch])
        hidden, bias, out, shift = weights
        guess = np.maximum(test @ hidden + bias, 0) @ out + shift
        if np.mean(np.sign(guess) == parity) >= setting.target:
            return epoch
    return None


def step(setting: Setting, weights: list[Floats], v: Floats, y: Floats) -> None:
    """Change weights [hidden, bias, out, shift] of a network by a step of hinge loss on bits v (n, bits), labels y."""
    hidden, bias, out, shift = weights
    unit = np.maximum(v @ hidden + bias, 0)
    inside = y * (unit @ out + shift) < 1
    if not inside.any():
        return
    pull = -y * inside / (inside.sum() if setting.violators else len(y))
    back = (unit > 0) * (pull[:, None] * out)
    gradients = (v.T @ back, back.sum(axis=0), pull @ unit, pull.sum(keepdims=True))
    for weight, gradient in zip(weights, gradients, strict=True):
        weight -= setting.rate * ((np.sign(gradient) if setting.sign else gradient) + DECAY * weight)
