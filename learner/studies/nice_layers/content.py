"""What the rows of `nice-layers` say: examples to an error as brackets, slopes, rarity and paths."""

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import log, pi, sqrt
from typing import TYPE_CHECKING, Any

from scipy.stats import binomtest

from hardness.engine.store import Row
from hardness.report import Content, frame
from hardness.statistics.means import Mean, mean, slope
from learner.base import SOLVED
from learner.last_fit import counting_floor
from learner.studies import nice_layers as grid
from learner.studies.nice_layers import LBFGS, LITERAL, PHASES, RANDOM, trials
from learner.studies.nice_layers.brackets import Bracket, bracket
from learner.studies.nice_layers.figures import examples_figure, path_figure, rarity_figure
from learner.studies.nice_layers.trials import ETAS

if TYPE_CHECKING:
    from pandas import DataFrame

Line = dict[str, Any]

TARGETS = (0.3, 0.1, 0.03)  # relative errors
AIM = TARGETS[1]
NEEDED = f"examples to {AIM:g}"
ENDED = ("solved", "wrong", "refused")  # by itself: only such a trial says anything of a learner
LAST_FACTOR = 16  # of the examples below the most, over which the slope of the error is taken
STEEP = 3  # exponents of rarity from which the estimated slopes are counted apart
LEAST_RUNS = 3  # layers with fewer of which an interval says nothing
FEWEST_HEADS = 2  # that the headline compares with the most
FEW = 30  # passing rows of a layer below which nothing is estimated
LEARNERS = (PHASES, LITERAL, RANDOM, LBFGS)
FIT = ("tokens", "dim", "heads", "learner", "scale", "samples", "repetition", "error", "certified", "trusted")
RARE = ("scale", "heads", "tokens", "rows", "certified")
PATH = (
    "heads",
    "path",
    "rho",
    "repetition",
    "status",
    "certified",
    "certified_error",
    "polished_error",
    "random_start_error",
    "reason",
)
RANK_ONE = "sum to a matrix of rank one"  # words of the reason of a refusal
LINEAR = ("tokens", "dim", "heads", "explained")
SHORT = {"tokens": "k", "dim": "d", "heads": "m", "scale": "spread"}


def content(rows: Sequence[Row]) -> Content:
    """All that the page shows."""
    table = fits(rows)
    examples, rare, layers, linear = scaling(table), rarity(rows), paths(rows), linear_maps(rows)
    saturated, needs = wide(table, grid.SATURATED), _needs(examples)
    if not (needs and len(rare) and len(layers) and len(linear) and saturated["layers"]):
        return Content(missing="Some of the questions of this study have no rows yet.")
    phases = examples[examples["learner"] == PHASES]
    numbers = needs | {
        "slopes": _sides(phases["slope"], phases["law"]),
        "steep": _sides(*_steep(phases)),
        "rarity": {
            spread: _sides(part["farthest slope"], part["law"]) for spread, part in rare.groupby("spread")
        },
        "passing": passing(rare),
        "paths": path_numbers(layers),
        "starts": starts(table),
        "literal": literal(table),
        "linear": linear_numbers(linear),
        "certificates": certificates(table),
        "wide": saturated,
        "aim": f"{AIM:g}".lstrip("0"),
        "last_factor": LAST_FACTOR,
        "few": FEW,
        "steep_from": STEEP,
        "least_runs": LEAST_RUNS,
    }
    figures = [examples_figure(examples, NEEDED), path_figure(layers), rarity_figure(rare)]
    tables = {"examples": examples, "rarity": rare}
    return Content(numbers, figures, tables, grid=ChainMap(vars(trials), vars(grid)))


def _table(rows: Iterable[Row], kind: str, columns: Sequence[str]) -> "DataFrame":
    """The trials of a kind that ended by themselves, with the short names of their parameters."""
    return frame(rows, *ENDED, kind=kind).reindex(columns=[*columns]).rename(columns=SHORT)


def fits(rows: Iterable[Row]) -> "DataFrame":
    """One line per fit of a learner; a refused layer has an infinite error."""
    table = _table(rows, grid.SCALING, FIT)
    table["error"] = table["error"].astype(float).fillna(float("inf"))
    flags = ["certified", "trusted"]
    table[flags] = table[flags] == True  # noqa: E712 - None is not certified
    return table


def examples_to(cell: "DataFrame", target: float) -> Bracket:
    """The bracket of a relative error over the fits of a cell; a refused layer is not learned."""
    learned = (cell["error"] <= target).groupby(cell["samples"]).agg(list)
    return bracket({int(count): layers for count, layers in learned.items()})


