"""Pages as the tests read them: words with the terms they are linked to, and columns with their marks."""

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

SYMBOLS = {symbol: symbol for symbol in ("m", "d", "N", "q", "K", "ψ", "λ_min")} | {"τ": "tau", "ρ": "rho"}


def words(page: str) -> str:
    """The text of a page as a reader sees it: no tags, no code, no drawings; blanks as single spaces."""
    page = re.sub(r"(?s)<(script|style|svg)\b.*?</\1>|<[^>]+>", "", page)
    return re.sub(r"\s+", " ", unescape(page)).strip()


def unfilled(folder: Path) -> list[str]:
    """Marks of a template that stand in a page, a summary or a figure of `folder`, or below it, with what follows."""
    texts = [path for kind in ("*.html", "*.json", "*.svg") for path in sorted(folder.rglob(kind))]
    assert texts
    return [
        f"{path.name}: {mark}"
        for path in texts
        for mark in re.findall(r"\{[{%].{0,40}", path.read_text(encoding="utf-8"))
    ]


class Reader(HTMLParser):
    """The words of a page in order: (section, text, the term it is linked to if any); code and drawings are passed."""

    def __init__(self) -> None:
        super().__init__()
        self.section, self.passed, self.term, self.link = 0, 0, "", 0
        self.words: list[tuple[int, str, str]] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        self.ids |= {values["id"] or ""} if "id" in values else set()
        self.section += tag in ("h1", "h2", "h3", "figure", "table", "figcaption", "caption", "tbody")
        self.passed += tag in ("script", "style", "svg", "pre", "code", "head")
        if tag == "a":
            self.link += 1
            self.term = (
                (values.get("href") or "").removeprefix("#term-") if values.get("class") == "term" else ""
            )

    def handle_endtag(self, tag: str) -> None:
        self.section += tag in ("figure", "table", "figcaption", "caption", "tbody")
        self.passed -= tag in ("script", "style", "svg", "pre", "code", "head")
        if tag == "a":
            self.link, self.term = self.link - 1, ""

    def handle_data(self, data: str) -> None:
        if not self.passed:
            self.words.append((self.section, data, self.term or ("link" if self.link else "")))


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page.partition('<section class="glossary"')[0])
    reader.ids |= set(re.findall(r'<dt id="(.+?)"', page))
    return reader


def unexplained(page: str) -> list[tuple[str, str]]:
    """Symbols with the text they stand in, in a section that links none of their uses."""
    reader = read(page)
    explained = {(section, term) for section, _, term in reader.words if term}
    bare = []
    for section, text, term in reader.words:
        for symbol, identity in SYMBOLS.items():
            # A symbol stands by itself: not in a word, after a hyphen or as an index, nor as a unit after a number.
            alone = rf"(?<![\w'’^.\\-])(?<!\d[ \xa0]){re.escape(symbol)}(?![\w'’]|\.\w)"
            local = identity in ("ψ", "λ_min") and f"term-{identity}" not in reader.ids
            if not term and not local and (section, identity) not in explained and re.search(alone, text):
                bare.append((symbol, text))
    return bare
