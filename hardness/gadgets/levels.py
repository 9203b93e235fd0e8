"""The integer levels that gadgets read off their inputs: their range and their exact law (theory 1.1, 1.4)."""

from collections.abc import Sequence
from typing import Literal

Kind = Literal["diag", "dot"]


def level_range(kind: Kind, weights: Sequence[int]) -> tuple[int, int]:
    """Smallest and largest level: [-R-, R+] for diag, [-R, R] for dot, R = Σ|w_j|.

    >>> level_range("diag", [0, 3, -2]), level_range("dot", [0, 3, -2])
    ((-2, 3), (-5, 5))
    """
    up, down = sum(w for w in weights if w > 0), sum(w for w in weights if w < 0)
    return (down, up) if kind == "diag" else (down - up, up - down)


def level_counts(kind: Kind, weights: Sequence[int]) -> tuple[int, list[int], int]:
    """Law of the level given z_0 != 0: (lowest level, counts, bits), P(lowest + i) = counts[i]/2^bits, exactly.

    A diag weight is a factor (1 + y^w)/2 of the generating function, a dot weight (1 + y^w)²/4 up to a shift.
    The product is taken with the polynomial packed into one big integer, a byte-aligned slot a coefficient
    (Kronecker substitution), so that a factor is one shift and one addition.

    >>> level_counts("dot", [0, 1])
    (-1, [1, 2, 1], 2)
    """
    factors = [abs(w) for w in weights if w for _ in range(1 if kind == "diag" else 2)]
    slot = 8 * (len(factors) // 8 + 1)
    packed = 1
    for w in factors:
        packed += packed << (w * slot)
    low, high = level_range(kind, weights)
    size = slot // 8
    data = packed.to_bytes((high - low + 1) * size, "little")
    counts = [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data), size)]
    return low, counts, len(factors)
