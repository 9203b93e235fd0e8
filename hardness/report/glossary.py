"""Words and symbols on pages: each shows its definition where it stands, and the page's foot lists those it uses.

The definitions are those of docs/glossary.md, shipped with the package; a page is marked when it is written.
"""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

DOCS = "../../docs/"  # from the folder of a page in reports/
FOOT = '<section class="glossary" id="words">\n<h2>Words and symbols on this page</h2>\n<dl>\n{}\n</dl>\n</section>'
LINK = '<a href="#words">Words and symbols</a>'
ENTRY = re.compile(
    r"(?ms)^### (?P<head>.+?)\n(?P<ids>(?:<a id=.+?\n)?)(?:<!-- on pages: (?P<forms>.*?) -->\n)?(?P<text>.+?)(?=^##|\Z)"
)
# What is not text that a reader reads as words: left as it is.
OPAQUE = re.compile(r"(?s)<!--.*?-->|<(script|style|svg|pre|code|a|head|button)\b.*?</\1>|<[^>]+>")
SECTION = re.compile(r"</?(h1|h2|h3|figure|table|figcaption|caption|tbody)\b")
KINDS = {
    "proved": "A theorem with its constants.",
    "identity": "It follows exactly from a proof or a closed form; runs only check it.",
    "measured": "A number that was not known before, with intervals, censoring and controls.",
    "broken": "Solved without statistical queries: no bound on queries speaks of it.",
    "claimed": "What others state; not checked here beyond what the page says.",
    "estimated": "A prediction by a formula that is not proved for the case at hand.",
}
REFERENCE = r"\b(?P<document>[Tt]heory|[Ll]earner) (?P<number>\d+(?:\.\d+)?b?)"


@dataclass(frozen=True)
class Term:
    """An entry: its heading, the forms in which pages use it, its definition in Markdown."""

    identity: str
    head: str
    forms: tuple[str, ...]
    text: str

    @cached_property
    def plain(self) -> str:
        """The definition as one line without marks, for hovering."""
        text = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", self.text)
        return re.sub(r"[*`]", "", re.sub(r"\s+", " ", text)).strip()


@cache
def terms() -> tuple[Term, ...]:
    """All entries of the glossary.

    >>> next(term for term in terms() if term.identity == "m").forms
    ('m', 'heads')
    """
    text = (Path(__file__).parent / "glossary.md").read_text(encoding="utf-8")
    entries = []
    for entry in ENTRY.finditer(text):
        forms = entry["forms"].split("; ") if entry["forms"] else re.split(r", | and ", entry["head"])
        ids = re.findall(r'id="(.+?)"', entry["ids"])
        entries.append(
            Term(ids[0] if ids else slug(entry["head"]), entry["head"], tuple(forms), entry["text"].strip())
        )
    return tuple(entries)


def slug(head: str) -> str:
    """An identity made of a heading.

    >>> slug("p, coefficients")
    'p-coefficients'
    """
    return re.sub(r"[^\w-]", "", head.lower().replace(" ", "-"))


