"""What the rows of `random-features` say: test errors against examples and against heads, and paired differences.

Beside them stands what the targets' definition says: the error that the best linear function of the tokens leaves.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any

from hardness.engine.outcome import Row
from hardness.report import Axis, Content, Curves, Panel, Point, Series, frame, line, mean_points
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
    learned = [*last[last["network_error"] < 1]["target"]]
    leads = {name: lead(table, name, examples) for name in last["target"]}
    fewest = {name: least_examples(gap) for name, gap in leads.items()}
    enough = examples if None in fewest.values() else max(filter(None, fewest.values()))
    reached = {name: f"{n:,}" for name, n in fewest.items() if n and name in learned}
    last = last.assign(
        linear=last["target"].map(lambda name: float(linear_error(name))),
        reached=last["target"].map(lambda name: reached.get(name, "–")),
    )
    beaten = {
        title: sides_of_linear(table, model, examples, -1)
        for title, model in (("attention", PLAIN), ("network", grid.RIVAL), ("biased", grid.BIASED))
    }
    beaten["by_linear"] = sides_of_linear(table, PLAIN, examples, 1)
    beaten["biased_alone"] = [name for name in beaten["biased"] if name not in beaten["attention"]]
    even = [name for name in grid.TARGETS if is_even(name)]
    bare = table[(table["model"] == CONSTANT) & table["target"].isin(even)]
    numbers = {
        "examples": examples,
        "runs": spread([int(runs) for runs in table.groupby(["target", "model", "heads", "samples"]).size()]),
        "targets": last.drop(columns="samples").to_dict("records"),
        "enough": enough,
        "beaten": beaten,
        "even": even,
        "even_least": float(bare["error"].min()) if len(bare) else 0.0,
        "intervals": sum(map(len, gaps.values())),
        "without": {
            side: [
                name
                for name in grid.TARGETS
                if name not in even
                if (gap := difference(table, name, CONSTANT, PLAIN).get(examples)) and gap.side(0.0) == sign
            ]
            for side, sign in (("better", -1), ("worse", 1))
        },
        "lower": sum(gap[enough].side(0.0) == -1 for gap in leads.values() if enough in gap),
        "unknowns": grid.DIM * (grid.KEYS + 1) + 1,
        "better": {name: examples for name, examples in better.items() if examples},
        "worse": {name: examples for name, examples in worse.items() if examples},
        "lost": _lost(table, gaps, examples),
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


def is_even(name: str) -> bool:
    """Whether the target keeps its value when all tokens change sign; the others then change theirs.

    >>> [name for name in grid.TARGETS if is_even(name)]
    ['f2', 'f4']
    """
    return name[0] == "f" and int(name[1]) % 2 == 0


def moment(power: int) -> Fraction:
    """E u^power of a coordinate u of a uniform unit vector: an even one is (p − 1)!!/(d(d + 2)…(d + p − 2)).

    >>> moment(1), moment(2) == Fraction(1, grid.DIM)
    (Fraction(0, 1), True)
    """
    if power % 2:
        return Fraction(0)
    return Fraction(prod(range(1, power, 2)), prod(range(grid.DIM, grid.DIM + power - 1, 2)))


def linear_error(name: str) -> Fraction:
    """Error of the best linear function of all tokens, in units of the target's variance (docs/baselines.md, A.5).

    Tokens are independent with mean 0, so the linear parts in each of them add up. That of f_p is in the keys, for odd
    p; that of g_p1 in the keys for even p, and in the query for odd p, when the terms of the mean are correlated.

    >>> {name: round(float(linear_error(name)), 3) for name in grid.TARGETS}
    {'f1': 0.0, 'f2': 1.0, 'f4': 1.0, 'g11': 0.484, 'g21': 0.625, 'g31': 0.59, 'g41': 0.869}
    """
    power = int(name[1])
    if name[0] == "f":
        return 1 - moment(power + 1) ** 2 / (moment(2) * moment(2 * power))
    if power % 2 == 0:
        return 1 - moment(power) ** 2 / moment(2 * power)
    shared = moment(power + 1) ** 2
    return 1 - shared / (moment(2 * power) / grid.KEYS + (1 - Fraction(1, grid.KEYS)) * shared)


def sides_of_linear(table: "DataFrame", model: str, examples: int, side: int) -> list[str]:
    """Targets on which the interval of the model's error lies below (−1) or above (1) that of the best linear one."""
    runs = table[
        (table["model"] == model) & (table["heads"] == grid.HEADS) & (table["samples"] == examples)
    ].groupby("target")["error"]
    errors_of = {str(name): mean(cell.tolist()) for name, cell in runs}
    return [
        name
        for name in grid.TARGETS
        if name in errors_of and errors_of[name].side(float(linear_error(name))) == side
    ]


