"""How many queries must a strategy ask, the more heads there are, at two tolerances?

Queries of sign batches against the number of heads along d = 4m, each above the proved floor of its tolerance: all rise
with the number of sets, and half the tolerance takes a fourth of the queries.
"""

import matplotlib.pyplot as plt

import hardness

heads = [2, 3, 4, 5, 6]
for tolerance, colour in ((0.1, "tab:blue"), (0.05, "tab:red")):
    games = [hardness.play(hardness.Parity(4 * m, m), "sign-batch", tolerance=tolerance) for m in heads]
    plt.semilogy(
        heads, [game.queries for game in games], "o-", color=colour, label=f"asked at τ = {tolerance}"
    )
    floors = [game.exact_floor for game in games]
    plt.semilogy(heads, floors, "--", color=colour, label=f"proved at τ = {tolerance}")
plt.gca().set(xlabel="heads m, d = 4m", ylabel="statistical queries", xticks=heads)
plt.legend()
plt.savefig("two_tolerances.svg")
