"""What the rows of `lattices` say: how far both attacks get, on how many examples, and what was predicted."""

from collections.abc import Sequence
from math import log2
from typing import TYPE_CHECKING, Any

from hardness.engine.store import Row
from hardness.report import Axis, Content, Curves, Panel, Point, Series, frame, line
from hardness.studies.lattices.tasks import FILES, PANELS

if TYPE_CHECKING:
    from pandas import DataFrame

NAMES = {"lattice": "lattice", "bkw": "integer BKW"}
LOOKS = [(attack, source) for attack in NAMES for source in ("file", "stream")]
JUDGED_SECONDS = 2.0  # below which no prediction is judged
CLOSE = 3.0  # bits
TOP = 9.0  # log2 of seconds that the figure shows
ALL = "all"  # heads: as many as make every label right
COLUMNS = (
    *("modulus", "levels", "dim", "heads", "attack", "samples", "status", "seconds"),
    *("predicted_seconds", "forecast_seconds", "error_mass"),
)
SHOWN = ("examples", "solved", "otherwise", "predicted", "took", "off", "masses")


def content(rows: Sequence[Row]) -> Content:
    """Numbers, figure and table of the rows."""
    cells = attacks(trials(rows))
    figures, tables = [_reach(cells)], {"attacks": _shown(cells)}
    if not (cells["right"] * (cells["m"] == ALL)).any():
        return Content(
            figures=figures, tables=tables, missing="No attack has solved an instance with right labels."
        )
    numbers = agreement(cells) | {
        "far": farthest(cells),
        "files": FILES,
        "judged": JUDGED_SECONDS,
        "bits": CLOSE,
    }
    return Content(numbers, figures, tables)


def trials(rows: Sequence[Row]) -> "DataFrame":
    """One line per trial: its cell, how it ended, and log2 of the seconds that it took and was predicted to take."""
    table = frame(rows).reindex(columns=[*COLUMNS]).rename(columns={"modulus": "q", "levels": "p"})
    table["predicted"] = table["predicted_seconds"].fillna(table["forecast_seconds"])
    table["n"] = table["dim"] - 1
    table["m"] = [heads or ALL for heads in table["heads"].fillna(0).astype(int)]
    table["samples"] = table["samples"].fillna(0).astype(int)
    table["took"] = table["seconds"].where(table["status"] == "solved").map(_log2, na_action="ignore")
    table["known"] = table["predicted"].astype(float).map(_log2, na_action="ignore")
    return table


def attacks(ended: "DataFrame") -> "DataFrame":
    """One line per attack and instance: runs, how many were `right`, medians of the seconds, and their distance.

    `clipped` says that the prediction, or the time, is below what is judged and counts as that.
    """
    order = ended.assign(heads=[0 if m == ALL else m for m in ended["m"]])
    cells = order.groupby(["q", "p", "n", "heads", "attack", "samples"]).agg(
        m=("m", "first"),
        runs=("status", "size"),
        right=("took", "count"),
        otherwise=("status", lambda ends: ", ".join(sorted(set(ends) - {"solved"}))),
        predicted=("known", "median"),
        measured=("took", "median"),
        times=("took", lambda times: times.dropna().tolist()),
        masses=("error_mass", lambda masses: masses.dropna().tolist()),
    )
    cells = cells.reset_index()
    cells["source"] = cells["samples"].map(lambda count: "file" if count else "stream")
    cells["off"] = cells["measured"] - cells["predicted"]
    cells["clipped"] = cells[["measured", "predicted"]].min(axis=1) <= log2(JUDGED_SECONDS)
    return cells


def farthest(cells: "DataFrame") -> list[dict[str, Any]]:
    """By q, p and attack, every label right: the largest n solved, and the least larger one that was not; 0 if none."""
    whole = cells[cells["m"] == ALL]
    lines = []
    for q, p in PANELS:
        sizes: dict[str, Any] = {"q": q, "p": p}
        for attack in NAMES:
            tried = whole[(whole["q"] == q) & (whole["p"] == p) & (whole["attack"] == attack)]
            largest = int(tried[tried["right"] > 0]["n"].max()) if tried["right"].any() else 0
            beyond = tried[tried["n"] > largest]["n"]
            sizes |= {attack: largest, f"{attack}_beyond": int(beyond.min()) if len(beyond) else 0}
        lines.append(sizes)
    return lines


