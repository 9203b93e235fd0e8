"""What the rows of `needs` say: maps of tolerance against queries, least prices of both, what m heads buy."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import count, pairwise, takewhile
from math import ceil, comb, log2
from typing import TYPE_CHECKING, Any

from hardness.engine.store import Row
from hardness.exact.dependent import certain_queries
from hardness.families.concepts import RoundingConcepts
from hardness.gadgets.levels import bits
from hardness.report import Axis, Content, Curves, Figure, Panel, Point, Series, frame, line, lines_of
from hardness.sq.bounds.batches import batch_queries, majority_mean
from hardness.sq.bounds.floors import exact_floor
from hardness.sq.bounds.head_budget import error_mass, exact_parity
from hardness.sq.bounds.parity import adversary_bounds, entropy_floor
from hardness.sq.bounds.rounding import alike
from hardness.studies.needs import learners
from hardness.studies.needs import tasks as grid

if TYPE_CHECKING:
    import pandas as pd

NAMED = 32  # the number of heads that the text names, or the largest below it
# Their order is their look; those of other packages come after them.
STRATEGIES = ("sign-batch", "spread", "adaptive", "dependent")
STEPS = 16  # of a factor of two in the tolerance, where a least price is sought
FINE = tuple(2.0 + (i + 0.5) / STEPS for i in range(round((grid.FINEST - 2) * STEPS)))
# What q queries at τ cost in examples: fresh ones for each, one sample for all; and the larger of the two numbers.
PRICES: dict[str, Callable[[float, float], float]] = {
    "q/τ², fresh examples": lambda q, tau: q / tau**2,
    "max(q, 1/τ²), one sample": lambda q, tau: max(q, tau**-2),
    "max(q, 1/τ)": lambda q, tau: max(q, 1 / tau),
}
# Of q/τ² >= 8(N-1), what each price exceeds: max(q, 1/τ²)² and max(q, 1/τ)³ are at least q/τ².
ROOTS = dict(zip(PRICES.values(), (1.0, 1 / 2, 1 / 3), strict=True))


def sharp_heads(size: int) -> int:
    """The least number of sharp heads that hide `size` bits, of which m hide 2m - 1.

    >>> [sharp_heads(s) for s in (1, 2, 3, 7, 8)]
    [1, 2, 2, 4, 5]
    """
    return next(m for m in count(1) if bits("sharp", m) >= size)


def content(rows: Sequence[Row]) -> Content:
    """Numbers, figures and tables of the rows."""
    games = cheapest(rows)
    parity, rounding = (games[games.family == family] for family in ("parity", "rounding"))
    reached, bought = sufficient(parity), budget(rows)
    prices = least_prices(reached)
    gradients = learners.content(rows)
    figures: list[Figure] = [
        *_maps(parity),
        _rounding_map(rounding),
        _least_figure(prices),
        *gradients.figures,
    ]
    tables = {"budget": lines_of(bought), **gradients.tables}
    if parity.empty or rounding.empty or bought.empty:
        missing = f"Of {len(rows)} planned trials too few have been won to answer the question."
        return Content(figures=figures, tables=tables, missing=missing)
    numbers = {**_largest_class(parity, prices), **_shares(parity, reached), **_bought_by_many(bought)}
    numbers["rounding_worst"] = float((rounding.queries / rounding.floor).max())
    return Content(numbers | dict(gradients.numbers), figures, tables, grid=grid)


def _largest_class(parity: "pd.DataFrame", prices: "pd.DataFrame") -> dict[str, Any]:
    """Of the largest d that was played, and its largest s: what is needed and reached, price by price."""
    d, s = (int(number) for number in max(zip(parity.d, parity.s, strict=True)))
    fresh, sample, larger = lines_of(prices[(prices.d == d) & (prices.s == s)])
    return {
        "d": d,
        "s": s,
        "sets": comb(d - 1, s),
        "sharp": sharp_heads(s),
        "fresh": fresh,
        "sample": sample,
        "larger": larger,
        "others": sorted({int(other) for other in parity.d} - {d}, reverse=True),
    }


def _shares(parity: "pd.DataFrame", reached: "pd.DataFrame") -> dict[str, Any]:
    """How near games, and formulas where none is played, come to the floor."""
    played = parity.queries / parity.floor
    formulas = reached[reached.d == grid.FORMULA]
    gaps = (formulas.queries / formulas.floor).groupby(formulas.s).max()
    return {
        "gap": float(gaps.max()),
        "last": {"s": grid.HEADS[-1], "gap": float(gaps[grid.HEADS[-1]])},
        "games": len(parity),
        "exact": int((played == 1).sum()),
        "worst": float(played.max()),
    }


def _bought_by_many(bought: "pd.DataFrame") -> dict[str, Any]:
    """What the number of heads buys that the text names, at the coarsest and the finest tolerance."""
    m = int(bought.m[bought.m <= NAMED].max())
    at = {line["τ"]: line for line in lines_of(bought[bought.m == m])}
    coarse, fine = (at[pick(grid.BUDGET_TOLERANCES)] for pick in (max, min))
    few = {"coarse": _few(bought, coarse["τ"]), "fine": _few(bought, fine["τ"])}
    return {"m": m, "bits": bits("sharp", m), "coarse": coarse, "fine": fine, "few": few}


def _few(bought: "pd.DataFrame", tau: float) -> int:
    """Up to which number of heads sharp ones force more queries than a parity that they hold in part."""
    lines = lines_of(bought[bought.τ == tau].sort_values("m"))
    ahead = takewhile(lambda line: line["sharp"] > line["truncated"], lines)
    return max((int(line["m"]) for line in ahead), default=0)


def cheapest(rows: Iterable[Row]) -> "pd.DataFrame":
    """The cheapest game that ended with one concept left, of every family, d, s and exponent e of the tolerance."""
    exponents = {grid.tolerance(e): e for e in (*grid.EXPONENTS, *grid.ROUNDING_EXPONENTS)}
    games = frame(rows, "solved", kind="frontier")
    games = games.reindex(columns=["family", "dim", "heads", "tolerance", "strategy", "cost"])
    games = games.rename(columns={"dim": "d", "heads": "s", "cost": "queries"})
    games = games[games.queries > 0].assign(e=lambda table: table.tolerance.map(exponents))
    cell = ["family", "d", "s", "e"]
    table = games.sort_values([*cell, "queries", "strategy"]).drop_duplicates(cell)
    return table.assign(floor=[_floor(**game) for game in table[cell].to_dict("records")])


def _floor(family: str, d: int, s: int, e: float) -> int:
    return parity_floor(d, s, e) if family == "parity" else rounding_floor(_class(d, s), e)


@cache
def parity_floor(dim: int, size: int, exponent: float) -> int:
    """Queries that every deterministic learner needs which must be certain: theorem B, or what answers can tell."""
    sets, tau = comb(dim - 1, size), grid.tolerance(exponent)
    return max(exact_floor(sets, tau), ceil(entropy_floor(sets, tau)))


@cache
def parity_suffices(dim: int, size: int, exponent: float) -> int:
    """Queries that surely identify, whatever a valid oracle answers (theory 2.7): characters, or sums of any sets."""
    sets = comb(dim - 1, size)
    return min(sets - 1, certain_queries(sets, grid.tolerance(exponent)))


@cache
def independent_batches(dim: int, size: int, exponent: float) -> int | None:
    """What sign batches pay that are no larger than the rank of the class: sets that are affinely independent.

    None where the means outside a batch pass the tolerance, so that its formula does not hold.
    """
    n, tau = dim - 1, grid.tolerance(exponent)
    rank = n if size % 2 else n - 1
    outside = majority_mean(rank - 1 + rank % 2) / (rank - 3)
    return batch_queries(comb(n, size), tau, rank) if tau > outside else None


@cache
def rounding_floor(concepts: RoundingConcepts, exponent: float) -> int:
    """Queries needed for the labels of m heads: theory 2.6 by `adversary_bounds`, or what answers can tell."""
    tau, classes = grid.tolerance(exponent), concepts.size // alike(concepts)
    return max(ceil(adversary_bounds(concepts, tau).get("window", 0.0)), ceil(entropy_floor(classes, tau)), 1)


def least_needed(dim: int, size: int, price: Callable[[float, float], float]) -> float:
    """A lower bound on price(q, τ) over every tolerance, for a price that rises with q and with 1/τ.

    Between two of a fine row, the floor of the smaller one at the price of the larger one; and what follows from q/τ²
    being at least 8(N-1) at every tolerance (theory 2.5d), beyond the row too.

    >>> least_needed(16, 2, PRICES["max(q, 1/τ²), one sample"]) <= 2 * (8 * 105) ** 0.5
    True
    """
    steps = pairwise((2.0, *FINE))
    between = [price(parity_floor(dim, size, finer), grid.tolerance(coarser)) for coarser, finer in steps]
    least = min(*between, price(1, grid.tolerance(FINE[-1])))
    return max(least, float((8 * (comb(dim - 1, size) - 1)) ** ROOTS[price]))


def sufficient(parity: "pd.DataFrame") -> "pd.DataFrame":
    """The least that is known to suffice, by d, s and exponent: of games where there are any, else of formulas."""
    import pandas as pd

    d = grid.FORMULA
    formulas = [
        {
            "d": d,
            "s": s,
            "e": e,
            "floor": parity_floor(d, s, e),
            "queries": min(q for q in (parity_suffices(d, s, e), independent_batches(d, s, e)) if q),
        }
        for s in grid.HEADS
        for e in grid.EXPONENTS
    ]
    columns = list(formulas[0])
    return pd.concat([parity[columns], pd.DataFrame(formulas)] if len(parity) else [pd.DataFrame(formulas)])


def least_prices(reached: "pd.DataFrame") -> "pd.DataFrame":
    """A line per class and price: the least that is proved to be needed, and the least that was reached."""
    import pandas as pd

    paid = reached.assign(τ=reached.e.map(grid.tolerance))
    by_price = [
        paid.assign(price=name, reached=[price(q, tau) for q, tau in zip(paid.queries, paid.τ, strict=True)])
        for name, price in PRICES.items()
    ]
    cell = ["d", "s", "price"]
    table = pd.concat(by_price).sort_values(["reached", "τ"], kind="stable").drop_duplicates(cell)
    order = {name: place for place, name in enumerate(PRICES)}
    table = table.sort_values(
        cell, key=lambda column: column.map(order) if column.name == "price" else column
    )
    needed = [least_needed(d, s, PRICES[price]) for d, s, price in table[cell].itertuples(index=False)]
    return table.assign(needed=needed)[[*cell, "needed", "reached", "queries", "τ"]]


def budget(rows: Iterable[Row]) -> "pd.DataFrame":
    """A line per tolerance and m: log2 of the queries that parities need, as the trials say."""
    table = frame(rows, "solved", kind="budget").rename(columns={"heads": "m", "tolerance": "τ"})
    table = table.reindex(columns=["family", "m", "τ", "exact", "truncated", "s", "leak"])
    table = table[table.family == "parity"].sort_values(["τ", "m"], ascending=[False, True])
    sharp = [_sharp(int(m), tau) for m, tau in zip(table.m, table.τ, strict=True)]
    wrong = [error_mass(int(s), int(m)) for s, m in zip(table.s, table.m, strict=True)]
    return table.assign(sharp=sharp, ε=wrong)[["m", "τ", "sharp", "exact", "truncated", "s", "ε", "leak"]]


@cache
def _sharp(m: int, tau: float) -> float:
    """The same of the largest class that so many sharp heads hide."""
    size = min(bits("sharp", m), (grid.BUDGET_DIM - 1) // 2)
    return exact_parity(size, grid.BUDGET_DIM, tau).log2_queries


LOG_QUERIES = Axis("log₂ of the queries", low=-0.4)  # marks at 0 are not cut
LOG_TOLERANCE = Axis("log₂ 1/τ", low=1.0, high=grid.FINEST + 0.4, ticks=(2, 4, 6, 8, 10, 12))


def _logs(points: Iterable[tuple[float, float | None]]) -> list[tuple[float, float]]:
    return [(x, log2(y)) for x, y in points if y]


def _pairs(table: "pd.DataFrame", y: str) -> list[tuple[float, float]]:
    """Points (e, log2 of a column)."""
    return _logs(zip(table.e.tolist(), table[y].tolist(), strict=True))


def _played(games: "pd.DataFrame") -> list[Series]:
    """One series per strategy: its games as points."""
    series = []
    for name in dict.fromkeys([*STRATEGIES, *games.strategy]):
        style = STRATEGIES.index(name) if name in STRATEGIES else None
        played = games[games.strategy == name]
        points = [
            Point(e, log2(q), tip=f"{name}, τ = 2^−{e:g}: {q:,} queries")
            for e, q in zip(played.e.tolist(), played.queries.tolist(), strict=True)
        ]
        series += [Series(name, points, join=False, style=style)] if points else []
    return series


def _maps(parity: "pd.DataFrame") -> list[Curves]:
    classes = [
        (int(d), [s for s in grid.HEADS if s in set(table.s)], table) for d, table in parity.groupby("d")
    ]
    maps = [_map(d, heads, table) for d, heads, table in reversed(classes)]
    return [*maps, _map(grid.FORMULA, list(grid.HEADS), parity[parity.d == grid.FORMULA])]


def _map(d: int, heads: Sequence[int], played: "pd.DataFrame") -> Curves:
    panels = []
    for s in heads:
        size, games = comb(d - 1, s), played[played.s == s]
        floor = _logs((e, parity_floor(d, s, e)) for e in grid.EXPONENTS)
        enough = _logs((e, parity_suffices(d, s, e)) for e in grid.EXPONENTS)
        series = [*_played(games), line("surely enough", enough, "upper bound")]
        if d == grid.FORMULA:
            paid = _logs((e, independent_batches(d, s, e)) for e in grid.EXPONENTS)
            series.append(line("independent batches", paid, "law"))
        counted = f"{size:,}" if size < 1e7 else f"2^{log2(size):.1f}"
        floor = [(2.0, floor[0][1]), *floor]
        shape = Panel(f"s = {s}: N = {counted}", series, floor=floor, reached=_pairs(games, "queries"))
        panels.append(replace(shape, barred=(1.0, 2.0)))
    return Curves(f"map-{d}", panels, LOG_TOLERANCE, LOG_QUERIES)


def _rounding_map(games: "pd.DataFrame") -> Curves:
    panels = []
    for (m, d), table in games.groupby(["s", "d"]):
        floor = _logs((e, rounding_floor(_class(int(d), int(m)), e)) for e in grid.ROUNDING_EXPONENTS)
        floor = [(floor[0][0] - 0.25, floor[0][1]), *floor]
        panels.append(
            Panel(f"m = {m}: n = {d - 1}", _played(table), floor=floor, reached=_pairs(table, "queries"))
        )
    axis = Axis("log₂ 1/τ", ticks=(3, 4, 5, 6, 7, 8))
    return Curves("map-rounding", panels, axis, LOG_QUERIES)


def _class(d: int, m: int) -> RoundingConcepts:
    return RoundingConcepts(d - 1, grid.MODULUS, grid.MODULUS, heads=m)


def _least_figure(prices: "pd.DataFrame") -> Curves:
    panels = []
    aside = dict(zip(sorted(set(prices.d)), (-0.18, -0.06, 0.06, 0.18), strict=False))  # markers side by side
    for price in PRICES:
        series = []
        for style, (d, table) in enumerate(prices[prices.price == price].groupby("d")):
            paid = [(at["s"], at["reached"], at["τ"], at["needed"]) for at in lines_of(table)]
            points = [
                Point(
                    s + aside.get(d, 0.0),
                    log2(q),
                    hollow=d == grid.FORMULA,
                    tip=f"d = {d}, s = {s}: {q:,.0f} at τ = {tau:.3g}",
                )
                for s, q, tau, _ in paid
            ]
            needed = line(f"d = {d}, needed", [(s, log2(q)) for s, *_, q in paid], "lower bound", style=style)
            paying = "by formula" if d == grid.FORMULA else "reached"
            series += [Series(f"d = {d}, {paying}", points, join=False, style=style), needed]
        panels.append(Panel(price, series))
    return Curves("least", panels, Axis("s", ticks=grid.HEADS), Axis("log₂ of the price"), height=3.0)
