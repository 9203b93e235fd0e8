"""No symbol stands on a page that it does not explain; tables, figures and code are left out."""

import re
from html import unescape
from pathlib import Path

import pytest
from page_reading import unfilled

REPORTS = Path(__file__).parents[2] / "reports"
PAGES = sorted(REPORTS.glob("**/index.html"))
# Symbols that the sentence using them explains, and names: theorems B, D and M, lemma L, Student's t, order O,
# e = 2.718….
IN_PLACE = {
    "lattices": "u w",
    "nice-layers": "X a b",
    "random-features": "b t",
    "exponential-in-m": "C D O e",
    "benchmarks": "B M s",
    "index.html": "F O X g s",
}


def read(page: str) -> tuple[list[str], list[str]]:
    """The texts of paragraphs, list items and captions, and the heads of the list of words."""
    page = re.sub(r"(?s)<(script|style|svg|code|table|nav)\b.*?</\1>", "", page)
    texts: dict[str, list[str]] = {"p": [], "dt": []}
    for tag, text in re.findall(
        r"(?s)<(/?(?:p|li|figcaption|dt))\b[^>]*>(.*?)(?=</?(?:p|li|figcaption|dt)\b|$)", page
    ):
        if tag[0] != "/":
            texts["dt" if tag == "dt" else "p"].append(unescape(re.sub("<[^>]*>", "", text)))
    return texts["p"], texts["dt"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_every_symbol_is_explained(page: Path) -> None:
    blocks, heads = read(page.read_text(encoding="utf-8"))
    name = page.name if page.parent.name == "reports" else page.parent.name
    symbol = r"(?<![\w’'^_.\-])([B-HJ-Zb-zΑ-Ωα-ω])(?![\w’'])"
    used = set(re.findall(symbol, " ".join(blocks)))
    explained = set(re.findall(r"(?<!\w)(\w)(?!\w)", " ".join(heads))) | set(IN_PLACE.get(name, "").split())
    assert used - explained == set()


def test_no_template_is_left_unfilled(tmp_path: Path) -> None:
    """Once two captions said "more than {{ n.bits | short }} bits"."""
    assert unfilled(REPORTS) == []
    (tmp_path / "a.svg").write_text('<svg aria-label="of {{ n.d }}"/>')
    assert unfilled(tmp_path) == ['a.svg: {{ n.d }}"/>']


def test_the_script_sees_an_unknown_symbol() -> None:
    blocks, heads = read("<p>Of N sets ζ is one. <code>Q</code></p><dl><dt>N, sets</dt></dl>")
    assert ("ζ" in blocks[0], "Q" in blocks[0], heads) == (True, False, ["N, sets"])
