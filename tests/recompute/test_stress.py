"""Numbers and main tables of stress, recomputed from rows.csv: arithmetic and json, nothing of the lab."""

import json
from collections import Counter, defaultdict
from math import comb, floor, inf, log2
from statistics import median_high

import pytest
from committed import ROOT, Row, article_tables, rows, summary

AIDED = ("diagonal", "sgd", "student", "mlp")
TIERS = ("easy", "frontier", "priced", "open")


def of(kind: str) -> list[Row]:
    return rows("stress", solver_kind=kind)


def layers(row: Row) -> str:
    return row["params.instance"].rpartition("-")[0]


def fields(kind: str) -> dict[tuple[str, str], list[Row]]:
    """Runs by layers and solver."""
    groups = defaultdict(list)
    for row in of(kind):
        groups[layers(row), row["solver.learner"] or row["solver.attack"]].append(row)
    return groups


def solved(runs: list[Row]) -> set[str]:
    return {row["params.instance"] for row in runs if row["status"] == "solved"}


def middle(runs: list[Row]) -> float:
    return median_high([int(row["cost"]) if row["status"] == "solved" else inf for row in runs])


def never_fitted(row: Row) -> bool:
    return (row["status"], row["cost"], row["detail.limit"]) == ("budget", "0", "multiply-adds")


def test_who_solves_how_many():
    numbers, learners, attacks = summary("stress")["numbers"], of("learner"), of("attack")
    provable = [row for row in learners if row["solver.learner"] == "provable"]
    hidden = [row for row in provable if row["family"] != "nondegenerate"]
    assert {row["status"] for row in hidden} == {"refused"}
    assert {row["status"] for row in provable if row["family"] == "nondegenerate"} == {"solved"}
    ranks = sum("projection matrices sum to" in row["detail.reason"] for row in hidden)
    few = sum("examples are too few" in row["detail.reason"] for row in hidden)
    assert numbers["provable"] == {
        "hidden": len(hidden),
        "refused": len(hidden),
        "rank": ranks,
        "few": few,
        "random": len(provable) - len(hidden),
        "solved": len(solved(provable)),
    }
    assert ranks + few == len(hidden) == 55
    for tier in TIERS:
        here = [row for row in learners if row["params.tier"] == tier]
        broken = solved([row for row in attacks if row["params.tier"] == tier])
        plain = [row for row in here if row["solver.learner"] not in AIDED]
        assert numbers["solved"][tier] == {
            "instances": len({row["params.instance"] for row in here}),
            "learners": len(solved(here)),
            "plain": len(solved(plain)),
            "anybody": len(solved(here) | broken),
        }
    assert numbers["solved"]["frontier"]["anybody"] == 40
    assert numbers["attacks"]["solved"] == len(solved(attacks)) == 45
    missed = [row for row in attacks if row["params.instance"] not in solved(attacks)]
    assert {row["status"] for row in missed} == {"refused"}
    assert {row["params.tier"] for row in missed} == {"priced", "open"}
    ends = Counter("never_fitted" if never_fitted(row) else row["status"] for row in learners)
    assert numbers["runs"] == {"all": len(learners), **ends}


def test_what_solved_each_kind_and_what_is_proved():
    main = article_tables("stress")[1]
    suite = json.loads((ROOT / "hardness" / "instance" / "suite.json").read_text(encoding="utf-8"))["cells"]
    for kind, tier, learner, attack, proved, predicted in main[1:]:
        row = next(row for row in of("learner") if layers(row) == kind)
        assert tier == row["params.tier"]
        costs = {name: middle(runs) for (cell, name), runs in fields("learner").items() if cell == kind}
        least = min(costs.values(), default=inf)
        names = ", ".join(sorted(name for name, cost in costs.items() if cost == least))
        assert learner == ("–" if least == inf else f"{names}: {least:,}")
        broken = [
            name for (cell, name), runs in fields("attack").items() if cell == kind and middle(runs) < inf
        ]
        assert attack == (", ".join(sorted(broken)) or "–")
        d, price = int(row["params.dim"]), suite[kind]["predicted"]["log2_time"]
        assert predicted == ("" if price is None else f"{price:.3g}")
        if row["family"] == "nondegenerate":
            assert proved == ""
            continue
        exact = log2(8 * 0.1**2) + d - 1  # of a rounding, theory 2.6
        if row["family"] == "parity":  # theory 2.5
            sets = comb(d - 1, int(row["params.bits"] or row["params.heads"]))
            exact = log2(8 * (0.1 / (1 - 2 * float(row["params.flip"] or 0))) ** 2 * (sets - 1))
        assert float(proved) == pytest.approx(floor(10 * exact) / 10, rel=0.004)
