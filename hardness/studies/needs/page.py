"""The page of `needs`: what is proved impossible, what games reached, and the least needs; a function of the rows."""

from collections.abc import Sequence
from math import comb, log2
from pathlib import Path
from typing import Any

from hardness.engine.store import Row, Store
from hardness.families.concepts import RoundingConcepts
from hardness.report.drawing import Drawing
from hardness.report.report import thousands
from hardness.report.sections import Section, sections_page
from hardness.studies.looks import NOTHING
from hardness.studies.needs import formulas
from hardness.studies.needs.figures import PRICES, Least, Panel, map_drawing, points, summary_drawing
from hardness.studies.needs.tasks import (
    AT,
    EXPONENTS,
    FORMULA,
    HEADS,
    MODULUS,
    QUESTION,
    ROUNDING_EXPONENTS,
    tolerance,
)

Games = dict[tuple[Any, ...], list[tuple[float, int, str]]]  # of a class: exponent, queries, who; the cheapest of each


def write(store: Store, folder: Path) -> str:
    """Write the page of a store of this study into `folder`; returns its verdict."""
    rows = list(store.rows())
    parity, rounding = won(rows, "parity"), won(rows, "rounding")
    found = least(parity)
    sections = [_proved(found), _measured(parity), _rounding(rounding)]
    return sections_page(store, folder, QUESTION, verdict(rows, parity, found), LEAD, sections, "proved measured")


LEAD = (
    "A learner that names functions and is told their means up to a tolerance τ pays twice: with the number q of its "
    "queries, and with 1/τ, for what a sample tells of a mean is known to about one over the root of its size. A bound "
    "on one of the two says little. Here both are the axes of a plane, and a panel of a map shows one class: what is "
    "proved impossible for every strategy, what was reached, and what is open between.",
)


def won(rows: Sequence[Row], family: str) -> Games:
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


def least(parity: Games) -> list[Least]:
    """The least max(q, price) of every class that is on the page: proved, and reached."""
    found = []
    for price, cost in PRICES.items():
        for d, m in [*parity, *((FORMULA, m) for m in HEADS)]:
            known = [(max(q, cost(tolerance(e))), tolerance(e)) for e, q in panel(parity, d, m).reached]
            reached, tau = min(known)
            found.append(Least(d, m, price, formulas.least_needed(d, m, cost), reached, tau))
    return found


def panel(parity: Games, d: int, m: int) -> Panel:
    """The map of one class of parities."""
    size = comb(d - 1, m)
    independent = points(lambda e: formulas.independent_batches(d, m, e)) if d == FORMULA else []
    return Panel(
        f"m = {m}: N = 2^{log2(size):.1f}" if d == FORMULA else f"m = {m}: N = {size:,}",
        points(lambda e: formulas.parity_floor(d, m, e)),
        points(lambda e: formulas.parity_suffices(d, m, e)),
        independent,
        parity.get((d, m), []),
    )


def verdict(rows: Sequence[Row], parity: Games, found: Sequence[Least]) -> str:
    """The least sample need at the largest class that was played, and how wide the plane is open."""
    if not any(row.outcome for row in rows):
        return NOTHING
    if not parity:
        return f"no game of {len(rows)} was won: nothing is measured."
    ratios = [q / formulas.parity_floor(d, m, e) for (d, m), games in parity.items() for e, q, _ in games]
    exact = sum(ratio == 1 for ratio in ratios)
    d, m = max(parity)
    few = min(m for dim, m in parity if dim == d)
    by = {(one.dim, one.heads, one.price): one for one in found}
    samples, inverse = PRICES
    ends = [by[d, heads, samples] for heads in (few, m)]
    last = by[d, m, inverse]
    return (
        f"At d = {d} the least max(q, 1/τ²) of any strategy is proved to be at least {ends[0].proved:,.0f} for m = "
        f"{few} and {ends[1].proved:,.0f} for m = {m}, and {ends[0].reached:,.0f} and {ends[1].reached:,.0f} were "
        f"reached; the least max(q, 1/τ) at m = {m} lies between {last.proved:,.0f} and {last.reached:,.0f}. In "
        f"{exact} of {len(ratios)} games the strategy paid exactly what is proved to be needed, in the others at most "
        f"{max(ratios):.1f} times as much."
    )


