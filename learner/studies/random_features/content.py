"""What the rows of `random-features` say: test errors against examples and against heads, and paired differences."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hardness.engine.outcome import Row
from hardness.report import Axis, Content, Curves, Panel, Point, Series, frame, mean_points
from hardness.statistics.means import Mean, mean, spread
from learner.studies import random_features as grid

if TYPE_CHECKING:
    from pandas import DataFrame

INFINITE = 16_000  # where infinitely many heads are drawn
ERROR = Axis("test error / variance", low=0.0)
CONSTANT, PLAIN = "RFA without constant", "RFA"


def content(rows: Sequence[Row]) -> Content:
    """Numbers and figures of the rows."""
    table = errors(rows)
    figures = [_curves(table), _heads(table)]
    last = largest(table)
    if "f2" not in {*last["target"]}:
        return Content(figures=figures, missing="Attention and network have not both been run on f2.")
    gaps = {name: difference(table, name, grid.BIASED, PLAIN) for name in grid.TARGETS}
    better, worse = ({name: stretches(gap, side) for name, gap in gaps.items()} for side in (-1, 1))
    examples = int(last["samples"].iloc[0])
    reached = [
        least_examples(table, name, error)
        for name, error in zip(last["target"], last["network_error"], strict=True)
    ]
    last = last.assign(reached=["" if n is None else f"{n:,}" for n in reached])
    numbers = {
        "examples": examples,
        "runs": spread([int(runs) for runs in table.groupby(["target", "model", "heads", "samples"]).size()]),
        "targets": last.drop(columns="samples").to_dict("records"),
        "reached": spread([n for n in reached if n]) if None not in reached else "",
        "intervals": sum(map(len, gaps.values())),
        "without": {
            side: [
                name
                for name in grid.TARGETS
                if (gap := difference(table, name, CONSTANT, PLAIN).get(examples)) and gap.side(0.0) == sign
            ]
            for side, sign in (("better", -1), ("worse", 1))
        },
        "learned": int((last["attention_error"] < 0.5).sum()),
        "lower": int((last["attention_error"] < last["network_error"]).sum()),
        "better": {name: examples for name, examples in better.items() if examples},
        "worse": {name: examples for name, examples in worse.items() if examples},
    }
    return Content(numbers, figures, {"targets": numbers["targets"]}, grid=grid)


def errors(rows: Sequence[Row]) -> "DataFrame":
    """Test errors, a line per target and run: model, heads (those of infinitely many are `INFINITE`), examples."""
    columns = ["model", "heads", "samples", "repetition", "error"]
    runs = frame(rows, "solved").reindex(columns=columns)
    heads = runs["heads"].fillna(0).astype(int)
    runs = runs.assign(
        target=runs["error"].map(list), error=runs["error"].map(lambda errors: [*errors.values()])
    )
    runs = runs.assign(heads=heads.where(heads > 0, INFINITE)).explode(["target", "error"], ignore_index=True)
    return runs.astype({"error": float})[["target", *columns]]


def largest(table: "DataFrame") -> "DataFrame":
    """By target: errors of attention and of the network with as many trained weights, at the most examples of both."""
    usual = table[table["heads"] == grid.HEADS]
    wide = usual.pivot_table(
        index=["samples", "target"], columns="model", values="error", aggfunc=lambda runs: mean([*runs])
    )
    wide = wide.reindex(columns=["RFA", grid.RIVAL]).dropna().reset_index()
    last = wide[wide["samples"] == wide["samples"].max()].set_index("target")
    names = [name for name in grid.TARGETS if name in last.index]
    lines = last.loc[names].reset_index().rename(columns={"RFA": "attention", grid.RIVAL: "network"})
    errors_of = {
        f"{name}_error": lines[name].map(lambda error: error.value) for name in ("attention", "network")
    }
    lines = lines.assign(**errors_of)
    return lines.assign(attention=lines["attention"].map(str), network=lines["network"].map(str))


def least_examples(table: "DataFrame", name: str, error: float) -> int | None:
    """The least number of examples, of those tried, at which attention's mean error on a target is at most `error`."""
    runs = table[(table["target"] == name) & (table["model"] == PLAIN) & (table["heads"] == grid.HEADS)]
    means = runs.groupby("samples")["error"].mean()
    return next((int(n) for n, value in means.items() if value <= error), None)


