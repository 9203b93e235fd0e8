"""Runs and medians of `exponential-in-m` as data frames."""

from collections.abc import Sequence
from math import comb, log
from typing import TYPE_CHECKING

from hardness.engine.store import Row
from hardness.report import records
from learner.studies.exponential_in_m import laws
from learner.studies.exponential_in_m.arms import ARMS, HARD, OPTIONS
from learner.studies.exponential_in_m.laws import Cell

if TYPE_CHECKING:
    import pandas as pd


def runs_of(rows: Sequence[Row]) -> "pd.DataFrame":
    """The runs of `diagonal`, a line each: series, arm, s, d, whether it solved, examples, weights, setting."""
    import pandas as pd

    ended = records(rows, "solved", "budget", "wrong", "timeout", kind="diagonal")
    lines = [
        {
            "series": run["series"],
            "arm": run["arm"],
            "s": run["heads"],
            "d": run["dim"],
            "solved": run["status"] == "solved",
            "cap": run["samples"],
            "examples": run["cost"] if run["status"] == "solved" else run["samples"],
            "weights": run.get("weights"),
            "setting": tuple(run["params"][name] for name in OPTIONS),
        }
        for run in ended
    ]
    columns = ("series", "arm", "s", "d", "solved", "cap", "examples", "weights", "setting")
    return pd.DataFrame(lines, columns=columns)


def medians(runs: "pd.DataFrame") -> "pd.DataFrame":
    """The median examples of every arm and place, with order statistics around it.

    `sets` is N, `work` examples times weights. A run that did not solve counts as costlier than all that did; a
    median among such is censored.
    """
    import pandas as pd

    lines = []
    for (arm, s, d), group in runs.groupby(["arm", "s", "d"], sort=True):
        value, censored = laws.median(group["examples"].tolist(), group["solved"].tolist())
        low, high = order_statistics(group["examples"].tolist())
        lines.append(
            {
                "arm": arm,
                "s": int(s),
                "d": int(d),
                "sets": comb(int(d) - 1, int(s)),
                "median": value,
                "low": low,
                "high": high,
                "censored": censored,
                "solved": int(group["solved"].sum()),
                "runs": len(group),
                "weights": ARMS[arm].width * (int(d) + 1),
                "setting": group["setting"].iloc[0],
            }
        )
    columns = (
        "arm",
        "s",
        "d",
        "sets",
        "median",
        "low",
        "high",
        "censored",
        "solved",
        "runs",
        "weights",
        "setting",
    )
    table = pd.DataFrame(lines, columns=columns)
    table["work"] = table["median"] * table["weights"]
    return table


def order_statistics(costs: Sequence[float]) -> tuple[float, float]:
    """Order statistics around the median, of 95 % at least; the range of fewer than six runs.

    >>> order_statistics([5, 1, 3]), order_statistics(range(10))
    ((1, 5), (1, 8))
    """
    from scipy.stats import binom

    ranked = sorted(costs)
    out = max(0, int(binom.ppf(0.025, len(ranked), 0.5)) - 1)
    return ranked[out], ranked[-1 - out]


def law_cells(table: "pd.DataFrame") -> list[Cell]:
    """Cells as the laws take them."""
    return [Cell((row.s, row.d), log(row.median), bool(row.censored)) for row in table.itertuples()]


def of_arm(cells: "pd.DataFrame", arm: str = HARD) -> "pd.DataFrame":
    """The medians of one arm."""
    return cells[cells["arm"] == arm]


def on_ray(cells: "pd.DataFrame", ray: int) -> "pd.DataFrame":
    """Those of them on the ray d = `ray` m, by m."""
    return cells[cells["d"] == ray * cells["s"]].sort_values("s")


def shown(value: float, censored: bool) -> str:
    """A median as a cell of a table; a bound begins with a sign."""
    return f"{'> ' * bool(censored)}{value:,.0f}"


def dense_runs(rows: Sequence[Row]) -> "pd.DataFrame":
    """The runs of the dense student on parities under the second plan: s, d, whether it solved, examples."""
    import pandas as pd

    lines = [
        (
            run["heads"],
            run["dim"],
            run["status"] == "solved",
            run["cost" if run["status"] == "solved" else "samples"],
        )
        for run in records(rows, "solved", "budget", kind="learner", series="plan2")
        if run["family"] == "parity"
    ]
    return pd.DataFrame(lines, columns=["s", "d", "solved", "examples"])


def eliminated(rows: Sequence[Row]) -> dict[laws.Place, float]:
    """The median examples of Gaussian elimination."""
    import pandas as pd

    ended = records(rows, "solved", kind="elimination")
    runs = pd.DataFrame([(r["heads"], r["dim"], r["cost"]) for r in ended], columns=["s", "d", "cost"])
    return {
        (int(s), int(d)): float(cost) for (s, d), cost in runs.groupby(["s", "d"])["cost"].median().items()
    }
