"""What the rows of `lattices` say: how far both attacks get, on how many examples, and what was predicted."""

from collections.abc import Iterable, Sequence
from math import log2
from statistics import median
from typing import Any

from hardness.engine.store import Row
from hardness.report import Axis, Column, Content, Curves, Panel, Point, Series, Table, grouped, line, records
from hardness.studies.lattices.tasks import FEW_HEADS, FILES, PANELS

Line = dict[str, Any]
NAMES = {"lattice": "lattice", "bkw": "integer BKW"}
LOOKS = [(attack, source) for attack in NAMES for source in ("file", "stream")]
JUDGED_SECONDS = 2.0  # below which no prediction is judged
CLOSE = 3.0  # bits
TOP = 9.0  # log2 of seconds that the figure shows
LEAST_MASS = 1e-7  # error mass that the figure shows
NEEDED = {  # what a solved run needed, a median over the runs, by the names of details
    "log₂ examples used": ("log2_used",),
    "log₂ rows held": ("log2_rows",),
    "steps": ("steps",),
    "coordinates chosen away": ("vanish", "selected_away"),
    "trials": ("trials",),
    "block size": ("block_size",),
    "log₂ nodes per trial": ("log2_nodes",),
}


def content(rows: Sequence[Row]) -> Content:
    """Numbers, figures and tables of the rows."""
    found = lines(rows)
    figures = [_reach(found), _heads(found)]
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
    keys = ("modulus", "levels", "dim", lambda run: run.get("heads") or 0, "attack", lambda run: run.get("samples", 0))
    return [_line(key, runs) for key, runs in sorted(grouped(records(rows), *keys).items())]


def _line(key: tuple[Any, ...], runs: list[Line]) -> Line:
    q, p, dim, heads, attack, samples = key
    solved = [run | {"log2_used": run["cost"] and log2(run["cost"])} for run in runs if run["status"] == "solved"]
    predicted = _known(runs, "predicted_seconds", "forecast_seconds")
    known = [log2(max(x, JUDGED_SECONDS)) for x in predicted]
    took = [log2(max(run["seconds"], JUDGED_SECONDS)) for run in solved]
    needed = {name: _known(solved, *keys) for name, keys in NEEDED.items()}
    return {
        "q": q, "p": p, "n": dim - 1, "m": heads or "all", "attack": attack, "source": "file" if samples else "stream",
        "samples": samples, "examples": f"{samples:,} in a file" if samples else "a stream",
        "runs": len(runs), "right": len(solved), "solved": f"{len(solved)}/{len(runs)}",
        "else": ", ".join(sorted({run["status"] for run in runs if run["status"] != "solved"})),
        "predicted": median(known) if known else None, "took": took,
        "masses": _known(runs, "error_mass") if heads else [],  # a crash has none
        "off": median(took) - median(known) if took and known else None,
        **{name: median(values) if values else None for name, values in needed.items()},
    }  # fmt: skip


def _known(runs: Iterable[Line], *names: str) -> list[float]:
    """What the runs say under the first of `names` that they know."""
    found = (next((run[name] for name in names if run.get(name) is not None), None) for run in runs)
    return [value for value in found if value is not None]


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
        "The mass of wrong labels falls with the heads; most runs are solved at every mass.", columns=2,
    )  # fmt: skip


def _table(found: Sequence[Line]) -> Table:
    shown = [{**e, "took": _spread(e["took"]), "masses": _spread(e["masses"], 2)} for e in found]
    columns: list[Column | str] = [
        "q", "p", "n", "m", "attack", "examples", "solved", "else",
        Column("predicted", "predicted, log₂ s", "estimated"), Column("took", "measured, log₂ s", "measured"),
        Column("off", "difference, bits", "measured"), Column("masses", "error mass"), *NEEDED,
    ]  # fmt: skip
    return Table("Every attack on every instance: medians over the runs.", shown, columns)
