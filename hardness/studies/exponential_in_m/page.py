"""The page of `exponential-in-m`: costs, exponents and verdict."""

from collections import Counter
from collections.abc import Mapping
from math import comb
from pathlib import Path
from typing import Any

from hardness.sq.bounds.parity import window_bound
from hardness.studies.exponential_in_m.answer import Answer, Series, answer
from hardness.studies.exponential_in_m.figures import draw
from hardness.studies.exponential_in_m.tasks import QUESTION
from hardness.study.outcome import STATUSES
from hardness.study.page.report import command, crashes, origins, publish, render
from hardness.study.store import Row, Store


def write(store: Store, folder: Path) -> str:
    """The page of `exponential-in-m`: costs, exponents and verdict."""
    rows = list(store.rows())
    result = answer(rows)
    drawings = draw(result)
    publish(
        store, folder, result.verdict, html(store.about, rows, result, {d.name: d.inline() for d in drawings}), drawings
    )
    return result.verdict


def html(about: Mapping[str, Any], rows: list[Row], result: Answer, drawn: Mapping[str, str]) -> str:
    """The page as HTML."""
    every = (result.adversary, result.honest, *result.learners)
    return render(
        "page.html",
        question=QUESTION,
        about=about,
        command=command(about),
        result=result,
        head=result.verdict.partition(":")[0],
        reason=result.verdict.partition(":")[2].strip(),
        series=every,
        statuses=STATUSES,
        trials=_trials(result),
        total=sum(map(Counter.total, result.statuses.values())),
        done=sum(1 for row in rows if row.outcome),
        mixed={name: sorted(found) for name, found in result.sources.items() if len(found) > 1},
        cells=_cells(result),
        drawn=drawn,
        origins=origins(rows),
        crashes=crashes(rows),
    )


def _trials(result: Answer) -> list[tuple[str, int, dict[str, int]]]:
    return [(name, found.total(), dict(found)) for name, found in sorted(result.statuses.items())]


def _cells(result: Answer) -> list[dict[str, Any]]:
    """One row a cell: concepts, bound, and the cost of every series there."""
    tau, found = result.adversary.tolerance, []
    for dim, size in sorted({key for s in (result.adversary, result.honest, *result.learners) for key in s.cells}):
        concepts = comb(dim - 1, size)
        bound = window_bound(concepts, tau) if tau else None
        adversary = _cost(result.adversary, dim, size)
        ratio = adversary[1] / bound if bound and adversary and adversary[0] == "" else None
        found.append(
            {
                "dim": dim,
                "size": size,
                "concepts": concepts,
                "bound": bound,
                "strategy": result.strategies.get((dim, size), ""),
                "ratio": ratio,
                "costs": [_cost(s, dim, size) for s in (result.adversary, result.honest, *result.learners)],
            }
        )
    return found


def _cost(series: Series, dim: int, size: int) -> tuple[str, float, str] | None:
    """(">" if censored, cost, runs solved) of a series at a cell."""
    cell = series.cells.get((dim, size))
    if cell is None:
        return None
    return (">" if cell.censored else "", cell.median, f"{int(cell.solved.sum())}/{len(cell.solved)}")
