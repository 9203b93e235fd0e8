"""Every number of four headlines, again from the rows: csv and arithmetic, nothing of the lab."""

import re
from collections import defaultdict
from math import exp, log, sqrt
from statistics import fmean

from committed import Row, headline, page, plain, rows
from scipy.stats import t


def grouped(table: list[Row], *names: str) -> dict[tuple[str, ...], list[Row]]:
    groups = defaultdict(list)
    for row in table:
        groups[tuple(row.get(name, "") for name in names)].append(row)
    return groups


def upper_end(values: list[float]) -> float:
    """The upper end of the 95 % interval of a mean, by Student's t."""
    centre = fmean(values)
    deviation = sqrt(sum((value - centre) ** 2 for value in values) / (len(values) - 1))
    return centre + float(t.ppf(0.975, len(values) - 1)) * deviation / sqrt(len(values))
