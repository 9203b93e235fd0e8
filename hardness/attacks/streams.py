"""A stream without end of equations, for studies: an oracle that makes the examples of an instance, less the floats."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from hardness.attacks.equations import Equations, hidden
from hardness.gadgets.coefficients import Gadget, public_vectors
from hardness.instance import Instance
from hardness.tokens import TokenStream, unpack

ALL = 2**62  # examples of a stream: as many as it takes
CHUNK = 1 << 18


@dataclass(frozen=True)
class Stream:
    """The equations of an endless stream of examples of a rounding instance, with sampling seed `seed` and no noise."""

    instance: Instance = field(repr=False)
    seed: int

    @property
    def n(self) -> int:
        return self.instance.family.dim - 1

    def equations(self, start: int, count: int, vanish: int = 0, limit: int = ALL) -> tuple[Equations, int]:
        """Return `count` equations whose vectors are 0 on the last `vanish` coordinates, and the next unread index.

        Examples are read from index `start`, at most `limit` of them, so that fewer equations may come back.
        """
        parts = list(self._chosen(start, count, vanish, limit))
        a, level = (np.concatenate([getattr(part, name) for part in parts]) for name in ("a", "level"))
        return replace(parts[0], a=a, level=level), start + CHUNK * len(parts)

    def _chosen(self, start: int, count: int, vanish: int, limit: int) -> Iterator[Equations]:
        """Yield, in parts, `count` equations that are 0 on the last `vanish` coordinates.
        They come from at most `limit` examples from index `start` on, and a part from 2^18 of them."""
        dim, teacher = self.n + 1, self.instance.teacher
        assert isinstance(teacher, Gadget)
        known, stream = hidden(self.instance.public(self.seed)), TokenStream(self.seed, 2, dim)
        words = range(-(-dim // 64))
        last = ((1 << vanish) - 1) << (dim - vanish)  # the coordinates that vanish; bit 0 is the gate
        mask, gate = (
            np.array([bits >> 64 * i & 2**64 - 1 for i in words], dtype=np.uint64) for bits in (1 | last, 1)
        )
        for begin in range(start, start + limit, CHUNK):
            tokens = stream.packed(begin, CHUNK)
            kept = tokens[((tokens[:, 0] ^ tokens[:, 1]) & mask == gate).all(axis=1)][:count]
            level = np.rint(teacher.value(teacher.levels(kept)) - teacher.offset).astype(np.int64)
            yield known.rows(public_vectors(unpack(kept, dim), teacher.kind), level)
            count -= len(kept)
            if count <= 0:
                return
