"""How near to the proved floor does a strategy of my own come?

Queries over theorem B's floor, against the number of sets: one set after the other takes up to nine times as
many, and the lab's batches 1.3 to 1.5 times.
"""

import matplotlib.pyplot as plt

import hardness
from hardness.sq.queries import character


def one_by_one(concepts, live, tolerance, rng):
    for mask in live:
        yield character(int(mask))


sizes = [(8, 2), (12, 3), (12, 4), (16, 4), (20, 4)]
for strategy in (one_by_one, "sign-batch"):
    games = [hardness.play(hardness.ParityConcepts(n, s), strategy, tolerance=0.1) for n, s in sizes]
    name = getattr(strategy, "__name__", strategy)
    plt.loglog([game.concepts for game in games], [game.floor_ratio for game in games], "o-", label=name)
plt.gca().set(xlabel="N, sets that could be hidden", ylabel="queries over the proved floor", ylim=(1, 20))
plt.legend()
plt.savefig("own_strategy.svg")
