"""What the rows of `nice-layers` say: examples to an error as brackets, slopes, rarity, paths and searches."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import Any

import numpy as np

from hardness.engine.store import Row
from hardness.statistics.means import Mean, mean
from learner.base import SOLVED
from learner.last_fit import counting_floor
from learner.studies.nice_layers.tasks import LITERAL, PATH, PHASES, RARITY, SCALING, SEARCH, SPREAD, WIDE
from learner.studies.nice_layers.trials import ETAS

Detail = Mapping[str, Any]
Runs = dict[int, dict[int, Detail]]  # repetition -> examples -> detail
Line = dict[str, Any]

TARGETS = (0.3, 0.1, 0.03)  # relative errors
AIM = TARGETS[1]
ENDED = ("solved", "wrong", "refused")  # by itself: only such a trial says anything of a learner
LAST_FACTOR = 16  # in the examples, over which the slope of the error is taken
LEAST_RUNS = 3  # layers with fewer of which an interval says nothing
FEW = 30  # certified rows of a layer below which nothing is estimated


@dataclass(frozen=True)
class Bracket:
    """Numbers of examples: the largest up to which no layer is learned, and the least from which on all are.

    None where no number that was tried is one; `most` is the largest that was. Nothing is interpolated between.
    """

    none: int | None
    all: int | None
    most: int

    def __str__(self) -> str:
        if self.none is None:
            return f"at most {self.all:,}" if self.all else f"mixed up to {self.most:,}"
        if self.none == self.most:
            return f"more than {self.most:,}"
        return f"{self.none:,} to {self.all:,}" if self.all else f"{self.none:,} to more than {self.most:,}"


def bracket(learned: Mapping[int, Sequence[bool]]) -> Bracket:
    """The bracket of which layers are learned at which number of examples.

    >>> print(bracket({154: [False, False], 192: [True, True], 256: [True, True]}))
    154 to 192
    >>> print(bracket({100: [True, False], 200: [True, True]}), bracket({100: [True], 200: [False]}), sep="; ")
    at most 200; mixed up to 200
    """
    none = every = None
    for count in sorted(learned):
        if any(learned[count]):
            break
        none = count
    for count in sorted(learned, reverse=True):
        if not all(learned[count]):
            break
        every = count
    return Bracket(none, every, max(learned))


def details(rows: Iterable[Row], kind: str) -> list[tuple[Row, Detail]]:
    """The rows of one kind whose trials ended by themselves, with what they found."""
    return [
        (row, row.outcome.detail)
        for row in rows
        if row.task.solver["kind"] == kind and row.outcome is not None and row.outcome.status in ENDED
    ]


def gathered(rows: Iterable[Row]) -> dict[tuple[str, int, int, int], Runs]:
    """Details by learner, tokens, dimension and heads, of layers of the usual spread."""
    found: dict[tuple[str, int, int, int], Runs] = {}
    for row, detail in details(rows, SCALING):
        p = row.task.params
        if p["scale"] == SPREAD and int(p["dim"]) != WIDE[2]:
            key = row.task.solver["learner"], int(p["tokens"]), int(p["dim"]), int(p["heads"])
            runs = found.setdefault(key, {}).setdefault(row.task.repetition, {})
            runs[int(row.task.budget["samples"])] = detail
    return found


def examples_to(runs: Runs, target: float) -> Bracket:
    """The bracket of a relative error over the layers of a cell; a refused layer is not learned."""
    learned: dict[int, list[bool]] = {}
    for run in runs.values():
        for count, detail in run.items():
            learned.setdefault(count, []).append(detail["error"] is not None and detail["error"] <= target)
    return bracket(learned)


def slope_of(runs: Runs) -> Mean | None:
    """Slope of log error on log examples over the last factor, a layer at a time: mean and interval."""
    slopes = []
    for run in runs.values():
        points = [(n, d["error"]) for n, d in sorted(run.items()) if d["error"] and n >= max(run) / LAST_FACTOR]
        if len(points) >= LEAST_RUNS:
            x, y = np.log(np.array(points, dtype=np.float64)).T
            slopes.append(float(np.polyfit(x, y, 1)[0]))
    return mean(slopes) if slopes else None


def scaling(rows: Iterable[Row]) -> list[Line]:
    """Per learner and cell of k, d and m: examples to each error, the counting floor, the phases' slope and verdict."""
    lines = []
    for (name, k, d, m), runs in sorted(gathered(rows).items(), key=lambda item: (item[0][1:], item[0][0] != PHASES)):
        law, last = (m - 1) * (k - 1), max(max(run) for run in runs.values())
        line: Line = {"learner": name, "k": k, "d": d, "m": m, "layers": len(runs), "floor": counting_floor(m, k, d)}
        line |= {f"examples to {target:g}": examples_to(runs, target) for target in TARGETS}
        if name in (PHASES, LITERAL):
            ends = [run[last] for run in runs.values() if last in run]
            line |= {"most examples": last, "error there": float(np.median([end["error"] for end in ends]))}
            line |= {"certified there": f"{sum(end['certified'] for end in ends)} of {len(ends)}"}
            ratios = [end["error"] / end["hull"] for end in ends if end.get("hull")]
            line |= {"error over hull error": float(np.median(ratios)) if ratios else None}
        if name == PHASES:
            line |= {"slope": slope_of(runs), "law": -1 / law if law else None}
        lines.append(line)
    return lines