def lead(table: "DataFrame", name: str, examples: int) -> dict[int, Mean]:
    """By its number of examples, attention's error minus the network's after `examples`, paired by repetition."""
    usual = table[(table["target"] == name) & (table["heads"] == grid.HEADS)]
    network = usual[(usual["model"] == grid.RIVAL) & (usual["samples"] == examples)]
    rival = network.set_index("repetition")["error"]
    gaps = {}
    for n, runs in usual[usual["model"] == PLAIN].groupby("samples"):
        gap = (runs.set_index("repetition")["error"] - rival).dropna()
        if len(gap):
            gaps[int(n)] = mean(gap.tolist())
    return gaps


def least_examples(gaps: Mapping[int, Mean]) -> int | None:
    """The least number of examples, of those tried, from which on every interval lies below 0.

    >>> low, wide = Mean(-1.0, -2.0, -0.5, 5), Mean(0.1, -1.0, 1.0, 5)
    >>> least_examples({64: low, 128: wide, 256: low, 512: low}), least_examples({64: low, 128: wide})
    (256, None)
    """
    fewest = None
    for n, gap in sorted(gaps.items(), reverse=True):
        if gap.side(0.0) != -1:
            break
        fewest = n
    return fewest


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
    for n, difference_at in gap.items():
        if difference_at.side(0.0) == side:
            parts[-1].append(n)
        elif parts[-1]:
            parts.append([])
    return " and ".join(f"{part[0]}–{part[-1]}" if len(part) > 1 else f"{part[0]}" for part in parts if part)


def _lost(table: "DataFrame", gaps: Mapping[str, Mapping[int, Mean]], examples: int) -> list[dict[str, Any]]:
    """Targets on which biased heads are worse at every number of examples, with both errors at the most examples."""
    lost = []
    for name, gap in gaps.items():
        if gap and all(difference_at.side(0.0) == 1 for difference_at in gap.values()):
            runs = table[
                (table["target"] == name) & (table["heads"] == grid.HEADS) & (table["samples"] == examples)
            ]
            means = runs.groupby("model")["error"].mean()
            models = {"biased": grid.BIASED, "plain": PLAIN, "network": grid.RIVAL}
            lost.append({"name": name, **{key: float(means[model]) for key, model in models.items()}})
    return lost


def _points(runs: "DataFrame", key: str) -> list[Point]:
    """Means of errors with their intervals against examples or heads."""
    cells = runs.groupby(key)["error"]
    return mean_points((float(x), mean(cell.tolist())) for x, cell in cells)


def _curves(table: "DataFrame") -> Curves:
    """Error against examples, a panel for each target; that of the easiest is logarithmic."""
    ticks = (64, 256, 1024, 4096)
    names = [*map(str, ticks)]
    examples = Axis(
        "examples n", log=True, ticks=ticks, names=names, low=ticks[0] / 1.7, high=ticks[-1] * 1.7
    )
    usual = table[table["heads"] == grid.HEADS]
    others = [model for model in grid.MODELS if model not in (grid.RIVAL, PLAIN)]  # drawn below these two
    panels = []
    for name in (name for name in grid.TARGETS if (table["target"] == name).any()):
        part = usual[usual["target"] == name]
        series = [
            Series(model, _points(part[part["model"] == model], "samples"), style=[*grid.MODELS].index(model))
            for model in (*others, grid.RIVAL, PLAIN)
            if (part["model"] == model).any()
        ]
        if name != "f1":  # it is linear, and 0 has no place on a logarithmic scale
            least = float(linear_error(name))
            series.append(line("best linear function", [(n, least) for n in (ticks[0], ticks[-1])], "law"))
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
    panels, ticks = [], (62, 250, 1000, 4000, INFINITE)
    for name in grid.SIZED if len(table) else ():
        series: list[Series] = []
        for model, style in (("RFA", 0), (grid.BIASED, 2)):
            part: Any = at[(at["target"] == name) & (at["model"] == model)]
            for runs in (part[part["heads"] < INFINITE], part[part["heads"] == INFINITE]):
                series += [Series(model, _points(runs, "heads"), style=style)] if len(runs) else []
        least = float(linear_error(name))
        series.append(line("best linear function", [(ticks[0], least), (ticks[-1], least)], "law"))
        panels.append(Panel(name, series))
    return Curves(
        "heads", panels, Axis("heads M", log=True, ticks=ticks, names=[*map(str, ticks[:-1]), "∞"]), ERROR
    )
