"""What the rows of `random-features` say: test errors against examples and against heads, and paired differences."""

from collections.abc import Iterable, Mapping, Sequence

from hardness.engine.outcome import Row
from hardness.report import Axis, Content, Curves, Panel, Point, Series, grouped, line, mean_points, records
from hardness.statistics.means import Mean, mean
from learner.studies import random_features as grid

Errors = dict[tuple[str, str, int | None], dict[int, dict[int, float]]]  # by target, model, heads: examples, repetition
INFINITE = 16_000  # where infinitely many heads are drawn
ERROR = Axis("test error / variance", low=0.0)
CONSTANT = "predicting the mean"


def content(rows: Sequence[Row]) -> Content:
    """Numbers and figures of the rows."""
    found = errors(rows)
    figures = [_curves(found), _heads(found)]
    ours, theirs = (found.get(("f2", name, grid.HEADS), {}) for name in ("RFA", grid.RIVAL))
    if not ours.keys() & theirs.keys():
        return Content(figures=figures, missing="Attention and network have not both been run on f2.")
    last = max(ours.keys() & theirs.keys())
    one, other = (mean([*own[last].values()]) for own in (ours, theirs))
    gaps = {name: difference(found, name, grid.BIASED, "RFA") for name in grid.TARGETS}
    numbers = {
        "examples": last, "attention": one.value, "network": other.value, "both": f"{one} and {other}",
        "better": {name: runs for name, gap in gaps.items() if (runs := stretches(gap, -1))},
        "worse": {name: runs for name, gap in gaps.items() if (runs := stretches(gap, 1))},
    }  # fmt: skip
    return Content(numbers, figures, grid=grid)


def errors(rows: Iterable[Row]) -> Errors:
    """Test errors of every target, model and number of heads, by the number of examples and the repetition."""
    cells = grouped(records(rows, "solved"), "model", "heads")
    return {
        (name, *cell): {n: {run["repetition"]: run["error"][name] for run in some}
                        for n, some in sorted(grouped(runs, "samples").items())}
        for cell, runs in cells.items() for name in runs[0]["error"]
    }  # fmt: skip


def difference(found: Errors, name: str, one: str, other: str) -> dict[int, Mean]:
    """Error of `one` minus that of `other` on target `name`, paired: both saw the same examples."""
    a, b = (found.get((name, who, grid.HEADS), {}) for who in (one, other))
    both = {n: [a[n][r] - b[n][r] for r in a[n] if r in b[n]] for n in a if n in b}
    return {n: mean(values) for n, values in both.items() if values}


def stretches(gap: Mapping[int, Mean], side: int) -> str:
    """Numbers of examples at which the interval lies on a side of 0, neighbours among those tried drawn together.

    >>> low, high = Mean(-1.0, -2.0, -0.5, 5), Mean(0.1, -1.0, 1.0, 5)
    >>> stretches({64: low, 128: low, 256: low, 512: high, 1024: low}, -1)
    '64–256 and 1024'
    """
    parts: list[list[int]] = [[]]
    for n, found in gap.items():
        if found.side(0.0) == side:
            parts[-1].append(n)
        elif parts[-1]:
            parts.append([])
    return " and ".join(f"{part[0]}–{part[-1]}" if len(part) > 1 else f"{part[0]}" for part in parts if part)


def _points(found: Mapping[int, Mapping[int, float]]) -> list[Point]:
    return mean_points((x, mean([*runs.values()])) for x, runs in found.items())


def _curves(found: Errors) -> Curves:
    """Error against examples, a panel for each target."""
    panels = []
    for name in (name for name in grid.TARGETS if any(key[0] == name for key in found)):
        series = [Series(who, _points(found[name, who, grid.HEADS]), style=i)
                  for i, who in enumerate(grid.MODELS) if (name, who, grid.HEADS) in found]  # fmt: skip
        power = {"1": "", "2": "²", "3": "³", "4": "⁴"}[name[1]]
        formula = f"⟨b, xᵢ⟩{power}" if name[0] == "f" else f"⟨x₀, xᵢ⟩{power}⟨b, xᵢ⟩"
        panels.append(Panel(f"{name}: {formula}", [*series, line(CONSTANT, [(64, 1), (4096, 1)], "law")]))
    ticks = (64, 256, 1024, 4096)
    return Curves("errors", panels, Axis("examples n", log=True, ticks=ticks, names=[*map(str, ticks)]), ERROR)


def _heads(found: Errors) -> Curves:
    """Error against the number of heads; that of infinitely many is a point of its own."""
    panels = []
    for name in grid.SIZED if found else ():
        series = []
        for who, style in (("RFA", 0), (grid.BIASED, 2)):
            own = {heads or INFINITE: cells[grid.AT] for (target, model, heads), cells in found.items()
                   if (target, model) == (name, who) and grid.AT in cells}  # fmt: skip
            limit = {INFINITE: own.pop(INFINITE)} if INFINITE in own else {}
            series += [Series(who, _points(dict(sorted(each.items()))), style=style) for each in (own, limit) if each]
        panels.append(Panel(name, [*series, line(CONSTANT, [(62, 1), (INFINITE, 1)], "law")]))
    ticks = (62, 250, 1000, 4000, INFINITE)
    return Curves("heads", panels, Axis("heads M", log=True, ticks=ticks, names=[*map(str, ticks[:-1]), "∞"]), ERROR)
