"""Listed classes of one's own: votes and products of signs, and a family whose class is listed."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

import hardness


@dataclass(frozen=True)
class Votes(hardness.ListedConcepts):
    """Signs of sums over `width` out of n signs (an odd number); of products, if `product`."""

    n: int
    width: int = 3
    product: bool = False
    label = "votes"

    def secrets(self):
        return [{"support": np.array(S)} for S in combinations(range(self.n), self.width)]

    def values(self, secret, v):
        chosen = v[:, secret["support"]]
        return chosen.prod(axis=1) if self.product else np.sign(chosen.sum(axis=1))


@dataclass(frozen=True)
class Hidden(hardness.Parity):
    """A parity whose class is listed."""

    hypothesis = "None."

    def concepts(self):
        return Votes(self.dim - 1, self.heads, product=True)