def slope_of(cell: "DataFrame") -> Mean | None:
    """Slope of log error on log examples over the last factor, a layer at a time: mean and interval."""
    slopes = []
    for _, layer in cell.groupby("repetition", sort=False):
        late = layer[
            (layer["samples"] >= layer["samples"].max() / LAST_FACTOR) & (layer["error"] < float("inf"))
        ]
        late = late[late["error"] > 0]
        points = [*zip(late["samples"].tolist(), late["error"].tolist(), strict=True)]
        fit = slope(points, exact=True) if len(points) >= LEAST_RUNS else None
        slopes += [fit.value] if fit else []
    return mean(slopes) if slopes else None


def scaling(table: "DataFrame") -> "DataFrame":
    """Per learner and cell: examples to each error, the counting floor, the phases' end and slope."""
    from pandas import DataFrame

    usual = table[(table["spread"] == grid.SPREAD) & (table["d"] != grid.WIDE[2])]
    cells = usual.groupby(["k", "d", "m", "learner"])
    lines = [_cell(k, d, m, name, cell) for (k, d, m, name), cell in cells]
    lines.sort(key=lambda cell: (cell["k"], cell["d"], cell["m"], LEARNERS.index(cell["learner"])))
    columns = [
        "learner",
        "k",
        "d",
        "m",
        "layers",
        "floor",
        *(f"examples to {target:g}" for target in TARGETS),
    ]
    more = ["largest tried", "error there", "certified there", "slope", "law"]
    return DataFrame(lines, columns=columns + more)


def _cell(k: int, d: int, m: int, name: str, cell: "DataFrame") -> Line:
    """The line of a learner in a cell."""
    entry: Line = {"learner": name, "k": k, "d": d, "m": m, "layers": cell["repetition"].nunique()}
    entry["floor"] = counting_floor(m, k, d)
    entry |= {f"examples to {target:g}": examples_to(cell, target) for target in TARGETS}
    entry["largest tried"] = int(cell["samples"].max())
    if name in (PHASES, LITERAL):
        ends = cell[cell["samples"] == cell["samples"].max()]
        entry |= {"error there": float(ends["error"].median())}
        entry |= {"certified there": f"{ends['certified'].sum()} of {len(ends)}"}
    if name == PHASES and m > 1:
        entry |= {"slope": slope_of(cell), "law": -1 / ((m - 1) * (k - 1))}
    return entry


def starts(table: "DataFrame") -> Line:
    """How often a search from one start misses a layer from more examples than were enough for it before."""
    searches = table[table["learner"].isin((RANDOM, LBFGS))]
    runs = [
        (run.sort_values("samples")["error"] <= AIM).tolist()
        for _, run in searches.groupby(["learner", "k", "d", "m", "repetition"])
    ]
    return {"runs": len(runs), "missed_later": sum(learned != sorted(learned) for learned in runs)}


def literal(table: "DataFrame") -> Line:
    """At how many m and numbers of examples that both tried the literal phases' median error is the larger one."""
    usual = table[(table["k"] == 2) & (table["d"] == grid.LITERAL_DIM) & (table["spread"] == grid.SPREAD)]
    medians = usual.pivot_table(index=["m", "samples"], columns="learner", values="error", aggfunc="median")
    both = medians.reindex(columns=[LITERAL, PHASES]).dropna()
    return {"compared": len(both), "larger": int((both[LITERAL] > both[PHASES]).sum())}


def wide(table: "DataFrame", spread: float) -> Line:
    """How many layers of a spread of the scores are certified, and the errors of the others, at one size."""
    layers = table[(table["d"] == grid.WIDE[2]) & (table["spread"] == spread)]
    errors = layers.assign(error=layers["error"].clip(upper=1.0)).sort_values("error")
    sure = errors["certified"]
    return {
        "layers": len(layers),
        "certified": errors["error"][sure].tolist(),
        "others": errors["error"][~sure].tolist(),
    }


def certificates(table: "DataFrame") -> Line:
    """Of all fits of the phases: how many are certified or only trusted, and the largest errors on fresh examples."""
    phases = table[table["learner"].isin((PHASES, LITERAL))]
    certified = phases["error"][phases["certified"]]
    missed = phases["error"][phases["trusted"] & ~phases["certified"]]
    untrusted = phases["error"][~phases["trusted"]]
    return {
        "fits": len(phases),
        "certified": len(certified),
        "worst": certified.max() if len(certified) else None,
        "trusted_only": len(missed),
        "trusted_worst": missed.max() if len(missed) else None,
        "untrusted": len(untrusted),
        "untrusted_near": int((untrusted <= AIM).sum()),
    }


