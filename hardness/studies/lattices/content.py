"""What the rows of `lattices` say: how far both attacks get, on how many examples, and what was predicted."""

from collections.abc import Callable, Iterable, Sequence
from math import log2
from statistics import median
from typing import Any

from hardness.engine.outcome import Outcome
from hardness.engine.store import Row
from hardness.report import Axis, Column, Content, Curves, Panel, Point, Series, Table, line
from hardness.studies.lattices.tasks import FEW_HEADS, FILES, PANELS

Line = dict[str, Any]
NAMES = {"lattice": "lattice", "bkw": "integer BKW"}
LOOKS = [(attack, source) for attack in NAMES for source in ("file", "stream")]
JUDGED_SECONDS = 2.0  # below which no prediction is judged
CLOSE = 3.0  # bits
TOP = 9.0  # log2 of seconds that the figure shows
LEAST_MASS = 1e-7  # error mass that the figure shows
NEEDED: dict[str, Callable[[Outcome], float | None]] = {  # what a solved run needed, a median over the runs
    "log₂ examples used": lambda o: None if o.cost is None else log2(o.cost),
    "log₂ rows held": lambda o: o.detail.get("log2_rows"),
    "steps": lambda o: o.detail.get("steps"),
    "coordinates chosen away": lambda o: o.detail.get("vanish", o.detail.get("selected_away")),
    "trials": lambda o: o.detail.get("trials"),
    "block size": lambda o: o.detail.get("block_size"),
    "log₂ nodes per trial": lambda o: o.detail.get("log2_nodes"),
}


def content(rows: Sequence[Row]) -> Content:
    """Numbers, figures and tables of the rows."""
    found = lines(rows)
    figures = [_reach(found), _examples(found), _heads(found)]
    tables = {"attacks": _table(found)}
    far = [{"q": q, "p": p} | {attack: _farthest(found, q, p, attack) for attack in NAMES} for q, p in PANELS]
    if not any(one[attack] for one in far for attack in NAMES):
        return Content(figures=figures, tables=tables, missing="No attack has solved an instance with right labels.")
    q, p = PANELS[0]
    numbers = agreement(found) | {
        "far": far, "q": q, "p": p, "files": FILES, "judged": JUDGED_SECONDS, "bits": CLOSE,
        "heads": {attack: n for attack, (n, _) in FEW_HEADS.items()},
    }  # fmt: skip
    return Content(numbers, figures, tables)


def lines(rows: Iterable[Row]) -> list[Line]:
    """One line per attack and instance: runs solved, log2 of seconds predicted and taken, and what it needed."""
    found: dict[tuple[Any, ...], list[Outcome]] = {}
    for row in rows:
        if row.outcome:
            at = row.task.params
            size = (at["modulus"], at["levels"], at["dim"] - 1, at.get("heads") or 0)
            found.setdefault((*size, row.task.solver["attack"], row.task.budget.get("samples", 0)), []).append(
                row.outcome
            )
    return [_line(key, outcomes) for key, outcomes in sorted(found.items())]


def _line(key: tuple[Any, ...], outcomes: list[Outcome]) -> Line:
    q, p, n, heads, attack, samples = key
    solved = [o for o in outcomes if o.status == "solved"]
    predicted = [o.detail.get("predicted_seconds", o.detail.get("forecast_seconds")) for o in outcomes]
    known = [log2(max(x, JUDGED_SECONDS)) for x in predicted if x is not None]
    took = [log2(max(o.seconds, JUDGED_SECONDS)) for o in solved]
    masses = [o.detail["error_mass"] for o in outcomes if heads and "error_mass" in o.detail]  # a crash has none
    return {
        "q": q, "p": p, "n": n, "m": heads or "all", "attack": attack, "source": "file" if samples else "stream",
        "samples": samples, "examples": f"{samples:,} in a file" if samples else "a stream",
        "runs": len(outcomes), "right": len(solved), "solved": f"{len(solved)}/{len(outcomes)}",
        "else": ", ".join(sorted({o.status for o in outcomes if o.status != "solved"})),
        "predicted": median(known) if known else None, "took": took, "masses": masses,
        "off": median(took) - median(known) if took and known else None,
        **{name: _median(of(o) for o in solved) for name, of in NEEDED.items()},
    }  # fmt: skip


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _farthest(found: Sequence[Line], q: int, p: int, attack: str) -> int:
    """The largest n of which a run was solved with every label right; 0 if none was."""
    return max((e["n"] for e in found if (e["q"], e["p"], e["attack"], e["m"]) == (q, p, attack, "all") and e["right"]),
               default=0)  # fmt: skip


def agreement(found: Sequence[Line]) -> dict[str, Any]:
    """How many predictions lie near what was measured, of those above `JUDGED_SECONDS`, and every other by name."""
    known = [e for e in found if e["off"] is not None]
    above = [e for e in known if max(e["predicted"], median(e["took"])) > log2(JUDGED_SECONDS)]
    off = [f"{NAMES[e['attack']]} ({e['q']}, {e['p']}) n = {e['n']}, m = {e['m']}, {e['examples']}: {e['off']:+.1f}"
           for e in above if abs(e["off"]) > CLOSE]  # fmt: skip
    return {"above": len(above), "close": len(above) - len(off), "off": off, "below": len(known) - len(above)}


