"""Which sizes of rounded inner products did attacks solve, by the rows of reports/lattices?

The largest number of coordinates that the attacks bkw and lattice solved, by modulus and number of levels.
"""

from pathlib import Path

import matplotlib.pyplot as plt

import hardness

rows = hardness.rows(Path(hardness.__file__).parents[1] / "reports" / "lattices")
solved = rows[rows["status"] == "solved"]
sizes = solved.groupby(["modulus", "levels", "attack"])["dim"].max() - 1
sizes.unstack().plot.bar(
    rot=0, xlabel="modulus q, levels p", ylabel="coordinates of the largest secret found"
)
plt.savefig("largest_sizes.svg")
