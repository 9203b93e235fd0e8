"""The page of a study: a Markdown template beside it, filled with the numbers, figures and tables of its rows."""

import re
from collections.abc import Callable, Mapping
from html import escape, unescape
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from hardness.engine.store import Store
from hardness.errors import InputError
from hardness.report import glossary
from hardness.report.content import Column, Content, Figure, HeatMap, Table
from hardness.report.drawing import Drawing
from hardness.report.report import environment, figure_context, publish, render, shared
from hardness.report.rounding import FORMS
from hardness.statistics.means import Mean

if TYPE_CHECKING:
    from hardness.engine.study import Study

HEADLINE_WORDS = 50  # words of a headline
REFEREES = "Statistics for referees"  # the section that is folded
NOTHING = "No trial has been run."
EMPTY = '<p class="note">No row shows this yet.</p>'  # a figure without panels, a table without rows
MARKS = re.compile(r"([\\`*_\[\]<>&~|#])")  # what Markdown would read in a text that comes from rows
BADGES = re.compile(rf"(<(?:p|h2|h3|li)>)((?:\[(?:{'|'.join(glossary.KINDS)})\]\s*)+)")
PLACE = re.compile("(?:<p>)?\ue000(figure|table) (.+?)\ue001(?:</p>)?")


def write(study: "Study", store: Store, folder: Path) -> str:
    """Write page, figures, rows and summary of a study into `folder`; returns the headline. A function of the rows.

    Raises `InputError` if the template names what the content lacks, or its headline has more than `HEADLINE_WORDS`.
    """
    rows = list(store.rows())
    content = _content(study)(rows) if any(row.outcome for row in rows) else Content(missing=NOTHING)
    drawings = {figure.name: draw(figure) if figure.panels else None for figure in content.figures}
    tables = {name: table if isinstance(table, Table) else Table("", table) for name, table in content.tables.items()}
    terms: dict[str, str] = {}
    headline, lead, sections = _text(study, content, drawings, tables, terms)
    placed = {
        ("figure", name): _macro("figure", figure_context(one)) if one else EMPTY for name, one in drawings.items()
    }
    placed |= {("table", name): _table(table) if table.rows else EMPTY for name, table in tables.items()}

    def put(html: str) -> str:
        return PLACE.sub(lambda found: placed[found[1], found[2]], html)

    plain = _plain(headline)
    html = render(
        "page.html",
        **shared(store, folder),
        terms=terms,
        question=study.question,
        verdict=plain,
        headline=headline,
        lead=put(lead),
        sections=[(heading, put(body), REFEREES in heading) for heading, body in sections],
    )
    extra = {"question": study.question, "role": study.role, "numbers": content.numbers}
    publish(store, folder, plain, html, [one for one in drawings.values() if one], extra=extra)
    return plain


def draw(figure: Figure) -> Drawing:
    """The drawing of a figure."""
    from hardness.report.curves import curves
    from hardness.report.heatmap import heatmap

    return heatmap(figure) if isinstance(figure, HeatMap) else curves(figure)


def _plain(html: str) -> str:
    """A paragraph as text, without its badges."""
    text = re.sub(r"<[^>]+>", "", re.sub(r'<a class="kind.*?</a>', "", html))
    return re.sub(r"\s+", " ", unescape(text)).strip()


def words(headline: str) -> int:
    """The words of a headline: what holds a letter or a digit.

    >>> words("At d = 24 a learner needs 1,957 queries.")
    8
    """
    return sum(bool(re.search(r"\w", word)) for word in headline.split())


def _content(study: "Study") -> Callable[..., Content]:
    if callable(study.content):
        return study.content
    module, _, name = str(study.content).partition(":")
    found: Callable[..., Content] = getattr(import_module(module), name)
    return found