def agreement(cells: "DataFrame") -> dict[str, Any]:
    """How many predictions lie near what was measured, of those above `JUDGED_SECONDS`, and every other by name."""
    known = cells[cells["off"].notna()]
    above = known[known[["measured", "predicted"]].max(axis=1) > log2(JUDGED_SECONDS)]
    far = above[above["off"].abs() > CLOSE]
    return {
        "above": len(above),
        "close": len(above) - len(far),
        "clipped": int(above["clipped"].sum()),
        "off": [_named(cell) for _, cell in far.iterrows()],
        "below": len(known) - len(above),
    }


def _log2(seconds: float) -> float:
    return log2(max(seconds, JUDGED_SECONDS))


def _examples(samples: int) -> str:
    return f"{samples:,} in a file" if samples else "a stream"


def _named(cell: Any) -> str:
    where = f"({cell['q']}, {cell['p']}) n = {cell['n']}, m = {cell['m']}, {_examples(cell['samples'])}"
    return f"{NAMES[cell['attack']]} {where}: {cell['off']:+.1f}"


def _shown(cells: "DataFrame") -> "DataFrame":
    """The table of the page: a time as its median, least and most, and the error mass where labels are wrong."""
    few = cells["m"] != ALL
    shown = cells.assign(
        examples=cells["samples"].map(_examples),
        solved=[f"{right}/{runs}" for right, runs in zip(cells["right"], cells["runs"], strict=True)],
        took=cells["times"].map(_spread),
        masses=cells["masses"].where(few, None).map(lambda masses: _spread(masses or [])),
    )
    return shown[["q", "p", "n", "m", "attack", *SHOWN]]


def _spread(values: Sequence[float]) -> str:
    """Median, least and most.

    >>> _spread([3.0, 1.0, 2.25])
    '2.25 [1, 3]'
    """
    from statistics import median

    return f"{median(values):.3g} [{min(values):.3g}, {max(values):.3g}]" if values else ""


def _reach(cells: "DataFrame") -> Curves:
    """Seconds against n: every label right, the attack's own number of examples."""
    usual = cells["samples"].isin((0,)) | (cells["samples"] == cells["attack"].map(FILES))
    whole = cells[(cells["m"] == ALL) & usual]
    panels = [
        Panel(f"q = {q}, p = {p}", _series(whole[(whole["q"] == q) & (whole["p"] == p)]), x=Axis("n"))
        for q, p in PANELS
    ]
    seconds = Axis("log₂ of processor seconds", low=0.5, high=TOP)
    return Curves("lattices", panels if len(cells) else [], Axis("n"), seconds, columns=2, height=2.8)


def _series(panel: "DataFrame") -> list[Series]:
    """Of each attack on a file and on a stream: what it took, and what was predicted."""
    series = []
    for i, (attack, source) in enumerate(LOOKS):
        part = panel[(panel["attack"] == attack) & (panel["source"] == source)]
        model = part[part["predicted"].notna()]
        name = f"{NAMES[attack]}, {source}"
        series.append(Series(name, [_reached(cell) for _, cell in part.iterrows()], join=False, style=i))
        law = [*zip(model["n"].tolist(), model["predicted"].tolist(), strict=True)]
        series.append(line(f"{name}: predicted", law, "law", style=i))
    return series


def _reached(cell: Any) -> Point:
    """A solved cell at its median time; one that was not at its prediction, or at the edge where that lies beyond."""
    n, solved, times = int(cell["n"]), f"{cell['right']}/{cell['runs']}", cell["times"]
    examples = _examples(cell["samples"])
    tip = (
        f"{NAMES[cell['attack']]}, n = {n}, {examples}: {solved} solved {cell['otherwise']} {_spread(times)}"
    )
    if times:
        share = solved if cell["right"] < cell["runs"] else ""
        return Point(n, float(cell["measured"]), min(times), max(times), tip=tip, note=share)
    edge = TOP - 0.3
    known = cell["predicted"] == cell["predicted"]
    y = min(float(cell["predicted"]), edge) if known else edge
    return Point(n, y, hollow=True, tip=tip, note=cell["otherwise"].partition(",")[0])
