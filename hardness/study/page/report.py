"""Rows to page: one HTML file that needs no network, its rows as CSV and its figures as SVG and PDF beside it."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hardness.errors import InputError
from hardness.files import replacing, write_text
from hardness.study.page import drawing as figures
from hardness.study.store import Row, Store, export

PAGE, ROWS, SUMMARY = "index.html", "rows.csv", "summary.json"


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


def table_page(
    store: Store,
    folder: Path,
    question: str,
    verdict: str,
    table: Sequence[Mapping[str, Any]],
    notes: Sequence[str] = (),
    drawings: Sequence[figures.Drawing] = (),
) -> str:
    """A page of figures and one table (rows as mappings, all columns in order of appearance); returns `verdict`."""
    rows = list(store.rows())
    words = {name for line in table for name, value in line.items() if isinstance(value, str) and value[:1].isalpha()}
    html = render(
        "table.html",
        about=store.about,
        command=command(store.about),
        question=question,
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
        origins=origins(rows),
    )
    publish(store, folder, verdict, html, drawings)
    return verdict


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


def origins(rows: Iterable[Row]) -> list[tuple[str, list[str]]]:
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
