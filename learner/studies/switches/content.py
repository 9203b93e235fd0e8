"""What the rows of `switches` say: costs of every cell, exponents with intervals, both bounds beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import ceil, comb, floor, log2, sqrt
from typing import TYPE_CHECKING, Any

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
    frame,
    line,
    mean_points,
)
from hardness.report.content import Kind
from hardness.report.rounding import at_least, listed
from hardness.sq.bounds.parity import window_bound
from hardness.statistics.means import Mean, mean, slope, spread
from hardness.studies.trials import ACCURATE, CHECK, SPACING
from learner.student import RATE, Student
from learner.studies import switches as grid
from learner.studies.switches import bounds, tuning

if TYPE_CHECKING:
    from pandas import DataFrame

Line = dict[str, Any]
COLUMNS = (
    *("family", "kind", "status", "cost", "dim", "block", "size", "bias", "flip", "strategy"),
    *("needed", "suffice", "predicted", "floor", "layer_error", "equations", "instance"),
)
SHOWN_BITS, SHOWN_TOLERANCE = 63, 0.02  # of the phase diagram
STRATEGY = grid.CHAIN_PLAYED[1]  # the one that the figure of the chains shows
MODELS = {"sq": "queries", "low degree": "rows", "elimination": "tries"}  # of the figure, with their units
LAWS: dict[str, tuple[str, Kind]] = {  # what is known of a model beside its runs, and how it is drawn
    "sq": ("proved need", "lower bound"),
    "low degree": ("proved law", "law"),
    "elimination": ("predicted", "law"),
}
TICKS = {"elimination": (1, 10, 100, 500)}
APART = 0.012  # by which students of one bias are drawn side by side
FINE = [i / 20 for i in range(20)]  # biases at which the lower bound is drawn
NAMES = {  # of parameters in a table, as the text calls them
    "parity": {"heads": "s"},
    "rounding": {"modulus": "q", "levels": "p"},
    "nondegenerate": {"heads": "m", "tokens": "k"},
}
SMALLEST = 1e-2  # queries, as far down as a bound is drawn


def content(rows: Sequence[Row]) -> Content:
    """Numbers, figures and tables of the rows."""
    ended = trials(rows)
    students, biased = chain_students(ended), biased_students(ended)
    chains, biases, chosen = chain_games(ended), biased_games(ended), membership(ended)
    models = costs(ended[ended["kind"].isin(MODELS)], "kind", "flip")
    figures: list[Curves | HeatMap] = [
        _phases(),
        _blocks(chains, students),
        _biases(biases, biased),
        _noise(models),
    ]
    tables = {
        "chains": chain_lines(chains, students),
        "biases": bias_lines(biases, biased),
        "membership": chosen,
    }
    shown = [
        part
        for part in (students, biased, biases[biases["n"] == grid.BIAS_BITS[-1]], models, chosen)
        if len(part)
    ]
    if len(shown) < 5:
        return Content(figures=figures, tables=tables, missing="Some of the four switches have no rows yet.")
    numbers = SET | games_inside(ended) | student_numbers(students) | bias_numbers(biased)
    numbers |= {"gainless": gainless(), "better": better_than_characters(ended)}
    numbers["asked"] = [{"μ": mu, "asked": asked} for mu, asked in _ends(biases)]
    numbers["equations"] = elimination_equations(ended)
    return Content(numbers, figures, tables, grid=grid)


SET = {
    "s": grid.SIZE,
    "n": SHOWN_BITS,
    "tolerance": SHOWN_TOLERANCE,
    "layers": len(blocks_of(grid.SIZE, min(grid.BLOCKS))),  # of a student taught bit by bit
    "spacing": f"{100 * (SPACING - 1):.0f} %",
    "step": CHECK,
    "default": {"heads": Student().heads, "rate": RATE, "batch": Student().batch},
    "accurate": f"{100 * ACCURATE.threshold:g} %",
    "interval": bounds.bias_interval(grid.BIAS_SIZE, grid.BIAS_TOLERANCE),
    "largest_bias": sqrt(1 - 4 * grid.BIAS_TOLERANCE),  # beyond it not even the products of s bits are enough
    "fair_need": bounds.biased_bound(grid.BIAS_BITS[-1], grid.BIAS_SIZE, grid.BIAS_TOLERANCE, 0.0),
    "full_rank": f"{FULL_RANK:.4f}",
    "noisy_needed": window_bound(comb(grid.NOISY_BITS, grid.NOISY_SIZE), grid.NOISY_TOLERANCE),
    "noisy_rows": low_degree_rows(grid.NOISY_BITS, grid.NOISY_SIZE),
    "tuning": {
        "settings": len(tuning.MENU),
        "cap": tuning.CAP,
        "d": tuning.DIM,
        "seeds": tuning.PROTOCOL.seeds[-1],
    },
}


def trials(rows: Sequence[Row]) -> "DataFrame":
    """One line per trial that ended; `instance` says in words what the parameters of its family are, but for d."""
    table = frame(rows).reindex(columns=[*COLUMNS])
    named = [_named(row.task.params, NAMES.get(row.task.family, {})) for row in rows if row.outcome]
    return table.assign(instance=named)


def _named(params: Mapping[str, Any], names: Mapping[str, str]) -> str:
    return ", ".join(f"{names.get(key, key)} = {value}" for key, value in params.items() if key != "dim")


def costs(ended: "DataFrame", *keys: str) -> "DataFrame":
    """Per cell, sorted: the `costs` of its runs, how many there are, how many were `solved`, and what was `spent`.

    A run that crashed, or refused, is none of these.
    """
    judged = ended[ended["status"].isin(("solved", "budget")) & ended["cost"].notna()]
    cells = judged.groupby([*keys], dropna=False).agg(
        costs=("cost", list),
        runs=("cost", "size"),
        solved=("status", lambda ends: int((ends == "solved").sum())),
        spent=("cost", "max"),
    )
    return cells.reset_index().astype({"solved": int, "runs": int})  # of no rows at all a count would be text


def chain_students(ended: "DataFrame") -> "DataFrame":
    """Students of chains, by the size of a block and d."""
    return costs(ended[(ended["kind"] == "learner") & (ended["family"] == "nested")], "block", "dim")


def biased_students(ended: "DataFrame") -> "DataFrame":
    """Students of plain parities, by the bias of their inputs and d."""
    return costs(ended[(ended["kind"] == "learner") & (ended["family"] == "parity")], "bias", "dim")


def chain_games(ended: "DataFrame") -> "DataFrame":
    """Queries of games on chains: a line per size of a block and n, a column per strategy."""
    games = ended[(ended["kind"] == "chain") & (ended["status"] == "solved")].assign(n=ended["dim"] - 1)
    games = games.drop_duplicates(["block", "n", "strategy"])  # a game draws nothing: its repetitions are one
    return games.pivot(index=["block", "n"], columns="strategy", values="cost").reset_index()


def biased_games(ended: "DataFrame") -> "DataFrame":
    """Queries of games on biased products, a line per bias and n, with both bounds."""
    games = ended[(ended["kind"] == "biased") & (ended["status"] == "solved")].assign(n=ended["dim"] - 1)
    return games[["bias", "n", "cost", "needed", "suffice"]].sort_values(["bias", "n"])


def membership(ended: "DataFrame") -> "DataFrame":
    """By family, instance and d: queries, what was predicted, what counting demands, and errors of layers."""
    asked = ended[ended["kind"] == "membership"].assign(won=ended["status"] == "solved")
    cells = asked.groupby(["family", "instance", "dim"])
    lines = cells.agg(
        predicted=("predicted", "first"), floor=("floor", "first"), error=("layer_error", "max")
    )
    solved = asked[asked["won"]].groupby(["family", "instance", "dim"])["cost"]
    lines["queries"] = solved.agg(lambda queries: spread([int(count) for count in queries]))
    lines["solved"] = [f"{won}/{runs}" for won, runs in zip(cells["won"].sum(), cells.size(), strict=True)]
    lines["counting"] = lines["floor"].map(ceil, na_action="ignore")
    lines["largest error"] = lines["error"].map("{:.0e}".format, na_action="ignore")
    columns = {"instance": "size", "dim": "d"}
    order = ["family", "size", "d", "queries", "predicted", "counting", "solved", "largest error"]
    return lines.reset_index().rename(columns=columns)[order]


def exponent(cells: "DataFrame") -> Mean | None:
    """The exponent of d over the cells all of whose runs were solved; a censored cell has no part in it."""
    whole = _whole(cells).explode("costs")
    return slope([(float(d), float(cost)) for d, cost in zip(whole["dim"], whole["costs"], strict=True)])


def elimination_tries(eta: float, n: int = grid.NOISY_BITS) -> float:
    """Tries that pooled elimination is predicted to take: geometric with p = .5776 (1-η)^n; one without noise.

    >>> elimination_tries(0.0), round(elimination_tries(0.25))
    (1.0, 546)
    """
    return 1 / (FULL_RANK * (1 - eta) ** n) if eta else 1.0


def elimination_equations(ended: "DataFrame") -> str | None:
    """Equations that a try of elimination takes without noise; None without such a run."""
    counts = ended[(ended["kind"] == "elimination") & (ended["flip"] == 0.0)]["equations"].dropna()
    return spread([int(count) for count in counts]) if len(counts) else None


def games_inside(ended: "DataFrame") -> Line:
    """Games between both bounds, all, those that needed less than a query, those of a proof's strategy; tries."""
    games = ended[ended["kind"].isin(("chain", "biased"))]
    below = games["cost"] <= games["suffice"].fillna(float("inf"))
    within = (games["status"] == "solved") & (games["needed"] <= games["cost"]) & below
    return {
        "inside": int(within.sum()),
        "played": len(games),
        "free": int((games["needed"] < 1).sum()),
        "proving": int(((games["kind"] == "biased") | (games["strategy"] == "characters")).sum()),
        "largest": int(games["dim"].max()) - 1,
        "tries": elimination_tries(grid.FLIPS[-1]),
    }