def _proved(found: Sequence[Least]) -> Section:
    formula = [panel({}, FORMULA, m) for m in HEADS]
    return Section(
        kind="proved",
        heading="What is impossible, and what the least need is",
        notes=(
            "Grey: no strategy identifies there. The floor is theorem B's (theory 2.7), for deterministic learners "
            "that must be certain and for the greedy window, or, where it is larger, the number of answers that it "
            "takes to name one of N sets when the means lie in an interval of length one. From τ = 1/4 on no query "
            "tells two parities apart, so that the plane is grey there at every height.",
            "Whatever τ a strategy chooses, max(q, 1/τ²) is at least about the root of 8N and max(q, 1/τ) about its "
            "cube root, since q is at least about 8τ²N: at fixed m the exponents of d are m/2 and m/3. The lines of "
            "the figure are these least needs with the exact floors, at the worst between two of a fine row of τ.",
            f"For d = {FORMULA} nothing is played. What surely suffices is a theorem too (theory 2.7), for every class "
            "and whatever a valid oracle answers: single characters, queries on independent sets, and cut sums of sets "
            "with random signs, which need no independence. What sign batches of independent sets pay is an identity "
            "(theory 2.5e).",
        ),
        drawings=[
            summary_drawing(found),
            map_drawing(
                f"map-{FORMULA}", formula, f"The plane at d = {FORMULA}, by formula alone: proved and identity.",
                "In every panel the grey floor falls with smaller tolerances, and rises from panel to panel; what "
                "surely suffices falls with it, less than ten times above, and independent batches stay flat.",
            ),
        ],
        tables=[("The least needs over all tolerances: proved, and reached", [_line(one) for one in found])],
    )  # fmt: skip


def _line(one: Least) -> dict[str, Any]:
    assert one.reached is not None
    return {
        "d": one.dim, "m": one.heads, "cost": one.price, "proved at least": thousands(one.proved),
        "reached": thousands(one.reached), "at τ": f"{one.tolerance:.3g}", "reached / proved": one.reached / one.proved,
    }  # fmt: skip


def _measured(parity: Games) -> Section:
    if not parity:
        return Section("measured", REACHED, (NOTHING.capitalize(),))
    drawings: list[Drawing] = []
    for d in sorted({d for d, _ in parity}, reverse=True):
        panels = [panel(parity, d, m) for m in HEADS if (d, m) in parity]
        drawings.append(
            map_drawing(
                f"map-{d}", panels,
                f"The plane at d = {d}, a panel a number of heads m. A marker is the game of the cheapest strategy "
                "that was played there, straight lines between them; the broken line surely suffices.",
                "From panel to panel the grey floor rises and moves to smaller tolerances; the markers follow it, "
                "and meet it at both ends.",
            )
        )  # fmt: skip
    lines = [
        {"d": d, "m": m, "N": thousands(comb(d - 1, m)), "τ": f"{tolerance(e):g}", "strategy": who,
         "queries": thousands(q), "proved at least": thousands(formulas.parity_floor(d, m, e)),
         "queries / proved": q / formulas.parity_floor(d, m, e)}
        for (d, m), games in parity.items() for e, q, who in games
    ]  # fmt: skip
    return Section(
        kind="measured",
        heading=REACHED,
        notes=(
            "Every marker is one game against the greedy window that ended with one set left: it shows that so many "
            "queries suffice against that oracle. The oracle draws nothing, and another seed of the strategy could "
            "only lower the number, so that there is no interval to give. Nothing is drawn where no game was played "
            "or won.",
            "At large tolerances a query loses few sets and sign batches are played. Where the N means can be told "
            "apart, the strategy spread aims each live set at a mean of its own, evenly over the range that Parseval "
            "leaves; at the smallest tolerances one or two such queries read off the set, and the floor is met.",
        ),
        drawings=drawings,
        tables=[("Games on parities beside the floors", lines)] if lines else [],
    )


REACHED = "What games reached on parities"


def _rounding(games: Games) -> Section:
    lines, panels = [], []
    for (d, m), own in sorted(games.items(), key=lambda item: item[0][1]):
        concepts = _class(d, m)
        floors = {e: formulas.rounding_floor(concepts, e) for e in ROUNDING_EXPONENTS}
        panels.append(Panel(f"m = {m}: n = {d - 1}", list(floors.items()), [], [], own, barred=False))
        lines += [
            {"m": m, "n": d - 1, "τ": f"{tolerance(e):g}", "strategy": who, "queries": q, "proved at least": floors[e]}
            for e, q, who in own
        ]
    drawing = [
        map_drawing(
            "map-rounding", panels,
            f"The plane for the labels of m heads of rounded inner products mod {MODULUS}; n follows from m, and the "
            f"number of secrets is {MODULUS} to the power n.",
            "The floor is low in every panel and rises little; the markers lie above it and fall towards it.",
        )
    ] if panels else []  # fmt: skip
    return Section(
        kind="measured",
        heading="Rounding: labels of m heads",
        notes=(
            f"The labels are those of m heads themselves, with as many levels as residues, and n is the size at which "
            f"most is proved of them at τ = {AT:g} by the error mass of every single secret (theory 2.6). The floor is "
            "that bound, the same that every page prints for so many heads, or what answers can tell. A game ends when "
            "all secrets left give the same labels. Sizes beyond the panels' are out of reach of games.",
        ),
        drawings=drawing,
        tables=[("Games on rounding by m heads", lines)] if lines else [],
    )


def _class(d: int, m: int) -> RoundingConcepts:
    return RoundingConcepts(d - 1, MODULUS, MODULUS, heads=m)
