"""What the rows of `lattices` say: how far both attacks get, on how many examples, and what was predicted."""

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from math import log2
from statistics import median
from typing import TYPE_CHECKING, Any

from hardness.attacks.bkw_plan import LOG2_ROWS_HELD
from hardness.attacks.lattice import MOST_SECONDS
from hardness.engine.store import Row
from hardness.io.rounding import bounded
from hardness.report import Axis, Content, Curves, Panel, Point, Series, frame, line
from hardness.report.rounding import cell_text, decimals
from hardness.studies.lattices.tasks import EXAMPLES, FEW_HEADS, FILES, PANELS

if TYPE_CHECKING:
    from pandas import DataFrame

NAMES = {"lattice": "lattice", "bkw": "integer BKW"}
LOOKS = [(attack, source) for attack in NAMES for source in ("file", "stream")]
JUDGED_SECONDS = 2.0  # below which no prediction is judged
LOG2_JUDGED = log2(JUDGED_SECONDS)
CLOSE = 3.0  # bits
TOP = 9.0  # log2 of seconds that the figures show
EDGE = TOP - 0.3  # where a mark stands whose time lies beyond
APART, ASIDE = (
    0.5,
    0.026,
)  # marks of one n that are nearer cover each other; by what share of the width they step aside
ALL = "all"  # heads: as many as make every label right
COLUMNS = (
    *("modulus", "levels", "dim", "heads", "attack", "samples", "status", "cost", "seconds"),
    *("predicted_seconds", "forecast_seconds", "error_mass"),
)
SHOWN = ("examples", "solved", "otherwise", "expected", "took", "difference", "masses")
SECONDS = Axis(
    "log₂ of processor seconds", ticks=(1, 2, 4, 6, 8), names=("≤ 1", "2", "4", "6", "8"), low=0.5, high=TOP
)


