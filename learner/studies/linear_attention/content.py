"""What the rows of `linear-attention` say of its four experiments."""

from collections import ChainMap
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hardness.engine.outcome import Row
from hardness.report import (
    Axis,
    Content,
    Curves,
    Panel,
    Point,
    Series,
    frame,
    line,
    lines_of,
    mean_points,
    mean_series,
)
from hardness.scores import EXACT
from hardness.statistics.means import Mean, mean, share, spread
from learner.linear.certificate import RANK, SPAN_RANK
from learner.linear.features import feature_count
from learner.linear.regressor import INSIDE
from learner.studies import linear_attention as grid
from learner.studies.linear_attention import trials
from learner.studies.linear_attention.automata import span_rank
from learner.studies.linear_attention.machine import Machine
from learner.studies.recorded import TINY

if TYPE_CHECKING:
    from pandas import DataFrame
    from pandas import Series as Column

Line = dict[str, Any]
COLUMNS = (
    *("family", "method", "status", "repetition", "samples"),
    *("dim", "heads", "unitary", "states", "letters", "symbols"),
    *(
        "rank",
        "lam_min",
        "identifiable",
        "error",
        "noisy",
        "distance",
        "hidden",
        "other",
        "training",
        "certified",
    ),
    *("certified_right", "steps", "step_accuracy", "word_accuracy", "programs"),
)
EXACT_AT = EXACT.threshold**2  # squared error
ZERO = 1e-14  # where the figure draws a λ_min of 0
APART = 0.1  # by which Adam's numbers of heads are drawn side by side, in places of the axis
TOLERANCES = {"rank": RANK, "span": SPAN_RANK, "inside": INSIDE}
PROGRAMS = ("addition", "palindrome", "busy beaver", "random")
FITS = {
    "distance": "least norm",
    "noisy": f"least norm, noise {trials.MEMORY_NOISE:g}",
    "other": "another exact fit",
}
ERROR = Axis("squared error / variance", log=True)
SHARE = Axis("share", low=-0.05, high=1.08)
TO_RANK = Axis("training rows / rank", log=True, ticks=(0.5, 1, 1.5, 2, 3), names=("½", "1", "1½", "2", "3"))
TO_RANK_OF_PROGRAMS = replace(TO_RANK, ticks=TO_RANK.ticks[:3], names=TO_RANK.names[:3])


def content(rows: Sequence[Row]) -> Content:
    """Numbers and figures of the rows."""
    ended = ended_trials(rows)
    fits, adam, mixtures = heads(ended), descents(ended), memories(ended)
    transitions, jobs = automata(ended), programs(ended)
    figures = [_recovery(fits), _adam(adam), _memory(mixtures), _execution(transitions), _programs(jobs)]
    ends = mixtures.set_index(["heads", "unitary"])
    wanted = {(0, 0.0), (0, 1.0), (grid.SIZE, 0.0), (grid.SIZE, 1.0)}
    known = wanted <= {*ends.index} and ends.loc[(0, 1.0), "other"] is not None
    if not (len(fits) and len(adam) and known and len(transitions) and len(jobs)):
        return Content(figures=figures, missing="Some of the four experiments have too few rows.")
    numbers = _exact(fits) | _certified(transitions, jobs) | {"adam": _descents(adam), "memory": _ends(ends)}
    numbers |= {
        "least_rows": _least_rows(transitions),
        "closest": min(min(errors) for errors in adam["errors"]),
        "runs": {
            name: spread([int(runs) for runs in table["runs"]])
            for name, table in (
                ("heads", fits),
                ("memory", mixtures),
                ("automata", transitions),
                ("machines", jobs),
            )
        },
        "tolerances": TOLERANCES,
        "exact_at": EXACT_AT,
        "features": feature_count(2 * grid.SIZE),
    }
    tables = {"descents": _by_heads(ends)}
    numbers["peaks"] = _peaks(fits)
    return Content(numbers, figures, tables, grid=ChainMap(vars(trials), vars(grid)))