def spreads(rows: Iterable[Row]) -> dict[float, list[tuple[float, bool]]]:
    """Error and verdict of the phases by the spread of the scores, at the one size at which the spread is varied."""
    found: dict[float, list[tuple[float, bool]]] = {}
    for row, detail in details(rows, SCALING):
        if int(row.task.params["dim"]) == WIDE[2]:
            error = 1.0 if detail["error"] is None else float(detail["error"])
            found.setdefault(float(row.task.params["scale"]), []).append((error, bool(detail["certified"])))
    return {spread: sorted(found[spread]) for spread in sorted(found)}


def certificates(rows: Iterable[Row]) -> dict[str, Any]:
    """Of all fits of the phases: how many are certified or only trusted, and the largest errors on fresh examples."""
    fits = [d for row, d in details(rows, SCALING) if row.task.solver["learner"] in (PHASES, LITERAL)]
    certified = [d["error"] for d in fits if d["certified"]]
    missed = [d["error"] for d in fits if d.get("trusted") and not d["certified"]]
    return {
        "fits": len(fits),
        "certified": len(certified),
        "worst": max(certified, default=None),
        "trusted_only": len(missed),
        "trusted_worst": max(missed, default=None),
    }


def rarity(rows: Iterable[Row]) -> list[Line]:
    """Per (spread, m, k): the law's exponent, fitted and farthest slopes over layers, slopes and shares by η."""
    groups: dict[tuple[float, int, int], list[Detail]] = {}
    for row, detail in details(rows, RARITY):
        p = row.task.params
        groups.setdefault((float(p["scale"]), int(p["heads"]), int(p["tokens"])), []).append(detail)
    lines = []
    for (spread, m, k), layers in sorted(groups.items()):
        local = slopes(layers)
        seen = sum(int(d["rows"]) for d in layers)
        line: Line = {"spread": spread, "m": m, "k": k, "law": (m - 1) * (k - 1), "layers": len(layers)}
        line |= {"farthest slope": list(local.values())[-1] if local else None, "fitted": fitted(layers)}
        line |= {f"share {eta:g}": sum(int(d["certified"][str(eta)]) for d in layers) / seen for eta in ETAS}
        lines.append(line)
    return lines


def slopes(layers: Sequence[Detail]) -> dict[float, Mean]:
    """Slope of log share on log η between neighbouring η, by the upper one, where every layer has rows enough."""
    found = {}
    for high, low in pairwise(ETAS):
        counts = [(int(d["certified"][str(high)]), int(d["certified"][str(low)])) for d in layers]
        own = [log(more / less) / log(high / low) if less >= FEW else None for more, less in counts]
        if slope := _over_layers(own):
            found[high] = slope
    return found


