"""Numbers of headlines that stand in a formula or a setting, from rows and first principles: nothing of the lab."""

import re
from itertools import product

import numpy as np
import pytest
from committed import headline

SMALL = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


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
