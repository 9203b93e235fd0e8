"""What all pages share: words that say what they mean, kinds of statements, references, the index, keys of figures."""

import json
import re
from pathlib import Path

import pytest
from jinja2 import Environment, nodes
from page_reading import unexplained, words

from hardness.engine.store import Store
from hardness.errors import InputError
from hardness.io import schemas
from hardness.report import glossary, report
from hardness.studies import catalog

ROOT = Path(__file__).parents[2]


def test_what_is_not_explained_is_found() -> None:
    bare = "<h2>τ</h2><p>of m and N, after 2 d</p>"
    assert unexplained(bare) == [("τ", "τ"), ("m", "of m and N, after 2 d"), ("N", "of m and N, after 2 d")]
    assert unexplained(glossary.mark(bare)) == []


def test_marks_stand_in_heads_and_captions_and_not_in_code_or_drawings() -> None:
    page = "<table><thead><tr><th>m</th></tr></thead></table><figure><svg>m</svg><figcaption>m</figcaption></figure>"
    marked = glossary.mark(f"{page}<p><code>m</code> 0.5 s, lab's, C(d − 1, m), 2m, mm</p><!-- glossary -->")
    assert marked.count('href="#term-m"') == 3
    assert "<svg>m</svg>" in marked
    assert "<code>m</code>" in marked
    assert 'href="#term-s"' not in marked
    assert 'href="#term-offset"' not in marked
    assert marked.count('<dt id="term-m">') == 1


def test_symbols_are_linked_to_the_own_or_shared_term_and_other_letters_are_not() -> None:
    symbols = {"A": "The number of letters.", "V": "The value matrix."}
    marked = glossary.mark("<p>V and m</p><!-- glossary -->", symbols)  # own symbols come before shared ones
    assert 'title="The value matrix."' in marked
    assert "deterministic strategy" not in marked
    for text in ("Maker(R) Processor", "rejected (p-value 0.59)", "A run learns", "a wait of 0.5 s"):
        assert "href" not in glossary.mark(f"<p>{text}</p>", symbols), text
    text = "<p>a &lt;sad&gt; τ &amp; m&nbsp;=&nbsp;2, theory 2.5e, 8τ²(N−1) “q”</p>"
    assert words(glossary.mark(text)) == words(text)
    single = "max(q, 2)|f(d)|p = 2|m-head|A = 3|Σ (m)|R is large|8(τ−ε)|log(N/2)"
    for text in single.split("|"):
        assert glossary.mark(f"<p>{text}</p>", symbols).count('class="term"') == 1, text


def test_the_glossary_has_one_source_and_no_form_two_meanings() -> None:
    shipped = ROOT / "hardness/report/glossary.md"
    assert shipped.resolve() == ROOT / "docs/glossary.md"
    forms = [form for term in glossary.terms() for form in term.forms]
    assert len(forms) == len(set(forms)) > 90
    assert all(len(term.plain) > 40 for term in glossary.terms())


def test_every_heading_of_the_theory_has_its_anchor() -> None:
    for name in ("theory", "learner"):
        text = (ROOT / "docs" / f"{name}.md").read_text()
        numbers = re.findall(r"(?m)^#{2,3} (\d+(?:\.\d+)?b?)\b", text)
        assert len(numbers) > 20
        for number in numbers:
            assert re.search(rf'(?m)^#+ {re.escape(number)}\b.*\n<a id="{re.escape(number)}"></a>$', text), (
                number
            )


# Digits that a sentence may hold: numbers of references; names and coefficients of symbols; what follows an operator;
# a constant for which a theorem is named; and the listed constants 0, 1 and the 95 % of intervals.
ALLOWED = re.compile(
    r"(?i:theory|learner|section|phases|lemmas?|algorithm|experiment|theorem|arxiv)"
    r" [A-Z\d][\d.]*\w?(?: (?:and|to) [A-Z]?[\d.]+)?"
    r"|95 %|\b\d+/\d+\b|\{0, ?1\}|\d[\d.]*(?= [a-z ]{1,20}\(theory \d)"
    r"|\b[a-zA-Z]{1,2}\d+\b|\d{1,2}(?=[^\W\d_]|[(^²³⁴ⁿ⁻⟨])|(?<=[-−+/^·]) ?\d\b|\b[01]\b(?![.,]\d)"
)


PAGES = sorted(path for path in ROOT.glob("*/studies/*/page.md") if "{{ figure(" in path.read_text())
TEMPLATES = [*ROOT.glob("hardness/report/*.html"), *PAGES]


def figures_in(text: str) -> list[str]:
    """Paragraphs that say a number which no row and no constant gave: code, tags and what is filled in are left out."""
    text = re.sub(r"(?s)\{%.*?%\}|\{\{.*?\}\}|<(script|style)\b.*?</\1>|<[^>]*>|`[^`]*`", "", text)
    parts = (" ".join(part.split()) for part in text.replace("STOC 2025", "").split("\n\n"))
    return [part for part in parts if re.search(r"\d", ALLOWED.sub("", part))]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_templates_hold_no_figures_of_their_own(path: Path) -> None:
    assert figures_in(path.read_text(encoding="utf-8")) == []


def test_the_rule_on_figures_finds_them() -> None:
    text = "By theory 2.5 8τ²(N−1) at 95 %.\n\nAll of 8 runs within 15 %.\n\nIt took {{ n.x }} steps of `3`."
    assert figures_in(text) == ["All of 8 runs within 15 %."]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.parent.name)
def test_strings_of_a_template_hold_no_template(path: Path) -> None:
    """Nothing fills them in, in branches that no rows reach either."""
    words = Environment().parse(path.read_text(encoding="utf-8")).find_all(nodes.Const)
    assert [word.value for word in words if re.search(r"\{[{%]", str(word.value))] == []


def test_a_summary_is_as_its_schema_says(tmp_path: Path) -> None:
    with Store(tmp_path / "rows.db", {"study": "needs", "seed": 0, "quick": True}) as store:
        catalog.page(store, tmp_path)
    summary = schemas.check("summary", json.loads((tmp_path / report.SUMMARY).read_text()), "the summary")
    with pytest.raises(InputError, match="planned"):
        schemas.check(
            "summary", {name: value for name, value in summary.items() if name != "planned"}, "the summary"
        )