def fitted(layers: Sequence[Detail]) -> Mean | None:
    """Maximum-likelihood (Hill) exponent below one threshold, .05 if every layer has 300 rows there, else .1.

    Rows of one layer share its bias, and are one observation; from a handful of rows nothing is estimated.
    """
    top = "0.05" if min(d["certified"]["0.05"] for d in layers) >= 10 * FEW else "0.1"
    return _over_layers([d["certified"][top] / d["logs"][top] if d["certified"][top] >= FEW else None for d in layers])


def _over_layers(values: Sequence[float | None]) -> Mean | None:
    """Mean over layers; None if there are too few of them, or if any has too few rows for a value."""
    known = [value for value in values if value is not None]
    return mean(known) if len(known) == len(values) >= LEAST_RUNS else None


def paths(rows: Iterable[Row]) -> list[Line]:
    """Per m, path and ρ: layers that the phases certify, that the polish and a random start solve, and who gave up."""
    groups: dict[tuple[int, str, float], list[Line]] = {}
    for line in layers_of_paths(rows):
        groups.setdefault((line["m"], line["path"], line["rho"]), []).append(line)
    lines = []
    for (m, path, rho), own in sorted(groups.items()):
        counts = Counter(line["gave_up"] for line in own if line["gave_up"])
        found: Line = {"m": m, "path": path, "rho": rho, "layers": len(own)}
        found |= {name: sum(one[name] for one in own) for name in ("refused", "certified", "solved", "random start")}
        reason = next((one["reason"] for one in own if one["reason"]), "")
        lines.append(found | {"gave up": ", ".join(f"{name} {n}" for name, n in counts.items()), "a reason": reason})
    return lines


def layers_of_paths(rows: Iterable[Row]) -> list[Line]:
    """Per layer of the paths: was it refused, certified, solved by the polish, solved from a random start?"""
    return [
        {
            "m": int(row.task.params["heads"]),
            "path": row.task.solver["path"],
            "rho": float(row.task.solver["rho"]),
            "refused": row.outcome is not None and row.outcome.status == "refused",
            "certified": bool(detail["certified"]),
            "solved": _exact(detail["polished_error"]),
            "random start": _exact(detail["random_start_error"]),
            "gave_up": detail["gave_up"],
            "reason": detail["reason"],
        }
        for row, detail in details(rows, PATH)
    ]


def _exact(error: float | None) -> bool:
    """Whether an error is that of an exact layer: 0.0 is, and what was not run is not."""
    return error is not None and error <= SOLVED


def searches(rows: Iterable[Row]) -> list[Line]:
    """Per cell and start: the layers found at each ratio, and the least ratio from which on half are."""
    groups: dict[tuple[int, int, int, str], dict[float, list[bool]]] = {}
    for row, _ in details(rows, SEARCH):
        p, s = row.task.params, row.task.solver
        cell = groups.setdefault((int(p["tokens"]), int(p["dim"]), int(p["heads"]), s["start"]), {})
        cell.setdefault(float(s["ratio"]), []).append(row.outcome is not None and row.outcome.status == "solved")
    return [
        {"k": k, "d": d, "m": m, "start": start, "floor": counting_floor(m, k, d)}
        | {"least ratio": critical(grid)}
        | {"found": {ratio: f"{sum(grid[ratio])}/{len(grid[ratio])}" for ratio in sorted(grid)}}
        for (k, d, m, start), grid in sorted(groups.items())
    ]


def critical(found: Mapping[float, Sequence[bool]]) -> float | None:
    """The least x from which on at least half are found; None if at the last x they are not.

    >>> critical({0.0: [False], 0.5: [True, False], 1.0: [True]}), critical({0.0: [True], 1.0: [False]})
    (0.5, None)
    """
    least = None
    for x in sorted(found, reverse=True):
        if 2 * sum(found[x]) < len(found[x]):
            break
        least = x
    return least