def student_numbers(students: "DataFrame") -> Line:
    """Untaught students, all of them and at the largest d at which all solve, beside those taught bit by bit there."""
    untaught, taught = (students[students["block"] == g] for g in (grid.SIZE, min(grid.BLOCKS)))
    both = untaught.merge(taught, on="dim", suffixes=("", "_taught"))
    whole = both[both["solved"] == both["runs"]]
    largest = (whole if len(whole) else both).tail(1)
    sides = {"taught": taught, "untaught": untaught}
    fits = {name: exponent(cells) for name, cells in sides.items()}
    censored = untaught[untaught["solved"] < untaught["runs"]]
    return {
        "untaught": {
            "solved": int(untaught["solved"].sum()),
            "runs": int(untaught["runs"].sum()),
            "censored": [{"d": int(cell["dim"]), **_runs_of(cell)} for _, cell in censored.iterrows()],
        },
        "steeper": _steeper(students, fits["untaught"]),
        "exponents": {name: None if fit is None else str(fit) for name, fit in fits.items()},
        "fitted": {name: _listed(_whole(cells)["dim"]) for name, cells in sides.items()},
        "both": [
            {
                "d": int(cell["dim"]),
                "taught": _mean(cell["costs_taught"]),
                "untaught": _mean(cell["costs"]),
                **_runs_of(cell),
            }
            for _, cell in largest.iterrows()
        ],
    }