def ended_trials(rows: Sequence[Row]) -> "DataFrame":
    """One line per trial that ended by itself."""
    return frame(rows, "solved", "wrong").reindex(columns=[*COLUMNS])


def _geometric(values: "Column") -> Mean | None:
    """The geometric mean of what there is; None where there is nothing."""
    numbers = values.dropna().astype(float).tolist()
    return mean(numbers, logarithmic=True) if numbers else None


def _share(values: "Column") -> Mean | None:
    numbers = values.dropna().astype(float).tolist()
    return share(numbers) if numbers else None


def heads(ended: "DataFrame") -> "DataFrame":
    """One line per d and number of rows: exact runs, those with a certificate, errors (geometric means)."""
    runs = ended[(ended["family"] == grid.HEAD) & (ended["method"] == "regression")]
    full = runs["identifiable"] == True  # noqa: E712 - a missing value is not full rank
    exact = runs["status"] == "solved"
    runs = runs.assign(full=full, exact=exact, both=full & exact)
    lines = runs.groupby(["dim", "samples"]).agg(
        runs=("exact", "size"),
        exact=("exact", "sum"),
        full=("full", "sum"),
        both=("both", "sum"),
        lam_min=("lam_min", list),
        error=("error", _geometric),
        noisy=("noisy", _geometric),
    )
    lines = lines.reset_index().astype({"dim": int}).rename(columns={"dim": "d"})
    lines["rows/ψ"] = [n / feature_count(d) for n, d in zip(lines["samples"], lines["d"], strict=True)]
    return lines


def descents(ended: "DataFrame") -> "DataFrame":
    """One line per d and number of heads that Adam trains: the errors of its runs and their geometric mean."""
    runs = ended[(ended["family"] == grid.HEAD) & (ended["method"] == "Adam")]
    lines = (
        runs.groupby(["dim", "heads"]).agg(error=("error", _geometric), errors=("error", list)).reset_index()
    )
    return lines.astype({"dim": int, "heads": int}).rename(columns={"dim": "d"})


def memories(ended: "DataFrame") -> "DataFrame":
    """One line per heads (0: of regression) and share of orthonormal examples: geometric means of what was measured."""
    runs = ended[ended["family"] == grid.MEMORY].fillna({"heads": 0}).astype({"heads": int})
    lines = runs.groupby(["heads", "unitary"]).agg(
        method=("method", "first"),
        samples=("samples", "first"),
        runs=("distance", "size"),
        hidden=("hidden", "max"),
        distances=("distance", list),
        distance=("distance", _geometric),
        noisy=("noisy", _geometric),
        other=("other", _geometric),
        training=("training", _geometric),
        trainings=("training", list),
        ranks=("rank", lambda ranks: ranks.dropna().astype(int).tolist()),
        certified=("certified", _share),
    )
    return lines.reset_index()


def automata(ended: "DataFrame") -> "DataFrame":
    """One line per size and number of rows: words and steps right, certified and not, and their counts."""
    runs = ended[ended["family"] == grid.AUTOMATA].astype(
        dict.fromkeys(("certified", "certified_right", "steps", "step_accuracy", "word_accuracy"), float)
    )
    sure = (runs["certified"] * runs["steps"]).round()
    right = (runs["certified"] * runs["steps"] * runs["certified_right"].fillna(0)).round()
    unsure, lucky = runs["steps"] - sure, (runs["step_accuracy"] * runs["steps"]).round() - right
    runs = runs.assign(
        sure=sure, right=right, unsure=unsure, lucky=lucky, luck=lucky / unsure.where(unsure > 0)
    )
    lines = runs.groupby(["states", "letters", "samples"]).agg(
        runs=("sure", "size"),
        exact=("word_accuracy", lambda words: int((words == 1).sum())),
        words=("word_accuracy", _share),
        certified=("certified", _share),
        uncertified=("luck", _share),
        **{name: (name, "sum") for name in ("sure", "right", "unsure", "lucky")},
    )
    lines = lines.reset_index().astype({"states": int, "letters": int})
    ranks = [span_rank(Q, A) for Q, A in zip(lines["states"], lines["letters"], strict=True)]
    return lines.assign(**{"rows/rank": lines["samples"] / ranks})