def _spread(values: Sequence[float], digits: int = 3) -> str:
    """Median, least and most.

    >>> _spread([3.0, 1.0, 2.25])
    '2.25 [1, 3]'
    """
    if not values:
        return ""
    middle, low, high = (f"{x:.{digits}g}" for x in (median(values), min(values), max(values)))
    return f"{middle} [{low}, {high}]"


def _tip(e: Line) -> str:
    before = "nothing" if e["predicted"] is None else f"{e['predicted']:.3g}"
    return (f"{NAMES[e['attack']]}, n = {e['n']}, m = {e['m']}, {e['examples']}: {e['solved']} solved {e['else']}, "
            f"measured {_spread(e['took'])}, predicted {before}, error mass {_spread(e['masses'], 2)}")  # fmt: skip


def _reach(found: Sequence[Line]) -> Curves:
    """Seconds against n: every label right, the attack's own number of examples."""
    panels = []
    for q, p in PANELS:
        series = []
        for i, (attack, source) in enumerate(LOOKS):
            cell = (q, p, "all", attack, source)
            own = [e for e in found if (e["q"], e["p"], e["m"], e["attack"], e["source"]) == cell
                   and e["samples"] in (0, FILES[attack])]  # fmt: skip
            name = f"{NAMES[attack]}, {source}"
            model = [(e["n"], e["predicted"]) for e in own if e["predicted"] is not None]
            series.append(Series(name, [_reached(e) for e in own], join=False, style=i))
            series.append(line(f"{name}: predicted", model, "law", style=i))
        panels.append(Panel(f"q = {q}, p = {p}", series, x=Axis("n")))
    return Curves(
        "lattices", panels if found else [], Axis("n"), Axis("log₂ of processor seconds", low=0.5, high=TOP),
        "Time rises with n on all lines; lines of streams reach further than those of files.",
        kinds="measured estimated", columns=2, height=2.8,
    )  # fmt: skip


def _reached(e: Line) -> Point:
    """A solved cell at its median time; one that was not at its prediction, or at the edge where that lies beyond."""
    if e["took"]:
        share = e["solved"] if e["right"] < e["runs"] else ""
        return Point(e["n"], median(e["took"]), min(e["took"]), max(e["took"]), tip=_tip(e), note=share)
    edge = TOP - 0.3
    y = edge if e["predicted"] is None else min(e["predicted"], edge)
    return Point(e["n"], y, hollow=True, tip=_tip(e), note=e["else"].partition(",")[0])


def _examples(found: Sequence[Line]) -> Curves:
    """Which n falls to how many examples, at the first panel."""
    q, p = PANELS[0]
    series = []
    for i, (attack, source) in enumerate(LOOKS):
        own = [(log2(e["samples"]) if e["samples"] else e["log₂ examples used"], e) for e in found
               if (e["q"], e["p"], e["m"], e["attack"], e["source"]) == (q, p, "all", attack, source)]  # fmt: skip
        points = [Point(x, e["n"], hollow=not e["right"], tip=_tip(e)) for x, e in own if x is not None]
        won = sorted((point for point in points if not point.hollow), key=lambda point: (point.x, -point.y))
        best = [point for j, point in enumerate(won) if all(point.y > other.y for other in won[:j])]
        name = f"{NAMES[attack]}, {source}"
        series += [Series(name, best, style=i), Series(name, points, join=False, style=i)]
    return Curves(
        "examples", [Panel(f"q = {q}, p = {p}", series)] if found else [], Axis("log₂ of the examples used"), Axis("n"),
        "The largest dimension solved rises with the number of examples.", height=3.2,
    )  # fmt: skip


def _heads(found: Sequence[Line]) -> Curves:
    """Labels of few heads: how many of them are wrong, and whether that was solved."""
    panels = []
    for i, (attack, (n, _)) in enumerate(FEW_HEADS.items()):
        own = [e for e in found if e["attack"] == attack and e["m"] != "all" and e["masses"]]
        points = []
        for e in own:
            middle, low, high = (max(of(e["masses"]), LEAST_MASS) for of in (median, min, max))
            some = e["right"] < e["runs"]
            points.append(Point(e["m"], middle, low, high, hollow=some, tip=_tip(e), note=e["solved"]))
        panels.append(Panel(f"{NAMES[attack]}, n = {n}", [Series(NAMES[attack], points, style=2 * i)]))
    return Curves(
        "heads", panels if any(one.series[0].points for one in panels) else [], Axis("heads m"),
        Axis("error mass of the instances", log=True),
        "The mass of wrong labels falls with the heads; where any run fails, it is at the largest mass.", columns=2,
    )  # fmt: skip


def _table(found: Sequence[Line]) -> Table:
    shown = [{**e, "took": _spread(e["took"]), "masses": _spread(e["masses"], 2)} for e in found]
    columns = [
        *map(Column, ("q", "p", "n", "m", "attack", "examples", "solved", "else")),
        Column("predicted", "predicted, log₂ s", "estimated"), Column("took", "measured, log₂ s", "measured"),
        Column("off", "difference, bits", "measured"), Column("masses", "error mass"), *map(Column, NEEDED),
    ]  # fmt: skip
    return Table("Every attack on every instance: medians over the runs.", shown, columns)
