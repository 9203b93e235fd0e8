"""Every number of the page of reports/exponential-in-m, again from its rows, the tuning's and the plan.

By csv, numpy and scipy; nothing of the lab.
"""

import csv
import hashlib
import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import product
from math import comb, exp, log, log2
from pathlib import Path

import numpy as np
import pytest
from committed import ROOT, Row, summary
from committed import rows as committed_rows
from committed import tables as committed_tables
from scipy.optimize import least_squares as least_squares_search
from scipy.optimize import minimize
from scipy.stats import binom, norm, t

STUDY = ROOT / "learner" / "studies" / "exponential_in_m"
HARD, NICE = "parity", "nondegenerate"
# The pilot: gradient examples to 90 % of all rows, in thousands, by (d, s).
PILOT = {(8, 2): 10, (8, 3): 33, (12, 2): 12, (12, 3): 116, (12, 4): 192, (12, 5): 950, (16, 2): 16, (16, 3): 207,
         (16, 4): 318, (16, 5): 1320, (20, 2): 31, (20, 3): 256, (24, 2): 33, (24, 3): 249, (24, 4): 820}  # fmt: skip
QUESTIONS = ("primary", "secondary", "tertiary")
CLOSE = 1e-3  # of two searches for the greatest likelihood
PLANS = {"plan": "first", "plan2": "second"}
TUNING = ("plan", "tuned", "plan2")  # series of the tuned student; of a place in several the last is shown
Place = tuple[int, int]
Cell = tuple[float, bool]  # the median, and whether it is censored


