"""Runs and medians of `exponential-in-m` as data frames."""

from collections.abc import Iterable, Sequence
from math import ceil, comb, floor, isnan, log
from typing import TYPE_CHECKING, Any

from hardness.engine.store import Row
from hardness.report import frame
from learner.studies.exponential_in_m import laws, settings
from learner.studies.exponential_in_m.arms import ARMS, HARD, OPTIONS, Problem
from learner.studies.exponential_in_m.laws import LogMedian

if TYPE_CHECKING:
    import pandas as pd

PLACE = ["s", "d"]
# Of tables without lines too, which are merged
TYPES = {"s": int, "d": int, "arm": object, "learner": object}
OF_TASKS = ["family", "heads", "dim", "series", "arm", "learner", "params", "start", "samples"]
OF_OUTCOMES = ["status", "cost", "weights", "n_1"]
SUMMARY = ["median", "low", "high", "censored", "solved", "runs"]


def ended(rows: Sequence[Row], *statuses: str, **solver: str) -> "pd.DataFrame":
    """A line per trial that ended as one of `statuses`: s, d, whether it solved, examples, and what its task says.

    A run that did not solve counts with the cap at which it ended.
    """
    table = frame(rows, *statuses, **solver).reindex(columns=[*OF_TASKS, *OF_OUTCOMES])
    solved = table["status"] == "solved"
    table = table.assign(solved=solved, examples=table["cost"].where(solved, table["samples"]))
    return table.rename(columns={"heads": "s", "dim": "d", "samples": "cap"}).astype(TYPES)


def runs_of(rows: Sequence[Row]) -> "pd.DataFrame":
    """The runs of `diagonal`, a line each: series, arm, s, d, whether it solved, cap, examples, weights, setting."""
    runs = ended(rows, "solved", "budget", "wrong", "timeout", kind="diagonal")
    runs = runs.assign(setting=[tuple(params[name] for name in OPTIONS) for params in runs["params"]])
    return runs[["series", "arm", "s", "d", "solved", "cap", "examples", "weights", "setting"]]


def dense_runs(rows: Sequence[Row]) -> "pd.DataFrame":
    """The runs of the dense student on parities under the second plan: s, d, whether it solved, examples."""
    runs = ended(rows, "solved", "budget", kind="learner", series="plan2")
    return runs[runs["family"] == "parity"][["s", "d", "solved", "examples"]]


def summarised(runs: "pd.DataFrame", *keys: str) -> "pd.DataFrame":
    """A line per value of `keys`: the median examples, whether it is censored, and order statistics around it.

    A run that did not solve counts as costlier than all that did; a median among such is censored. `shown` is the
    median in words, and `share` how many of the runs solved.
    """
    import pandas as pd

    lines = [(*key, *_summary(group)) for key, group in runs.groupby([*keys], sort=True)]
    table = pd.DataFrame(lines, columns=[*keys, *SUMMARY]).astype({key: TYPES[key] for key in keys})
    return table.assign(
        shown=[shown(*cell) for cell in zip(table["median"], table["censored"], strict=True)],
        share=[f"{solved} of {total}" for solved, total in zip(table["solved"], table["runs"], strict=True)],
    )


def _summary(group: "pd.DataFrame") -> tuple[Any, ...]:
    """The values of `SUMMARY` for the runs of a cell."""
    costs, solved = group["examples"].tolist(), group["solved"].tolist()
    median, censored = laws.median(costs, solved)
    return median, *order_statistics(costs), censored, sum(solved), len(group)


def medians(runs: "pd.DataFrame") -> "pd.DataFrame":
    """The median examples of every arm and place as of `summarised`, with the first setting of its runs.

    `sets` is N, `work` examples times weights.
    """
    cell = ["arm", *PLACE]
    first = runs.drop_duplicates(cell)[[*cell, "setting"]]
    table = summarised(runs, *cell).merge(first, on=cell)
    weights = [ARMS[arm].width * (d + 1) for arm, d in zip(table["arm"], table["d"], strict=True)]
    sets = [comb(d - 1, s) for s, d in zip(table["s"], table["d"], strict=True)]
    return table.assign(sets=sets, weights=weights, work=table["median"] * weights)


def order_statistics(costs: Sequence[float]) -> tuple[float, float]:
    """Order statistics around the median, of 95 % at least; the range of fewer than six runs.

    >>> order_statistics([5, 1, 3]), order_statistics(range(10))
    ((1, 5), (1, 8))
    """
    from scipy.stats import binom

    ranked = sorted(costs)
    out = max(0, int(binom.ppf(0.025, len(ranked), 0.5)) - 1)
    return ranked[out], ranked[-1 - out]


def law_cells(table: "pd.DataFrame") -> list[LogMedian]:
    """Cells as the laws take them."""
    return [LogMedian((row.s, row.d), log(row.median), bool(row.censored)) for row in table.itertuples()]


def of_arm(cells: "pd.DataFrame", arm: str = HARD) -> "pd.DataFrame":
    """The medians of one arm."""
    return cells[cells["arm"] == arm]


def on_ray(cells: "pd.DataFrame", ray: int) -> "pd.DataFrame":
    """Those of them on the ray d = `ray` m, by m."""
    return cells[cells["d"] == ray * cells["s"]].sort_values("s")


def far_cells(cells: "pd.DataFrame") -> "pd.DataFrame":
    """Those of them with few bits in many dimensions, without those where the wait for the first step counts."""
    return cells[(cells["d"] >= 4 * cells["s"]) & (cells["sets"] > settings.FITTED_N[0])]


def tuned_cells(cells: "pd.DataFrame") -> "pd.DataFrame":
    """Those of them that were tuned themselves."""
    tuned = settings.rows()
    problems = map(Problem, cells["arm"], cells["d"], cells["s"])
    return cells[[problem in tuned for problem in problems]]


def work_a_set(hard: "pd.DataFrame") -> float:
    """The median of examples x weights over N, of the cells whose medians are known."""
    exact = hard[~hard["censored"].astype(bool)]
    return float((exact["work"] / exact["sets"]).median())


def shown(value: float, censored: bool) -> str:
    """A median as a cell of a table; a bound begins with a sign, and is rounded down."""
    return f"> {floor(value):,}" if censored else f"{value:,.0f}"


def around(cells: "pd.DataFrame") -> list[str]:
    """The order statistics around the medians, as cells of a table."""
    return [f"{low:,.0f}–{high:,.0f}" for low, high in zip(cells["low"], cells["high"], strict=True)]


def ratios_shown(ratios: Iterable[float], above: Iterable[bool], below: Iterable[bool]) -> list[str]:
    """Ratios as cells of a table: a bound where one of the two medians is censored, nothing where both are.

    >>> ratios_shown([2.345, 2.345, 2.345], [False, True, False], [False, False, True])
    ['2.35', '> 2.34', '< 2.35']
    """
    return [_ratio_shown(*line) for line in zip(ratios, above, below, strict=True)]


def _ratio_shown(ratio: float, above: bool, below: bool) -> str:
    if isnan(ratio) or (above and below):
        return ""
    hundredths = floor(100 * ratio) if above else ceil(100 * ratio) if below else 100 * ratio
    return f"{'> ' * above}{'< ' * below}{hundredths / 100:,.2f}"


def eliminated(rows: Sequence[Row]) -> dict[laws.Place, float]:
    """The median examples of Gaussian elimination."""
    costs = ended(rows, "solved", kind="elimination").groupby(PLACE)["examples"].median()
    return {(int(s), int(d)): float(cost) for (s, d), cost in costs.items()}
