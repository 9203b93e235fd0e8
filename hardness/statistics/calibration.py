"""How often each word of the verdict comes up on costs of known growth, at the grid, noise, runs and cap of a study."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hardness.statistics.cells import Draws, Floats, Integers, draws, ranked
from hardness.statistics.fit import estimates
from hardness.statistics.models import log_binomial
from hardness.statistics.verdict import GROWS, WORDS, Growth, words

SETS = 400
REPLICATES = 100  # of the bootstrap of each simulated data set
SEED = 0

Law = Callable[[Integers, Integers], Floats]  # log cost at d and m


def product(a: int, b: int) -> Law:
    """d^a m^b."""
    return lambda d, m: a * np.log(d) + b * np.log(m)


def binomial(kappa: float) -> Law:
    """C(d-1, m)^kappa."""
    return lambda d, m: kappa * log_binomial(d, m)


RAISED = "⁰¹²³⁴⁵⁶"
PRODUCTS: dict[str, Law] = {f"d{RAISED[a]}·m{RAISED[b]}": product(a, b) for a in range(1, 5) for b in range(7)}
CROSSOVERS: dict[str, Law] = {
    "100 d + (m/4)¹²·d⁴/64": lambda d, m: np.log(100 * d + (m / 4.0) ** 12 * d**4.0 / 64),
    "10⁴·d + m⁶·d³/16": lambda d, m: np.log(1e4 * d + m**6.0 * d**3.0 / 16),
    "1 + (d·m/40)²": lambda d, m: np.log(1 + (d * m / 40.0) ** 2),
    "1 + (d·m/40)³": lambda d, m: np.log(1 + (d * m / 40.0) ** 3),
}
OTHERS: dict[str, Law] = {
    "d²·m³, threefold at odd m": lambda d, m: 2 * np.log(d) + 3 * np.log(m) + np.log(3) * (m % 2),
    "d⁹·m²/(d⁸ + 16⁸)": lambda d, m: 9 * np.log(d) + 2 * np.log(m) - np.log(d**8.0 + 16.0**8),
    "(d + d⁴/2000)·2^m": lambda d, m: np.log(d + d**4.0 / 2000) + m * np.log(2),
}
GROWING: dict[str, Law] = {"C(d−1, m)^0.5": binomial(0.5), "C(d−1, m)": binomial(1.0)}
KINDS = {
    "product law": PRODUCTS,
    "other f(d) g(m)": OTHERS,
    "sum with a crossover": CROSSOVERS,
    "growth with N": GROWING,
}


@dataclass(frozen=True)
class Frequency:
    """Of `sets` data sets drawn from the truth `name`: the share of each word, in the order of `WORDS`."""

    kind: str
    name: str
    shares: tuple[float, ...]
    sets: int

    def of(self, word: str) -> float:
        """The share of a word."""
        return self.shares[WORDS.index(word)]


def calibration(
    found: Growth, sets: int = SETS, kinds: Sequence[str] = tuple(KINDS), seed: int = SEED
) -> list[Frequency]:
    """The table for a study: `sets` data sets of every truth, judged by the rule of `verdict`.

    Grid, runs and caps are those of the cells; a truth is scaled to their mean log cost. Every cell gets a normal
    random effect of standard deviation `found.omega`, and its runs a normal spread `found.sigma`. Empty where there is
    no verdict. Deterministic in the seed.
    """
    if found.refusal:
        return []
    truths = [(kind, name, law) for kind in kinds for name, law in KINDS[kind].items()]
    table = []
    for index, (kind, name, law) in enumerate(truths):
        data = simulated(found, law, sets, np.random.default_rng([seed, index]))
        place = words(estimates(data, replicates=0))
        grows = place == WORDS.index(GROWS)
        if grows.any():  # the bootstrap only ever lowers the lower limit of kappa: nothing else can change
            place[grows] = words(estimates(data.sets(grows), REPLICATES))
        table.append(Frequency(kind, name, tuple(float(np.mean(place == i)) for i in range(len(WORDS))), sets))
    return table


def lines(table: Sequence[Frequency]) -> list[dict[str, str]]:
    """The table as a page shows it: per cent of the data sets in which each word came up."""
    return [
        {"kind": row.kind, "true cost": row.name, **{word: f"{100 * row.of(word):.1f} %" for word in WORDS}}
        for row in table
    ]


def simulated(found: Growth, law: Law, sets: int, rng: np.random.Generator) -> Draws:
    """Data sets of a law on the cells of a study, with its noise."""
    real = draws(found.cells)
    y, censored = real.medians()
    shape = law(real.d, real.m)
    centre = shape + (y[0] - shape)[~censored[0]].mean()
    runs = []
    for cell, mean in zip(found.cells, centre, strict=True):
        effect = found.omega * rng.standard_normal((sets, 1))
        logs = mean + effect + found.sigma * rng.standard_normal((sets, len(cell.cost)))
        runs.append(ranked(np.minimum(logs, np.log(cell.cap)), logs < np.log(cell.cap)))
    return Draws(real.d, real.m, tuple(x for x, _ in runs), tuple(lost for _, lost in runs))
