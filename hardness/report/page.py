"""The page of a study: a Markdown template beside it, filled with the numbers, figures and tables of its rows."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from html import escape, unescape
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from hardness.engine.outcome import Table as Rows
from hardness.engine.rows import TIMINGS, dump, dump_timings
from hardness.errors import InputError
from hardness.io.files import replacing, write_text
from hardness.io.schemas import SUMMARY_VERSION
from hardness.report import glossary, report
from hardness.report.content import Column, Content, Figure, HeatMap, Table, lines_of
from hardness.report.drawing import Drawing
from hardness.report.rounding import FORMS
from hardness.statistics.means import Mean

if TYPE_CHECKING:
    from jinja2 import Template

    from hardness.engine.study import Study

HEADLINE_WORDS = 50  # words of a headline: what holds a letter or a digit
REFEREES = "Statistics for referees"  # the section that is folded
NOTHING = "No trial has been run."
MARKS = re.compile(r"([\\`*_\[\]<>&~|#])")  # what Markdown would read in a text that comes from rows
BADGES = re.compile(rf"(<(?:p|h2|h3|li)>)((?:\[(?:{'|'.join(glossary.KINDS)})\]\s*)+)")
UNFILLED = re.compile(r"\{[{%].{0,20}")  # of a template
PLACE = re.compile("(?:<p>)?\ue000(figure|table) (.+?)\ue001(?:</p>)?")


def write(study: "Study", store: Rows, folder: Path) -> str:
    """Write page, figures (SVG and PDF), rows and summary of a study into `folder`; returns the headline.

    A function of the rows. `rows.csv` leaves out times and provenance, so it and the figures are the same bytes for the
    same seed. Raises `InputError` if the template names what the content lacks, or its headline has more than
    `HEADLINE_WORDS`.
    """
    rows = store.rows
    ended = any(row.outcome for row in rows)
    content: Content = study.content_of(rows) if ended else Content(missing=NOTHING)
    text = _Text(study, content)
    headline, lead, parts = text.parts()
    sections = [(heading, text.put(body), REFEREES in heading) for heading, body in parts if text.shows(body)]
    verdict, origins = _plain(headline), dict(report.origins(rows))
    html = report.render(
        "page.html",
        terms=text.terms,
        docs=report.docs_href(folder),
        about=store.about,
        commands=store.commands or [report.command(store.about)],
        rows=rows,
        crashes=report.crashes(rows),
        origins=list(origins.items()),
        question=study.question,
        verdict=verdict,
        headline=headline,
        lead=text.put(lead),
        sections=sections,
        absent=[heading for heading, body in parts if not text.shows(body)],
    )
    shown = [drawing for drawing in text.drawings.values() if drawing]
    for drawing in shown:
        for kind in ("svg", "pdf"):
            with replacing(folder / f"{drawing.name}.{kind}") as temporary:
                temporary.write_bytes(drawing.save(kind))
    dump(rows, folder / report.ROWS)
    if study.timed:
        dump_timings(rows, folder / TIMINGS)
    summary = {
        **store.about,
        "schema": SUMMARY_VERSION,
        "verdict": verdict,
        "kinds": " ".join(re.findall(r'class="kind (\w+)"', headline)),
        "planned": len(rows),
        "statuses": store.counts(),
        "made_by": store.commands,
        "commits": origins.get("commit", []),
        "provenance": {name: values[0] for name, values in origins.items() if len(values) == 1},
        "figures": [{"file": f"{d.name}.svg", "alt": d.alt, "caption": d.caption} for d in shown],
        "question": study.question,
        "role": study.role,
        "numbers": content.numbers,
    }
    write_text(folder / report.SUMMARY, json.dumps(summary, sort_keys=True, ensure_ascii=False) + "\n")
    write_text(folder / report.PAGE, html)
    return verdict


def draw(figure: Figure) -> Drawing:
    """The drawing of a figure."""
    from hardness.report.curves import curves
    from hardness.report.heatmap import heatmap

    return heatmap(figure) if isinstance(figure, HeatMap) else curves(figure)


class _Text:
    """A template and what it places: drawings, tables and terms, with the words that it gives them."""

    def __init__(self, study: "Study", content: Content) -> None:
        self.study, self.content = study, content
        self.drawings = {figure.name: draw(figure) if figure.panels else None for figure in content.figures}
        tables = {name: t if isinstance(t, Table) else Table("", t) for name, t in content.tables.items()}
        self.tables = {name: replace(table, rows=lines_of(table.rows)) for name, table in tables.items()}
        self.terms: dict[str, str] = {}

    def parts(self) -> tuple[str, str, list[tuple[str, str]]]:
        """Headline, the rest of what comes before the first section, and the sections, as HTML with places to fill."""
        if self.content.missing:
            places = [_place("figure", name) for name in self.drawings] + [
                _place("table", name) for name in self.tables
            ]
            return f"<p>{escape(self.content.missing)}</p>", "".join(places), []
        lead, *rest = _badges(_markdown(self._filled())).split("<h2>")
        headline, _, lead = lead.strip().partition("</p>")
        sections = [(heading, body) for heading, _, body in (part.partition("</h2>") for part in rest)]
        count = len(re.findall(r"\S*\w\S*", _plain(headline)))
        if count > HEADLINE_WORDS:
            raise InputError(
                f"the headline of study {self.study.name} has {count} words; shorten it to {HEADLINE_WORDS}"
            )
        return f"{headline}</p>", lead, sections

    def put(self, html: str) -> str:
        """A part with figures and tables in their places."""
        return PLACE.sub(
            lambda match: self._figure(match[2]) if match[1] == "figure" else self._table(match[2]), html
        )

    def shows(self, html: str) -> bool:
        """Whether a section says something of these rows: it has no places, or one of them is not empty."""
        places = PLACE.findall(html)
        return not places or any(
            self.drawings[name] if kind == "figure" else self.tables[name].rows for kind, name in places
        )

    def _filled(self) -> str:
        """The template with its numbers, as Markdown."""
        from jinja2 import TemplateError

        template, numbers = self.study.template, SimpleNamespace(**self.content.numbers)
        assert template is not None
        named = {
            "figure": self.figure,
            "table": self.table,
            "term": self.terms.__setitem__,
            "grid": self.content.grid,
        }
        try:
            return _compiled(template.read_text(encoding="utf-8")).render(n=numbers, **named)
        except TemplateError as error:
            raise InputError(f"{template.name} of study {self.study.name}: {error}") from error

    def figure(self, name: str, caption: str = "", alt: str = "", kinds: str = "") -> str:
        """The place of a figure, which gets the words that are given."""
        placed = self._placed("figure", name, self.drawings, caption, alt)
        if drawing := self.drawings[name]:
            drawing.caption = " ".join(caption.split())
            drawing.alt_summary = " ".join(alt.split()) or drawing.alt_summary
            drawing.kinds = kinds or drawing.kinds
        return placed

    def table(
        self, name: str, caption: str = "", columns: Sequence[str] = (), **words: Mapping[str, str]
    ) -> str:
        """The place of a table: its `columns`, if not all, with their `heads`, `kinds` and `forms` by their keys."""
        placed = self._placed("table", name, self.tables, caption, *words.get("heads", {}).values())
        if caption:
            rows = self.tables[name].rows
            self.tables[name] = Table(
                " ".join(caption.split()), rows, _columns(Table("", rows, columns), **words)
            )
        return placed

    def _placed(self, kind: str, name: str, known: Mapping[str, Any], *words: str) -> str:
        if name not in known:
            raise InputError(
                f"study {self.study.name} has no {kind} {name!r}; it has {', '.join(sorted(known))}"
            )
        # Jinja fills in nothing inside a string of an expression: what stood there would stand on the page
        for text in words:
            if unfilled := UNFILLED.search(text):
                raise InputError(
                    f"the words of {kind} {name!r} of study {self.study.name} hold {unfilled[0]!r}, which nothing "
                    "fills in; end the string there and join the value with ~"
                )
        # A paragraph of its own, however the template is broken
        return Markup(f"\n\n{_place(kind, name)}\n\n")

    def _figure(self, name: str) -> str:
        drawing = self.drawings[name]
        return _macro("figure", drawing) if drawing else ""

    def _table(self, name: str) -> str:
        table = self.tables[name]
        if not table.rows:
            return ""
        columns = _columns(table)
        lines = [[_cell(column, row.get(column.key)) for column in columns] for row in table.rows]
        left = [
            any(isinstance(row.get(c.key), str) and row[c.key][:1].isalpha() for row in table.rows)
            for c in columns
        ]
        heads = [
            (column.head or column.key, column.kind, first)
            for column, first in zip(columns, left, strict=True)
        ]
        return _macro("grid", heads, lines, table.caption)


@cache
def _compiled(text: str) -> "Template":
    """A template of a page; raises jinja2's `TemplateError`."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_escaped
    )
    environment.filters |= FORMS
    return environment.from_string(text)


