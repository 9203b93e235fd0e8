"""Fresh equations without end, for studies: no file between, and a wall between the attack and the instance.

The instance lives in a process of its own (sampler.py). A stream holds its public parameters and a pipe; what comes
through are rows and levels, which is what an examples file holds.
"""

import os
import subprocess
import sys
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Public
from hardness.attacks.equations import Equations, sparsity
from hardness.attacks.packed import Packed, words_for
from hardness.instance import Instance

ALL = 2**62  # examples: as many as it takes


class Stream:
    """Equations of the rounding instance that `instance` is, from sampling seed `seed`. A context: leaving it ends
    the process that makes them.

    >>> from hardness.families.rounding import Rounding
    >>> with Stream(Instance.generate(Rounding(9, 17, 2), seed=0), seed=1) as stream:
    ...     stream.equations(0, 5).a.shape, len(stream.rows(0, 7)[0])
    ((5, 8), 7)
    """

    def __init__(self, instance: Instance, seed: int) -> None:
        self._pipe, there = Pipe()
        root = Path(__file__).parents[2]
        path = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "hardness.attacks.sampler", str(there.fileno())],
            pass_fds=[there.fileno()],
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )
        there.close()
        self._pipe.send((instance, seed))
        self.public: Public = self._pipe.recv()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self._pipe.close()
        self._process.wait()

    @property
    def n(self) -> int:
        return int(self.public["dim"]) - 1

    @property
    def level(self) -> int:
        """0 where public vectors are bits, 1 where they are ternary."""
        return int(self.public["gadget"] == "dot")

    def seconds(self) -> float:
        """Processor seconds that the making of equations took so far."""
        self._pipe.send(("seconds", 0, 0, 0, 0))
        return float(self._pipe.recv())

    def equations(self, start: int, count: int, vanish: int = 0, most: int = ALL) -> Equations:
        """`count` informative equations from example `start` on whose last `vanish` coordinates are 0, or those among
        the next `most` examples.
        """
        a, level = np.empty((count, self.n), np.int8), np.empty(count, np.int64)
        made, _ = self._ask("vectors", start, vanish, most, a, level)
        known = self.public
        return Equations(
            a[:made], level[:made], int(known["modulus"]), int(known["levels"]), sparsity=sparsity(known),
            noise=float(known["noise"]), heads=None if known["exact"] else known["heads"],
        )  # fmt: skip

    def rows(self, start: int, count: int, vanish: int = 0) -> tuple[Packed, int]:
        """`count` such rows, packed, without those coordinates, and the number of the example after the last."""
        left = self.n - vanish
        words, phases = np.empty((count, words_for(left, self.level)), np.uint64), np.empty(count, np.uint32)
        _, at = self._ask("packed", start, vanish, ALL, words, phases)
        return Packed(words, phases, left, self.level), at

    def _ask(
        self, name: str, start: int, vanish: int, most: int, first: NDArray[Any], second: NDArray[Any]
    ) -> tuple[int, int]:
        """Fill both arrays with what the process sends; the rows filled, and the example after the last."""
        self._pipe.send((name, start, len(second), vanish, most))
        done = 0
        while True:
            take, at = self._pipe.recv()
            if take == 0:
                return done, at
            for array in (first, second):
                _fill(self._pipe, array[done : done + take])
            done += take


def _fill(pipe: Connection, part: NDArray[Any]) -> None:
    if pipe.recv_bytes_into(part.data.cast("B")) != part.nbytes:
        raise EOFError("the process that makes equations is gone")