def _runs_of(cell: Any) -> Line:
    return {"solved": int(cell["solved"]), "runs": int(cell["runs"])}


def _whole(cells: "DataFrame") -> "DataFrame":
    """The cells all of whose runs were solved."""
    return cells[cells["solved"] == cells["runs"]]


def _listed(values: Sequence[float]) -> str:
    return listed(values, "whole") if len(values) else ""


def _steeper(students: "DataFrame", untaught: Mean | None) -> list[Line]:
    """The blocks of several coordinates whose exponent exceeds that of untaught students."""
    fits = {g: exponent(students[students["block"] == g]) for g in grid.BLOCKS if g < grid.SIZE}
    return [
        {"g": g, "exponent": f"{fit.value:.3g}"}
        for g, fit in fits.items()
        if fit and untaught and fit.value > untaught.value
    ]


def bias_numbers(biased: "DataFrame") -> Line:
    """Students on biased inputs: what the best bias saves at every d, where bias costs, how many solve at the most."""
    extreme = biased[biased["bias"] == biased["bias"].max()]
    saved: list[Line] = []
    costlier: dict[float, list[tuple[int, bool]]] = {}
    for d, cells in _whole(biased).groupby("dim"):
        means = {mu: mean(runs, True) for mu, runs in zip(cells["bias"], cells["costs"], strict=True)}
        if 0.0 not in means or len(means) == 1:
            continue
        fair = means.pop(0.0)
        best = min(means.values(), key=lambda cost: cost.value)
        saved.append({"d": int(d), "factor": fair.value / best.value, "apart": _below(best, fair)})
        for mu, cost in means.items():
            if cost.value > fair.value:
                costlier.setdefault(float(mu), []).append((int(d), _below(fair, cost)))
    return {
        "bias": {
            "compared": _listed(sorted({*_whole(biased)["bias"]} - {0.0})),
            "saved": saved,
            "apart": _listed([line["d"] for line in saved if line["apart"]]),
            "costlier": [
                {"μ": mu, "d": _listed([d for d, _ in dims]), "apart": any(apart for _, apart in dims)}
                for mu, dims in sorted(costlier.items())
            ],
            "largest": float(biased["bias"].max()),
            **_runs_of(extreme[["solved", "runs"]].sum()),
        }
    }


