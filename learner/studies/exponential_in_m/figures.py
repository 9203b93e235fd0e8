"""The figures of `exponential-in-m`."""

from collections.abc import Callable, Mapping, Sequence
from math import comb, exp, floor, log
from typing import TYPE_CHECKING, Any

from hardness.engine.store import Row
from hardness.report import Axis, Curves, Panel, Point, Series, line, records
from learner.studies.exponential_in_m import laws
from learner.studies.exponential_in_m.arms import CONTROLS, HARD, WIDE
from learner.studies.exponential_in_m.cells import LINES, RAYS
from learner.studies.exponential_in_m.frames import dense_runs, of_arm, on_ray, order_statistics, shown

if TYPE_CHECKING:
    import pandas as pd

ALONG = (HARD, *CONTROLS)
LOOKUP = 4.6  # examples a cell of a lookup table until its error is .1: half of all rows inform, 2.3 = ln 10
BESIDE: dict[str, Callable[[int, int], float]] = {
    "C(d−1, m−1)": lambda s, d: float(comb(d - 1, s - 1)),
    "lookup table": lambda s, d: LOOKUP * 2.0 ** (d - 1),
}
ONE_BIT = 2 * (1 - 0.1**0.5) ** 2  # examples a set, proved for P = .9: half of all inform, N large
DENSE = (14, 16)  # dimensions at which the dense student is shown


def _points(part: "pd.DataFrame", x: str, y: str = "median") -> list[Point]:
    points = []
    for row in part.sort_values(x).to_dict("records"):
        scale = row[y] / row["median"]
        middle = shown(row["median"], row["censored"])
        ended = f"{row['solved']} of {row['runs']} solved"
        tip = f"s = {row['s']}, d = {row['d']}: {middle} examples ({ended})"
        points.append(
            Point(
                row[x],
                row[y],
                row["low"] * scale,
                row["high"] * scale,
                "above" if row["censored"] else "",
                row["solved"] < row["runs"],
                tip,
            )
        )
    return points


def costs(cells: "pd.DataFrame", eliminated: Mapping[laws.Place, float]) -> Curves:
    """Examples against m along the rays, and what else grows there."""
    panels = []
    for ray, sizes in RAYS.items():
        parts = [(arm, on_ray(of_arm(cells, arm), ray)) for arm in ALONG]
        series = [
            Series(
                "hidden parity of m bits" if arm == HARD else arm,
                _points(part, "s"),
                style=i,
                dashed=arm != HARD,
            )
            for i, (arm, part) in enumerate(parts)
            if len(part)
        ]
        if not series:
            continue
        shown = sorted({int(s) for _, part in parts for s in part["s"]})
        top = 30 * max(point.y for each in series for point in each.points)
        for i, (label, law) in enumerate(BESIDE.items()):
            drawn = [(float(s), law(s, ray * s)) for s in shown if law(s, ray * s) <= top]
            series.append(line(label, drawn, "law", style=4 + i))
        bound = [(float(s), ONE_BIT * comb(ray * s - 1, s)) for s in shown]
        series.append(
            line(f"{floor(100 * ONE_BIT) / 100} N, proved of one-bit learners", bound, "lower bound")
        )
        known = [(float(s), eliminated[s, ray * s]) for s in shown if (s, ray * s) in eliminated]
        series += [line("Gaussian elimination", known, "law", style=7)] if known else []
        panels.append(Panel(f"d = {ray}m", series, x=Axis("heads m", ticks=list(sizes))))
    return Curves(
        "costs", panels, Axis("heads m"), Axis("median examples until error .1", log=True), height=4.0
    )