def programs(ended: "DataFrame") -> "DataFrame":
    """One line per machine, number of rows and program: jobs certified to their end, and right without certificate."""
    from pandas import DataFrame

    runs = ended[ended["family"] == grid.MACHINE]
    counted = [
        {"states": int(Q), "symbols": int(A), "samples": n, "rank": rank, "program": name, **counts}
        for Q, A, n, rank, named in zip(
            *(runs[c] for c in ("states", "symbols", "samples", "rank", "programs")), strict=True
        )
        for name, counts in named.items()
        if counts["jobs"]  # a table has cells for programs that a machine does not run
    ]
    counts = ["jobs", "whole", "blind", "needed", "steps", "wrong"]
    jobs = DataFrame(counted, columns=["states", "symbols", "samples", "rank", "program", *counts])
    spans = [Machine(Q, A).span_rank for Q, A in zip(jobs["states"], jobs["symbols"], strict=True)]
    jobs = jobs.assign(span=spans, fills=jobs["rank"] == spans)
    jobs = jobs.assign(sure=jobs["whole"] / jobs["jobs"], guess=jobs["blind"] / jobs["jobs"])
    lines = jobs.groupby(["states", "symbols", "samples", "program"], sort=False).agg(
        span=("span", "first"),
        full=("fills", "all"),
        part=("fills", lambda fills: not fills.any()),
        certified=("sure", _share),
        guessed=("guess", _share),
        runs=("sure", "size"),
        **{name: (name, "sum") for name in counts},
    )
    lines = lines.reset_index().sort_values(["states", "symbols", "samples"], kind="stable")
    return lines.assign(**{"rows/rank": lines["samples"] / lines["span"]})


def _exact(fits: "DataFrame") -> Line:
    """Runs with and without full rank, and those of them that were exact."""
    runs, exact, full, both = (int(fits[name].sum()) for name in ("runs", "exact", "full", "both"))
    largest = int(fits["d"].max())
    return {
        "full": full,
        "full_exact": both,
        "short": runs - full,
        "short_exact": exact - both,
        "largest": largest,
    }


def _certified(transitions: "DataFrame", jobs: "DataFrame") -> Line:
    """Steps of automata and of programs: certified, and right; jobs of programs, by the span of the rows."""
    sure, right = (int(transitions[name].sum()) for name in ("sure", "right"))
    steps, wrong = (int(jobs[name].sum()) for name in ("steps", "wrong"))
    ended = jobs[jobs["full"]].groupby("program")[["whole", "jobs"]].sum().astype(int)
    tables = {
        Q ** (Q * A): [Q, A] for Q, A in zip(transitions["states"], transitions["letters"], strict=True)
    }
    return {
        "sure": sure + steps,
        "right": right + steps - wrong,
        "automata": {"sure": sure, "right": right, "tables": min(tables), "smallest": tables[min(tables)]},
        "at_rank": _at_rank(transitions),
        "steps": {"sure": steps, "right": steps - wrong},
        "spans": sorted({int(span) for span in jobs["span"]}),
        "jobs": {name: ended.loc[name].tolist() for name in PROGRAMS if name in ended.index},
        "blind": [_blind(jobs, ratio) for ratio in (0.5, 1.0)],
    }


def _at_rank(transitions: "DataFrame") -> Line:
    """With as many rows as the rank: ends over sizes of the mean shares of certified steps, and of others right."""
    part = transitions[transitions["rows/rank"] == 1]
    shares = {key: [at.value for at in part[key] if at] for key in ("certified", "uncertified")}
    return {key: [min(values), max(values)] for key, values in shares.items() if values}


def _blind(jobs: "DataFrame", ratio: float) -> Line:
    """Jobs at a number of rows over the rank, if no run fills the span: right without certificate, and certified."""
    part = jobs[jobs["part"] & (jobs["samples"] == (ratio * jobs["span"]).round())]
    return {name: int(part[name].sum()) for name in ("jobs", "blind", "whole")}


