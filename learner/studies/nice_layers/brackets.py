"""From how many examples on a learner learns the layers of a cell, of the numbers that were tried."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Bracket:
    """Numbers of examples: the largest up to which no layer is learned, and the least from which on all are.

    None where no number that was tried is one; between `smallest_tried` and `largest_tried`. Nothing is interpolated.
    """

    none: int | None
    all: int | None
    smallest_tried: int
    largest_tried: int

    def __str__(self) -> str:
        if self.none is None:
            if self.all is None:
                return f"mixed up to {self.largest_tried:,}"
            at_once = self.all == self.smallest_tried
            return (
                f"at most {self.all:,}"
                if at_once
                else f"some at {self.smallest_tried:,}, all from {self.all:,}"
            )
        if self.none == self.largest_tried:
            return f"more than {self.largest_tried:,}"
        return (
            f"{self.none:,} to {self.all:,}"
            if self.all
            else f"{self.none:,} to more than {self.largest_tried:,}"
        )


def bracket(learned: Mapping[int, Sequence[bool]]) -> Bracket:
    """The bracket of which layers are learned at which number of examples.

    >>> print(bracket({154: [False, False], 192: [True, True], 256: [True, True]}))
    154 to 192
    >>> print(bracket({100: [True, False], 200: [True, True]}), bracket({100: [True], 200: [True]}), sep="; ")
    some at 100, all from 200; at most 100
    """
    some = [count for count, layers in learned.items() if any(layers)]
    missed = [count for count, layers in learned.items() if not all(layers)]
    none = max((count for count in learned if count < min(some, default=count + 1)), default=None)
    every = min((count for count in learned if count > max(missed, default=count - 1)), default=None)
    return Bracket(none, every, min(learned), max(learned))