def _below(lower: Mean, upper: Mean) -> bool:
    """Whether the whole interval of a mean lies below that of another."""
    return lower.high is not None and upper.low is not None and lower.high < upper.low


def gainless() -> list[str]:
    """Where on the phase diagram no fewer queries suffice than its corner needs, in words; but for the corner."""
    corner = bounds.chain_bound(SHOWN_BITS, blocks_of(grid.SIZE, grid.SIZE), SHOWN_TOLERANCE)
    places = []
    for g in grid.BLOCKS:
        suffice = {
            mu: bounds.chain_enough(SHOWN_BITS, blocks_of(grid.SIZE, g), SHOWN_TOLERANCE, mu)
            for mu in grid.BIASES
            if (g, mu) != (grid.SIZE, 0.0)
        }
        if biases := [mu for mu, queries in suffice.items() if queries is None or queries >= corner]:
            places.append(f"g = {g} at μ = {_listed(biases)}")
    return places


def better_than_characters(ended: "DataFrame") -> Line:
    """Queries of sign batches on fair inputs and exact labels, and of characters, one for each set but the last."""
    counts = ended[(ended["kind"] == "sq") & (ended["flip"] == 0.0)]["cost"].dropna()
    return {
        "batches": spread([int(count) for count in counts]) if len(counts) else None,
        "characters": comb(grid.NOISY_BITS, grid.NOISY_SIZE) - 1,
    }


def chain_lines(chains: "DataFrame", students: "DataFrame") -> "DataFrame":
    """By block size: the exponent that is proved, those of games and of the student, and what the student took."""
    from pandas import DataFrame

    games, taught = (
        {g: table[table["block"] == g] for g in grid.BLOCKS if (table["block"] == g).any()}
        for table in (chains, students)
    )
    sizes = [g for g in grid.BLOCKS if g in games or g in taught]
    lines = DataFrame({"g": sizes, "exponent proved": sizes})
    for name in [name for name in grid.CHAIN_PLAYED if name in chains]:
        lines[name] = [_exact(games[g]["n"], games[g][name]) if g in games else None for g in sizes]
    lines["student"] = [exponent(taught[g]) if g in taught else None for g in sizes]
    for d in sorted(students["dim"].unique()):
        lines[f"d = {d}"] = [_cost_at(students, "block", g, d) for g in sizes]
    return lines


def bias_lines(biases: "DataFrame", students: "DataFrame") -> "DataFrame":
    """By bias: both bounds and the game at the largest n, the exponents, and the student."""
    from pandas import DataFrame

    n, size, tolerance = grid.BIAS_BITS[-1], grid.BIAS_SIZE, grid.BIAS_TOLERANCE
    seen = [mu for mu in grid.BIASES if mu in {*biases["bias"], *students["bias"]}]
    games = {mu: biases[biases["bias"] == mu] for mu in seen}
    needed = {mu: [bounds.biased_bound(bits, size, tolerance, mu) for bits in grid.BIAS_BITS] for mu in seen}
    lines = DataFrame({"μ": seen})
    lines["needed"] = [at_least(needed[mu][-1]) for mu in seen]
    lines["asked"] = [next(iter(games[mu][games[mu]["n"] == n]["cost"]), None) for mu in seen]
    lines["suffice"] = [bounds.biased_enough(n, size, tolerance, mu) for mu in seen]
    lines["exponent needed"] = [_exact(grid.BIAS_BITS, needed[mu]) for mu in seen]
    lines["exponent asked"] = [_exact(games[mu]["n"], games[mu]["cost"]) for mu in seen]
    lines["exponent that suffices"] = [bounds.bias_degree(size, tolerance, mu) for mu in seen]
    lines["student"] = [exponent(students[students["bias"] == mu]) for mu in seen]
    for d in sorted(students["dim"].unique()):
        lines[f"d = {d}"] = [_cost_at(students, "bias", mu, d) for mu in seen]
    return lines


