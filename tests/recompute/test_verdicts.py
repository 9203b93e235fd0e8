"""Numbers of headlines that stand in a formula or a setting, from rows and first principles: nothing of the lab."""

import re
from itertools import product
from math import ceil

import numpy as np
import pytest
from committed import headline, rows

WIDTHS = {"16": "sixteen"}
SMALL = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def test_what_the_prices_of_queries_are() -> None:
    """q queries of tolerance τ are counted as q times a power of 1/τ, or as the larger of q and such a power."""
    fresh, sample, paid, larger = re.findall(
        r"with q/τ(.) at least [\d,]+ and max\(q, 1/τ(.)\) at least .* reached ([\d,]+) and ([\d,]+)\.",
        headline("needs"),
    )[0]
    won = rows("needs", family="parity", solver_kind="frontier", status="solved")
    largest = max((int(row["params.dim"]), int(row["params.heads"])) for row in won)
    games = [
        (int(row["cost"]), float(row["solver.tolerance"]))
        for row in won
        if (int(row["params.dim"]), int(row["params.heads"])) == largest
    ]
    assert paid == f"{ceil(min(q / tau ** int(fresh.translate(SMALL)) for q, tau in games)):,}"
    assert larger == f"{ceil(min(max(q, tau ** -int(sample.translate(SMALL))) for q, tau in games)):,}"


@pytest.mark.parametrize(("s", "mu"), [(2, 0.3), (3, 0.5), (4, 0.8)])
def test_from_which_bias_on_one_query_a_coordinate_is_enough(s: int, mu: float) -> None:
    """Half of all gates are open; the means of y v_j at members and at others must lie more than 2τ apart."""
    less, one, power, times = re.findall(r"μ\^\(s−(\d)\)\((\d)−μ(.)\) > (\d)τ", headline("switches"))[0]
    v = np.array(list(product((1, -1), repeat=s + 1)))
    chance = np.where(v == 1, (1 + mu) / 2, (1 - mu) / 2).prod(axis=1)
    labels = v[:, :s].prod(axis=1) / 2  # and none where the gate is closed
    member, other = (float(np.sum(chance * labels * v[:, j])) for j in (0, s))
    tau = (member - other) / 2  # from here on the two are no longer told apart
    left = mu ** (s - int(less)) * (int(one) - mu ** int(power.translate(SMALL)))
    assert left == pytest.approx(int(times) * tau)
