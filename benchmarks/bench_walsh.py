"""The Walsh-Hadamard transform of 2^b numbers, beside pyfwht, which knows float64 alone, and two products in numpy."""

from collections.abc import Iterator

import numpy as np
from scipy.linalg import hadamard

from benchmarks.harness import Call, Row, compared, optional
from hardness.kernels.walsh import walsh_hadamard

BITS = (12, 20)


def rows() -> Iterator[Row]:
    pyfwht = optional("pyfwht")
    for bits in BITS:
        for kind in (np.float32, np.float64):
            f = np.zeros(1 << bits, kind)  # zeros stay zeros: as fast as any data, and never infinite
            square = f.reshape(1 << bits // 2, -1)
            H = hadamard(len(square)).astype(kind)
            calls: dict[str, Call] = {
                "ours": lambda f=f: walsh_hadamard(f),
                "numpy: two matrix products": lambda H=H, square=square: H @ square @ H,
            }
            if pyfwht:
                wide = f.astype(np.float64)
                calls["pyfwht: float64"] = lambda wide=wide: pyfwht.transform(wide, pyfwht.Backend.CPU)
            yield from compared(
                "Walsh-Hadamard transform",
                f"2^{bits}, {kind.__name__}",
                "transform",
                calls,
                dict.fromkeys(calls, 1),
            )
