"""What is proved about a class of labels of my own?

Queries that are proved necessary at τ = 0.2, against the number n of signs: for majorities of three signs, whose labels
are alike, fewer than for parities of three, and the gap widens.
"""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np

import hardness


class Majorities(hardness.ListedConcepts):
    def __init__(self, n: int):
        self.n = n

    def secrets(self):
        return [{"support": np.array(S)} for S in combinations(range(self.n), 3)]

    def values(self, secret, v):
        return np.sign(v[:, secret["support"]].sum(axis=1))


sizes = [6, 7, 8, 9, 10]
for name, of in {"majorities": Majorities, "parities": lambda n: hardness.ParityConcepts(n, 3)}.items():
    games = [hardness.play(of(n), "sign-batch", tolerance=0.2, max_queries=500) for n in sizes]
    plt.plot(sizes, [game.bound for game in games], "o-", label=f"{name} of three signs")
plt.gca().set(xlabel="signs n", ylabel="queries proved necessary", xticks=sizes)
plt.legend()
plt.savefig("own_family.svg")