def _peaks(fits: "DataFrame") -> Line:
    """Dimensions at which as many rows as features were tried and have the largest error with noise; and the others."""
    noisy = {
        int(d): part.set_index("rows/ψ")["noisy"].map(lambda at: at.value) for d, part in fits.groupby("d")
    }
    tried = {d: errors for d, errors in noisy.items() if 1.0 in errors.index}
    return {
        "at": [d for d, errors in tried.items() if errors.idxmax() == 1.0],
        "elsewhere": [d for d, errors in tried.items() if errors.idxmax() != 1.0],
        "from": {d: float(min(errors.index)) for d, errors in noisy.items() if d not in tried},
    }


def _descents(adam: "DataFrame") -> list[Line]:
    """By d: the errors of one head and of the most, and which is the smaller one."""
    lines = []
    for d, part in adam.groupby("d"):
        errors = part.set_index("heads")["error"]
        if 1 in errors:
            most = int(errors.index.max())
            one, several = errors[1], errors[most]
            lines.append({"d": int(d), "most": most, "one": str(one), "several": str(several)})
            lines[-1]["order"] = _order(several, one)
    return lines


def _ends(ends: "DataFrame") -> Line:
    """The associative memory on orthonormal and on Gaussian examples alone."""
    hidden, seen = ends.loc[(0, 1.0)], ends.loc[(0, 0.0)]
    orthonormal, gaussian = ends.loc[(grid.SIZE, 1.0)], ends.loc[(grid.SIZE, 0.0)]
    adam = ends[ends["method"] == "Adam"]["distance"]
    by_heads = {part: adam.xs(part, level="unitary") for part in (0.0, 1.0)}
    sizes = [heads for heads in by_heads[0.0].index if heads in by_heads[1.0].index]
    nearer = sum(_order(by_heads[0.0][heads], by_heads[1.0][heads]) > 0 for heads in sizes)
    return {
        "rank": spread(hidden["ranks"]),
        "least_norm": max(hidden["distances"]),
        "examples": int(hidden["samples"]),
        "hidden": hidden["hidden"],
        "certified": hidden["certified"].value,
        "certified_seen": seen["certified"].value,
        "adam": str(orthonormal["distance"]),
        "adam_training": orthonormal["training"].value,
        "adam_seen": str(gaussian["distance"]),
        "adam_seen_training": gaussian["training"].value,
        "order": _order(gaussian["distance"], orthonormal["distance"]),
        "sizes": sizes,
        "nearer": nearer,
        "mixed": _mixed(ends),
        "farthest": _farthest(ends),
        "stuck": _stuck(ends),
    }


def _mixed(ends: "DataFrame") -> Line | None:
    """Adam on mixtures that identify the head in all runs: where it ends nearer than on orthonormal examples alone."""
    full = {feature_count(2 * grid.SIZE)}
    known = [
        (heads, part)
        for heads, part in ends.index
        if heads and 0 < part < 1 and (0, part) in ends.index and {*ends.loc[(0, part), "ranks"]} == full
    ]
    if not known:
        return None
    nearer = [
        {"heads": heads, "percent": f"{100 * part:g}"}
        for heads, part in known
        if _order(ends.loc[(heads, part), "distance"], ends.loc[(heads, 1.0), "distance"]) > 0
    ]
    parts = sorted({part for _, part in known})
    return {
        "percents": [f"{100 * part:g}" for part in parts],
        "cells": len(known),
        "nearer": nearer,
        "training": ends.loc[(grid.SIZE, parts[-1]), "training"].value,
    }


def _farthest(ends: "DataFrame") -> Line | None:
    """Of Adam with several heads on orthonormal data: its runs, and the largest distance of one."""
    distances = [
        distance
        for (heads, part), cell in ends["distances"].items()
        for distance in cell
        if heads > 1 and part == 1
    ]
    return {"runs": len(distances), "distance": max(distances)} if distances else None