def _ends(biases: "DataFrame") -> list[tuple[float, float]]:
    """Queries of the games at the largest n: at the least and at the largest bias."""
    games = biases[biases["n"] == grid.BIAS_BITS[-1]]
    return [(float(game["bias"]), float(game["cost"])) for _, game in games.iloc[[0, -1]].iterrows()]


def _exact(sizes: Sequence[float], queries: Sequence[float]) -> float | None:
    """The exponent of numbers that nothing was drawn for."""
    fit = slope([*zip(map(float, sizes), map(float, queries), strict=True)], exact=True)
    return fit.value if fit else None


def _mean(runs: Sequence[float]) -> float:
    """The geometric mean, to the two digits that a sentence has."""
    return float(f"{mean(runs, logarithmic=True).value:.2g}")


def _cost_at(cells: "DataFrame", key: str, value: float, d: int) -> str:
    """What the runs of a cell cost, in words; nothing where there is none."""
    cell = cells[(cells[key] == value) & (cells["dim"] == d)]
    return _cost(cell.iloc[0]) if len(cell) else ""


def _cost(cell: Any) -> str:
    """What the runs of a cell cost: the mean with its interval, or that they are censored."""
    if cell["solved"] == cell["runs"]:
        cost = mean(cell["costs"], logarithmic=True)
        ends = "" if cost.low is None else f" [{_rounded(cost.low)}, {_rounded(cost.high)}]"
        return f"{_rounded(cost.value)}{ends}"
    return f"censored: {cell['solved']} of {cell['runs']} solved by {cell['spent']:,.0f}"


def _rounded(count: float | None) -> str:
    """A count to three digits.

    >>> _rounded(1_116_874.3)
    '1,120,000'
    """
    return "" if count is None else f"{float(f'{count:.3g}'):,.0f}"


def _laws() -> dict[str, list[tuple[float, float]]]:
    """What each model is proved to need, or predicted to take, by flip probability."""
    size = comb(grid.NOISY_BITS, grid.NOISY_SIZE)
    return {
        "sq": [(eta, window_bound(size, grid.NOISY_TOLERANCE, flip=eta)) for eta in grid.FLIPS],
        "low degree": [(eta, low_degree_rows(grid.NOISY_BITS, grid.NOISY_SIZE, eta)) for eta in grid.FLIPS],
        "elimination": [
            (eta, elimination_tries(eta)) for eta in grid.FLIPS if eta
        ],  # its law is one of flips
    }


def _phases() -> HeatMap:
    """Bias across, block size down: the exponent that suffices and both bounds in bits."""
    rows = {g: f"g = {g}" + " (off)" * (g == grid.SIZE) for g in grid.BLOCKS}
    fields = [_phase(row, g, mu) for g, row in rows.items() for mu in grid.BIASES]
    return HeatMap(
        "phases", {"": fields}, x="bias μ", labels={"refused": "nothing is proved to suffice"}, kinds="proved"
    )


def _phase(row: str, g: int, mu: float) -> Field:
    """The field of a block size and a bias."""
    chain = SHOWN_BITS, blocks_of(grid.SIZE, g), SHOWN_TOLERANCE, mu
    needed, suffice = bounds.chain_bound(*chain), bounds.chain_enough(*chain)
    degree = bounds.bias_degree(g, SHOWN_TOLERANCE, mu)
    tip = f"{row}, μ = {mu:g}: {at_least(max(needed, 0.0))} queries needed"
    if degree is None or suffice is None:
        return Field(row, f"{mu:g}", "refused", tip=f"{tip}, nothing proved to suffice")
    text = f"{degree}\n{floor(log2(max(needed, 1.0)))}–{ceil(log2(suffice))}"
    return Field(row, f"{mu:g}", shade=degree / grid.SIZE, text=text, tip=f"{tip}, {suffice:,} suffice")


def points_of(cells: "DataFrame", key: str) -> list[Point]:
    """Mean costs of students with intervals against `key`; a censored cell lies at the mean of what was spent."""
    whole = cells[cells["solved"] == cells["runs"]]
    lost = cells[cells["solved"] < cells["runs"]]
    solved = mean_points(
        (x, mean(runs, logarithmic=True)) for x, runs in zip(whole[key], whole["costs"], strict=True)
    )
    return solved + [
        Point(
            cell[key],
            mean(cell["costs"], logarithmic=True).value,
            censored="above",
            tip=f"{cell[key]:g}: {_cost(cell)}",
        )
        for _, cell in lost.iterrows()
    ]