def linear_maps(rows: Iterable[Row]) -> "DataFrame":
    """The share of a random layer's variance that a linear map of all tokens explains, a line per layer."""
    return _table(rows, grid.LINEAR, LINEAR)


def linear_numbers(linear: "DataFrame") -> Line:
    """Least and most that a linear map explains of a layer, and what the aim asks of the mean rest."""
    explained = linear["explained"]
    rest = 1 - explained.mean()
    return {
        "least": float(explained.min()),
        "most": float(explained.max()),
        "aim_share": 1 - AIM**2 / rest,
    }


def rarity(rows: Iterable[Row]) -> "DataFrame":
    """Per (spread, m, k): the law's exponent, the farthest slope over layers, and the shares by η."""
    from pandas import DataFrame

    lines = []
    for (spread, m, k), layers in _table(rows, grid.RARITY, RARE).groupby(["spread", "m", "k"]):
        counts = layers["certified"].tolist()
        seen, local = layers["rows"].sum(), slopes(counts)
        high = [*local][-1] if local else None
        lines.append(
            {
                "spread": spread,
                "m": m,
                "k": k,
                "law": (m - 1) * (k - 1),
                "layers": len(layers),
                "between η": f"{high:g} and {ETAS[ETAS.index(high) + 1]:g}" if high else None,
                "farthest slope": local[high] if high else None,
                "pooled, farther": pooled_slope(counts) if local else None,
                **{f"share at {eta:g}": sum(count[str(eta)] for count in counts) / seen for eta in ETAS},
            }
        )
    shares = [f"share at {eta:g}" for eta in ETAS]
    measured = ["layers", "between η", "farthest slope", "pooled, farther", *shares]
    return DataFrame(lines, columns=["spread", "m", "k", "law", *measured])


def passing(rare: "DataFrame") -> Line:
    """At two heads and tokens: the share of rows that pass at the least η, and that which agrees by the law's constant.

    The constant is that of learner 1.10 where two tokens differ in half of their features.
    """
    pairs = rare[(rare["m"] == 2) & (rare["k"] == 2)]
    if not len(pairs):
        return {}
    spread, eta = float(pairs["spread"].iloc[0]), ETAS[-1]
    return {
        "spread": spread,
        "eta": eta,
        "share": float(pairs[f"share at {eta:g}"].iloc[0]),
        "agreeing": eta / (sqrt(pi) * spread),
    }


def slopes(counts: Sequence[Mapping[str, int]]) -> dict[float, Mean]:
    """Slope of log share on log η between neighbouring η, by the upper one, where every layer has rows enough.

    `counts` are a layer's passing rows by η. Rows of one layer share its bias, and are one observation; from a
    handful of rows nothing is estimated.
    """
    exponents = {}
    for high, low in pairwise(ETAS):
        pairs = [(layer[str(high)], layer[str(low)]) for layer in counts]
        if len(pairs) >= LEAST_RUNS and min(less for _, less in pairs) >= FEW:
            exponents[high] = mean([log(more / less) / log(high / low) for more, less in pairs])
    return exponents


def pooled_slope(counts: Sequence[Mapping[str, int]]) -> float | None:
    """The slope at the smallest η at which all layers together have rows enough; None where `slopes` reach as far."""
    slope_at = None
    for high, low in [*pairwise(ETAS)][len(slopes(counts)) :]:
        more, less = (sum(layer[str(eta)] for layer in counts) for eta in (high, low))
        if less >= FEW:
            slope_at = log(more / less) / log(high / low)
    return slope_at


def paths(rows: Iterable[Row]) -> "DataFrame":
    """Per layer of the paths: was it refused, certified, solved by the polish, solved from a random start?"""
    table = _table(rows, grid.PATH, PATH)
    return table.assign(
        refused=table["status"] == "refused",
        certified=table["certified"] == True,  # noqa: E712 - None is not certified
        solved=table["polished_error"].astype(float) <= SOLVED,  # no number is not exact
        random_start=table["random_start_error"].astype(float) <= SOLVED,
    )


