"""Articles: each is what its rows give, byte for byte, and short; pages that fit no numbers are refused."""

import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from hardness.engine import rows
from hardness.engine.study import Study
from hardness.errors import InputError
from hardness.report import article
from hardness.studies import catalog

REPORTS = Path(__file__).parents[2] / "reports"
STUDIES = [name for name, study in catalog.known().items() if study.page]
WORDS, NUMBERS, TABLES, TITLE, SENTENCE = 900, 80, 4, 20, 18  # the most of an article, outside of <details>


@pytest.mark.parametrize("name", STUDIES)
def test_an_article_is_made_of_its_rows_byte_for_byte(name: str, tmp_path):
    """Placeholders are known and numbers used, or `write` raises."""
    written = sorted(path.name for path in (REPORTS / name).iterdir() if path.name != "index.html")
    article.write(catalog.get(name), rows.read(REPORTS / name), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == written
    for file in written:
        assert (tmp_path / file).read_bytes() == (REPORTS / name / file).read_bytes(), file


@pytest.mark.parametrize("name", STUDIES)
def test_an_article_is_short_enough_to_be_read(name: str):
    text = prose((REPORTS / name / article.ARTICLE).read_text(encoding="utf-8"))
    title, _, body = text.partition("\n")
    assert len(words(title)) <= TITLE
    assert len(words(body)) <= WORDS
    assert len(re.findall(r"\d[\d.,]*", without_tables(body))) <= NUMBERS
    assert len(re.findall(r"(?m)^\|[:|-]+\|$", body)) <= TABLES
    lengths = [len(words(sentence)) for sentence in sentences(body)]
    assert sum(lengths) / len(lengths) <= SENTENCE


@pytest.mark.parametrize("name", STUDIES)
def test_links_of_an_article_resolve(name: str):
    text = (REPORTS / name / article.ARTICLE).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert links
    for link in links:
        path, _, anchor = link.partition("#")
        if not path.startswith("https://"):
            file = (REPORTS / name / path).resolve() if path else REPORTS / name / article.ARTICLE
            assert file.exists(), link
            assert not anchor or f'id="{anchor}"' in file.read_text() or anchor in slugs(file), link


def slugs(file: Path) -> list[str]:
    """The anchors that a forge gives to the headings of a Markdown file."""
    heads = re.findall(r"(?m)^#+ (.+)$", file.read_text(encoding="utf-8"))
    return [re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads]


def prose(text: str) -> str:
    """An article without its folded parts and its last lines."""
    return re.sub(r"(?s)<details>.*?</details>", "", text).rpartition("\n---\n")[0]


def without_tables(text: str) -> str:
    return re.sub(r"(?m)^\|.*\n?", "", text)


def words(text: str) -> list[str]:
    plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.findall(r"\S*\w\S*", plain)


def sentences(text: str) -> list[str]:
    """The sentences of paragraphs and items, without pictures, headings and tables."""
    text = re.sub(r"(?m)^(#|!|\|).*$", "", text)
    blocks = [" ".join(block.split()) for block in re.split(r"\n\s*\n|(?m:^\s*[-*] )", text)]
    parts = [part for block in blocks for part in re.split(r"(?<=[.!?:])[)*]*\s+(?=\S)", block)]
    return [part for part in parts if words(part)]


PAGE = "# One more head costs {factor[3m][0]:.2f} times as much\n\n{cells}\n\n![rising](costs.svg)\n"


def study(page: Path, numbers: Any = None, names: str = "costs") -> Study:
    from matplotlib.figure import Figure

    known = {"factor": {"3m": [5.75]}} if numbers is None else numbers
    return Study(
        "games",
        "Why?",
        catalog.get("games").tasks,
        lambda task: 1.0,
        catalog.get("games").trial,
        numbers=lambda rows: known,
        tables=lambda rows: {"cells": pd.DataFrame({"m": [2], "cost": [1234.5]})},
        figures=lambda rows: {name: Figure() for name in names.split()},
        page=page,
    )


@pytest.mark.parametrize(
    ("text", "numbers", "names", "words"),
    [
        (PAGE, {}, "costs", "{factor[3m][0]} stands in the page alone"),
        (PAGE, {"factor": {"3m": [5.75, 3.99]}}, "costs", "{factor[3m][1]} stands in the page alone"),
        (PAGE, {"factor": {"3m": ["six"]}}, "costs", "page.md: "),
        (PAGE, None, "costs lines", "figure lines.svg is shown and not made, or made and not shown"),
        (PAGE, None, "", "figure costs.svg is shown and not made, or made and not shown"),
        (PAGE.replace("{cells}", ""), None, "costs", "{cells} stands in the page alone"),
        (PAGE + "a set {1, 2", None, "costs", "page.md: "),
    ],
)
def test_a_page_that_does_not_fit_its_numbers_is_refused(
    tmp_path, text: str, numbers: Any, names: str, words: str
):
    (tmp_path / "page.md").write_text(text)
    with pytest.raises(InputError, match=re.escape(words)):
        article.write(
            study(tmp_path / "page.md", numbers, names), rows.read(REPORTS / "games"), tmp_path / "out"
        )
    assert not (tmp_path / "out").exists()


def test_a_committed_folder_gets_its_article_and_a_store_the_dashboard(tmp_path):
    shutil.copytree(REPORTS / "random-features", tmp_path / "committed")
    assert catalog.report(tmp_path / "committed", pdf=True)[1].name == "README.md"
    assert (tmp_path / "committed" / "errors.pdf").read_bytes().startswith(b"%PDF")
    rows.merge([REPORTS / "random-features"], tmp_path / "run" / "rows.db")
    line, path = catalog.report(tmp_path / "run")
    assert (line, path.name) == ("random-features: 135 of 135 trials ended (135 solved)", "index.html")
    assert (tmp_path / "run" / "rows.csv").read_bytes() == (REPORTS / "random-features/rows.csv").read_bytes()
