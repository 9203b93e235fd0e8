"""What the rows of `lattices` say: how far both attacks get, on how many examples, and what was predicted."""

from collections.abc import Iterable, Sequence
from math import log2
from statistics import median
from typing import Any

from hardness.engine.store import Row
from hardness.report import Axis, Content, Curves, Panel, Point, Series, grouped, line, records
from hardness.studies.lattices.tasks import FILES, PANELS

Line = dict[str, Any]
NAMES = {"lattice": "lattice", "bkw": "integer BKW"}
LOOKS = [(attack, source) for attack in NAMES for source in ("file", "stream")]
JUDGED_SECONDS = 2.0  # below which no prediction is judged
CLOSE = 3.0  # bits
TOP = 9.0  # log2 of seconds that the figure shows


def content(rows: Sequence[Row]) -> Content:
    """Numbers, figure and table of the rows."""
    found = lines(rows)
    shown = [{**one, "took": _spread(one["took"]), "masses": _spread(one["masses"])} for one in found]
    figures, tables = [_reach(found)], {"attacks": shown}
    far = [{"q": q, "p": p} | {attack: _farthest(found, q, p, attack) for attack in NAMES} for q, p in PANELS]
    if not any(one[attack] for one in far for attack in NAMES):
        return Content(figures=figures, tables=tables, missing="No attack has solved an instance with right labels.")
    numbers = agreement(found) | {"far": far, "files": FILES, "judged": JUDGED_SECONDS, "bits": CLOSE}
    return Content(numbers, figures, tables)


def lines(rows: Iterable[Row]) -> list[Line]:
    """One line per attack and instance: runs solved, log2 of seconds predicted and taken, and the error masses."""
    keys = ("modulus", "levels", "dim", lambda run: run.get("heads") or 0, "attack", lambda run: run.get("samples", 0))
    return [_line(key, runs) for key, runs in sorted(grouped(records(rows), *keys).items())]


def _line(key: tuple[Any, ...], runs: list[Line]) -> Line:
    q, p, dim, heads, attack, samples = key
    solved = [run for run in runs if run["status"] == "solved"]
    predicted = [run.get("predicted_seconds", run.get("forecast_seconds")) for run in runs]
    known = [log2(max(x, JUDGED_SECONDS)) for x in predicted if x is not None]
    took = [log2(max(run["seconds"], JUDGED_SECONDS)) for run in solved]
    return {
        "q": q, "p": p, "n": dim - 1, "m": heads or "all", "attack": attack, "source": "file" if samples else "stream",
        "samples": samples, "examples": f"{samples:,} in a file" if samples else "a stream",
        "runs": len(runs), "right": len(solved), "solved": f"{len(solved)}/{len(runs)}",
        "else": ", ".join(sorted({run["status"] for run in runs if run["status"] != "solved"})),
        "predicted": median(known) if known else None, "took": took,
        "masses": [run["error_mass"] for run in runs if heads and "error_mass" in run],  # a crash has none
        "off": median(took) - median(known) if took and known else None,
    }  # fmt: skip


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


def _spread(values: Sequence[float]) -> str:
    """Median, least and most.

    >>> _spread([3.0, 1.0, 2.25])
    '2.25 [1, 3]'
    """
    return f"{median(values):.3g} [{min(values):.3g}, {max(values):.3g}]" if values else ""


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
    seconds = Axis("log₂ of processor seconds", low=0.5, high=TOP)
    return Curves("lattices", panels if found else [], Axis("n"), seconds, columns=2, height=2.8)


def _reached(e: Line) -> Point:
    """A solved cell at its median time; one that was not at its prediction, or at the edge where that lies beyond."""
    tip = f"{NAMES[e['attack']]}, n = {e['n']}, {e['examples']}: {e['solved']} solved {e['else']} {_spread(e['took'])}"
    if e["took"]:
        share = e["solved"] if e["right"] < e["runs"] else ""
        return Point(e["n"], median(e["took"]), min(e["took"]), max(e["took"]), tip=tip, note=share)
    edge = TOP - 0.3
    y = edge if e["predicted"] is None else min(e["predicted"], edge)
    return Point(e["n"], y, hollow=True, tip=tip, note=e["else"].partition(",")[0])
