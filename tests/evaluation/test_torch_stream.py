"""The stream for torch: each example exactly once, those of `sample`; skipped where torch is not installed."""

import numpy as np
import pytest

import hardness
from hardness.errors import InputError
from hardness.gadgets.coefficients import informative

torch = pytest.importorskip("torch", reason="torch is not installed: its stream is not tested")
from torch.utils.data import DataLoader  # noqa: E402

from hardness.torch import stream  # noqa: E402

HARD = hardness.Instance.generate(hardness.Parity(dim=9, heads=4), seed=0)


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_come_once_and_in_order(workers):
    count = 10_037
    loader = DataLoader(stream(HARD, 5, count=count, batch=64), batch_size=None, num_workers=workers)
    X, Y = (torch.cat(parts).numpy() for parts in zip(*loader, strict=True))
    examples = HARD.examples(count, 5)
    assert X.dtype == np.int8
    assert np.array_equal(X, examples.X)
    assert np.array_equal(Y, examples.Y)


def test_lean_rows_are_the_open_ones():
    (v, gate, label), *rest = DataLoader(stream(HARD, 5, lean=True, count=500, batch=500), batch_size=None)
    assert rest == []
    examples = HARD.examples(500, 5)
    opened = informative(examples.X)
    X, Y = examples.X[opened], examples.Y[opened]
    assert (v.dtype, gate.dtype, label.dtype) == (torch.int8, torch.int8, torch.float32)
    assert np.array_equal(v.numpy(), X[:, 0, 1:] * X[:, 1, 1:])
    assert np.array_equal(gate.numpy(), X[:, 0, 0])
    for row, sign in ((0, 1), (1, -1)):
        assert np.allclose(sign * gate.numpy() * label.numpy(), Y[:, row, 0], atol=1e-6)


def test_an_endless_stream_begins_like_a_finite_one_and_is_asked_for():
    batches = iter(stream(HARD, 5, count=None, batch=10))
    assert np.array_equal(torch.cat([next(batches)[0] for _ in range(3)]).numpy(), HARD.examples(30, 5).X)
    with pytest.raises(InputError, match="count="):
        stream(HARD, 5)
    three = hardness.Instance.generate(hardness.Nondegenerate(dim=6, tokens=3, heads=1), seed=0)
    with pytest.raises(InputError, match="lean is for layers on two tokens"):
        stream(three, 5, lean=True, count=9)
