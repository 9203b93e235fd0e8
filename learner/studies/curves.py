"""What the studies of fixed features share: a time on every trial, means with intervals, curves that show them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from math import exp
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from hardness.engine.outcome import Outcome
from hardness.engine.task import Task
from hardness.report.drawing import LINES, MARKERS, MUTED, RAMP, Drawing
from hardness.statistics.fit import MIN_POINTS, mean_half_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DUST = 1e-9  # numbers below this are recorded as 0
TINY = 1e-12  # relative errors below this are recorded as this


def timed(trial: Callable[[Task, int, float], Outcome]) -> Callable[[Task, int, float], Outcome]:
    """A trial whose outcome says how long it took, in seconds."""

    @wraps(trial)
    def run(task: Task, root: int, guard: float) -> Outcome:
        begin = perf_counter()
        outcome = trial(task, root, guard)
        return replace(outcome, seconds=perf_counter() - begin)

    return run


def measured(value: float, floor: float = 0.0) -> float:
    """`value` to six digits, and `floor` where it is below that: the rest is rounding, not the same bytes twice.

    >>> measured(0.12345678), measured(3.1e-30, 1e-24)
    (0.123457, 1e-24)
    """
    return float(f"{max(float(value), floor):.6g}")


def rounded(value: Any) -> Any:
    """JSON data with every number to six digits and 0 for what is below 1e-9: see `measured`.

    >>> rounded({"gap": [0.12345678, 3e-16], "rank": 7})
    {'gap': [0.123457, 0.0], 'rank': 7}
    """
    match value:
        case float():
            return float(f"{value:.6g}") if abs(value) >= DUST else 0.0
        case dict():
            return {key: rounded(item) for key, item in value.items()}
        case list():
            return [rounded(item) for item in value]
    return value


@dataclass(frozen=True)
class Mean:
    """A mean over `runs` runs and its 95 % interval by Student's t (None for fewer than three)."""

    value: float
    low: float | None
    high: float | None
    runs: int

    def side(self, x: float) -> int:
        """−1 if the interval lies below x, 1 if above, 0 if x is inside (or there is no interval)."""
        if self.low is None or self.high is None:
            return 0
        return int(self.low > x) - int(self.high < x)

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.value:.3g} ({self.runs} run{'s' * (self.runs > 1)})"
        return f"{self.value:.3g} [{self.low:.3g}, {self.high:.3g}]"


def share(values: Sequence[float]) -> Mean:
    """Mean of shares, with the part of its interval that lies in [0, 1].

    >>> print(share([1.0, 0.5, 0.6]))
    0.7 [0.0428, 1]
    """
    found = mean(values)
    if found.low is None or found.high is None:
        return found
    return replace(found, low=max(found.low, 0.0), high=min(found.high, 1.0))


def mean(values: Sequence[float], logarithmic: bool = False) -> Mean:
    """Mean of `values` and its 95 % interval; if `logarithmic` (then positive), of their logarithms, given back.

    >>> print(mean([1.0, 2.0, 3.0]), "or", mean([2.0, 4.0, 8.0], logarithmic=True))
    2 [-0.484, 4.48] or 4 [0.715, 22.4]
    >>> mean([999.0, 1000.0, 1001.0]).high > 1000, print(mean([2.0, 4.0]))
    3 (2 runs)
    (True, None)
    """
    x = np.log(values) if logarithmic else np.array(values, dtype=np.float64)
    back: Callable[[float], float] = exp if logarithmic else float
    centre = float(x.mean())
    if len(x) < MIN_POINTS:
        return Mean(back(centre), None, None, len(x))
    half = float(mean_half_width(x))
    high = min(centre + half, 700) if logarithmic else centre + half  # what exp can hold
    return Mean(back(centre), back(centre - half), back(high), len(x))


def spread(values: Sequence[float]) -> str:
    """The range of `values`, one number if they agree.

    >>> spread([288, 288]), spread([0.25, 0.5])
    ('288', '0.25 to 0.5')
    """
    low, high = (f"{value}" if isinstance(value, int) else f"{value:.2g}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def look(i: int) -> dict[str, Any]:
    """Colour, marker and line of the i-th curve: each tells it apart alone."""
    return {
        "color": RAMP[(2 * i) % len(RAMP)],
        "marker": MARKERS[i % len(MARKERS)],
        "linestyle": LINES[i % len(LINES)],
    }


def curve(
    drawing: Drawing, axes: "Axes", points: Mapping[float, Mean], name: str, style: Mapping[str, Any], what: str
) -> None:
    """Means against x with their intervals as bars, each point telling its numbers."""
    line = {key: value for key, value in style.items() if not key.startswith("marker")}
    mark = {key: value for key, value in style.items() if key != "linestyle"}
    axes.plot(list(points), [point.value for point in points.values()], **line)
    for x, point in points.items():
        if point.low is not None and point.high is not None:
            axes.plot([x, x], [point.low, point.high], color=style["color"], linewidth=1.1)
        drawing.point(axes, x, point.value, f"{name}, {what} {x:g}: {point}, {point.runs} runs", **mark)


def dots(axes: "Axes", x: float, values: Sequence[float]) -> None:
    """Single runs, where a mean alone would hide that they differ in kind."""
    axes.plot([x] * len(values), values, "o", color=MUTED, markersize=2.5)


def legend(drawing: Drawing, looks: Mapping[str, Mapping[str, Any]], columns: int = 4) -> None:
    """Names of looks above the figure."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], label=name, **style) for name, style in looks.items()]
    drawing.figure.legend(handles=handles, loc="outside upper center", ncols=columns, handlelength=3, columnspacing=1.6)