def _stuck(ends: "DataFrame") -> Line | None:
    """Of Adam with one head on orthonormal data: runs that end beyond |p*|, and their least training error, squared."""
    if (1, 1.0) not in ends.index:
        return None
    cell = ends.loc[(1, 1.0)]
    errors = [
        error
        for distance, error in zip(cell["distances"], cell["trainings"], strict=True)
        if distance > grid.SIZE
    ]
    return {"count": len(errors), "runs": len(cell["distances"]), "training": min(errors)} if errors else None


def _by_heads(ends: "DataFrame") -> list[Line]:
    """Of Adam, by its heads: mean distances from the true parameters by the share of orthonormal examples."""
    listed = []
    for heads, part in ends[ends["method"] == "Adam"].groupby(level="heads"):
        cells = [
            (float(share_), str(cell["distance"]) if max(cell["distances"]) > TINY else f"≤ {TINY:g}")
            for (_, share_), cell in part.iterrows()
        ]
        listed.append({"H": int(heads), **{f"{100 * share_:g} %": text for share_, text in cells}})
    return listed


def _order(small: Mean, large: Mean) -> int:
    """1 if the first mean is the smaller one, −1 if it is the larger one, 0 if their intervals overlap.

    >>> near, far = Mean(1.0, 0.9, 1.1, 3), Mean(2.0, 1.9, 2.1, 3)
    >>> _order(near, far), _order(far, near), _order(near, Mean(1.5, 0.5, 2.5, 3))
    (1, -1, 0)
    """
    if small.low is None or small.high is None or large.low is None or large.high is None:
        return 0
    return int(small.high < large.low) - int(large.high < small.low)


def _least_rows(transitions: "DataFrame") -> list[float]:
    """Ends of the least rows over the rank at which half of the runs execute every unseen automaton, over sizes."""
    exact = transitions[2 * transitions["exact"] >= transitions["runs"]]
    least = exact.groupby(["states", "letters"])["rows/rank"].min()
    return [float(least.min()), float(least.max())] if len(least) else []


def _upright(label: str, low: float, high: float) -> Series:
    return line(label, [(1, low), (1, high)], dashed=True)


def _recovery(fits: "DataFrame") -> Curves:
    """Errors and λ_min against rows over features."""
    lines = lines_of(fits)
    clean, noisy = (mean_series(lines, "rows/ψ", key, "d", label="d = {}") for key in ("error", "noisy"))
    least: list[Series] = []
    zeros: list[Point] = []
    for i, (d, part) in enumerate(fits.groupby("d")):
        cells = [*zip(part["rows/ψ"], part["lam_min"], strict=True)]
        points = mean_points((x, mean(values, logarithmic=True)) for x, values in cells if min(values) > 0)
        least.append(Series(f"d = {d}", points, style=i))
        zeros += [
            Point(x, ZERO, hollow=True, tip=f"d = {d}: λ_min = 0") for x, values in cells if not min(values)
        ]
    least.append(Series("λ_min is 0", zeros, join=False))
    exact = line("exact below", [(0.5, EXACT_AT), (16, EXACT_AT)], "law")
    panels = [
        Panel("no noise", [*clean, _upright("rows = ψ", TINY**2, 1), exact], y=ERROR),
        Panel(f"noise {trials.NOISE:g}", [*noisy, _upright("rows = ψ", 1e-4, 1e3)], y=ERROR),
        Panel("certificate", [*least, _upright("rows = ψ", ZERO, 1)], y=Axis("λ_min", log=True)),
    ]
    ticks = Axis("rows / ψ", log=True, ticks=(0.5, 1, 2, 4, 16), names=("½", "1", "2", "4", "16"))
    return Curves("recovery", panels if len(fits) else [], ticks, ERROR)