def mark(page: str, local_terms: Mapping[str, str] | None = None, docs: str = DOCS) -> str:
    """A page whose terms, at their first use in every section, head, caption and table, show what they mean.

    `local_terms` defines symbols of this page alone, before the shared ones. "theory 2.5" becomes a link into `docs`,
    unless that is "": then the page stands alone. The foot lists the terms used where the page says
    ``<!-- glossary -->``, with their definitions.

    >>> mark("<p>m by theory 2.5</p><!-- glossary -->", {"m": "a count."}).partition("<section")[0]
    '<p><a class="term" href="#term-m" title="a count.">m</a> by <a href="../../docs/theory.md#2.5">theory 2.5</a></p>'
    """
    local = [Term(slug(form), form, (form,), text) for form, text in (local_terms or {}).items()]
    taken = {form for term in local for form in term.forms}
    known = [*local, *(term for term in terms() if term.identity not in {one.identity for one in local})]
    forms = [(form, term) for term in known for form in term.forms if term in local or form not in taken]
    forms.sort(key=lambda pair: -len(pair[0]))
    pattern = re.compile(
        "|".join([REFERENCE, *(f"(?P<t{i}>{_form(form)})" for i, (form, _) in enumerate(forms))])
    )
    used: dict[str, Term] = {}
    here: set[str] = set()

    def link(match: re.Match[str]) -> str:
        if match["document"]:
            return _reference(match, docs)
        words = html.escape(match[0], quote=False)
        term = forms[int(str(match.lastgroup)[1:])][1]
        if term.identity in here:
            return words
        here.add(term.identity)
        used[term.identity] = term
        return f'<a class="term" href="#term-{term.identity}" title="{html.escape(term.plain)}">{words}</a>'

    def words(text: str) -> str:
        plain = html.unescape(text)
        parts, end = [], 0
        for match in pattern.finditer(plain):
            parts += [html.escape(plain[end : match.start()], quote=False), link(match)]
            end = match.end()
        return "".join([*parts, html.escape(plain[end:], quote=False)])

    out, end = [], 0
    for tag in OPAQUE.finditer(page):
        out += [words(page[end : tag.start()]), tag[0]]
        end = tag.end()
        if SECTION.match(tag[0]):
            here.clear()
    out.append(words(page[end:]))
    if 'class="kind ' in page:
        used |= {term.identity: term for term in known if term.identity == "kinds"}
    lines = "\n".join(
        f'<dt id="term-{term.identity}">{html.escape(term.head)}</dt>\n<dd>{_prose(term.text, docs)}</dd>'
        for term in known
        if term.identity in used
    )
    foot = FOOT.format(lines) if lines else ""
    return "".join(out).replace("<!-- glossary -->", foot).replace(LINK, LINK if foot else "")


def badge(kinds: str) -> str:
    """Badges that say of which kind a statement is, for every word of `kinds`.

    >>> badge("proved")
    '<a class="kind proved" href="#term-kinds" title="A theorem with its constants.">proved</a>'
    """
    marks = (
        f'<a class="kind {kind}" href="#term-kinds" title="{KINDS[kind]}">{kind}</a>'
        for kind in kinds.split()
    )
    return " ".join(marks)


def _form(form: str) -> str:
    """A form as a pattern: a symbol as it is written, a word with or without plural and capital."""
    before = r"(?<![^\W\d_])(?<![_'’^.\\-])"
    if len(form) <= 2 or not form.isascii() or not form[0].isalpha():
        # No symbols: a letter after a number and a space, a unit as in 0.5 s; one alone in parentheses after a word, a
        # mark as in Word(R); the p of p-value; an A before a word, an article.
        return (
            before
            + (r"(?<!\d[ \xa0])" if form.isascii() else "")
            + rf"(?!(?<=[a-z]{{2}}\(){re.escape(form)}\))"
            + re.escape(form)
            + r"(?![^\W\d_]|[0-9_'’]|\.\w)"
            + {"A": r"(?! [a-z]{2})", "C": r"(?!\()", "p": "(?!-value)"}.get(form, "")
        )
    stem = form[:-1] if form.endswith("s") and not form.endswith("ss") else form
    return rf"(?<![\w-])[{stem[0].upper()}{stem[0]}]{re.escape(stem[1:])}s?(?![\w])"


@cache
def _prose(text: str, docs: str) -> str:
    """Markdown of the glossary as HTML: emphasis, code, links, references to the theory."""
    from markdown_it import MarkdownIt

    prose: str = MarkdownIt("commonmark", {"html": False}).renderInline(text)
    prose = prose.replace('<a href="', f'<a href="{docs}') if docs else re.sub(r"</?a\b.*?>", "", prose)
    return re.sub(REFERENCE, lambda reference: _reference(reference, docs), prose)


def _reference(match: re.Match[str], docs: str) -> str:
    """A reference such as "theory 2.5" as a link into `docs`, unless that is ""."""
    return (
        f'<a href="{docs}{match["document"].lower()}.md#{match["number"]}">{match[0]}</a>'
        if docs
        else match[0]
    )