def difference(table: "DataFrame", name: str, model: str, other: str) -> dict[int, Mean]:
    """Error of `model` minus that of `other` on target `name`, paired: both saw the same examples."""
    usual = table[(table["target"] == name) & (table["heads"] == grid.HEADS)]
    wide = usual.pivot(index=["samples", "repetition"], columns="model", values="error")
    gaps = (
        (wide[model] - wide[other]).dropna()
        if {model, other} <= {*wide.columns}
        else wide.iloc[:0].sum(axis=1)
    )
    return {int(n): mean(runs.tolist()) for n, runs in gaps.groupby("samples")}


def stretches(gap: Mapping[int, Mean], side: int) -> str:
    """Numbers of examples at which the interval lies on a side of 0, neighbours among those tried drawn together.

    >>> low, high = Mean(-1.0, -2.0, -0.5, 5), Mean(0.1, -1.0, 1.0, 5)
    >>> stretches({64: low, 128: low, 256: low, 512: high, 1024: low}, -1)
    '64–256 and 1024'
    """
    parts: list[list[int]] = [[]]
    for n, difference_ in gap.items():
        if difference_.side(0.0) == side:
            parts[-1].append(n)
        elif parts[-1]:
            parts.append([])
    return " and ".join(f"{part[0]}–{part[-1]}" if len(part) > 1 else f"{part[0]}" for part in parts if part)


def _points(runs: "DataFrame", key: str) -> list[Point]:
    """Means of errors with their intervals against examples or heads."""
    cells = runs.groupby(key)["error"]
    return mean_points((float(x), mean(cell.tolist())) for x, cell in cells)


def _curves(table: "DataFrame") -> Curves:
    """Error against examples, a panel for each target; that of the easiest is logarithmic."""
    ticks = (64, 256, 1024, 4096)
    examples = Axis("examples n", log=True, ticks=ticks, names=[*map(str, ticks)])
    usual = table[table["heads"] == grid.HEADS]
    panels = []
    for name in (name for name in grid.TARGETS if (table["target"] == name).any()):
        part = usual[usual["target"] == name]
        series = [
            Series(model, _points(part[part["model"] == model], "samples"), style=i)
            for i, model in enumerate(grid.MODELS)
            if (part["model"] == model).any()
        ]
        power = {"1": "", "2": "²", "3": "³", "4": "⁴"}[name[1]]
        formula = f"⟨b, xᵢ⟩{power}" if name[0] == "f" else f"⟨x₀, xᵢ⟩{power}⟨b, xᵢ⟩"
        panels.append(
            Panel(
                f"{name}: {formula}",
                series,
                x=examples,
                y=Axis(ERROR.label, log=True) if name == "f1" else None,
            )
        )
    panels.sort(key=lambda panel: panel.y is not None)  # the one with a scale of its own stands last
    return Curves("errors", panels, examples, ERROR)


def _heads(table: "DataFrame") -> Curves:
    """Error against the number of heads; that of infinitely many is a point of its own."""
    at = table[table["samples"] == grid.AT]
    panels = []
    for name in grid.SIZED if len(table) else ():
        series: list[Series] = []
        for model, style in (("RFA", 0), (grid.BIASED, 2)):
            part: Any = at[(at["target"] == name) & (at["model"] == model)]
            for runs in (part[part["heads"] < INFINITE], part[part["heads"] == INFINITE]):
                series += [Series(model, _points(runs, "heads"), style=style)] if len(runs) else []
        panels.append(Panel(name, series))
    ticks = (62, 250, 1000, 4000, INFINITE)
    return Curves(
        "heads", panels, Axis("heads M", log=True, ticks=ticks, names=[*map(str, ticks[:-1]), "∞"]), ERROR
    )