def weights(cells: "pd.DataFrame") -> Curves:
    """Examples x weights against N."""
    series = []
    hard = of_arm(cells)
    for i, (ray, label) in enumerate((*((ray, f"d = {ray}m") for ray in RAYS), (0, "other d"))):
        on_ray = hard["d"].isin([]) if hard.empty else hard["d"] == ray * hard["s"]
        if not ray:
            on_ray = ~(hard["d"] % hard["s"]).eq(0) | ~(hard["d"] // hard["s"]).isin(list(RAYS))
        part = hard[on_ray]
        series += [Series(label, _points(part, "sets", "work"), join=False, style=i)] if len(part) else []
    wide = of_arm(cells, WIDE)
    series += [Series("64 heads", _points(wide, "sets", "work"), join=False, style=5)] if len(wide) else []
    if len(hard) > 2:
        known = hard[~hard["censored"].astype(bool)]
        ratio = float((known["work"] / known["sets"]).median())
        ends = (float(hard["sets"].min()), float(hard["sets"].max()))
        series.append(line(f"{ratio:,.0f} N", [(x, ratio * x) for x in ends], "law", style=6))
    panels = [Panel("", series)] if series else []
    return Curves(
        "weights",
        panels,
        Axis("N, sets that could be hidden", log=True),
        Axis("examples × weights", log=True),
        height=4.0,
    )


def at_fixed_size(cells: "pd.DataFrame") -> Curves:
    """Examples against d at fixed s, with lines of slope s - 1."""
    series = []
    for i, s in enumerate(LINES):
        part = of_arm(cells)[of_arm(cells)["s"] == s]
        if len(part) < 3:
            continue
        series.append(Series(f"s = {s}", _points(part, "d"), join=False, style=i))
        far = part[(part["d"] >= 4 * s) & ~part["censored"].astype(bool)]
        if len(far) > 1:
            level = float((far["median"].map(log) - (s - 1) * far["d"].map(log)).mean())
            ends = (float(far["d"].min()), float(far["d"].max()))
            series.append(
                line(f"slope {s - 1}", [(d, exp(level) * d ** (s - 1)) for d in ends], "law", style=i)
            )
    panels = [Panel("", series)] if series else []
    return Curves(
        "lines",
        panels,
        Axis("d", log=True, ticks=(8, 16, 32, 64, 128)),
        Axis("examples", log=True),
        height=4.0,
    )


def panel(lines: Sequence[Mapping[str, Any]]) -> Curves:
    """Examples x weights of other learners over those of `diagonal`."""
    names = list(dict.fromkeys(each["learner"] for each in lines))
    series = []
    for i, (s, d) in enumerate(sorted({(each["s"], each["d"]) for each in lines})):
        at = [each for each in lines if (each["s"], each["d"]) == (s, d)]
        points = [
            Point(names.index(each["learner"]), each["ratio"], censored="above" if each["censored"] else "")
            for each in at
        ]
        series.append(Series(f"s = {s}, d = {d}", points, join=False, style=i))
    panels = [Panel("", [*series, line("diagonal", [(-0.5, 1.0), (len(names) - 0.5, 1.0)], "law", style=4)])]
    axis = Axis("", ticks=range(len(names)), names=[name.replace(" ", "\n") for name in names])
    return Curves(
        "panel", panels if names else [], axis, Axis("examples × weights, ratio", log=True), height=3.6
    )


def gap(rows: Sequence[Row]) -> Curves:
    """The error along one run, and n_1 of its weights."""
    runs = [run for run in records(rows, kind="diagonal", series="gap") if run.get("gaps")]
    if not runs:
        return Curves("gap", [], Axis("examples"), Axis(""))
    points = runs[0]["gaps"]
    error = line("mean squared error", [(n, e) for n, e, _ in points if e is not None], style=0)
    gaps = line("n₁", [(n, g) for n, _, g in points], style=1)
    panels = [
        Panel("error", [error], y=Axis("error")),
        Panel("n₁ of the best head", [gaps], y=Axis("examples", log=True)),
    ]
    return Curves("gap", panels, Axis("examples", log=True), Axis(""), columns=2)


def dense(rows: Sequence[Row]) -> Curves:
    """The dense student's cost at fixed d, from the rows of the second plan, and N there."""
    runs = dense_runs(rows)
    series = []
    for i, d in enumerate(DENSE):
        points, sets = [], []
        for s, group in runs[runs["d"] == d].groupby("s"):
            value, censored = laws.median(group["examples"].tolist(), group["solved"].tolist())
            low, high = order_statistics(group["examples"].tolist())
            points.append(Point(s, value, low, high, "above" if censored else "", not group["solved"].all()))
            sets.append((float(s), float(comb(d - 1, int(s)))))
        if points:
            series.append(Series(f"dense student, d = {d}", points, style=i))
            series.append(line(f"N at d = {d}", sets, style=i, dashed=True))
    panels = [Panel("", series)] if series else []
    return Curves("dense", panels, Axis("s", ticks=(2, 3, 4, 5, 6)), Axis("examples", log=True), height=3.0)
