"""Rows to page: one HTML file that needs no network, its rows as CSV and its figures as SVG and PDF beside it."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import unescape
from pathlib import Path
from typing import Any

from hardness.errors import InputError
from hardness.files import replacing, write_text
from hardness.study.page import drawing as figures
from hardness.study.page import glossary
from hardness.study.store import Row, Store, export

PAGE, ROWS, SUMMARY = "index.html", "rows.csv", "summary.json"
INDEX = '<meta name="generator" content="attention-hardness index">'  # by which an index of ours is known
ROLES = ("answer", "proved", "measured", "broken", "appendix", "speed")  # where a study stands on the index


Note = str | tuple[str, str]  # a paragraph, with the kinds of its statements before it if it makes any


def publish(store: Store, folder: Path, verdict: str, html: str, drawings: Sequence[figures.Drawing] = ()) -> None:
    """Write page, figures (SVG and PDF), rows and summary of a study into `folder`.

    `rows.csv` leaves out times and provenance, so it and the figures are the same bytes for the same seed.
    """
    for drawing in drawings:
        for kind in ("svg", "pdf"):
            with replacing(folder / f"{drawing.name}.{kind}") as temporary:
                temporary.write_bytes(drawing.save(kind))
    export(store, folder / ROWS, timing=False)
    summary = {
        **store.about,
        "verdict": verdict,
        "planned": store.planned(),
        "statuses": store.counts(),
        "commits": dict(origins(store.rows())).get("commit", []),
        "figures": [{"file": f"{d.name}.svg", "alt": d.alt, "caption": d.caption} for d in drawings],
    }
    write_text(folder / SUMMARY, json.dumps(summary, sort_keys=True, ensure_ascii=False) + "\n")
    write_text(folder / PAGE, html)


def table_page(
    store: Store,
    folder: Path,
    question: str,
    verdict: str,
    table: Sequence[Mapping[str, Any]],
    notes: Sequence[Note] = (),
    drawings: Sequence[figures.Drawing] = (),
    kinds: Mapping[str, str] | None = None,
    terms: Mapping[str, str] | None = None,
) -> str:
    """A page of figures and one table (rows as mappings, all columns in order of appearance); returns `verdict`.

    `kinds` says of which kind the verdict (key "verdict") and each column are: words of `glossary.KINDS`. A note may
    be a pair of kinds and text. `terms` defines symbols that only this page uses.
    """
    rows = list(store.rows())
    words = {name for line in table for name, value in line.items() if isinstance(value, str) and value[:1].isalpha()}
    html = render(
        "table.html",
        terms=terms,
        about=store.about,
        command=command(store.about),
        question=question,
        verdict=verdict,
        kinds=kinds or {},
        notes=[("", note) if isinstance(note, str) else note for note in notes],
        done=sum(1 for row in rows if row.outcome),
        total=len(rows),
        drawn=[{"name": d.name, "svg": d.inline(), "caption": d.caption, "kinds": d.kinds} for d in drawings],
        names=list(dict.fromkeys(key for line in table for key in line)),
        table=table,
        words=words,
        crashes=crashes(rows),
        mixed={name: sorted(found) for name, found in store.sources().items() if len(found) > 1},
        origins=origins(rows),
        tree=tree(rows),
    )
    publish(store, folder, verdict, html, drawings)
    return verdict


def place(folder: Path, question: str, role: str) -> None:
    """Add to the summary of a page what the index needs of its study: the question, and where it stands."""
    path = folder / SUMMARY
    if not path.exists():
        return
    summary = json.loads(path.read_text(encoding="utf-8")) | {"question": question, "role": role}
    write_text(path, json.dumps(summary, sort_keys=True, ensure_ascii=False) + "\n")


def write_index(folder: Path) -> None:
    """Write `folder`/index.html: the studies whose pages lie in folders of it, each where its role puts it."""
    studies: dict[str, list[dict[str, Any]]] = {role: [] for role in ROLES}
    for path in sorted(folder.glob(f"*/{SUMMARY}")):
        try:
            summary = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read {path}: {error}; run `hardness study report {path.parent}`") from error
        about = {"question": "", "figures": [], "role": "measured", "folder": path.parent.name} | summary
        studies.setdefault(about["role"], []).append(about)
    write_text(folder / PAGE, render("index.html", docs="../docs/", studies=studies, page=PAGE))


def renew_index(folder: Path) -> None:
    """Write the index of `folder` again if it has one of ours; somebody else's index.html stays as it is."""
    index = folder / PAGE
    if index.exists() and INDEX in index.read_text(encoding="utf-8", errors="replace"):
        write_index(folder)


def render(template: str, terms: Mapping[str, str] | None = None, docs: str = glossary.DOCS, **context: Any) -> str:
    """A template of this room as HTML, its terms marked; with the filters `thousands`, `decimals`, `cell`, `badge`.

    `terms` defines symbols of this page alone; `docs` is the way from the page to the folder of proofs.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader("hardness.study.page", ".")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    filters = {"thousands": thousands, "decimals": decimals, "cell": cell_text}
    environment.filters |= {**filters, "badge": lambda kinds: Markup(glossary.badge(kinds))}
    return glossary.mark(environment.get_template(template).render(docs=docs, **context), terms, docs)


def words(page: str) -> str:
    """The text of a page as a reader sees it: no tags, no code, no drawings; blanks as single spaces.

    >>> words("<p>m&nbsp;=\\n<b>2</b></p><script>1</script>")
    'm = 2'
    """
    page = re.sub(r"(?s)<(script|style|svg)\b.*?</\1>|<[^>]+>", "", page)
    return re.sub(r"\s+", " ", unescape(page)).strip()


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


def tree(rows: Iterable[Row]) -> str:
    """What the rows say of the source tree they were made from, as a sentence."""
    match dict(origins(rows)).get("commit", []):
        case []:
            return ""
        case [commit] if commit == "None":
            return "The rows were made by an installed package."
        case [commit]:
            return f"The rows were made at commit {commit.rstrip('+')}{', changed since' * commit.endswith('+')}."
        case commits:
            return f"The rows were made at {len(commits)} commits."


def crashes(rows: Iterable[Row]) -> list[tuple[str, str, int]]:
    """Status and reason of the trials that did not end by themselves, counted."""
    outcomes = (row.outcome for row in rows if row.outcome and row.outcome.status not in ("solved", "wrong", "budget"))
    counted = Counter((o.status, str(o.detail.get("reason", ""))) for o in outcomes)
    return [(status, reason, count) for (status, reason), count in sorted(counted.items())]
