"""Examples without copies, and the few rows of them that a phase keeps."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from learner.base import Array

Block = tuple[Array, Array]
CHUNK = 2000  # examples that a phase looks at together: what it makes of them stays in cache


def chunks(X: Array, Y: Array) -> Iterator[Block]:
    """Yield the examples X and Y (n, k, d), at most `CHUNK` at a time."""
    for start in range(0, len(X), CHUNK):
        yield X[start : start + CHUNK], Y[start : start + CHUNK]


def canonical(X: Array, Y: Array) -> Block:
    """One example of each ±X, first entry not negative.

    F(−X) = −F(X), so the sign is a convention; copies of one example would fill the list of best certificates
    and leave its constraints singular.
    """
    sign = np.where(X[:, :1, :1] < 0, -1.0, 1.0)
    X, Y = X * sign, Y * sign
    first = distinct(X)
    return X[first], Y[first]


def distinct(X: Array, a: Array | None = None) -> NDArray[np.intp]:
    """Index of the first of each (±X, a) that occurs, ascending: a prefix stays a fair sample. X is (n, k, d)."""
    flat = X.reshape(len(X), -1)
    if (np.abs(flat) == 1).all():
        packed = np.packbits((flat < 0) ^ (flat[:, :1] < 0), axis=1)
    else:
        packed = np.ascontiguousarray(np.where(flat[:, :1] < 0, -flat, flat)).view(np.uint8)
    width = packed.shape[1] + (a is not None)
    key = np.zeros((len(X), -(-width // 8) * 8), dtype=np.uint8)
    key[:, : packed.shape[1]] = packed
    if a is not None:
        key[:, packed.shape[1]] = a
    words = key.view(np.uint64)
    return np.sort(np.unique(words[:, 0] if words.shape[1] == 1 else words, axis=0, return_index=True)[1])


class Best:
    """The `count` rows of least key, no two alike up to sign, out of any number that are added in parts.

    A row is an index a into an example X (k, d), and whatever columns come with it.
    """

    def __init__(self, count: int) -> None:
        self.count, self.bound = count, np.inf
        self._parts: list[tuple[Array, ...]] = []
        self._held = 0

    def add(self, key: Array, X: Array, *columns: Array) -> None:
        """Keys (n·k,) of the rows of X (n, k, d), with columns (n, k, ·); infinite keys never count."""
        k = X.shape[1]
        rows = np.flatnonzero(key < self.bound)
        if not len(rows):
            return
        example, a = rows // k, rows % k
        self._parts.append((key[rows], X[example], a.astype(np.float64), *(c[example, a] for c in columns)))
        self._held += len(rows)
        # A sort for four times as many rows as are kept, not one a chunk; memory stays bounded too.
        if self._held > 4 * self.count:
            self._shrink()

    def rows(self) -> tuple[Array, ...]:
        """Keys ascending, examples (r, k, d), indices a (r,) and columns."""
        self._shrink()
        return self._parts[0] if self._parts else (np.zeros(0),)

    def _shrink(self) -> None:
        if not self._parts:
            return
        columns = [np.concatenate(c) for c in zip(*self._parts, strict=True)]
        order = np.argsort(columns[0], kind="stable")
        columns = [c[order] for c in columns]
        keep = distinct(columns[1], columns[2])[: self.count]
        self._parts = [tuple(c[keep] for c in columns)]
        self._held = len(keep)
        # Only a full list of distinct rows bounds what may still enter: copies of one row must not close it.
        if len(keep) == self.count:
            self.bound = float(columns[0][keep[-1]])