def _adam(adam: "DataFrame") -> Curves:
    panels = []
    for d, part in adam.groupby("d"):
        sizes = part["heads"].tolist()
        runs = [
            Point(h, error, hollow=True)
            for h, errors in zip(sizes, part["errors"], strict=True)
            for error in errors
        ]
        series = [
            Series("single runs", runs, join=False, style=1),
            Series("geometric mean", mean_points(zip(sizes, part["error"], strict=True)), style=0),
            line("exact below", [(h, EXACT_AT) for h in (sizes[0], sizes[-1])], "law"),
        ]
        panels.append(
            Panel(f"d = {d}, d² = {d * d}", series, x=Axis("heads H", log=True, ticks=grid.HEADS[d]))
        )
    return Curves("adam", panels, Axis("heads H", log=True), ERROR)


def _memory(mixtures: "DataFrame") -> Curves:
    """Distances against the share of orthonormal examples: of regression, and of Adam."""
    place = {part: float(i) for i, part in enumerate(grid.MIXTURES)}
    placed = mixtures.assign(place=mixtures["unitary"].map(place))
    regression, adam = (lines_of(placed[placed["method"] == name]) for name in ("regression", "Adam"))
    fits = [
        Series(title, mean_points((entry["place"], entry[name]) for entry in regression), style=i)
        for i, (name, title) in enumerate(FITS.items())
    ]
    truth = line("|p*|, size of the true p*", [(0, grid.SIZE), (len(grid.MIXTURES) - 1, grid.SIZE)], "law")
    certified = mean_points((entry["place"], entry["certified"]) for entry in regression)
    names = [f"{100 * part:g}" for part in grid.MIXTURES]
    shares = Axis("% orthonormal examples", ticks=list(place.values()), names=names)
    panels = [
        Panel("regression", [*fits, truth], x=shares),
        Panel("Adam", [*_descended(adam), truth], x=shares),
        Panel("Gaussian inputs certified", [Series(FITS["distance"], certified, style=0)], x=shares, y=SHARE),
    ]
    return Curves("memory", panels if len(mixtures) else [], shares, Axis("|p − p*|", log=True), columns=2)


def _descended(adam: Sequence[Line]) -> list[Series]:
    """Adam's mean distances, single runs hollow, a series per number of heads, side by side."""
    series = []
    for i, heads in enumerate(sorted({entry["heads"] for entry in adam})):
        shift = (i - (len(grid.MEMORY_HEADS) - 1) / 2) * APART
        cells = [(entry["place"] + shift, entry) for entry in adam if entry["heads"] == heads]
        label, style = f"Adam, H = {heads}", len(FITS) + i
        runs = [Point(x, distance, hollow=True) for x, entry in cells for distance in entry["distances"]]
        series += [
            Series(label, mean_points((x, entry["distance"]) for x, entry in cells), style=style),
            Series(label, runs, join=False, style=style),
        ]
    return series


def _execution(transitions: "DataFrame") -> Curves:
    """Words right, steps certified, and uncertified steps right, against rows over the rank of the span."""
    shown = {"words": "words right", "certified": "steps certified", "uncertified": "uncertified steps right"}
    lines = lines_of(transitions)
    panels = []
    for key, title in shown.items():
        series = mean_series(lines, "rows/rank", key, "states", "letters", label="Q = {}, A = {}")
        panels.append(Panel(title, [*series, _upright("rows = rank", 0, 1)]))
    return Curves("execution", panels if lines else [], TO_RANK, SHARE)


def _programs(jobs: "DataFrame") -> Curves:
    """Jobs certified to their end, and right if the certificate is ignored, against rows over the rank of the span."""
    sizes = jobs.groupby(["states", "symbols"])
    panels = [
        Panel(
            f"{title} ({Q}, {A})",
            [
                *(replace(one, style=PROGRAMS.index(one.label)) for one in shares),
                _upright("rows = rank", 0, 1),
            ],
            x=TO_RANK_OF_PROGRAMS,
        )
        for key, title in (("certified", "certified"), ("guessed", "ignored"))
        for (Q, A), part in sizes
        for shares in (mean_series(lines_of(part), "rows/rank", key, "program", label="{}"),)
    ]
    return Curves("programs", panels, TO_RANK_OF_PROGRAMS, SHARE, columns=max(len(sizes), 1))