def content(rows: Sequence[Row]) -> Content:
    """Numbers, figure and table of the rows."""
    cells = attacks(trials(rows))
    figures, tables = [_reach(cells), _few_heads(cells)], {"attacks": _shown(cells)}
    if not (cells["right"] * (cells["m"] == ALL)).any():
        return Content(
            figures=figures, tables=tables, missing="No attack has solved an instance with right labels."
        )
    numbers = (
        agreement(cells)
        | constant_guess(judged(cells))
        | limits(cells)
        | fewer_heads(cells)
        | {
            "smaller": smaller_files(cells),
            "files": FILES,
            "fewest": min(EXAMPLES),
            "few_heads": {attack: n for attack, (n, _) in FEW_HEADS.items()},
            "judged": JUDGED_SECONDS,
            "bits": CLOSE,
            "longest_forecast": MOST_SECONDS,
            "log2_rows_held": LOG2_ROWS_HELD,
        }
    )
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

    `clipped` says that the prediction, or the time, is below what is judged and counts as that; `height` is where the
    cell stands in a figure.
    """
    order = ended.assign(heads=[0 if m == ALL else m for m in ended["m"]])
    cells = order.groupby(["q", "p", "n", "heads", "attack", "samples"]).agg(
        m=("m", "first"),
        runs=("status", "size"),
        right=("took", "count"),
        otherwise=("status", lambda ends: ", ".join(sorted(set(ends) - {"solved"}))),
        predicted=("known", "median"),
        measured=("took", "median"),
        read=("cost", "median"),
        times=("took", lambda times: times.dropna().tolist()),
        masses=("error_mass", lambda masses: masses.dropna().tolist()),
    )
    cells = cells.reset_index()
    cells["source"] = cells["samples"].map(lambda count: "file" if count else "stream")
    cells["off"] = cells["measured"] - cells["predicted"]
    cells["clipped"] = cells[["measured", "predicted"]].min(axis=1) <= LOG2_JUDGED
    waiting = cells["predicted"].where(cells["otherwise"] != "refused", EDGE).fillna(EDGE).clip(upper=EDGE)
    cells["height"] = cells["measured"].astype(float).fillna(waiting)
    return cells


def farthest(cells: "DataFrame") -> list[dict[str, Any]]:
    """By q, p and attack, every label right: the largest n solved and in how many runs, 0 if none, and the least larger
    one that was not, with how it ended.
    """
    whole = cells[cells["m"] == ALL]
    lines = []
    for q, p in PANELS:
        sizes: dict[str, Any] = {"q": q, "p": p}
        for attack in NAMES:
            tried = whole[(whole["q"] == q) & (whole["p"] == p) & (whole["attack"] == attack)]
            largest = int(tried["n"][tried["right"] > 0].max()) if tried["right"].any() else 0
            beyond = tried[tried["n"] == tried["n"][tried["n"] > largest].min()]
            sizes |= {
                attack: largest,
                f"{attack}_share": "{right}/{runs}".format(**tried[tried["n"] == largest].sum()),
                f"{attack}_source": ", ".join(sorted(set(tried["source"][tried["n"] == largest]))),
                f"{attack}_beyond": int(beyond["n"].iloc[0]) if len(beyond) else 0,
                f"{attack}_beyond_share": f"{beyond['right'].sum()}/{beyond['runs'].sum()}",
                f"{attack}_refused": bool((beyond["otherwise"] == "refused").all()),
            }
        lines.append(sizes)
    return lines


def limits(cells: "DataFrame") -> dict[str, Any]:
    """The largest sizes; whether all come from streams; how many of the next are refused; the longest search begun.

    `lattice_seconds` is the longest prediction of a lattice attack that was not refused.
    """
    far = farthest(cells)
    ends = [size[f"{attack}_refused"] for size in far for attack in NAMES if size[f"{attack}_beyond"]]
    begun = cells[(cells["attack"] == "lattice") & (cells["otherwise"] != "refused")]
    return {
        "far": far,
        "streamed": all(size[f"{attack}_source"] in ("stream", "") for size in far for attack in NAMES),
        "ends": len(ends),
        "refused": sum(ends),
        "lattice_seconds": 2.0 ** float(begun["predicted"].max()) if len(begun) else 0.0,
    }


def smaller_files(cells: "DataFrame") -> list[dict[str, Any]]:
    """Files smaller than those of the figures: their examples, and the runs solved of those taken on."""
    begun = cells[(cells["m"] == ALL) & (cells["otherwise"] != "refused")]
    parts = {size: begun[begun["samples"] == size] for size in EXAMPLES if size < min(FILES.values())}
    return [
        {"examples": size, "share": f"{part['right'].sum()}/{part['runs'].sum()}"}
        for size, part in sorted(parts.items(), reverse=True)
        if len(part)
    ]


def fewer_heads(cells: "DataFrame") -> dict[str, Any]:
    """At which m BKW takes longer than predicted and at which not; what the lattice attack did not solve throughout."""
    few = cells[cells["m"] != ALL]
    bkw, lattice = (few[(few["attack"] == attack) & (few["right"] > 0)] for attack in ("bkw", "lattice"))
    lost = few[(few["attack"] == "lattice") & (few["right"] < few["runs"])]
    return {
        "few_longer": bkw["m"][bkw["off"] > 0].tolist(),
        "few_shorter": bkw["m"][bkw["off"] <= 0].tolist(),
        "few_quick": bool(len(lattice)) and max(map(max, lattice["times"])) <= LOG2_JUDGED,
        "few_lost": [f"{_share(cell)} at m = {cell.m}" for cell in lost.itertuples()],
    }


def agreement(cells: "DataFrame") -> dict[str, Any]:
    """How many predictions lie near what was measured, every other by name, and what no comparison judges.

    A cell is judged where time and prediction are above `JUDGED_SECONDS`, or differ by more than `CLOSE` with the lower
    one raised to that. `unsolved` are those that an attack took on, in log2 of the seconds predicted. `shorter` and
    `longer` count what was measured on either side of its prediction, judged or not.
    """
    known = cells[cells["off"].notna()]
    far = known[known["off"].abs() > CLOSE]
    compared = judged(cells)
    unsolved = cells[(cells["right"] == 0) & (cells["otherwise"] != "refused")]
    return {
        "compared": len(compared),
        "close": len(compared) - len(far),
        "off": [_named(cell) for cell in far.itertuples()],
        "undecided": len(known) - len(compared),
        "shorter": int((known["off"] < 0).sum()),
        "longer": int((known["off"] > 0).sum()),
        "unsolved": len(unsolved),
        "unsolved_few": int((unsolved["samples"] == min(EXAMPLES)).sum()),
        "unsolved_seconds": 2.0 ** float(unsolved["predicted"].max()) if len(unsolved) else 0.0,
    }


def judged(cells: "DataFrame") -> "DataFrame":
    """The solved cells whose prediction and time are both above what is judged, or far apart all the same."""
    known = cells[cells["off"].notna()]
    return known[~known["clipped"] | (known["off"].abs() > CLOSE)]


def constant_guess(compared: "DataFrame") -> dict[str, Any]:
    """What a guess that is the same for every judged cell would reach: the middle of the range of measured times.

    `distances` holds, by attack, the judged cells and their median distances, in bits, from predictions and from the
    nearest constant.
    """
    if not len(compared):
        return {"range": [0.0, 0.0], "guess": 0.0, "guess_close": 0, "distances": []}
    times = compared["measured"].astype(float)
    guess = (times.min() + times.max()) / 2
    return {
        "range": [float(times.min()), float(times.max())],
        "guess": float(guess),
        "guess_close": int(((times - guess).abs() <= CLOSE).sum()),
        "distances": [
            {
                "attack": attack,
                "cells": len(part),
                "predicted": float(part["off"].abs().median()),
                "constant": distance_from_a_constant(part["measured"].astype(float).tolist()),
            }
            for attack, part in compared.groupby("attack")
        ],
    }


def distance_from_a_constant(times: Sequence[float]) -> float:
    """The least median distance of `times` from a constant, which is always reached in the middle between two of them.

    >>> distance_from_a_constant([1.0, 2.0, 6.0])
    0.5
    """
    middles = [(left + right) / 2 for left, right in combinations_with_replacement(times, 2)]
    return min(median(abs(time - middle) for time in times) for middle in middles)


def _log2(seconds: float) -> float:
    return log2(max(seconds, JUDGED_SECONDS))


def _share(cell: Any) -> str:
    return f"{cell.right}/{cell.runs}"


def _examples(cell: Any) -> str:
    """Where the examples came from, and of a stream how many were read."""
    if cell.samples:
        return f"{cell.samples:,} in a file"
    return f"2^{log2(cell.read):.1f} of a stream" if cell.read == cell.read else "a stream"


def _named(cell: Any) -> str:
    where = f"({cell.q}, {cell.p}) n = {cell.n}, m = {cell.m}, {_examples(cell)}"
    return f"{NAMES[cell.attack]} {where}: {_difference(cell)}"


def _shown(cells: "DataFrame") -> "DataFrame":
    """The table of the page: a time as its median, least and most, and the error mass where labels are wrong."""
    lines = list(cells.itertuples())
    return cells.assign(
        examples=[_examples(cell) for cell in lines],
        solved=[_share(cell) for cell in lines],
        expected=[_seconds(cell.predicted) if cell.predicted == cell.predicted else "" for cell in lines],
        took=[_spread(cell.times, _seconds) for cell in lines],
        difference=[_difference(cell) for cell in lines],
        masses=[_spread(cell.masses if cell.m != ALL else []) for cell in lines],
    )[["q", "p", "n", "m", "attack", *SHOWN]]


def _seconds(log2_seconds: float) -> str:
    """log2 of seconds, of which what is below `JUDGED_SECONDS` is only known to be below.

    >>> _seconds(5.1), _seconds(1.0)
    ('5.10', '≤ 1')
    """
    return decimals(log2_seconds) if log2_seconds > LOG2_JUDGED else f"≤ {LOG2_JUDGED:g}"


def _difference(cell: Any) -> str:
    """Measured less predicted in bits: a bound where one of them is only known to be below `JUDGED_SECONDS`."""
    quick, foreseen = cell.measured <= LOG2_JUDGED, cell.predicted <= LOG2_JUDGED
    if cell.off != cell.off or (quick and foreseen):
        return ""
    if quick or foreseen:
        return f"{'≤' if quick else '≥'} {bounded(cell.off, up=quick, places=2)}"
    return decimals(round(cell.off, 2) + 0.0)  # no −0.00


def _spread(values: Sequence[float], form: Callable[[float], str] = cell_text) -> str:
    """Median, least and most; a single value alone.

    >>> _spread([3.0, 1.0, 2.25]), _spread([5.5])
    ('2.25 [1, 3]', '5.5')
    """
    if not values:
        return ""
    middle, ends = form(median(values)), [form(min(values)), form(max(values))]
    return middle if ends == [middle, middle] else f"{middle} [{', '.join(ends)}]"


def _reach(cells: "DataFrame") -> Curves:
    """Seconds against n: every label right, the attack's own number of examples."""
    usual = cells["samples"].isin((0,)) | (cells["samples"] == cells["attack"].map(FILES))
    whole = cells[(cells["m"] == ALL) & usual]
    parts = {pair: whole[(whole["q"] == pair[0]) & (whole["p"] == pair[1])] for pair in PANELS}
    panels = [
        Panel(f"q = {q}, p = {p}", _series(part, "n", _abreast(part)), x=Axis("n"))
        for (q, p), part in parts.items()
    ]
    return Curves("lattices", panels if len(cells) else [], Axis("n"), SECONDS, columns=2, height=2.8)


