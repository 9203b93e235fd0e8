"""Which sizes of rounded inner products did attacks solve, by the rows of the lab?

The largest number of coordinates that the attacks bkw and lattice solved, by modulus and number of levels: the table
of README, from the rows.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas

import hardness

rows = pandas.read_csv(Path(hardness.__file__).parents[1] / "reports" / "lattices" / "rows.csv")
solved = rows[(rows["status"] == "solved") & rows["params.heads"].isna()]
sizes = solved.groupby(["params.modulus", "params.levels", "solver.attack"])["params.dim"].max() - 1
sizes.unstack().plot.bar(
    rot=0, xlabel="modulus q, levels p", ylabel="coordinates of the largest secret found"
)
plt.savefig("readme_number.svg")
