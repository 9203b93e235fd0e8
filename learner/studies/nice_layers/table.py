"""What the rows of `nice-layers` say: examples to an error as brackets, slopes, rarity and paths."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from statistics import median
from typing import Any

from hardness.engine.store import Row
from hardness.report import grouped, records
from hardness.statistics.means import Mean, mean, slope
from learner.base import SOLVED
from learner.last_fit import counting_floor
from learner.studies.nice_layers.tasks import LITERAL, PATH, PHASES, RARITY, SCALING, SPREAD, WIDE
from learner.studies.nice_layers.trials import ETAS

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


def fits(rows: Iterable[Row]) -> dict[tuple[int, int, int, str], list[Line]]:
    """Fits of layers of the usual spread, by tokens, dimension, heads and learner, the phases first."""
    own = [fit for fit in records(rows, *ENDED, kind=SCALING) if fit["scale"] == SPREAD and fit["dim"] != WIDE[2]]
    found = grouped(own, "tokens", "dim", "heads", "learner")
    return dict(sorted(found.items(), key=lambda item: (item[0][:3], item[0][3] != PHASES)))


def examples_to(own: Sequence[Line], target: float) -> Bracket:
    """The bracket of a relative error over the fits of a cell; a refused layer is not learned."""
    return bracket({
        count: [fit["error"] is not None and fit["error"] <= target for fit in some]
        for count, some in grouped(own, "samples").items()
    })  # fmt: skip


def slope_of(own: Sequence[Line]) -> Mean | None:
    """Slope of log error on log examples over the last factor, a layer at a time: mean and interval."""
    slopes = []
    for layer in grouped(own, "repetition").values():
        least = max(fit["samples"] for fit in layer) / LAST_FACTOR
        points = [(fit["samples"], fit["error"]) for fit in layer if fit["error"] and fit["samples"] >= least]
        if len(points) >= LEAST_RUNS and (found := slope(points, exact=True)):
            slopes.append(found.value)
    return mean(slopes) if slopes else None


def scaling(rows: Iterable[Row]) -> list[Line]:
    """Per learner and cell of k, d and m: examples to each error, the counting floor, the phases' slope and verdict."""
    lines = []
    for (k, d, m, name), own in fits(rows).items():
        law, layers = (m - 1) * (k - 1), len(grouped(own, "repetition"))
        line: Line = {"learner": name, "k": k, "d": d, "m": m, "layers": layers, "floor": counting_floor(m, k, d)}
        line |= {f"examples to {target:g}": examples_to(own, target) for target in TARGETS}
        if name in (PHASES, LITERAL):
            most = max(fit["samples"] for fit in own)
            ends = [fit for fit in own if fit["samples"] == most]
            line |= {"most examples": most, "error there": median(end["error"] for end in ends)}
            line |= {"certified there": f"{sum(end['certified'] for end in ends)} of {len(ends)}"}
        if name == PHASES:
            line |= {"slope": slope_of(own), "law": -1 / law if law else None}
        lines.append(line)
    return lines


def wide(rows: Iterable[Row], spread: float) -> dict[str, Any]:
    """How many layers of a spread of the scores are certified, and the errors of the others, at one size."""
    own = [fit for fit in records(rows, *ENDED, kind=SCALING) if fit["dim"] == WIDE[2] and fit["scale"] == spread]
    errors = {verdict: sorted(1.0 if fit["error"] is None else fit["error"] for fit in some)
              for verdict, some in grouped(own, "certified").items()}  # fmt: skip
    return {"layers": len(own), "certified": errors.get(True, []), "others": errors.get(False, [])}


def certificates(rows: Iterable[Row]) -> dict[str, Any]:
    """Of all fits of the phases: how many are certified or only trusted, and the largest errors on fresh examples."""
    found = [fit for fit in records(rows, *ENDED, kind=SCALING) if fit["learner"] in (PHASES, LITERAL)]
    certified = [fit["error"] for fit in found if fit["certified"]]
    missed = [fit["error"] for fit in found if fit.get("trusted") and not fit["certified"]]
    return {
        "fits": len(found),
        "certified": len(certified),
        "worst": max(certified, default=None),
        "trusted_only": len(missed),
        "trusted_worst": max(missed, default=None),
    }


def rarity(rows: Iterable[Row]) -> list[Line]:
    """Per (spread, m, k): the law's exponent, the farthest slope over layers, and the shares by η."""
    lines = []
    groups = grouped(records(rows, *ENDED, kind=RARITY), "scale", "heads", "tokens")
    for (spread, m, k), layers in sorted(groups.items()):
        local = slopes(layers)
        seen = sum(layer["rows"] for layer in layers)
        line: Line = {"spread": spread, "m": m, "k": k, "law": (m - 1) * (k - 1), "layers": len(layers)}
        line |= {"farthest slope": list(local.values())[-1] if local else None}
        line |= {f"share {eta:g}": sum(layer["certified"][str(eta)] for layer in layers) / seen for eta in ETAS}
        lines.append(line)
    return lines


def slopes(layers: Sequence[Line]) -> dict[float, Mean]:
    """Slope of log share on log η between neighbouring η, by the upper one, where every layer has rows enough.

    Rows of one layer share its bias, and are one observation; from a handful of rows nothing is estimated.
    """
    found = {}
    for high, low in pairwise(ETAS):
        counts = [(layer["certified"][str(high)], layer["certified"][str(low)]) for layer in layers]
        if len(layers) >= LEAST_RUNS and min(less for _, less in counts) >= FEW:
            found[high] = mean([log(more / less) / log(high / low) for more, less in counts])
    return found


def paths(rows: Iterable[Row]) -> list[Line]:
    """Per m, path and ρ: layers that the phases certify, that the polish and a random start solve, and who gave up."""
    lines = []
    for (m, path, rho), own in sorted(grouped(layers_of_paths(rows), "m", "path", "rho").items()):
        counts = Counter(one["gave_up"] for one in own if one["gave_up"])
        found: Line = {"m": m, "path": path, "rho": rho, "layers": len(own)}
        found |= {name: sum(one[name] for one in own) for name in ("refused", "certified", "solved", "random start")}
        reason = next((one["reason"] for one in own if one["reason"]), "")
        lines.append(found | {"gave up": ", ".join(f"{n} at {name}" for name, n in counts.items()), "a reason": reason})
    return lines


def layers_of_paths(rows: Iterable[Row]) -> list[Line]:
    """Per layer of the paths: was it refused, certified, solved by the polish, solved from a random start?"""
    return [
        {"m": layer["heads"], "refused": layer["status"] == "refused"}
        | {name: layer[name] for name in ("path", "rho", "certified", "gave_up", "reason")}
        | {"solved": _exact(layer["polished_error"]), "random start": _exact(layer["random_start_error"])}
        for layer in records(rows, *ENDED, kind=PATH)
    ]


def _exact(error: float | None) -> bool:
    """Whether an error is that of an exact layer: 0.0 is, and what was not run is not."""
    return error is not None and error <= SOLVED