def size(row: Row) -> int:
    """Hidden bits of a parity, heads of a random layer."""
    heads = int(row["params.heads"])
    if row["family"] == NICE:
        return heads
    if row.get("params.bits"):
        return int(float(row["params.bits"]))
    balanced = row.get("params.balance") == "True"
    return {"dot": heads // 2, "sharp": 2 * heads - (3 if balanced else 1)}.get(row.get("params.gadget", ""), heads)


def place(row: Row) -> Place:
    return size(row), int(row["params.dim"])


def middle(costs: Sequence[float], solved: Sequence[bool]) -> Cell:
    ranked = sorted((not won, cost) for cost, won in zip(costs, solved, strict=True))
    pair = ranked[(len(ranked) - 1) // 2 : len(ranked) // 2 + 1]
    return (pair[0][1] * pair[-1][1]) ** 0.5, pair[-1][0]


def median(rows: Sequence[Row], key: str = "detail.gradient") -> Cell:
    """Runs that did not solve are costlier than all that did, and count with their cap, or what they spent."""
    solved = [row["status"] == "solved" for row in rows]
    caps = [float(row["budget.samples"]) for row in rows]
    found = [float(row[key] or row["cost"]) if won or key == "detail.multiply_adds" else max(cap, float(row[key] or 0))
             for row, won, cap in zip(rows, solved, caps, strict=True)]  # fmt: skip
    return middle(found, solved)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return committed_rows("exponential-in-m")


@pytest.fixture(scope="module")
def numbers() -> dict[str, object]:
    return dict(summary("exponential-in-m")["numbers"])


@pytest.fixture(scope="module")
def plans() -> dict[str, dict]:
    """By series; what a later one does not say is as in the first."""
    found = {name: tomllib.loads((STUDY / f"{name}.toml").read_text(encoding="utf-8")) for name in PLANS}
    first, second = found.values()
    return {"plan": first, "plan2": {**first, **second, "primary": {**first["primary"], **second["primary"]}}}


@pytest.fixture(scope="module")
def tables() -> dict[str, list[list[str]]]:
    return committed_tables("exponential-in-m")


def cells(rows: Iterable[Row], *series: str) -> dict[str, dict[Place, list[Row]]]:
    """Runs by family and place, of the last of the series that has them."""
    found: dict[str, dict[Place, list[Row]]] = {HARD: {}, NICE: {}}
    for name in series:
        own: dict[tuple[str, Place], list[Row]] = defaultdict(list)
        for row in rows:
            if row["solver.series"] == name:
                own[row["family"], place(row)].append(row)
        for (family, at), runs in own.items():
            found[family][at] = runs
    return found


def correlations(places: Sequence[Place], r: float = 0.5) -> np.ndarray:
    found = np.eye(len(places))
    for i, j in product(range(len(places)), repeat=2):
        if places[i][0] == places[j][0]:
            dims = sorted(d for s, d in places if s == places[i][0])
            found[i, j] = r ** abs(dims.index(places[i][1]) - dims.index(places[j][1]))
    return found


def least_squares(X: np.ndarray, y: np.ndarray, places: Sequence[Place]) -> tuple[np.ndarray, np.ndarray, float]:
    """Coefficients, their covariance, and the residuals' variance."""
    inverse = np.linalg.inv(correlations(places))
    gram = np.linalg.inv(X.T @ inverse @ X)
    beta = gram @ X.T @ inverse @ y
    variance = float((y - X @ beta) @ inverse @ (y - X @ beta)) / (len(y) - X.shape[1])
    return beta, gram * variance, variance


def censored(X: np.ndarray, y: np.ndarray, places: Sequence[Place], above: Sequence[bool]) -> tuple[np.ndarray, ...]:
    """As `least_squares` by greatest likelihood, with the tail beyond a bound given the known values."""
    lost, C = np.array(above), correlations(places)
    known, n = ~lost, int(len(above) - sum(above))
    across = np.linalg.solve(C[np.ix_(known, known)], C[np.ix_(known, lost)])
    spread = np.sqrt(1 - np.sum(across * C[np.ix_(known, lost)], axis=0))
    inverse, p = np.linalg.inv(C[np.ix_(known, known)]), X.shape[1]

    def negative(v: np.ndarray) -> float:
        rest = (y - X @ v[:p]) / exp(v[p])
        tail = norm.logsf((rest[lost] - rest[known] @ across) / spread).sum()
        return float(rest[known] @ inverse @ rest[known] / 2 + n * v[p] - tail)

    start = np.append(np.linalg.lstsq(X[known], y[known], rcond=None)[0], log(0.5))
    options = {"maxiter": 60_000, "maxfev": 60_000, "xatol": 1e-9, "fatol": 1e-13, "adaptive": True}
    found = minimize(negative, minimize(negative, start).x, method="Nelder-Mead", options=options).x
    moves = 1e-3 * np.eye(p + 1)
    signs = list(product((1, -1), repeat=2))
    second = [[sum(a * b * negative(found + a * x + b * z) for a, b in signs) / 4e-6 for z in moves] for x in moves]
    left = n - p
    return found[:p], np.linalg.inv(np.array(second))[:p, :p] * n / left, exp(2 * found[p]) * n / left, negative(found)


def fit(X: np.ndarray, y: np.ndarray, places: Sequence[Place], above: Sequence[bool]) -> tuple[np.ndarray, ...]:
    return censored(X, y, places, above) if any(above) else least_squares(X, y, places)


def interval(X: np.ndarray, y: np.ndarray, places: Sequence[Place], above: Sequence[bool]) -> list[float]:
    beta, covariance = fit(X, y, places, above)[:2]
    half = float(t.ppf(0.975, len(y) - sum(above) - X.shape[1])) * covariance[-1, -1] ** 0.5
    return [float(beta[-1]), float(beta[-1] - half), float(beta[-1] + half)]


def levels(places: Sequence[Place], dims: Sequence[int]) -> np.ndarray:
    return np.array([[*(float(d == dim) for dim in dims), s % 2] for s, d in places])


def test_plans_are_those_whose_digests_all_their_rows_have(rows: list[Row], plans: dict[str, dict]) -> None:
    for name, plan in plans.items():
        said = {key: value for key, value in plan.items() if key != "digest"}
        text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        own = [row for row in rows if row["solver.series"] == name]
        assert {row["solver.plan"] for row in own} == {plan["digest"]}
        assert len(own) == plan["runs"] * len(plan["cells"])
        counted = re.sub(r"(\d)\.0(?=[,}\]])", r"\1", text)  # 1.0 is written as 1
        assert hashlib.sha256(counted.encode()).hexdigest() == plan["digest"]
        assert plan.get("as", plans["plan"]["digest"]) == plans["plan"]["digest"]


def test_what_came_of_the_plans(rows: list[Row], plans: dict[str, dict], numbers: dict) -> None:
    assert [said["name"] for said in numbers["plans"]] == [PLANS[name] for name in plans]
    for said, (name, plan) in zip(numbers["plans"], plans.items(), strict=True):
        check(said, plan, cells(rows, name), [row for row in rows if row["solver.series"] == name])


def check(said: dict, plan: dict, runs: dict[str, dict[Place, list[Row]]], own: list[Row]) -> None:
    """What the page says of a plan."""
    assert (said["runs"], said["digest"]) == (plan["runs"], plan["digest"][:12])
    medians = {family: {at: median(each) for at, each in places.items()} for family, places in runs.items()}
    assert said["trials"] == len(own)
    assert said["unsolved"] == sum(row["status"] != "solved" for row in own)
    assert said["censored"] == sum(bound for own in medians.values() for _, bound in own.values())
    assert said["cells"] == sum(map(len, medians.values()))
    rho = {at: log(medians[HARD][at][0] / medians[NICE][at][0]) for at in medians[HARD]}
    bound = {at: medians[HARD][at][1] for at in rho}
    order = [(s, d) for family, d, s, *_ in plan["cells"] if family == HARD]
    found = answers(plan, rho, bound, order)
    assert (said["fitted"], said["asked"], said["wins"]) == (found["fitted"], len(found["exponential"]), found["wins"])
    for law in ("exponential", "power", "sum of two powers"):
        assert [one[law] for one in said["predictions"]] == pytest.approx(found[law], rel=CLOSE)
    assert [one["seen"] for one in said["predictions"]] == pytest.approx([rho[p] for p in order if p[0] > said["up"]])
    for key in ("factor", "exponent", "ratio", "margin", "slope", "score"):
        assert said["power" if key == "exponent" else key] == pytest.approx(found[key], rel=CLOSE), key
    assert list(said["outcomes"].values()) == found["outcomes"]
    for name, outcome in said["outcomes"].items():
        assert said["sentences"][name] == plan[name]["sentences"][outcome]
    for family, key in ((HARD, "rises"), (NICE, "falls")):
        at = sorted(medians[family])
        X = np.column_stack([levels(at, sorted({d for _, d in at})), [s for s, _ in at]])
        logs, above = np.array([log(medians[family][p][0]) for p in at]), [medians[family][p][1] for p in at]
        assert said[key] == pytest.approx(exp(fit(X, logs, at, above)[0][-1]), rel=CLOSE)
    few = {p for places in runs.values() for p, own in places.items()
           if 2 * sum(row["status"] == "solved" for row in own) <= len(own)}  # fmt: skip
    assert bool(few) == bool(said["without"])
    if not few:
        return
    without, found = said["without"], answers(plan, rho, bound, [p for p in order if p not in few])
    for key in ("factor", "exponent", "slope", "score"):
        assert without["power" if key == "exponent" else key] == pytest.approx(found[key], rel=CLOSE), key
    assert without["outcomes"] == found["outcomes"]
    assert [without[name] for name in ("primary", "tertiary")] == [
        plan[name]["sentences"][outcome] for name, outcome in zip(QUESTIONS, found["outcomes"], strict=True)
        if name != "secondary"
    ]  # fmt: skip
    assert without["cells"] == "; ".join(
        f"s = {s}, d = {d}: {sum(row['status'] == 'solved' for row in runs[HARD][s, d])} of {plan['runs']} solved"
        for s, d in order if (s, d) in few
    )  # fmt: skip


def answers(plan: dict, rho: dict, bound: dict, order: Sequence[Place]) -> dict:
    """What the rules of the plan say of cells."""
    rule = plan["primary"]
    inside, asked = ([p for p in order if (p[0] <= rule["fitted up to s"]) == early] for early in (True, False))
    dims, y, true = (
        sorted({d for _, d in inside}),
        np.array([rho[p] for p in inside]),
        np.array([rho[p] for p in asked]),
    )
    found: dict = {"fitted": len(inside)}

    def error(guess: np.ndarray) -> float:
        return float(squares(guess).sum())

    def squares(guess: np.ndarray) -> np.ndarray:
        wrong = true - guess
        return np.where([bound[p] for p in asked], np.maximum(wrong, 0), wrong) ** 2

    lost = [bound[p] for p in inside]
    for name, law in (("exponential", float), ("power", log)):
        X, Z = (np.column_stack([levels(p, dims), [law(s) for s, _ in p]]) for p in (inside, asked))
        found[name] = Z @ fit(X, y, inside, lost)[0]
        found[f"rate {name}"] = interval(X, y, inside, lost)
    found["sum of two powers"] = sum_of_powers(inside, asked, y, dims)
    found["factor"], found["exponent"] = [exp(x) for x in found["rate exponential"]], found["rate power"]
    found["wins"] = int((squares(found["exponential"]) < squares(found["power"])).sum())
    found["ratio"] = log(error(found["power"]) / error(found["exponential"]))
    found["margin"] = log(error(found["sum of two powers"]) / error(found["exponential"]))
    up = found["ratio"] > rule["ratio"] and found["rate exponential"][1] > 0
    first = ("exponential" if found["margin"] > rule["margin"] else "better") if up else (
        "power" if found["ratio"] < -rule["ratio"] else "undecided")  # fmt: skip
    own = [p for p in order if p[0] <= plan["secondary"]["up to s"]]
    sizes = sorted({s for s, _ in own})
    X = np.array([[*(float(s == one) for one in sizes), (1 - s % 2) * log(d), s % 2 * log(d), (s - 3.5) * log(d)]
                  for s, d in own])  # fmt: skip
    slope = found["slope"] = interval(X, np.array([rho[p] for p in own]), own, [bound[p] for p in own])
    largest = max(d for _, d in own)
    inner, outer = ([p for p in own if (p[1] == largest) == last] for last in (False, True))
    scores = []
    for law in (lambda s, d: [log(comb(d - 1, s))], lambda s, d: [log(d), s]):
        X, Z = (np.array([[1, s % 2, *law(s, d)] for s, d in p]) for p in (inner, outer))
        beta, covariance, variance = fit(X, np.array([rho[p] for p in inner]), inner, [bound[p] for p in inner])[:3]
        spread = np.sqrt(variance + np.einsum("ij,jk,ik->i", Z, covariance, Z))
        value = [norm.logsf if bound[p] else norm.logpdf for p in outer]
        scores.append(sum(float(f(rho[p], *at)) for f, p, *at in zip(value, outer, Z @ beta, spread, strict=True)))
    score = found["score"] = scores[0] - scores[1]
    rule = plan["tertiary"]
    found["outcomes"] = [
        first, "rises" if slope[1] > 0 else "falls" if slope[2] < 0 else "undecided",
        "as N" if score > rule["as N"] else "not as N" if score < rule["not as N"] else "undecided",
    ]  # fmt: skip
    return found


def sum_of_powers(inside: Sequence[Place], asked: Sequence[Place], y: np.ndarray, dims: Sequence[int]) -> np.ndarray:
    """The best of (s/3)^b + w (s/3)^c over a grid, with levels and a term for odd s, at other places."""
    inverse, A, B = np.linalg.inv(correlations(inside)), levels(inside, dims), levels(asked, dims)
    best: tuple[float, np.ndarray] = (np.inf, np.zeros(0))
    for b in np.arange(0.0, 5.1, 0.5):
        for c, w in product(np.arange(b + 1, b + 9), np.arange(-8.0, 2.0)):

            def law(places: Sequence[Place]) -> np.ndarray:
                s = np.array([s for s, _ in places]) / 3
                return np.log(s**b + exp(w) * s**c)  # noqa: B023

            rest = y - law(inside)
            beta = np.linalg.solve(A.T @ inverse @ A, A.T @ inverse @ rest)
            square = float((rest - A @ beta) @ inverse @ (rest - A @ beta))
            if square < best[0]:
                best = square, B @ beta + law(asked)
    return best[1]


def test_the_headline_says_these_numbers(numbers: dict, plans: dict[str, dict]) -> None:
    said = summary("exponential-in-m")["verdict"]
    found, plan = numbers["plans"][-1], plans["plan"]
    shown = {name: "{:.2f} ({:.2f} to {:.2f})".format(*found[key])
             for name, key in (("factor", "factor"), ("exponent", "power"))}  # fmt: skip
    assert said == plan["primary"]["headlines"][found["outcomes"]["primary"]].format(**shown)
    assert len(said.split()) <= 52


def test_tuned_medians_are_near_the_pilots(rows: list[Row]) -> None:
    """To nine tenths of all rows, the pilot's target: at most 1.5 times its median."""
    runs = cells(rows, *TUNING)[HARD]
    for (d, s), thousands in PILOT.items():
        if d >= 2 * s + 1:
            own = runs[s, d]
            costs = [float(row["detail.explained"] or row["budget.samples"]) for row in own]
            found, bound = middle(costs, [bool(row["detail.explained"]) for row in own])
            assert not bound, (d, s)
            assert found <= 1.5e3 * thousands, (d, s)


def test_controls(rows: list[Row], numbers: dict[str, object]) -> None:
    """Random labels are never solved; elimination always names the hidden set."""
    labels = [row for row in rows if row["solver.series"] == "random labels"]
    assert numbers["labels"] == [0, len(labels)]
    assert not [row for row in labels if row["status"] == "solved"]
    eliminated = [row for row in rows if row["solver.series"] == "elimination"]
    assert {row["status"] for row in eliminated} == {"solved"}
    assert all(float(row["cost"]) < 4 * int(row["params.dim"]) + 64 for row in eliminated)


def tuned(path: Path) -> dict[tuple[str, ...], tuple[str, ...]]:
    """The setting of every cell of a tuning: of those run on most seeds the cheapest, started again where it failed."""
    best: dict[tuple[str, ...], dict[tuple[str, ...], dict[str, Row]]] = defaultdict(lambda: defaultdict(dict))
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cell = tuple(row.get(name, "") for name in ("family", "panel", "s", "d"))
            own = best[cell][tuple(row[name] for name in ("rate", "batch", "l1"))]
            spent = (row["status"] == "solved", int(row["cost"]))
            if row["seed"] not in own or spent > ((kept := own[row["seed"]])["status"] == "solved", int(kept["cost"])):
                own[row["seed"]] = row
    found = {}
    for cell, settings in best.items():
        most, cap = (
            max(map(len, settings.values())),
            max(int(r["cap"]) for own in settings.values() for r in own.values()),
        )
        last = [(own.values(), setting) for setting, own in settings.items() if len(own) == most]

        def price(own: Iterable[Row]) -> float:
            won = sum(row["status"] == "solved" for row in own)
            spent = [cap if row["status"] == "wrong" else int(row["cost"]) for row in own]  # noqa: B023
            return sum(spent) / won if won else np.inf

        found[cell] = min((price(own), *map(float, setting)) for own, setting in last)[1:]
    return found


def test_the_tuning(numbers: dict, plans: dict[str, dict], rows: list[Row]) -> None:
    """What it took; and that plans and grid have the settings that were the cheapest of the last rung."""
    said, winners = numbers["tuning"], tuned(STUDY / "tuning2.csv")
    with (STUDY / "tuning2.csv").open(encoding="utf-8") as file:
        runs = list(csv.DictReader(file))
    assert (said["runs"], said["cells"]) == (len(runs), len(winners))
    assert said["examples"] == sum(int(row["cost"]) for row in runs)
    assert said["settings"] == len({(row["rate"], row["batch"], row["l1"]) for row in runs})
    for i, name in enumerate(("rate", "batch", "l1")):
        values = [float(row[name]) for row in runs]
        edges = [sum(setting[i] == edge for setting in winners.values()) for edge in (min(values), max(values))]
        assert said["edges"][name] == edges
    for row in rows:
        own = [float(row[f"solver.params.{name}"] or 0) for name in ("rate", "batch", "l1")]
        if row["solver.series"] == "tuned":
            assert own == list(winners[row["family"], "", row["params.heads"], row["params.dim"]])
    for name, plan in plans.items():
        settings = tuned(STUDY / f"{name.replace('plan', 'tuning')}.csv")
        for family, d, s, *setting, _ in plan["cells"]:
            assert list(settings[family, "", str(s), str(d)]) == setting


def test_the_cells(rows: list[Row], tables: dict[str, list[list[str]]]) -> None:
    runs = cells(rows, *TUNING)
    shown = tables["Examples of the tuned student."]
    assert len(shown) == len(runs[HARD])
    for s, d, sets, hard, around, solved, every, nice, ratio, _ in shown:
        own = runs[HARD][int(s), int(d)]
        value, bound = median(own)
        assert int(sets.replace(",", "")) == comb(int(d) - 1, int(s))
        assert hard == f"{'> ' * bound}{value:,.0f}"
        spent = sorted(
            float(row["detail.gradient"] if row["status"] == "solved" else row["budget.samples"]) for row in own
        )
        out = max(0, int(binom.ppf(0.025, len(spent), 0.5)) - 1)
        assert around == f"{spent[out]:,.0f}–{spent[-1 - out]:,.0f}"
        assert solved == f"{sum(row['status'] == 'solved' for row in own)} of {len(own)}"
        early = sorted(float(row["detail.explained"] or row["budget.samples"]) for row in own)
        pair = early[(len(early) - 1) // 2 : len(early) // 2 + 1]
        assert every == f"{(pair[0] * pair[-1]) ** 0.5:,.0f}"
        if nice:
            other, censored = median(runs[NICE][int(s), int(d)])
            assert nice == f"{'> ' * censored}{other:,.0f}"
            assert ratio == f"{value / other:.3g}"


def test_panels_and_theory(rows: list[Row], tables: dict[str, list[list[str]]], numbers: dict[str, object]) -> None:
    medians = {}
    for problem, s, d, value, solved in tables["Examples of the student, tuned on each problem alike."]:
        series = "tuned" if problem == "diag, squared loss" else problem
        own = [row for row in rows if row["solver.series"] == series and row["family"] == HARD
               and place(row) == (int(s), int(d))]  # fmt: skip
        found, bound = medians[series, s] = median(own)
        assert value == f"{'> ' * bound}{found:,.0f}"
        assert solved == f"{sum(row['status'] == 'solved' for row in own)} of {len(own)}"
    for loss, ratios in numbers["losses"].items():
        assert ratios == pytest.approx([medians[f"{loss} loss", s][0] / medians["tuned", s][0] for s in "23"])
    for s, d, sets, queries, examples, *_ in tables["What theory says at these sizes."]:
        count = comb(int(d) - 1, int(s))
        assert int(sets.replace(",", "")) == count
        assert float(queries.replace(",", "")) <= (count - 1) / 2
        assert float(examples.replace(",", "")) == pytest.approx(2 * (log2(count) + 10), abs=0.5)
    s = numbers["bound"]["s"]
    beyond = [(comb(4 * k - 1, k) - 1) / 2 > numbers["bound"]["steps"] * 32 * (4 * k) ** 2 for k in (s - 1, s)]
    assert beyond == [False, True]


def test_learners(rows: list[Row], tables: dict[str, list[list[str]]]) -> None:
    for s, d, learner, ended, distinct, gradient, work in tables[
        "Medians of runs; a run that did not solve counts with its cap, or with what it spent if that is more."
    ]:
        own = [row for row in rows if row["solver.series"] == learner and row["family"] == HARD
               and place(row) == (int(s), int(d))]  # fmt: skip
        assert ended == f"{sum(row['status'] == 'solved' for row in own)} of {len(own)} solved"
        if gradient:
            assert float(gradient.replace(",", "")) == pytest.approx(median(own)[0], rel=0.006, abs=0.6)
        if distinct and learner.startswith("pool"):
            assert distinct.replace(",", "") == learner.removeprefix("pool of ")
        elif distinct:
            assert float(distinct.replace(",", "")) == pytest.approx(
                median(own, "detail.distinct")[0], rel=0.006, abs=0.6
            )
        if work:
            assert work == f"{median(own, 'detail.multiply_adds')[0]:.2g}"


def test_the_power_is_the_plans(tables: dict[str, list[list[str]]], plans: dict[str, dict]) -> None:
    shown = tables["Share of simulated data sets with each outcome."]
    said = [(PLANS[name], each) for name, plan in plans.items() for each in plan["power"]]
    for line, (name, each) in zip(shown, said, strict=True):
        assert line[:2] == [name, each["truth"]]
        assert [float(x) for x in line[2:]] == pytest.approx([v for k, v in each.items() if k != "truth"])


def test_laws(rows: list[Row], tables: dict[str, list[list[str]]]) -> None:
    """AIC, BIC, scatter and last coefficient of laws for the log costs; the sum of two powers by least squares."""
    found = {at: median(own) for at, own in cells(rows, *TUNING)[HARD].items()}
    at = sorted(p for p in found if p[1] >= 2 * p[0] + 1)
    y, above, C = np.array([log(found[p][0]) for p in at]), [found[p][1] for p in at], correlations(at)
    d, s = np.log([d for _, d in at]), np.array([s for s, _ in at], dtype=float)
    sets = np.array([log(comb(d - 1, s)) for s, d in at])
    shapes = [[sets], [d, np.log(s)], [d, s], [d, d * s, np.log(s)]]
    shown = tables["Laws for the median costs on hidden parities, each with one term for odd s."]
    known = ~np.array(above)
    logdet = float(np.linalg.slogdet(C[np.ix_(known, known)])[1])
    for line, columns in zip(shown, shapes, strict=False):
        beta, _, variance, negative = censored(np.column_stack([np.ones(len(y)), s % 2, *columns]), y, at, above)
        likelihood = -negative - 0.5 * (known.sum() * log(2 * np.pi) + logdet)
        count = len(columns) + 3
        said = [float(x) for x in line[1:]]
        assert said == pytest.approx(
            [count, 2 * count - 2 * likelihood, count * log(len(y)) - 2 * likelihood, variance**0.5, beta[-1]], rel=6e-3
        )
    half, z, t_ = np.linalg.cholesky(C), d - d.mean(), np.log(s / 3)

    def off(v: np.ndarray) -> np.ndarray:
        law = np.logaddexp(v[0] + v[1] * z + v[2] * t_, v[3] + v[4] * z + v[5] * t_) + v[6] * (s % 2)
        return np.linalg.solve(half, np.clip(law - y, -50, 50))

    rng = np.random.default_rng(0)
    starts = [[y.mean(), 1, b, y.mean() - 3, 3, c, 0.3] + 0.3 * rng.standard_normal(7) for b in (3, 5) for c in (6, 12)]
    square = min(2 * least_squares_search(off, start).cost for start in starts)
    count, n = 8, len(y)
    likelihood = -0.5 * n * (log(2 * np.pi * square / n) + 1) - float(np.log(np.diag(half)).sum())
    assert float(shown[-1][2]) <= 2 * count - 2 * likelihood + 0.4  # the page's search found no worse a sum