def _few_heads(cells: "DataFrame") -> Curves:
    """Seconds against m, at one n of each attack."""
    few = cells[cells["m"] != ALL]
    panels = [Panel("q = {}, p = {}".format(*PANELS[0]), _series(few, "m", few["m"].tolist()))]
    return Curves("heads", panels if len(few) else [], Axis("m"), SECONDS, height=2.6)


def _abreast(panel: "DataFrame") -> list[float]:
    """n of every cell, moved aside where its mark would cover another of the same n."""
    step = ASIDE * float(panel["n"].max() - panel["n"].min())
    places = []
    for cell in panel.itertuples():
        near = [other for other in panel.itertuples() if _covers(other, cell)]
        near.sort(key=lambda mark: mark.right < mark.runs)  # a share stands to the right of its mark
        rank = [mark.Index for mark in near].index(cell.Index)
        places.append(cell.n + step * (rank - (len(near) - 1) / 2))
    return places


def _covers(mark: Any, other: Any) -> bool:
    """Whether two marks of one n, or their bars, come near each other; every mark does itself."""
    (low, high), (bottom, top) = (
        (min([cell.height, *cell.times]), max([cell.height, *cell.times])) for cell in (mark, other)
    )
    return bool(mark.n == other.n and max(low, bottom) - min(high, top) < APART)


