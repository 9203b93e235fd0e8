"""What the rows of `needs` say: maps of tolerance against queries, least prices of both, what m heads buy."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import count, pairwise
from math import ceil, comb, log2
from typing import Any

from hardness.engine.store import Row
from hardness.families.concepts import RoundingConcepts
from hardness.gadgets.levels import bits
from hardness.report import (
    Axis,
    Bracket,
    Column,
    Content,
    Curves,
    Figure,
    Panel,
    Point,
    Region,
    Series,
    Table,
    line,
)
from hardness.sq.bounds.adversaries import adversary_bounds
from hardness.sq.bounds.head_budget import exact_parity
from hardness.sq.bounds.parity import entropy_floor
from hardness.sq.bounds.rounding import alike
from hardness.sq.exact import certain_queries, exact_floor
from hardness.sq.strategies.sign_batch import batch_queries, majority_mean
from hardness.studies.needs.tasks import (
    AT,
    BUDGET_DIM,
    BUDGET_LEVELS,
    BUDGET_MODULUS,
    BUDGET_TOLERANCES,
    EXPONENTS,
    FINEST,
    FORMULA,
    HEADS,
    MODULUS,
    ROUNDING_EXPONENTS,
    tolerance,
)

Line = dict[str, Any]
Games = dict[tuple[int, int], list[tuple[float, int, str]]]  # of a class: exponent, queries, who; the cheapest of each
NAMED = 32  # the number of heads that the text names, or the largest below it
STRATEGIES = (
    "sign-batch",
    "spread",
    "adaptive",
    "dependent",
)  # their order is their look; those of other packages come after them
STEPS = 16  # of a factor of two in the tolerance, where a least price is sought
FINE = tuple(2.0 + (i + 0.5) / STEPS for i in range(round((FINEST - 2) * STEPS)))
# What q queries at τ cost in examples: fresh ones for each, one sample for all; and the larger of the two numbers.
PRICES: dict[str, Callable[[float, float], float]] = {
    "q/τ², fresh examples": lambda q, tau: q / tau**2,
    "max(q, 1/τ²), one sample": lambda q, tau: max(q, tau**-2),
    "max(q, 1/τ)": lambda q, tau: max(q, 1 / tau),
}


def sharp_heads(size: int) -> int:
    """The least number of sharp heads that hide `size` bits, of which m hide 2m - 1.

    >>> [sharp_heads(s) for s in (1, 2, 3, 7, 8)]
    [1, 2, 2, 4, 5]
    """
    return next(m for m in count(1) if bits("sharp", m) >= size)


def content(rows: Sequence[Row]) -> Content:
    """Numbers, figures and tables of the rows."""
    parity, rounding, bought = won(rows, "parity"), won(rows, "rounding"), budget(rows)
    least = least_prices(parity)
    figures: list[Figure] = [*_maps(parity), _rounding_map(rounding), *_budget_figures(bought), _least_figure(least)]
    tables = {
        "least": _least_table(least), "games": _games_table(parity), "rounding": _rounding_table(rounding),
        "budget": _budget_table(bought),
    }  # fmt: skip
    named = [one for one in bought if one["family"] == "parity" and one["m"] <= NAMED]
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
        "gap": max(gap(FORMULA, s) for s in HEADS), "last": {"s": HEADS[-1], "gap": gap(FORMULA, HEADS[-1])},
        "games": len(ratios), "exact": ratios.count(1.0), "worst": max(ratios), "formula": FORMULA,
        "budget": {"m": m, "d": BUDGET_DIM, "bits": bits("sharp", m), "coarse": heads[f"{max(BUDGET_TOLERANCES):g}"],
                   "fine": heads[f"{min(BUDGET_TOLERANCES):g}"]},
        "coarse": max(BUDGET_TOLERANCES), "fine": min(BUDGET_TOLERANCES), "at": AT, "modulus": MODULUS,
        "q": BUDGET_MODULUS, "p": BUDGET_LEVELS,
    }  # fmt: skip
    return Content(numbers, figures, tables)


def won(rows: Iterable[Row], family: str) -> Games:
    """The cheapest game that ended with one concept left, by (d, m) and tolerance."""
    exponents = {tolerance(e): e for e in (*EXPONENTS, *ROUNDING_EXPONENTS)}
    best: dict[tuple[int, int], dict[float, tuple[int, str]]] = {}
    for row in rows:
        task, ended = row.task, row.outcome
        if task.family == family and ended and ended.status == "solved" and ended.cost:
            cell = best.setdefault((int(task.params["dim"]), int(task.params["heads"])), {})
            at = exponents[float(task.solver["tolerance"])]
            cell[at] = min(cell.get(at, (10**12, "")), (int(ended.cost), str(task.solver["strategy"])))
    return {place: [(e, q, who) for e, (q, who) in sorted(cell.items())] for place, cell in sorted(best.items())}


@cache
def parity_floor(dim: int, size: int, exponent: float) -> int:
    """Queries that every deterministic learner needs which must be certain: theorem B, or what answers can tell."""
    sets, tau = comb(dim - 1, size), tolerance(exponent)
    return max(exact_floor(sets, tau), ceil(entropy_floor(sets, tau)))


def parity_suffices(dim: int, size: int, exponent: float) -> int:
    """Queries that surely identify, whatever a valid oracle answers (theory 2.7): characters, or sums of any sets."""
    sets = comb(dim - 1, size)
    return min(sets - 1, certain_queries(sets, tolerance(exponent)))


def independent_batches(dim: int, size: int, exponent: float) -> int | None:
    """What sign batches pay that are no larger than the rank of the class: sets that are affinely independent.

    None where the means outside a batch pass the tolerance, so that its formula does not hold.
    """
    n, tau = dim - 1, tolerance(exponent)
    rank = n if size % 2 else n - 1
    outside = majority_mean(rank - 1 + rank % 2) / (rank - 3)
    return batch_queries(comb(n, size), tau, rank) if tau > outside else None


def gap(dim: int, size: int) -> float:
    """The largest ratio, over the tolerances, of what is known to suffice without games to what is needed."""
    return max(q / parity_floor(dim, size, e) for e, q in reached({}, dim, size))


@cache
def rounding_floor(concepts: RoundingConcepts, exponent: float) -> int:
    """Queries needed for the labels of m heads: theory 2.6 by `adversary_bounds`, or what answers can tell."""
    tau, classes = tolerance(exponent), concepts.size // alike(concepts)
    return max(ceil(adversary_bounds(concepts, tau).get("window", 0.0)), ceil(entropy_floor(classes, tau)), 1)


def least_needed(dim: int, size: int, price: Callable[[float, float], float]) -> float:
    """A lower bound on price(q, τ) over every tolerance, for a price that rises with q and with 1/τ.

    Between two of a fine row, the floor of the smaller one at the price of the larger one. q/τ² exceeds 8(N-1) at every
    tolerance (theory 2.5d), beyond the row too.

    >>> least_needed(16, 2, PRICES["max(q, 1/τ²), one sample"]) <= 2 * (8 * 105) ** 0.5
    True
    """
    steps = pairwise((2.0, *FINE))
    found = [price(parity_floor(dim, size, finer), tolerance(coarser)) for coarser, finer in steps]
    least = min(*found, price(1, tolerance(FINE[-1])))
    return max(least, 8.0 * (comb(dim - 1, size) - 1)) if price is PRICES["q/τ², fresh examples"] else least


def reached(parity: Games, d: int, s: int) -> list[tuple[float, float]]:
    """The least that is known to suffice, by exponent: of games where there are any, else of formulas."""
    if (d, s) in parity:
        return [(e, q) for e, q, _ in parity[d, s]]
    found = {e: parity_suffices(d, s, e) for e in EXPONENTS}
    return [(e, min(q, independent_batches(d, s, e) or q)) for e, q in found.items()]


def least_prices(parity: Games) -> list[Line]:
    """One line per class and price: the least that is proved to be needed, and the least that was reached."""
    found = []
    for (d, s), (name, price) in ((place, one) for place in [*parity, *((FORMULA, s) for s in HEADS)]
                                  for one in PRICES.items()):  # fmt: skip
        best, tau = min((price(q, tolerance(e)), tolerance(e)) for e, q in reached(parity, d, s))
        needed = least_needed(d, s, price)
        found.append({"d": d, "s": s, "price": name, "needed": needed, "reached": best, "τ": tau,
                      "ratio": best / needed})  # fmt: skip
    return found


def budget(rows: Iterable[Row]) -> list[Line]:
    """One line per family, tolerance and m: log2 of the queries that are needed or estimated, as the trials found."""
    found = []
    for row in rows:
        task = row.task
        if task.solver["kind"] == "budget" and row.outcome and row.outcome.status == "solved":
            m, tau = int(task.params["heads"]), float(task.solver["tolerance"])
            own: Line = {"family": task.family, "m": m, "τ": tau, **row.outcome.detail}
            if task.family == "parity":  # the largest class that so many sharp heads hide
                size = min(bits("sharp", m), (BUDGET_DIM - 1) // 2)
                own["sharp"] = exact_parity(size, BUDGET_DIM, tau).log2_queries
            found.append(own)
    return sorted(found, key=lambda own: (own["family"], -own["τ"], own["m"]))


LOG_QUERIES = Axis("log₂ of the queries", low=0.0)
LOG_TOLERANCE = Axis("log₂ 1/τ", low=1.0, high=FINEST, ticks=(2, 4, 6, 8, 10, 12))


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


def _maps(parity: Games) -> list[Bracket]:
    found = []
    for d in [*sorted({d for d, _ in parity}, reverse=True), FORMULA]:
        regions = []
        for s in HEADS:
            if d != FORMULA and (d, s) not in parity:
                continue
            size = comb(d - 1, s)
            floor = _logs((e, parity_floor(d, s, e)) for e in EXPONENTS)
            enough = _logs((e, parity_suffices(d, s, e)) for e in EXPONENTS)
            series = [*_played(parity.get((d, s), [])), line("surely enough", enough, "upper bound")]
            if d == FORMULA:
                paid = _logs((e, independent_batches(d, s, e)) for e in EXPONENTS)
                series.append(line("independent batches", paid, "law"))
            counted = f"{size:,}" if size < 1e7 else f"2^{log2(size):.1f}"
            regions.append(Region(f"s = {s}: N = {counted}", [(2.0, floor[0][1]), *floor],
                                  _logs(reached(parity, d, s)), series, (1.0, 2.0)))  # fmt: skip
        seen = "The grey floor rises from panel to panel, and falls with the tolerance; what is reached follows it."
        kinds = "proved identity" if d == FORMULA else "proved measured"
        found.append(Bracket(f"map-{d}", regions, LOG_TOLERANCE, LOG_QUERIES, seen, kinds=kinds))
    return found


def _rounding_map(games: Games) -> Bracket:
    regions = []
    for (d, m), own in sorted(games.items(), key=lambda item: item[0][1]):
        floor = _logs((e, rounding_floor(_class(d, m), e)) for e in ROUNDING_EXPONENTS)
        paid = _logs((e, q) for e, q, _ in own)
        regions.append(Region(f"m = {m}: n = {d - 1}", floor, paid, _played(own)))
    axis = Axis("log₂ 1/τ", ticks=(3, 4, 5, 6, 7, 8))
    seen = "The floor is low in every panel and rises little; the points lie above it and fall towards it."
    return Bracket("map-rounding", regions, axis, LOG_QUERIES, seen)


def _class(d: int, m: int) -> RoundingConcepts:
    return RoundingConcepts(d - 1, MODULUS, MODULUS, heads=m)


def _least_figure(least: Sequence[Line]) -> Curves:
    dims = list(dict.fromkeys(one["d"] for one in least))
    panels = []
    for price in PRICES:
        series = []
        for style, d in enumerate(dims):
            own = [one for one in least if (one["d"], one["price"]) == (d, price)]
            tips = [f"d = {d}, s = {one['s']}: {one['reached']:,.0f} at τ = {one['τ']:.3g}" for one in own]
            points = [
                Point(one["s"], log2(one["reached"]), hollow=d == FORMULA, tip=tip)
                for one, tip in zip(own, tips, strict=True)
            ]
            needed = [(one["s"], log2(one["needed"])) for one in own]
            series += [Series(f"d = {d}, reached", points, join=False, style=style),
                       line(f"d = {d}, needed", needed, "lower bound", style=style)]  # fmt: skip
        panels.append(Panel(price, series))
    return Curves(
        "least", panels, Axis("s", ticks=HEADS), Axis("log₂ of the price"),
        "All lines rise with s, and the points lie just above their lines, except where there are no games.",
        kinds="proved measured", height=3.0,
    )  # fmt: skip


def _budget_figures(bought: Sequence[Line]) -> list[Curves]:
    shown = {
        "parity": (("exact", "diag, m bits", "lower bound"), ("sharp", "sharp, up to 2m − 1 bits", "lower bound"),
                   ("truncated", "truncated, more bits", "lower bound")),
        "rounding": (("rounding", "labels of m heads", "lower bound"), ("sda", "SDA, ideal labels only", "law"),
                     ("estimated", "estimate", "law")),
    }  # fmt: skip
    found = []
    for family, columns in shown.items():
        own = [one for one in bought if one["family"] == family]
        panels = []
        for tau in dict.fromkeys(one["τ"] for one in own):
            at = [one for one in own if one["τ"] == tau]
            series = [
                line(label, [(one["m"], one[key]) for one in at if (one.get(key) or 0) >= 1], kind, style=style)
                for style, (key, label, kind) in enumerate(columns)
            ]
            panels.append(Panel(f"τ = {tau:g}", series))
        kinds = "proved" if family == "parity" else "proved estimated"
        axes = Axis("m", ticks=(2, 32, 64, 96, 128)), Axis("log₂ of the queries", low=0.0)
        seen = "The bounds rise with m, and are lower at smaller tolerances."
        found.append(Curves(f"budget-{family}", panels, *axes, seen, kinds=kinds))
    return found


def _least_table(least: Sequence[Line]) -> Table:
    shown = [one | {"diag": one["s"], "sharp": sharp_heads(one["s"]), "bit": one["s"]} for one in least]
    columns = [
        Column("d"), Column("s", "hidden bits"), Column("diag", "heads, diag"), Column("sharp", "heads, sharp"),
        Column("price"), Column("needed", "needed", "proved", "at_least"),
        Column("reached", "", "measured", "at_most"), Column("τ", "at τ", "", "{:.3g}".format),
        Column("ratio", "reached / needed", "", "at_most"),
    ]  # fmt: skip
    return Table(f"The least prices over all tolerances; at d = {FORMULA} by formula", shown, columns)


def _games_table(parity: Games) -> Table:
    shown = [
        {"d": d, "s": s, "N": comb(d - 1, s), "τ": tolerance(e), "strategy": who, "queries": q,
         "needed": (floor := parity_floor(d, s, e)), "ratio": q / floor}
        for (d, s), games in parity.items() for e, q, who in games
    ]  # fmt: skip
    columns = [
        Column("d"), Column("s", "hidden bits"), Column("N", "", "", "thousands"), Column("τ", "", "", "{:g}".format),
        Column("strategy"), Column("queries", "", "measured", "thousands"),
        Column("needed", "needed", "proved", "at_least"), Column("ratio", "queries / needed", "", "at_most"),
    ]  # fmt: skip
    return Table("Games on parities beside the floors", shown, columns)


def _rounding_table(games: Games) -> Table:
    shown = [
        {"m": m, "n": d - 1, "τ": tolerance(e), "strategy": who, "queries": q,
         "needed": rounding_floor(_class(d, m), e)}
        for (d, m), own in games.items() for e, q, who in own
    ]  # fmt: skip
    columns = [
        Column("m"), Column("n"), Column("τ", "", "", "{:g}".format), Column("strategy"),
        Column("queries", "", "measured", "thousands"), Column("needed", "needed", "proved", "at_least"),
    ]  # fmt: skip
    return Table("Games on rounding by m heads", shown, columns)


def _budget_table(bought: Sequence[Line]) -> Table:
    columns = [
        Column("family"), Column("τ", "", "", "{:g}".format), Column("m"),
        Column("exact", "diag, m bits", "proved", "at_least_power"),
        Column("sharp", "sharp, up to 2m − 1 bits", "proved", "at_least_power"),
        Column("truncated", "truncated to m heads", "proved", "at_least_power"), Column("s", "its bits"),
        Column("leak", "its leak"), Column("n"), Column("rounding", "labels of m heads", "proved", "at_least_power"),
        Column("estimated", "", "estimated", "at_least_power"),
    ]  # fmt: skip
    return Table("What m heads buy: queries that are needed", bought, columns)
