"""Several gadgets of one gate side by side: the labels of nested tasks, shown by one attention layer (theory 2.9)."""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.gadgets.coefficients import Gadget
from hardness.layer import MultiHeadAttention
from hardness.tokens import Words


@dataclass(frozen=True, repr=False)
class NestedGadget(Gadget):
    """A gadget, the task, whose label stands in column 0, over `blocks`: block i (from 1) shows its label in column i.

    The layer has the heads of all of them; those of block i write to column i, W = c E_0i. Without blocks it is the
    gadget itself.

    >>> from hardness.gadgets.coefficients import exact
    >>> low, task = exact("diag", [0, 1, 0], [0, 1], [1, -1], 8), exact("diag", [0, 1, 1], [0, 1, 2], [1, -1, 1], 8)
    >>> nested = NestedGadget(**vars(task), blocks=(low,))
    >>> nested.heads, nested(np.array([[[1, 1, 1], [-1, -1, -1]]], dtype=np.int8))[0, 0].round(3).tolist()
    (3, [-0.327, -1.0, 0.0])
    """

    blocks: tuple[Gadget, ...] = ()

    @property
    def task(self) -> Gadget:
        """The gadget of column 0 alone."""
        return Gadget(**{f.name: getattr(self, f.name) for f in fields(Gadget)})

    @property
    def heads(self) -> int:
        return len(self.thresholds) + sum(block.heads for block in self.blocks)

    def labels(self, words: Words) -> NDArray[np.float64]:
        """F(X) of packed token pairs (n, 2, words) by the closed form, (n, 2, d)."""
        Y = super().labels(words)
        for i, block in enumerate(self.blocks, 1):
            Y[:, :, i] = block.labels(words)[:, :, 0]
        return Y

    def layer(self) -> MultiHeadAttention:
        """The dense layer: theta (m, d, d) and w (m, d, d)."""
        parts = [gadget.layer() for gadget in (self.task, *self.blocks)]
        w = np.concatenate([np.roll(part.w, i, axis=2) for i, part in enumerate(parts)])
        return MultiHeadAttention(np.concatenate([part.theta for part in parts]), w)


def blocks_of(s: int, g: int) -> tuple[int, ...]:
    """Sizes of the blocks of a chain that grows by g coordinates at a time, the last one by what is left.

    >>> blocks_of(6, 2), blocks_of(5, 3), blocks_of(4, 4)
    ((2, 2, 2), (3, 2), (4,))
    """
    if not 1 <= g <= s:
        raise InputError(f"blocks must hold 1 to {s} coordinates, got {g}")
    return (g,) * (s // g) + ((s % g,) if s % g else ())
