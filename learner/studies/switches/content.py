"""What the rows of `switches` say: costs of every cell, exponents with intervals, both bounds beside them."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import ceil, comb, floor, log2
from typing import Any

from hardness.attacks.estimates.low_degree import low_degree_rows
from hardness.attacks.gaussian import FULL_RANK
from hardness.engine.store import Row
from hardness.gadgets.levels import blocks_of
from hardness.report import (
    Axis,
    Content,
    Curves,
    Field,
    HeatMap,
    Panel,
    Point,
    Series,
    grouped,
    line,
    mean_points,
    records,
)
from hardness.report.rounding import at_least
from hardness.sq.bounds import switches as bounds
from hardness.sq.bounds.parity import window_bound
from hardness.statistics.means import Mean, mean, slope, spread
from hardness.studies.trials import SPACING
from learner.studies import switches as grid

Line = dict[str, Any]
Runs = list[tuple[float, bool]]  # what each run of a cell cost, and whether it was solved
SHOWN_BITS, SHOWN_TOLERANCE = 63, 0.02  # of the phase diagram
STRATEGY = grid.CHAIN_PLAYED[1]  # the one that the figure of the chains shows
MODELS = ("sq", "low degree", "elimination")
FINE = [i / 20 for i in range(20)]  # biases at which bounds are drawn
SET = {
    "s": grid.SIZE, "n": SHOWN_BITS, "tolerance": SHOWN_TOLERANCE, "spacing": f"{SPACING - 1:.0%}",
    "interval": bounds.bias_interval(grid.BIAS_SIZE, grid.BIAS_TOLERANCE), "full_rank": f"{FULL_RANK:.4f}".lstrip("0"),
    "noisy_needed": window_bound(comb(grid.NOISY_BITS, grid.NOISY_SIZE), grid.NOISY_TOLERANCE),
    "noisy_rows": low_degree_rows(grid.NOISY_BITS, grid.NOISY_SIZE),
}  # fmt: skip


def content(rows: Sequence[Row]) -> Content:
    """Numbers, figures and tables of the rows."""
    students = {g: at(cells(rows, "learner", "block", "dim"), g) for g in grid.BLOCKS}
    biased = {mu: at(cells(rows, "learner", "bias", "dim"), mu) for mu in grid.BIASES}
    biases, chosen = bias_lines(rows, biased), membership(rows)
    figures: list[Curves | HeatMap] = [_phases(students), _blocks(rows, students), _biases(rows, biased), _noise(rows)]
    tables = {"chains": chain_lines(rows, students), "biases": biases, "membership": chosen}
    untaught = [run for runs in students[grid.SIZE].values() for run in runs]
    parities = [one for one in chosen if one["family"] == "parity" and one["queries"]]
    asked = [one for one in biases if one["asked"]]
    if not (untaught and parities and asked and any(means(rows, model) for model in MODELS)):
        return Content(figures=figures, tables=tables, missing="Some of the four switches have no rows yet.")
    taught = exponent(students[min(grid.BLOCKS)])
    last = max(parities, key=lambda one: int(one["d"]))
    numbers = SET | games_inside(rows) | {
        "student": None if taught is None else str(taught), "tries": elimination_tries(grid.FLIPS[-1]),
        "untaught": {"solved": sum(ok for _, ok in untaught), "runs": len(untaught),
                     "spent": max(cost for cost, _ in untaught)},
        "asked": [{key: one[key] for key in ("μ", "asked")} for one in (asked[0], asked[-1])], "parity": last,
    }  # fmt: skip
    return Content(numbers, figures, tables, grid=grid)


def cells(rows: Iterable[Row], kind: str, *keys: str) -> dict[tuple[Any, ...], Runs]:
    """Costs of the runs of a kind that ended by themselves, by what tasks and solvers have of `keys`, in order."""
    own = [run for run in records(rows, "solved", "budget", kind=kind) if run["cost"] is not None]
    groups = grouped((run for run in own if run.keys() >= set(keys)), lambda run: tuple(run[key] for key in keys))
    return {key: [(float(run["cost"]), run["status"] == "solved") for run in some]
            for key, some in sorted(groups.items())}  # fmt: skip


def at(found: Mapping[tuple[Any, ...], Runs], *first: Any) -> dict[Any, Runs]:
    """The cells whose key begins with `first`, by the last part of it."""
    return {key[-1]: runs for key, runs in found.items() if key[:-1] == first}


def exponent(own: Mapping[int, Runs]) -> Mean | None:
    """The exponent of d over the cells all of whose runs were solved; a censored cell has no part in it.

    >>> print(exponent({8: [(64.0, True)], 16: [(256.0, True)], 32: [(20.0, True), (9.0, False)]}))
    2 (2 runs)
    """
    return slope([(d, cost) for d, runs in own.items() if all(ok for _, ok in runs) for cost, _ in runs])


def elimination_tries(eta: float, n: int = grid.NOISY_BITS) -> float:
    """Tries that pooled elimination is predicted to take: geometric with p = .5776 (1-η)^n; one without noise.

    >>> elimination_tries(0.0), round(elimination_tries(0.25))
    (1.0, 546)
    """
    return 1 / (FULL_RANK * (1 - eta) ** n) if eta else 1.0


def games_inside(rows: Iterable[Row]) -> dict[str, int]:
    """Games on chains and on biased products that ended between what is needed and what suffices, and all of them."""
    games = [*records(rows, kind="chain"), *records(rows, kind="biased")]
    within = [game for game in games if game["status"] == "solved" and game["cost"] is not None
              and game["needed"] <= game["cost"] <= (game["suffice"] or float("inf"))]  # fmt: skip
    return {"inside": len(within), "played": len(games)}


def chain_lines(rows: Sequence[Row], students: Mapping[int, Mapping[int, Runs]]) -> list[Line]:
    """By block size: the exponent that is proved, those of games and of the student, and what the student took."""
    games, lines = cells(rows, "chain", "block", "strategy", "dim"), []
    for g in grid.BLOCKS:
        played = {name: [(d - 1, runs[0][0]) for d, runs in at(games, g, name).items()] for name in grid.CHAIN_PLAYED}
        if any(played.values()) or students[g]:
            lines.append(
                {"g": g, "exponent proved": g}
                | {name: _exact(points) for name, points in played.items()} | {"student": exponent(students[g])}
                | {f"d = {d}": _cost(students[g].get(d, [])) for d in sorted({*chain(*students.values())})}
            )  # fmt: skip
    return lines


def bias_lines(rows: Sequence[Row], students: Mapping[float, Mapping[int, Runs]]) -> list[Line]:
    """By bias: both bounds and the game at the largest n, the exponents, and the student."""
    games, n, lines = cells(rows, "biased", "bias", "dim"), grid.BIAS_BITS[-1], []
    for mu in grid.BIASES:
        played = {d - 1: runs[0][0] for d, runs in at(games, mu).items()}
        needed = {bits: bounds.biased_bound(bits, grid.BIAS_SIZE, grid.BIAS_TOLERANCE, mu) for bits in grid.BIAS_BITS}
        if played or students[mu]:
            lines.append(
                {"μ": mu, "needed": at_least(needed[n]), "asked": played.get(n),
                 "suffice": bounds.biased_enough(n, grid.BIAS_SIZE, grid.BIAS_TOLERANCE, mu),
                 "exponent needed": _exact([*needed.items()]),
                 "exponent asked": _exact([*played.items()]),
                 "exponent that suffices": bounds.bias_degree(grid.BIAS_SIZE, grid.BIAS_TOLERANCE, mu),
                 "student": exponent(students[mu])}
                | {f"d = {d}": _cost(runs) for d, runs in students[mu].items()}
            )  # fmt: skip
    return lines


def _exact(points: Sequence[tuple[float, float]]) -> float | None:
    """The exponent of numbers that nothing was drawn for."""
    found = slope(points, exact=True)
    return found.value if found else None


def _cost(runs: Runs) -> str:
    """What the runs of a cell cost: the mean with its interval, or that they are censored."""
    if not runs:
        return ""
    if all(ok for _, ok in runs):
        return str(mean([cost for cost, _ in runs], logarithmic=True))
    return f"censored: {sum(ok for _, ok in runs)} of {len(runs)} by {max(cost for cost, _ in runs):,.0f}"


def membership(rows: Sequence[Row]) -> list[Line]:
    """By cell: queries, what was predicted, what counting demands, and the error of random layers."""

    def cell(row: Row) -> tuple[str, str, int]:
        size = ", ".join(f"{key} = {value}" for key, value in row.task.params.items() if key != "dim")
        return row.task.family, size, int(row.task.params["dim"])

    groups = grouped((row for row in rows if row.outcome and row.task.solver["kind"] == "membership"), cell)
    lines = []
    for (family, size, d), own in sorted(groups.items()):
        ends, done = records(own), records(own, "solved")
        errors = [end["layer_error"] for end in done if "layer_error" in end]
        lines.append({
            "family": family, "size": size, "d": d, "queries": spread([int(end["cost"] or 0) for end in done] or [0]),
            "predicted": ends[0]["predicted"], "counting demands": at_least(ends[0]["floor"]),
            "solved": f"{len(done)}/{len(ends)}", "largest error": f"{max(errors):.0e}" if errors else None,
        })  # fmt: skip
    return lines


def means(rows: Sequence[Row], model: str) -> dict[float, Mean]:
    """Mean cost of a model by flip probability."""
    return {eta: mean([cost for cost, _ in runs]) for (eta,), runs in cells(rows, model, "flip").items()}


def _laws() -> dict[str, dict[float, float]]:
    """What each model is proved to need, or predicted to take, by flip probability."""
    size = comb(grid.NOISY_BITS, grid.NOISY_SIZE)
    return {
        "sq": {eta: window_bound(size, grid.NOISY_TOLERANCE, flip=eta) for eta in grid.FLIPS},
        "low degree": {eta: low_degree_rows(grid.NOISY_BITS, grid.NOISY_SIZE, eta) for eta in grid.FLIPS},
        "elimination": {eta: elimination_tries(eta) for eta in grid.FLIPS},
    }


def _phases(students: Mapping[int, Mapping[int, Runs]]) -> HeatMap:
    """Bias across, block size down: the exponent that suffices and both bounds in bits; the students beside."""
    fields = []
    for g in grid.BLOCKS:
        row = f"g = {g}" + " (off)" * (g == grid.SIZE)
        for mu in grid.BIASES:
            chain = SHOWN_BITS, blocks_of(grid.SIZE, g), SHOWN_TOLERANCE, mu
            needed, suffice = bounds.chain_bound(*chain), bounds.chain_enough(*chain)
            k = bounds.bias_degree(g, SHOWN_TOLERANCE, mu)
            tip = f"{row}, μ = {mu:g}: {at_least(max(needed, 0.0))} queries needed"
            if k is None or suffice is None:
                fields.append(Field(row, f"{mu:g}", "refused", tip=f"{tip}, nothing proved to suffice"))
                continue
            text = f"{k}\n{floor(log2(max(needed, 1.0)))}–{ceil(log2(suffice))}"
            fields.append(Field(row, f"{mu:g}", shade=k / grid.SIZE, text=text, tip=f"{tip}, {suffice:,} suffice"))
        found = exponent(students[g])
        text = f"{found.value:.1f}" if found else "censored" if students[g] else "not run"
        shade = min(found.value / grid.SIZE, 1.0) if found else None
        fields.append(Field(row, "student", "" if found else "budget", shade, text))
    return HeatMap(
        "phases", {"": fields},
        x="bias μ",
        labels={"refused": "nothing is proved to suffice", "budget": "student has no exponent"},
            )  # fmt: skip


def _students(own: Mapping[Any, Runs]) -> list[Point]:
    """Mean costs of students with intervals; a censored cell lies at what was spent."""
    points = mean_points(
        (x, mean([cost for cost, _ in runs], logarithmic=True)) for x, runs in own.items() if all(ok for _, ok in runs)
    )
    lost = {x: runs for x, runs in own.items() if not all(ok for _, ok in runs)}
    return points + [Point(x, max(cost for cost, _ in runs), censored="above", tip=f"{x:g}: {_cost(runs)}")
                     for x, runs in lost.items()]  # fmt: skip


def _blocks(rows: Sequence[Row], students: Mapping[int, Mapping[int, Runs]]) -> Curves:
    """Supervision: students against d, and games against n over what is needed."""
    games = cells(rows, "chain", "block", "strategy", "dim")
    taught, played = [], []
    for i, g in enumerate(grid.BLOCKS):
        taught.append(Series(f"g = {g}", _students(students[g]), style=i))
        asked = [Point(d - 1, runs[0][0]) for d, runs in at(games, g, STRATEGY).items()]
        needed = [(p.x, bounds.chain_bound(int(p.x), blocks_of(grid.SIZE, g), grid.CHAIN_TOLERANCE)) for p in asked]
        played += [Series(f"g = {g}", asked, style=i), line(f"needed, g = {g}", needed, "lower bound", style=i)]
    dims = sorted({d for own in students.values() for d in own})
    return Curves(
        "blocks",
        [Panel("students", taught, x=Axis("d", log=True, ticks=dims), y=Axis("examples", log=True)),
         Panel("games", played, x=Axis("n"), y=Axis("queries", log=True))],
        Axis("n"), Axis("queries"),
        columns=2, height=3.2,
    )  # fmt: skip


def _biases(rows: Sequence[Row], students: Mapping[float, Mapping[int, Runs]]) -> Curves:
    """Biased inputs: games between both bounds, and students, against μ."""
    n, games = grid.BIAS_BITS[-1], cells(rows, "biased", "dim", "bias")
    needed = [(mu, bounds.biased_bound(n, grid.BIAS_SIZE, grid.BIAS_TOLERANCE, mu)) for mu in FINE]
    enough = [(mu, bounds.biased_enough(n, grid.BIAS_SIZE, grid.BIAS_TOLERANCE, mu)) for mu in FINE]
    played = [
        Series("game", [Point(mu, runs[0][0]) for mu, runs in at(games, n + 1).items()], join=False),
        line("needed", [(mu, max(q, 1e-2)) for mu, q in needed], "lower bound"),
        line("enough", [(mu, q) for mu, q in enough if q], "upper bound"),
    ]
    taught = [
        Series(f"student, d = {d}", _students({mu: own[d] for mu, own in students.items() if d in own}), style=1 + i)
        for i, d in enumerate(grid.TAUGHT_DIMS)
    ]
    return Curves(
        "biases",
        [Panel("games", played, y=Axis("queries", log=True)), Panel("students", taught, y=Axis("examples", log=True))],
        Axis("bias μ"), Axis("queries"),
        columns=2, height=3.2,
    )  # fmt: skip


def _noise(rows: Sequence[Row]) -> Curves:
    """Label noise: cost of three models against η, and what is proved or predicted."""
    laws, units = _laws(), ("queries", "rows", "tries")
    panels = []
    for model, unit in zip(MODELS, units, strict=True):
        law = [*laws[model].items()]
        known = line("needed", law, "lower bound") if model == "sq" else line("predicted", law, "law")
        points = mean_points(means(rows, model).items())
        panels.append(Panel(model, [Series("run", points, join=False), known], y=Axis(unit, log=True)))
    return Curves(
        "noise", panels, Axis("η"), Axis("cost"),
    )  # fmt: skip
