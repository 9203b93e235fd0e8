"""What the rows of `needs` say: maps of tolerance against queries, least prices of both, what m heads buy."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import count, pairwise
from math import ceil, comb, log2
from typing import Any

from hardness.engine.store import Row
from hardness.families.concepts import RoundingConcepts
from hardness.gadgets.levels import bits
from hardness.report import Axis, Content, Curves, Figure, Panel, Point, Series, grouped, line, records
from hardness.sq.bounds.head_budget import exact_parity
from hardness.sq.bounds.parity import adversary_bounds, entropy_floor
from hardness.sq.bounds.rounding import alike
from hardness.sq.exact import certain_queries, exact_floor
from hardness.sq.strategies.sign_batch import batch_queries, majority_mean
from hardness.studies.needs import tasks as grid

Line = dict[str, Any]
Games = dict[tuple[int, int], list[tuple[float, int, str]]]  # of a class: exponent, queries, who; the cheapest of each
BOUGHT = ("exact", "truncated", "s", "leak")  # what the trials of budgets found of parities
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
    """Numbers, figures and the table of the rows."""
    parity, rounding, bought = won(rows, "parity"), won(rows, "rounding"), budget(rows)
    least = least_prices(parity)
    figures: list[Figure] = [*_maps(parity), _rounding_map(rounding), _least_figure(least)]
    tables = {"budget": bought}
    named = [one for one in bought if one["m"] <= NAMED]
    if not parity or not rounding or not named:
        missing = f"Of {len(rows)} planned trials too few have been won to answer the question."
        return Content(figures=figures, tables=tables, missing=missing)
    ratios = [q / parity_floor(d, s, e) for (d, s), games in parity.items() for e, q, _ in games]
    d, s = max(parity)
    last = {one["price"]: one for one in least if (one["d"], one["s"]) == (d, s)}
    fresh, sample, larger = (last[price] for price in PRICES)
    m = max(one["m"] for one in named)
    heads = {f"{one['τ']:g}": one for one in named if one["m"] == m}
    numbers = {
        "d": d, "s": s, "sets": comb(d - 1, s), "sharp": sharp_heads(s), "fresh": fresh, "sample": sample,
        "larger": larger, "others": sorted({dim for dim, _ in parity} - {d}, reverse=True),
        "gap": max(gap(grid.FORMULA, s) for s in grid.HEADS),
        "last": {"s": grid.HEADS[-1], "gap": gap(grid.FORMULA, grid.HEADS[-1])},
        "games": len(ratios), "exact": ratios.count(1.0), "worst": max(ratios), "m": m, "bits": bits("sharp", m),
        "coarse": heads[f"{max(grid.BUDGET_TOLERANCES):g}"], "fine": heads[f"{min(grid.BUDGET_TOLERANCES):g}"],
    }  # fmt: skip
    return Content(numbers, figures, tables, grid=grid)


def won(rows: Iterable[Row], family: str) -> Games:
    """The cheapest game that ended with one concept left, by (d, m) and tolerance."""
    exponents = {grid.tolerance(e): e for e in (*grid.EXPONENTS, *grid.ROUNDING_EXPONENTS)}
    ended = (game for game in records(rows, "solved", kind="frontier") if game["family"] == family and game["cost"])
    cells = {place: grouped(own, "tolerance") for place, own in sorted(grouped(ended, "dim", "heads").items())}
    return {
        place: sorted((exponents[tau], *min((game["cost"], game["strategy"]) for game in own))
                      for tau, own in games.items())
        for place, games in cells.items()
    }  # fmt: skip


@cache
def parity_floor(dim: int, size: int, exponent: float) -> int:
    """Queries that every deterministic learner needs which must be certain: theorem B, or what answers can tell."""
    sets, tau = comb(dim - 1, size), grid.tolerance(exponent)
    return max(exact_floor(sets, tau), ceil(entropy_floor(sets, tau)))


def parity_suffices(dim: int, size: int, exponent: float) -> int:
    """Queries that surely identify, whatever a valid oracle answers (theory 2.7): characters, or sums of any sets."""
    sets = comb(dim - 1, size)
    return min(sets - 1, certain_queries(sets, grid.tolerance(exponent)))


def independent_batches(dim: int, size: int, exponent: float) -> int | None:
    """What sign batches pay that are no larger than the rank of the class: sets that are affinely independent.

    None where the means outside a batch pass the tolerance, so that its formula does not hold.
    """
    n, tau = dim - 1, grid.tolerance(exponent)
    rank = n if size % 2 else n - 1
    outside = majority_mean(rank - 1 + rank % 2) / (rank - 3)
    return batch_queries(comb(n, size), tau, rank) if tau > outside else None


def gap(dim: int, size: int) -> float:
    """The largest ratio, over the tolerances, of what is known to suffice without games to what is needed."""
    return max(q / parity_floor(dim, size, e) for e, q in reached({}, dim, size))


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
    found = [price(parity_floor(dim, size, finer), grid.tolerance(coarser)) for coarser, finer in steps]
    least = min(*found, price(1, grid.tolerance(FINE[-1])))
    return max(least, float((8 * (comb(dim - 1, size) - 1)) ** ROOTS[price]))


def reached(parity: Games, d: int, s: int) -> list[tuple[float, float]]:
    """The least that is known to suffice, by exponent: of games where there are any, else of formulas."""
    if (d, s) in parity:
        return [(e, q) for e, q, _ in parity[d, s]]
    found = {e: parity_suffices(d, s, e) for e in grid.EXPONENTS}
    return [(e, min(q, independent_batches(d, s, e) or q)) for e, q in found.items()]


def least_prices(parity: Games) -> list[Line]:
    """One line per class and price: the least that is proved to be needed, and the least that was reached."""
    found = []
    for (d, s), (name, price) in ((place, one) for place in [*parity, *((grid.FORMULA, s) for s in grid.HEADS)]
                                  for one in PRICES.items()):  # fmt: skip
        best, tau = min((price(q, grid.tolerance(e)), grid.tolerance(e)) for e, q in reached(parity, d, s))
        needed = least_needed(d, s, price)
        found.append({"d": d, "s": s, "price": name, "needed": needed, "reached": best, "τ": tau})
    return found


def budget(rows: Iterable[Row]) -> list[Line]:
    """One line per tolerance and m: log2 of the queries that parities need, as the trials found."""
    found = []
    for one in records(rows, "solved", kind="budget"):
        if one["family"] == "parity":  # and the largest class that so many sharp heads hide
            m, tau = one["heads"], one["tolerance"]
            size = min(bits("sharp", m), (grid.BUDGET_DIM - 1) // 2)
            sharp = exact_parity(size, grid.BUDGET_DIM, tau).log2_queries
            found.append({"m": m, "τ": tau, "sharp": sharp, **{key: one[key] for key in BOUGHT}})
    return sorted(found, key=lambda own: (-own["τ"], own["m"]))


LOG_QUERIES = Axis("log₂ of the queries", low=0.0)
LOG_TOLERANCE = Axis("log₂ 1/τ", low=1.0, high=grid.FINEST, ticks=(2, 4, 6, 8, 10, 12))


def _logs(points: Iterable[tuple[float, float | None]]) -> list[tuple[float, float]]:
    return [(x, log2(y)) for x, y in points if y]


def _played(games: Sequence[tuple[float, int, str]]) -> list[Series]:
    """One series per strategy: its games as points."""
    found = []
    for name in dict.fromkeys([*STRATEGIES, *(who for _, _, who in games)]):
        style = STRATEGIES.index(name) if name in STRATEGIES else None
        points = [Point(e, log2(q), tip=f"{name}, τ = 2^−{e:g}: {q:,} queries") for e, q, who in games if who == name]
        found += [Series(name, points, join=False, style=style)] if points else []
    return found


def _maps(parity: Games) -> list[Curves]:
    found = []
    for d in [*sorted({d for d, _ in parity}, reverse=True), grid.FORMULA]:
        regions = []
        for s in grid.HEADS:
            if d != grid.FORMULA and (d, s) not in parity:
                continue
            size = comb(d - 1, s)
            floor = _logs((e, parity_floor(d, s, e)) for e in grid.EXPONENTS)
            enough = _logs((e, parity_suffices(d, s, e)) for e in grid.EXPONENTS)
            series = [*_played(parity.get((d, s), [])), line("surely enough", enough, "upper bound")]
            if d == grid.FORMULA:
                paid = _logs((e, independent_batches(d, s, e)) for e in grid.EXPONENTS)
                series.append(line("independent batches", paid, "law"))
            counted = f"{size:,}" if size < 1e7 else f"2^{log2(size):.1f}"
            regions.append(Panel(f"s = {s}: N = {counted}", series, floor=[(2.0, floor[0][1]), *floor],
                                 reached=_logs(reached(parity, d, s)), barred=(1.0, 2.0)))  # fmt: skip
        found.append(Curves(f"map-{d}", regions, LOG_TOLERANCE, LOG_QUERIES))
    return found


def _rounding_map(games: Games) -> Curves:
    regions = []
    for (d, m), own in sorted(games.items(), key=lambda item: item[0][1]):
        floor = _logs((e, rounding_floor(_class(d, m), e)) for e in grid.ROUNDING_EXPONENTS)
        paid = _logs((e, q) for e, q, _ in own)
        regions.append(Panel(f"m = {m}: n = {d - 1}", _played(own), floor=floor, reached=paid))
    axis = Axis("log₂ 1/τ", ticks=(3, 4, 5, 6, 7, 8))
    return Curves("map-rounding", regions, axis, LOG_QUERIES)


def _class(d: int, m: int) -> RoundingConcepts:
    return RoundingConcepts(d - 1, grid.MODULUS, grid.MODULUS, heads=m)


def _least_figure(least: Sequence[Line]) -> Curves:
    dims = list(dict.fromkeys(one["d"] for one in least))
    panels = []
    for price in PRICES:
        series = []
        for style, d in enumerate(dims):
            own = [one for one in least if (one["d"], one["price"]) == (d, price)]
            points = [
                Point(one["s"], log2(one["reached"]), hollow=d == grid.FORMULA,
                      tip=f"d = {d}, s = {one['s']}: {one['reached']:,.0f} at τ = {one['τ']:.3g}") for one in own
            ]  # fmt: skip
            needed = [(one["s"], log2(one["needed"])) for one in own]
            series += [Series(f"d = {d}, reached", points, join=False, style=style),
                       line(f"d = {d}, needed", needed, "lower bound", style=style)]  # fmt: skip
        panels.append(Panel(price, series))
    return Curves("least", panels, Axis("s", ticks=grid.HEADS), Axis("log₂ of the price"), height=3.0)