def _beside(points: list[Point], shift: float) -> list[Point]:
    """The same points beside where they lie, so that those of several series do not hide each other."""
    return [replace(point, x=point.x + shift) for point in points]


def _steps(suffice: Sequence[tuple[float, int | None]]) -> list[tuple[float, float]]:
    """The ends of the stretches on which a number of queries is the same.

    >>> _steps([(0.0, 9), (0.1, 9), (0.2, 9), (0.3, 4), (0.4, None)])
    [(0.0, 9), (0.2, 9), (0.3, 4)]
    """
    stretches = [[*part] for _, part in groupby(suffice, key=lambda point: point[1])]
    return [
        (mu, queries) for part in stretches for mu, queries in dict.fromkeys((part[0], part[-1])) if queries
    ]


def _blocks(chains: "DataFrame", students: "DataFrame") -> Curves:
    """Supervision: students against d, and games against n over what is needed."""
    taught, played = [], []
    for i, g in enumerate(grid.BLOCKS):
        taught.append(Series(f"g = {g}", points_of(students[students["block"] == g], "dim"), style=i))
        games = chains[chains["block"] == g]
        asked = [Point(n, queries) for n, queries in zip(games["n"], games.get(STRATEGY, ()), strict=True)]
        blocks = blocks_of(grid.SIZE, g)
        needed = [(n, bounds.chain_bound(int(n), blocks, grid.CHAIN_TOLERANCE)) for n in games["n"]]
        played += [
            Series(f"g = {g}", asked, style=i),
            line(f"proved need, g = {g}", needed, "lower bound", style=i),
        ]
    dims = sorted(students["dim"].unique().tolist())
    panels = [
        Panel("students", taught, x=Axis("d", log=True, ticks=dims), y=Axis("examples", log=True)),
        Panel("games", played, x=Axis("n"), y=Axis("queries", log=True)),
    ]
    return Curves("blocks", panels, Axis("n"), Axis("queries"), columns=2, height=3.2)


def _biases(biases: "DataFrame", students: "DataFrame") -> Curves:
    """Biased inputs: games between both bounds, and students, against μ."""
    n = grid.BIAS_BITS[-1]
    games = biases[biases["n"] == n]
    needed = [(mu, bounds.biased_bound(n, grid.BIAS_SIZE, grid.BIAS_TOLERANCE, mu)) for mu in FINE]
    finer = [i / 1000 for i in range(1000)]
    enough = _steps([(mu, bounds.biased_enough(n, grid.BIAS_SIZE, grid.BIAS_TOLERANCE, mu)) for mu in finer])
    played = [
        Series(
            "game",
            [Point(mu, asked) for mu, asked in zip(games["bias"], games["cost"], strict=True)],
            join=False,
        ),
        line("proved need", [(mu, max(queries, SMALLEST)) for mu, queries in needed], "lower bound"),
        line("proved to suffice", enough, "upper bound"),
    ]
    taught = [
        Series(
            f"student, d = {d}",
            _beside(points_of(students[students["dim"] == d], "bias"), (i - 1) * APART),
            style=1 + i,
        )
        for i, d in enumerate(grid.TAUGHT_DIMS)
    ]
    panels = [
        Panel(f"games, s = {grid.BIAS_SIZE}", played, y=Axis("queries", log=True)),
        Panel(f"students, s = {grid.TAUGHT_SIZE}", taught, y=Axis("examples", log=True)),
    ]
    return Curves("biases", panels, Axis("bias μ"), Axis("queries"), columns=2, height=3.2)


def _noise(models: "DataFrame") -> Curves:
    """Label noise: cost of three models against η, and what is proved or predicted."""
    panels = []
    for model, law in _laws().items():
        name, kind = LAWS[model]
        cells = models[models["kind"] == model]
        points = mean_points(
            (eta, mean(runs)) for eta, runs in zip(cells["flip"], cells["costs"], strict=True)
        )
        panels.append(
            Panel(
                {"sq": "statistical queries"}.get(model, model),
                [Series("mean of runs", points, join=False), line(name, law, kind)],
                y=Axis(MODELS[model], log=True, ticks=TICKS.get(model, ())),
            )
        )
    return Curves("noise", panels, Axis("η", ticks=(0.0, 0.1, grid.FLIPS[-1])), Axis("cost"))