def _text(
    study: "Study",
    content: Content,
    drawings: Mapping[str, Drawing | None],
    tables: dict[str, Table],
    terms: dict[str, str],
) -> tuple[str, str, list[tuple[str, str]]]:
    """Headline, the rest of what comes before the first section, and the sections, as HTML with places to fill."""
    if content.missing:
        names = [
            *(("figure", figure.name) for figure in content.figures),
            *(("table", name) for name in content.tables),
        ]
        return f"<p>{escape(content.missing)}</p>", "".join(_place(*name) for name in names), []
    text = _badges(_markdown(_filled(study, content, drawings, tables, terms)))
    lead, *rest = re.split(r"<h2>", text)
    headline, _, lead = lead.strip().partition("</p>")
    sections = [(heading, body) for heading, _, body in (part.partition("</h2>") for part in rest)]
    headline += "</p>"
    count = words(_plain(headline))
    if count > HEADLINE_WORDS:
        raise InputError(f"the headline of study {study.name} has {count} words; shorten it to {HEADLINE_WORDS}")
    return headline, lead, sections


def _filled(
    study: "Study",
    content: Content,
    drawings: Mapping[str, Drawing | None],
    tables: dict[str, Table],
    terms: dict[str, str],
) -> str:
    """The template with its numbers, as Markdown; drawings, tables and terms get the words that it gives them."""
    from jinja2 import Environment, StrictUndefined, TemplateError

    def place(kind: str, name: str, known: Mapping[str, Any]) -> _Mark:
        if name not in known:
            raise InputError(f"study {study.name} has no {kind} {name!r}; it has {', '.join(sorted(known))}")
        return _Mark(f"\n\n{_place(kind, name)}\n\n")  # a paragraph of its own, however the template is broken

    def figure(name: str, caption: str = "", alt: str = "", kinds: str = "") -> _Mark:
        placed = place("figure", name, drawings)
        if drawing := drawings[name]:
            drawing.caption = " ".join(caption.split()) or drawing.caption
            drawing.alt_summary = " ".join(alt.split()) or drawing.alt_summary
            drawing.kinds = kinds or drawing.kinds
        return placed

    def table(name: str, caption: str = "", **columns: Mapping[str, str]) -> _Mark:
        placed = place("table", name, tables)
        if caption:
            tables[name] = Table(" ".join(caption.split()), tables[name].rows, _columns(tables[name], **columns))
        return placed

    def term(name: str, meaning: str) -> str:
        terms[name] = meaning
        return ""

    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False, finalize=_escaped
    )
    environment.filters |= FORMS
    assert study.template is not None
    try:
        template = environment.from_string(study.template.read_text(encoding="utf-8"))
        numbers = SimpleNamespace(**content.numbers)
        return template.render(n=numbers, grid=content.grid, figure=figure, table=table, term=term)
    except TemplateError as error:
        raise InputError(f"{study.template.name} of study {study.name}: {error}") from error


class _Mark(str):
    """A text that is put into the template as it stands."""


def _escaped(value: Any) -> Any:
    """What an expression of a template gives: texts of rows are text, whatever Markdown would make of them."""
    if isinstance(value, _Mark) or not isinstance(value, str):
        return value
    return MARKS.sub(r"\\\1", re.sub(r"\s+", " ", value))


def _place(kind: str, name: str) -> str:
    return f"\ue000{kind} {name}\ue001"


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
    keys = dict.fromkeys(key for row in table.rows for key, value in row.items() if not isinstance(value, list))
    measured = {key for row in table.rows for key, value in row.items() if isinstance(value, Mean)}
    return [
        Column(one, heads.get(one, ""), kinds.get(one, "measured" * (one in measured)), forms.get(one, "plain"))
        if isinstance(one, str) else one
        for one in table.columns or keys
    ]  # fmt: skip


def _table(table: Table) -> str:
    columns = _columns(table)
    lines = [[_cell(column, row.get(column.key)) for column in columns] for row in table.rows]
    left = [any(isinstance(row.get(c.key), str) and row[c.key][:1].isalpha() for row in table.rows) for c in columns]
    heads = [(column.head or column.key, column.kind, first) for column, first in zip(columns, left, strict=True)]
    return _macro("grid", heads, lines, table.caption)


def _cell(column: Column, value: Any) -> tuple[str, float | None]:
    """The text of a cell, and the number by which it is sorted, where the text does not begin with it."""
    form = FORMS[column.form] if isinstance(column.form, str) else column.form
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return "" if value is None else form(value), float(value) if number and "power" in str(column.form) else None


def _macro(name: str, *arguments: Any) -> str:
    """What a macro of parts.html makes of its arguments."""
    return str(getattr(environment().get_template("parts.html").module, name)(*arguments))
