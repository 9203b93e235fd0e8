"""How well attacks foresaw what they take: what the pages that judge forecasts share."""

from collections.abc import Sequence
from math import log2

FLOOR = 2.0  # seconds below which no prediction is judged
CLOSE = 3.0  # bits


def agreement(lines: Sequence[tuple[float, float, str]]) -> str:
    """How many predictions came close, of (predicted, measured, name) in log2 of seconds, neither below `FLOOR`: those
    with both there are counted apart, and every other that is off is named.

    >>> agreement([(1.0, 5.5, "two"), (4.0, 6.0, "three")])
    'Of predictions of seconds above 2 s, 1 of 2 lie within 3 bits of what was measured; not: two +4.5.'
    >>> agreement([(1.0, 1.0, "one"), (2.0, 1.0, "two")]).rpartition("measured. ")[2]
    '1 more was to take at most 2 s and did, which judges nothing.'
    """
    above = [(after - before, name) for before, after, name in lines if max(before, after) > log2(FLOOR)]
    off = ", ".join(f"{name} {bits:+.1f}" for bits, name in above if abs(bits) > CLOSE)
    close, rest = sum(abs(bits) <= CLOSE for bits, _ in above), len(lines) - len(above)
    return (
        f"Of predictions of seconds above {FLOOR:g} s, {close} of {len(above)} lie within {CLOSE:g} bits of what was "
        f"measured{f'; not: {off}' if off else ''}."
        + (f" {rest} more {'were' if rest > 1 else 'was'} to take at most {FLOOR:g} s and did, which judges nothing."
           if rest else "")
    )  # fmt: skip