def path_numbers(layers: "DataFrame") -> Line:
    """What the phases certify, refuse and solve on the paths, and what a random start solves of these."""
    alone, nice = layers["random_start"], layers[layers["rho"] == 1]
    others = layers[~layers["refused"] & ~layers["certified"]]
    hard = (layers["rho"] == 0) & layers["path"].isin(("w", "both"))  # there W is a parity's
    # Whose sum is 0 for an even number of heads (learner 5)
    cancelling = layers[hard & (layers["path"] == "w") & (layers["m"] % 2 == 0)]
    elsewhere = layers["refused"] & ~hard
    always = nice.groupby(["m", "repetition"])["certified"].all().groupby("m")
    return {
        "exact": SOLVED,
        "layers": len(layers),
        "certified": int(layers["certified"].sum()),
        "solved": int(layers["solved"].sum()),
        "both": int((layers["solved"] & alone).sum()),
        "refused": int(layers["refused"].sum()),
        "refused_found": int((layers["refused"] & alone).sum()),
        "missed_found": int((~layers["refused"] & ~layers["solved"] & alone).sum()),
        "unfound": int((~alone).sum()),
        "unfound_hard": int((~alone & hard).sum()),
        "refused_elsewhere": int(elsewhere.sum()),
        "refused_elsewhere_found": int((elsewhere & alone).sum()),
        "others": len(others),
        "others_near": int((others["certified_error"].astype(float) <= AIM).sum()),
        "nice": {int(m): f"{sure.sum()} of {len(sure)}" for m, sure in always},
        "misnamed": int(cancelling["reason"].str.contains(RANK_ONE).sum()),
        "steps": sorted({*layers["rho"].tolist()}),
    }


def _needs(examples: "DataFrame") -> Line:
    """Examples to the aimed error by heads, in the main cell (or the first there is); {} if two heads are not there."""
    cells = sorted(
        {*zip(examples["k"], examples["d"], strict=True)}, key=lambda cell: (cell != grid.MAIN, cell)
    )
    if not cells:
        return {}
    k, d = cells[0]
    main = examples[(examples["k"] == k) & (examples["d"] == d)]
    needs = {name: part.set_index("m")[NEEDED].to_dict() for name, part in main.groupby("learner")}
    phases, searches = needs.get(PHASES, {}), [needs[name] for name in (RANDOM, LBFGS) if name in needs]
    if FEWEST_HEADS not in phases or not searches:
        return {}
    layers, searched = (
        int(main["layers"][main["learner"].isin(names)].min()) for names in ((PHASES,), (RANDOM, LBFGS))
    )
    compared = [m for m in phases if any(m in search for search in searches)]
    cheaper = [m for m in compared if _saves([search[m] for search in searches if m in search], phases[m])]
    return {
        "k": int(k),
        "d": int(d),
        "phases": {int(m): str(bracket) for m, bracket in phases.items()},
        "fewest_compared": FEWEST_HEADS,
        "most_heads": int(max(phases)),
        "search": _enough([bracket for search in searches for bracket in search.values()]),
        "cheaper": [int(m) for m in cheaper],
        "undecided": [int(m) for m in compared if m not in cheaper],
        "layers": {
            "phases": layers,
            "searches": searched,
            "missed": _most_missed(searched),
            "learned": _most_missed(layers),  # the same where none was learned
        },
    }


def _saves(searches: Sequence[Bracket], phases: Bracket) -> bool:
    """Whether each search learned all layers where the phases learned none."""
    return phases.none is not None and all(
        search.all is not None and search.all <= phases.none for search in searches
    )


def _enough(searches: Sequence[Bracket]) -> str:
    """The number of examples from which on all searches learned all layers."""
    if any(search.all is None for search in searches):
        return f"more than {max(search.largest_tried for search in searches):,}"
    return f"at most {max(search.all or 0 for search in searches):,}"


def _most_missed(layers: int) -> float:
    """The largest share of layers that may be missed where all of so many were learned, at 95 %, two-sided."""
    return float(binomtest(0, layers).proportion_ci(method="exact").high)


def _steep(phases: "DataFrame") -> tuple[list[Mean | None], list[float]]:
    """Slopes and laws of the cells whose exponent of rarity is at least `STEEP`."""
    steep = phases[(phases["m"] - 1) * (phases["k"] - 1) >= STEEP]
    return steep["slope"].tolist(), steep["law"].tolist()


def _sides(slopes: Iterable[Mean | None], laws: Iterable[float | None]) -> dict[str, int]:
    """How many intervals hold the law's value, lie below it, lie above it; and for how many cells there is none."""
    sides = [
        slope.side(law) if isinstance(slope, Mean) else None
        for slope, law in zip(slopes, laws, strict=True)
        if law is not None and law == law
    ]
    return {
        "inside": sides.count(0),
        "below": sides.count(-1),
        "above": sides.count(1),
        "none": sides.count(None),
    }
