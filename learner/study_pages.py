"""Pages of the learners' studies: a verdict line, a figure and a table, from the rows alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hardness.study.report import table_page
from hardness.study.store import Store
from learner import studies


def write(store: Store, folder: Path) -> str:
    """Write the page of one of `studies.STUDIES` into `folder`: a pure function of the rows. Returns its verdict."""
    name = str(store.about["study"])
    table = studies.TABLES[name](store.rows())
    return table_page(store, folder, VERDICTS[name](table), table)


def _rarity(table: Sequence[Mapping[str, Any]]) -> str:
    judged = [line for line in table if line["tau"] == 3 and line["law"] <= 4 and line["fitted"] is not None]
    near = [line for line in judged if abs(line["fitted"] - line["law"]) <= 0.15 * line["law"]]
    return (
        f"At tau = 3 the fitted exponent is within 15% of (m-1)(k-1) in {len(near)} of {len(judged)} cells with a law "
        "of at most 4; other cells are shown with their intervals."
    )


def _scaling(table: Sequence[Mapping[str, Any]]) -> str:
    said = []
    for name in dict.fromkeys(line["learner"] for line in table):
        needs = [f"m={line['m']}: {line['examples'] or 'none'}" for line in table if line["learner"] == name]
        said.append(f"{name} {', '.join(needs)}")
    return "Least examples that solve half of the trials: " + "; ".join(said) + "."


def _anatomy(table: Sequence[Mapping[str, Any]]) -> str:
    phases = [line["gave up"] for line in table if line["gave up"]]
    counts = ", ".join(f"{name} {phases.count(name)}" for name in dict.fromkeys(phases)) or "none"
    return f"Of {len(table)} layers on the paths, {len(table) - len(phases)} passed all phases; gave up: {counts}."


VERDICTS = {"rarity": _rarity, "learner-scaling": _scaling, "anatomy": _anatomy}
