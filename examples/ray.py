"""How does the cost grow with the heads, where the dimension grows along, d = 4m?

Against the number of heads: queries that are proved necessary, queries that strategies ask, and examples that a tuned
gradient learner reads, many more on hidden sets than on random layers.
"""

import matplotlib.pyplot as plt

import hardness

if __name__ == "__main__":
    table = hardness.ray(4, heads=[2, 3, 4], learner="diagonal")
    _, panels = plt.subplots(1, 2, figsize=(9, 4))
    for (unit, name, layer), line in table.groupby(["unit", "name", "layer"], sort=False):
        panel = panels[0 if unit == "queries" else 1]
        panel.semilogy(line.heads, line.cost, "o-", label=f"{name}, {layer}")
        panel.set(xlabel="heads m, d = 4m", ylabel=unit, xticks=[2, 3, 4])
        panel.legend(fontsize="small")
    plt.savefig("ray.svg")
