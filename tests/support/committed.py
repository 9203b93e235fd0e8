"""What is committed under reports/, as it is read again: csv, json and regular expressions, nothing of the lab."""

import csv
import json
import re
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
Row = dict[str, str]


def rows(study: str, **wanted: str) -> list[Row]:
    """Rows of a page whose columns have these values; a column is named with _ for its first dot."""
    return [
        dict(row)
        for row in _table(study)
        if all(row.get(name.replace("_", ".", 1)) == value for name, value in wanted.items())
    ]


@cache
def _table(study: str) -> list[Row]:
    with (ROOT / "reports" / study / "rows.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def summary(study: str) -> dict[str, Any]:
    return dict(json.loads((ROOT / "reports" / study / "summary.json").read_text(encoding="utf-8")))


def headline(study: str) -> str:
    """The headline; 50 words at most hold a letter or a digit."""
    verdict = str(summary(study)["verdict"])
    assert sum(bool(re.search(r"\w", word)) for word in verdict.split()) <= 50
    return verdict


@cache
def plain(html: str) -> str:
    """The words of a page: no tags, no code, no drawings, single blanks, none before a stop."""
    text = re.sub(r"(?s)<(script|style|svg)\b.*?</\1>|<[^>]+>", " ", html)
    return re.sub(r" (?=[,;:)]|\.(?!\d))|(?<=\() ", "", re.sub(r"\s+", " ", unescape(text))).strip()


@cache
def page(study: str) -> str:
    return (ROOT / "reports" / study / "index.html").read_text(encoding="utf-8")


@cache
def tables(study: str) -> dict[str, list[list[str]]]:
    """The tables of a page, by their captions: the words of their cells."""
    cells = {}
    for table in re.findall(r"(?s)<table.*?</table>", page(study)):
        caption = re.search(r"(?s)<caption>(.*?)</caption>", table)
        lines = [
            re.findall(r"(?s)<td[^>]*>(.*?)</td>", line) for line in re.findall(r"(?s)<tr>(.*?)</tr>", table)
        ]
        cells[_text(caption[1]) if caption else ""] = [
            [_text(cell) for cell in line] for line in lines if line
        ]
    return cells


def _text(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html)).strip()
