"""Examples in blocks that need not stand in memory at once, and the few rows of them that a phase keeps."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Block = tuple[Array, Array]
CHUNK = 2000  # examples that a phase looks at together: what it makes of them stays in cache


@dataclass(frozen=True)
class Rows:
    """Examples X and Y (·, k, d) that `blocks()` yields anew at each call: `count` of them, after `skip` held-out ones.

    >>> X = np.random.default_rng(0).choice([-1.0, 1.0], size=(5, 4, 8))
    >>> [x.shape for x, _ in Rows.of(X, X).upto(3)]
    [(3, 4, 8)]
    """

    blocks: Callable[[], Iterable[tuple[ArrayLike, ArrayLike]]]
    count: int
    tokens: int
    dim: int
    skip: int = 0

    @classmethod
    def of(cls, X: Array, Y: Array) -> "Rows":
        """Examples that stand in memory, one of each ±X."""
        x, y = canonical(X, Y)
        return cls(lambda: [(x, y)], len(x), x.shape[1], x.shape[2])

    def upto(self, count: int) -> Iterator[Block]:
        """The first `count` examples, at most `CHUNK` at a time, as float64."""
        skip, left = self.skip, min(count, self.count)
        for X, Y in self.blocks():
            x, y = np.asarray(X)[skip:], np.asarray(Y)[skip:]
            skip = max(0, skip - len(np.asarray(X)))
            for start in range(0, min(len(x), left), CHUNK):
                part = slice(start, min(start + CHUNK, left))
                yield (
                    np.ascontiguousarray(x[part], dtype=np.float64),
                    np.ascontiguousarray(y[part], dtype=np.float64),
                )
            left -= min(len(x), left)
            if not left:
                return

    def sample(self, count: int) -> Block:
        """The first `count` examples, in memory."""
        x, y = zip(*self.upto(count), strict=True)
        return np.concatenate(x), np.concatenate(y)


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

    >>> best = Best(2)
    >>> X = np.array([[[1.0, 1.0]], [[1.0, 1.0]], [[1.0, -1.0]]])
    >>> best.add(np.array([0.3, 0.3, 0.1]), X, np.zeros((3, 1, 1)))
    >>> best.rows()[0].tolist()
    [0.1, 0.3]
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
