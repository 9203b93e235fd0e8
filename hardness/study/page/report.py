"""Rows to page: one HTML file that needs no network, its rows as CSV and its figures as SVG and PDF beside it."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import comb
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from hardness.errors import InputError
from hardness.files import replacing, write_text
from hardness.sq.bounds.parity import window_bound
from hardness.studies import catalog
from hardness.studies.exponential_in_m.answer import Answer, Series, answer, shortfall
from hardness.study.page import drawing as figures
from hardness.study.store import Row, Store, export
from hardness.study.trial import STATUSES

PAGE, ROWS, SUMMARY = "index.html", "rows.csv", "summary.json"


def write(store: Store, folder: Path) -> str:
    """Write the page of a store into `folder`; returns its verdict line. A pure function of the rows."""
    study = catalog.known().get(store.about.get("study", ""))
    return str(resolve_name(study.page if study else catalog.Study.page)(store, folder))


def publish(store: Store, folder: Path, verdict: str, html: str, drawings: Sequence[figures.Drawing] = ()) -> None:
    """Write page, figures (SVG and PDF), rows and summary of a study into `folder`.

    `rows.csv` leaves out times and provenance, so it and the figures are the same bytes for the same seed.
    """
    for drawing in drawings:
        for kind in ("svg", "pdf"):
            with replacing(folder / f"{drawing.name}.{kind}") as temporary:
                temporary.write_bytes(drawing.save(kind))
    export(store, folder / ROWS, timing=False)
    summary = {**store.about, "verdict": verdict, "planned": store.planned(), "statuses": store.counts()}
    write_text(folder / SUMMARY, json.dumps(summary, sort_keys=True, ensure_ascii=False) + "\n")
    write_text(folder / PAGE, html)


def growth_page(store: Store, folder: Path) -> str:
    """The page of `exponential-in-m`: costs, exponents, models and verdict."""
    rows = list(store.rows())
    result = answer(rows)
    drawings = figures.draw(result)
    publish(
        store, folder, result.verdict, page(store.about, rows, result, {d.name: d.inline() for d in drawings}), drawings
    )
    return result.verdict


def table_page(
    store: Store,
    folder: Path,
    verdict: str,
    table: Sequence[Mapping[str, Any]],
    notes: Sequence[str] = (),
    drawings: Sequence[figures.Drawing] = (),
) -> str:
    """A page of figures and one table (rows as mappings, all columns in order of appearance); returns `verdict`."""
    rows = list(store.rows())
    study = catalog.known().get(store.about.get("study", ""))
    words = {name for line in table for name, value in line.items() if isinstance(value, str) and value[:1].isalpha()}
    html = render(
        "table.html",
        about=store.about,
        command=command(store.about),
        question=study.question if study else store.about.get("study", "unnamed study"),
        verdict=verdict,
        notes=notes,
        done=sum(1 for row in rows if row.outcome),
        total=len(rows),
        drawn={d.name: (d.inline(), d.caption) for d in drawings},
        names=list(dict.fromkeys(key for line in table for key in line)),
        table=table,
        words=words,
        crashes=crashes(rows),
        mixed={name: sorted(found) for name, found in store.sources().items() if len(found) > 1},
        origins=_origins(rows),
    )
    publish(store, folder, verdict, html, drawings)
    return verdict


def page(about: Mapping[str, Any], rows: list[Row], result: Answer, drawn: Mapping[str, str]) -> str:
    """The page as HTML."""
    every = (result.adversary, result.honest, *result.learners)
    study = catalog.known().get(about.get("study", ""))
    return render(
        "page.html",
        question=study.question if study else about.get("study", "unnamed study"),
        about=about,
        command=command(about),
        result=result,
        head=result.verdict.partition(":")[0],
        reason=result.verdict.partition(":")[2].strip(),
        series=every,
        shortfall=shortfall,
        statuses=STATUSES,
        trials=_trials(result),
        total=sum(map(Counter.total, result.statuses.values())),
        done=sum(1 for row in rows if row.outcome),
        mixed={name: sorted(found) for name, found in result.sources.items() if len(found) > 1},
        cells=_cells(result),
        drawn=drawn,
        origins=_origins(rows),
        crashes=crashes(rows),
    )


def write_index(folder: Path) -> None:
    """Write `folder`/index.html: the studies whose pages lie in folders of it, with their verdicts."""
    studies = []
    for path in sorted(folder.glob(f"*/{SUMMARY}")):
        try:
            studies.append({**json.loads(path.read_text(encoding="utf-8")), "folder": path.parent.name})
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read {path}: {error}; run `hardness study report {path.parent}`") from error
    write_text(folder / PAGE, render("index.html", studies=studies, page=PAGE))


def renew_index(folder: Path) -> None:
    """Write the index of `folder` again if it has one of ours; somebody else's index.html stays as it is."""
    index = folder / PAGE
    if index.exists() and "<h1>Studies</h1>" in index.read_text(encoding="utf-8", errors="replace"):
        write_index(folder)


def render(template: str, **context: Any) -> str:
    """A template of this room as HTML, with the filters `thousands`, `decimals` and `cell`."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("hardness.study.page", ".")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"thousands": thousands, "decimals": decimals, "cell": cell_text}
    return environment.get_template(template).render(**context)


def command(about: Mapping[str, Any]) -> str:
    """The command that makes the rows again."""
    quick = " --quick" if about.get("quick") else ""
    return f"hardness study run {about.get('study', 'NAME')}{quick} --seed {about.get('seed', 0)}"


def thousands(value: float | None) -> str:
    """A count for people; an empty text for none.

    >>> thousands(1234567.0), thousands(2.5), thousands(None)
    ('1,234,567', '2.5', '')
    """
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def cell_text(value: Any) -> str:
    """A cell of a table as text: three digits are enough.

    >>> cell_text(0.123456), cell_text(None), cell_text({64: 0.5})
    ('0.123', '', '64: 0.5')
    """
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {cell_text(item)}" for key, item in value.items())
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def decimals(value: float | None, digits: int = 2) -> str:
    """A number with a true minus sign; a dash for none.

    >>> decimals(-1.239), decimals(None)
    ('−1.24', '–')
    """
    return "–" if value is None else f"{value:.{digits}f}".replace("-", "−")


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
    return (">" if cell.censored else "", 2**cell.log2_cost, f"{int(cell.solved.sum())}/{len(cell.solved)}")


def _origins(rows: Iterable[Row]) -> list[tuple[str, list[str]]]:
    """What made the rows: every provenance field with the values found, most frequent first."""
    found: dict[str, Counter[str]] = {}
    for row in rows:
        for key, value in (row.provenance or {}).items():
            found.setdefault(key, Counter())[str(value)] += 1
    return [(key, sorted(values, key=lambda value: (-values[value], value))) for key, values in found.items()]


def crashes(rows: Iterable[Row]) -> list[tuple[str, str, int]]:
    """Status and reason of the trials that did not end by themselves, counted."""
    outcomes = (row.outcome for row in rows if row.outcome and row.outcome.status not in ("solved", "wrong", "budget"))
    counted = Counter((o.status, str(o.detail.get("reason", ""))) for o in outcomes)
    return [(status, reason, count) for (status, reason), count in sorted(counted.items())]