def _escaped(value: Any) -> Any:
    """What an expression of a template gives: texts of rows are text, whatever Markdown would make of them."""
    if value is None or isinstance(value, Markup):  # a term gives nothing
        return value or ""
    return MARKS.sub(r"\\\1", re.sub(r"\s+", " ", value)) if isinstance(value, str) else value


def _place(kind: str, name: str) -> str:
    return f"\ue000{kind} {name}\ue001"


def _plain(html: str) -> str:
    """A paragraph as text, without its badges."""
    text = re.sub(r"<[^>]+>", "", re.sub(r'<a class="kind.*?</a>', "", html))
    return re.sub(r"\s+", " ", unescape(text)).strip()


def _markdown(text: str) -> str:
    from markdown_it import MarkdownIt

    html: str = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    return html


def _badges(html: str) -> str:
    """``[proved]`` at the head of a paragraph, heading or item becomes its badge.

    >>> _badges("<p>[proved] At least 7.</p>")
    '<p><a class="kind proved" href="#term-kinds" title="A theorem with its constants.">proved</a> At least 7.</p>'
    """
    return BADGES.sub(lambda m: f"{m[1]}{glossary.badge(' '.join(re.findall(r'[a-z]+', m[2])))} ", html)


def _columns(table: Table, **words: Mapping[str, str]) -> list[Column]:
    """The columns of a table, with the `heads`, `kinds` and `forms` that a template gives them by their keys."""
    heads, kinds, forms = (words.get(name, {}) for name in ("heads", "kinds", "forms"))
    keys = dict.fromkeys(
        key for row in table.rows for key, value in row.items() if not isinstance(value, list)
    )
    measured = {key for row in table.rows for key, value in row.items() if isinstance(value, Mean)}
    return [
        Column(
            one, heads.get(one, ""), kinds.get(one, "measured" * (one in measured)), forms.get(one, "plain")
        )
        if isinstance(one, str)
        else one
        for one in table.columns or keys
    ]


def _cell(column: Column, value: Any) -> tuple[str, float | None]:
    """The text of a cell, and the number by which it is sorted, where the text does not begin with it."""
    form = FORMS[column.form] if isinstance(column.form, str) else column.form
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return "" if value is None else form(value), float(value) if number and "power" in str(
        column.form
    ) else None


def _macro(name: str, *arguments: Any) -> str:
    """What a macro of parts.html makes of its arguments."""
    return str(getattr(report.environment().get_template("parts.html").module, name)(*arguments))
