"""Pages in sentences that a new reader can follow, and no symbol that a page does not explain.

A sentence counts its words as a reader does; tables, figures, code and the list of words at the foot are left out.
"""

import re
from html import unescape
from pathlib import Path
from statistics import fmean

import pytest

PAGES = sorted((Path(__file__).parents[2] / "reports").glob("**/index.html"))
MEAN, LONGEST = 25, 45  # words of a sentence
# Symbols that the sentence which uses them explains, and names: theorem B, lemma L, Student's t, order O, e = 2.718….
IN_PLACE = {
    "games": "B L c e t ε π", "needs": "B P ε λ π", "lattices": "u w", "linear-attention": "B t",
    "nice-layers": "X a b", "random-features": "b t", "switches": "C t",
    "exponential-in-m": "C D O e", "benchmarks": "M s", "index.html": "F O X g",
}  # fmt: skip


def read(page: str) -> tuple[list[str], list[str]]:
    """The texts of paragraphs, list items and captions, and the heads of the list of words."""
    page = re.sub(r"(?s)<(script|style|svg|code|table|nav)\b.*?</\1>", "", page)
    found: dict[str, list[str]] = {"p": [], "dt": []}
    for tag, text in re.findall(r"(?s)<(/?(?:p|li|figcaption|dt))\b[^>]*>(.*?)(?=</?(?:p|li|figcaption|dt)\b|$)", page):
        if tag[0] != "/":
            found["dt" if tag == "dt" else "p"].append(unescape(re.sub("<[^>]*>", "", text)))
    return found["p"], found["dt"]


def sentences(blocks: list[str]) -> list[list[str]]:
    """The words of every sentence; marks of kinds, and headings in bold, are short and not counted."""
    parts = (part for block in blocks for part in re.split(r"(?<=[.!?])\s+(?=[“(]|[^\Wa-zα-ω])", block.strip()))
    return [part.split() for part in parts if len(part.split()) > 2]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_sentences_are_short_and_every_symbol_is_explained(page: Path) -> None:
    blocks, heads = read(page.read_text(encoding="utf-8"))
    found = sentences(blocks)
    assert fmean(map(len, found)) <= MEAN
    assert not [" ".join(words) for words in found if len(words) > LONGEST]
    name = page.name if page.parent.name == "reports" else page.parent.name
    symbol = r"(?<![\w’'^_.\-])([B-HJ-Zb-zΑ-Ωα-ω])(?![\w’'])"
    used = set(re.findall(symbol, " ".join(blocks)))
    explained = set(re.findall(r"(?<!\w)(\w)(?!\w)", " ".join(heads))) | set(IN_PLACE.get(name, "").split())
    assert not used - explained


def test_the_script_sees_a_long_sentence_and_an_unknown_symbol() -> None:
    blocks, heads = read(
        "<p>Of N sets ζ is one. <code>Q</code></p><dl><dt>N, sets</dt></dl>" + f"<p>{'word ' * 50}.</p>"
    )
    assert [len(words) for words in sentences(blocks)] == [6, 51]
    assert "ζ" in blocks[0] and "Q" not in blocks[0] and heads == ["N, sets"]  # noqa: PT018
