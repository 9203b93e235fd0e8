"""The integer levels that gadgets read off their inputs: their range and their exact law (theory 1.1, 1.4)."""

from collections.abc import Sequence
from typing import Literal

from hardness.errors import InputError

Kind = Literal["diag", "dot"]
ParityKind = Literal["diag", "dot", "sharp", "wide"]


def bits(kind: ParityKind, heads: int, balance: bool = False) -> int:
    """How many bits the parity has that so many heads hide: m (diag), m/2 (dot), at most 2m - 1 (sharp, wide).

    With `balance` one of the heads makes C = 0. Raises `InputError` for an odd number of heads for dot.

    >>> bits("diag", 4), bits("dot", 4), bits("sharp", 4), bits("sharp", 4, balance=True)
    (4, 2, 7, 5)
    """
    if balance and kind in ("diag", "dot"):
        raise InputError(f"balance is for the gadgets sharp and wide, got {kind}")
    if kind == "dot" and heads % 2:
        raise InputError(f"heads must be even for the dot gadget (m = 2s), got {heads}")
    return {"diag": heads, "dot": heads // 2}.get(kind, 2 * (heads - balance) - 1)


def level_range(kind: ParityKind, weights: Sequence[int]) -> tuple[int, int]:
    """Smallest and largest level: [-R-, R+], and for dot [-R, R], R = Σ|w_j|.

    >>> level_range("diag", [0, 3, -2]), level_range("dot", [0, 3, -2])
    ((-2, 3), (-5, 5))
    """
    up, down = sum(w for w in weights if w > 0), sum(w for w in weights if w < 0)
    return (down - up, up - down) if kind == "dot" else (down, up)


def level_counts(kind: ParityKind, weights: Sequence[int]) -> tuple[int, list[int], int]:
    """Law of the level given z_0 != 0: (lowest level, counts, bits), P(lowest + i) = counts[i]/2^bits, exactly.

    A diag weight is a factor (1 + y^w)/2 of the generating function, a dot weight (1 + y^w)²/4 up to a shift.
    The product is taken with the polynomial packed into one big integer, a byte-aligned slot a coefficient
    (Kronecker substitution), so that a factor is one shift and one addition.

    >>> level_counts("dot", [0, 1])
    (-1, [1, 2, 1], 2)
    """
    factors = [abs(w) for w in weights if w for _ in range(2 if kind == "dot" else 1)]
    slot = 8 * (len(factors) // 8 + 1)
    packed = 1
    for w in factors:
        packed += packed << (w * slot)
    low, high = level_range(kind, weights)
    size = slot // 8
    data = packed.to_bytes((high - low + 1) * size, "little")
    counts = [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data), size)]
    return low, counts, len(factors)


def blocks_of(s: int, g: int) -> tuple[int, ...]:
    """Sizes of the blocks of a chain that grows by g coordinates at a time, the last one by what is left.

    >>> blocks_of(6, 2), blocks_of(5, 3), blocks_of(4, 4)
    ((2, 2, 2), (3, 2), (4,))
    """
    return (g,) * (s // g) + ((s % g,) if s % g else ())
