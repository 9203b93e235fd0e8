"""Equations as packed rows: 2^24 of them, public vectors and labels, in well under a gigabyte (kernels_bkw.py)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import kernels_bkw
from hardness.attacks.equations import Equations, extract
from hardness.examples import TokenStream, unpack
from hardness.gadget import Gadget
from hardness.instance import Instance
from hardness.modular import preimages

Words = NDArray[np.uint64]
Phases = NDArray[np.uint32]

CHUNK = 1 << 18


@dataclass(frozen=True)
class Packed:
    """Rows of n = `left` small integers and a phase: words (N, W) uint64, phases (N,) uint32, 2^32 to the turn.

    A coordinate is a sum of 2^`level` half signs: a bit of a diag row is level 0, a ternary coordinate of a dot row,
    or of a difference of two diag rows, is level 1, and each further difference adds one.
    """

    words: Words
    phases: Phases
    left: int
    level: int

    def __len__(self) -> int:
        return len(self.phases)

    @property
    def width(self) -> int:
        return self.level + 1

    @property
    def centre(self) -> int:
        return 1 << self.level - 1 if self.level else 0

    def first(self, count: int) -> "Packed":
        """The first rows; a view."""
        return replace(self, words=self.words[:count], phases=self.phases[:count])

    def copy(self) -> "Packed":
        """Rows of their own, so that those this is a view of can be let go."""
        return replace(self, words=self.words.copy(), phases=self.phases.copy())


def words_for(left: int, level: int) -> int:
    """64-bit words that hold a row of `left` coordinates."""
    return -(-left // (64 // (level + 1)))


def turns(level: NDArray[np.int64], q: int, p: int) -> Phases:
    """The angle (N,) of the centre of a level's residues, 2^32 to the turn.

    >>> (turns(np.array([0, 1]), 97, 2) / 2**32).round(3).tolist()
    [0.247, 0.747]
    """
    centre = preimages(q, p)[0]
    return np.rint(centre / q * 2.0**32).astype(np.uint32)[level]


def pack(equations: Equations) -> Packed:
    """The equations as packed rows of level 0 where all public vectors are bits, else of level 1.

    >>> rows = pack(Equations(np.array([[1, 0, 1]], np.int8), np.array([1]), 97, 2))
    >>> rows.words.tolist(), rows.level
    ([[5]], 0)
    """
    level = int((equations.a < 0).any())
    words = np.empty((len(equations), words_for(equations.n, level)), dtype=np.uint64)
    kernels_bkw.pack_rows(equations.a, level + 1, level, words)
    return Packed(words, turns(equations.level, equations.q, equations.p), equations.n, level)


@dataclass(frozen=True)
class Stream:
    """Fresh equations of an instance, as many as are wanted, from its sampling seed: for studies, no file between.

    The attack that is handed a stream reads rows, labels and public parameters from it, and nothing else.
    """

    instance: Instance
    seed: int

    def equations(self, start: int, count: int) -> Equations:
        """The informative ones among examples start..start + count - 1."""
        examples = self.instance.examples(count, self.seed, start)
        return extract(examples.X, examples.Y, self.instance.public(self.seed))

    def rows(self, start: int, count: int) -> Packed:
        """`count` packed rows, from example `start` on: 1 bit a coordinate for diag, 2 for dot, 4 bytes a label."""
        n, teacher = self.instance.family.dim - 1, self.instance.teacher
        level = int(isinstance(teacher, Gadget) and teacher.kind == "dot")
        words, phases = np.empty((count, words_for(n, level)), dtype=np.uint64), np.empty(count, dtype=np.uint32)
        done = 0
        for part, shown in self._chunks(start, level):
            take = min(count - done, len(shown))
            words[done : done + take], phases[done : done + take] = part[:take], shown[:take]
            done += take
            if done == count:
                return Packed(words, phases, n, level)
        raise AssertionError("a stream has no end")

    def _chunks(self, start: int, level: int) -> Iterator[tuple[Words, Phases]]:
        family, teacher, n = self.instance.family, self.instance.teacher, self.instance.family.dim - 1
        assert isinstance(teacher, Gadget)
        q, p, noise = (int(getattr(family, name)) for name in ("modulus", "levels", "noise"))
        stream = TokenStream(self.seed, 2, family.dim)
        while True:
            tokens = stream.packed(start, CHUNK)
            t = teacher.levels(tokens)
            if noise:
                from scipy.special import ndtri

                t += np.rint(family.noise * ndtri(stream.noise(start, CHUNK))).astype(np.int64)  # type: ignore[attr-defined]
            differ = tokens[:, 0] ^ tokens[:, 1]
            informative = (differ[:, 0] & np.uint64(1)).astype(bool)
            shown = np.rint(teacher.value(t[informative]) - teacher.offset).astype(np.int64)
            if level == 0:  # the coordinates follow the gate's bit
                bits = differ[informative]
                words = bits >> np.uint64(1)
                words[:, :-1] |= bits[:, 1:] << np.uint64(63)
                words = words[:, : words_for(n, 0)]
            else:
                x = unpack(tokens[informative], family.dim)
                z = (x[:, 0] - x[:, 1]) // 2
                words = np.empty((len(z), words_for(n, 1)), dtype=np.uint64)
                kernels_bkw.pack_rows(z[:, :1] * z[:, 1:], 2, 1, words)
            yield words, turns(shown, q, p)
            start += CHUNK
