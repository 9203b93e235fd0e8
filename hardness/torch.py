"""Examples for torch: a dataset over the addressable stream of an instance, shared out between workers (extra `torch`).

`DataLoader(stream(instance, seed=1, count=100_000, batch=64), batch_size=None, num_workers=2)` yields pairs (X, Y).
"""

from collections.abc import Iterator
from itertools import count as naturals
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError, missing_extra
from hardness.gadgets.coefficients import informative
from hardness.instance import Instance

if TYPE_CHECKING:
    import torch

BLOCK = 4096  # examples that a worker makes at a time where no batch is given


def stream(
    instance: Instance, seed: int, lean: bool = False, *, count: int | None = 0, batch: int | None = None
) -> "torch.utils.data.IterableDataset[tuple[torch.Tensor, ...]]":
    """Return a torch dataset of the examples of `instance.examples(count, seed)`; without an end if `count` is None.

    An item is (X, Y): X (k, d) int8 and Y (k, d) float64; with `batch` it is this many examples, and a `DataLoader`
    takes `batch_size=None`. Each example is yielded exactly once by the workers of a loader, and with `batch` in the
    order of the stream. `lean`, for two tokens, gives only the examples whose tokens differ in coordinate 0, as (v, g,
    label): v_j = x_1j x_2j for j >= 1, (d - 1,) int8; the gate g = x_10, int8; label = g Y_10, float32, so that column
    0 of Y is g · label in row 1, and the negative in row 2. About half of all examples are such, so batches vary in
    length. Raises `InputError` if `count` is 0 (the default), without torch, and for `lean` without two tokens.
    """
    if count == 0:
        raise InputError("stream needs count=, the number of examples, or count=None for one without an end")
    try:
        import torch
        from torch.utils.data import IterableDataset, get_worker_info
    except ImportError as error:
        raise missing_extra("torch", "torch", "hardness.torch.stream") from error
    if lean and instance.family.tokens != 2:
        raise InputError(f"lean is for layers on two tokens, this one has {instance.family.tokens}")
    block = batch or BLOCK

    def arrays(start: int, size: int) -> tuple[NDArray[Any], ...]:
        examples = instance.examples(size, seed, start)
        X, Y = examples.X, examples.Y
        if not lean:
            return X, Y
        opened = informative(X)
        gate = X[opened, 0, 0]
        return X[opened, 0, 1:] * X[opened, 1, 1:], gate, (gate * Y[opened, 0, 0]).astype(np.float32)

    class Stream(IterableDataset[Any]):
        def __iter__(self) -> "Iterator[tuple[torch.Tensor, ...]]":
            worker = get_worker_info()
            first, step = (worker.id, worker.num_workers) if worker else (0, 1)
            for start in naturals(first * block, step * block):
                if count is not None and start >= count:
                    return
                size = block if count is None else min(block, count - start)
                tensors = tuple(map(torch.from_numpy, arrays(start, size)))
                yield from [tensors] if batch else zip(*tensors, strict=True)

    return Stream()