def _series(panel: "DataFrame", size: str, places: Sequence[float]) -> list[Series]:
    """Of each attack on a file and on a stream: what it took, at `places`, and what was predicted, by `size`."""
    series, placed = [], panel.assign(place=places)
    for i, (attack, source) in enumerate(LOOKS):
        part = placed[(placed["attack"] == attack) & (placed["source"] == source)]
        if not len(part):
            continue
        model = part[part["predicted"].notna()]
        name = f"{NAMES[attack]}, {source}"
        series.append(Series(name, [_reached(cell) for cell in part.itertuples()], join=False, style=i))
        law = [*zip(model[size].tolist(), model["predicted"].tolist(), strict=True)]
        series.append(line(f"{name}: predicted", law, "law", style=i))
    return series


def _reached(cell: Any) -> Point:
    """A solved cell at its median time; one that was not at its prediction, or at the edge if it was refused."""
    times, share = cell.times, _share(cell)
    name = f"{NAMES[cell.attack]}, n = {cell.n}, m = {cell.m}, {_examples(cell)}"
    tip = f"{name}: {share} solved {cell.otherwise} {_spread(times, _seconds)}"
    if times:
        part = share if cell.right < cell.runs else ""
        return Point(cell.place, cell.height, min(times), max(times), tip=tip, note=part)
    refused = cell.otherwise == "refused"
    return Point(cell.place, cell.height, hollow=True, tip=tip, note="" if refused else share)
