"""Texts of untrusted origin, made fit for a terminal, a page or a spreadsheet: bounded, nothing but text."""

import json
from collections.abc import Mapping
from html import escape
from typing import Any

from hardness.errors import printable as printable
from hardness.errors import sanitize as sanitize
from hardness.io.schemas import finite

LONGEST = 100  # characters of a value in a table of a notebook
ENTRY_CHARACTERS = 4000  # characters of one text of a table
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the beginning of a formula
WORDS = {"true": True, "false": False, "none": None, "null": None}


def sanitize_json(value: Any) -> Any:
    """Return JSON data of which every text, keys too, is printable and cut at `ENTRY_CHARACTERS` characters.

    >>> sanitize_json("a\\x1b[2J"), sanitize_json(["\\u202e", 1.5]), sanitize_json({"a\\nb": 2})
    ('a\\\\x1b[2J', ['\\\\u202e', 1.5], {'a\\nb': 2})
    """
    match value:
        case str():
            return printable(value if len(value) <= ENTRY_CHARACTERS else f"{value[:ENTRY_CHARACTERS]}…")
        case Mapping():
            return {sanitize_json(key): sanitize_json(item) for key, item in value.items()}
        case list() | tuple():
            return [sanitize_json(item) for item in value]
    return value


def is_sanitized(text: str) -> bool:
    """Say whether JSON holds no text that `sanitize_json` would change."""
    if len(text) <= ENTRY_CHARACTERS and "\\" not in text and text.isprintable():
        return True
    value = json.loads(text)
    return bool(sanitize_json(value) == value)


def parse_value(text: str) -> int | float | bool | str | None:
    """Return what a user's word stands for: a finite number, true, false, none, or the text itself.

    >>> [parse_value(text) for text in ("12", "-3e-2", "True", "none", "nan", "hinge")]
    [12, -0.03, True, None, 'nan', 'hinge']
    """
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        number = int(text) if text.lstrip("+-").isdecimal() else float(text)
    except ValueError:
        return text
    return number if finite(number) else text


def csv_safe(value: object) -> object:
    """Return an entry as a cell that no spreadsheet calculates: what looks like a formula gets an apostrophe.

    >>> csv_safe("=HYPERLINK(1)"), csv_safe("-x"), csv_safe("parity"), csv_safe(-1.5)
    ("'=HYPERLINK(1)", "'-x", 'parity', -1.5)
    """
    shown = sanitize_json(value)
    return f"'{shown}" if isinstance(value, str) and value.startswith(FORMULA) else shown


def table(caption: str, values: Mapping[str, Any]) -> str:
    """Return an HTML table with a line for each value; numbers have four digits, missing values have no line.

    >>> table("Game", {"status": "solved", "ratio": 3.1249999, "bound": None})
    '<table><caption>Game</caption><tr><th>status</th><td>solved</td></tr><tr><th>ratio</th><td>3.125</td></tr></table>'
    """
    shown = {
        name: f"{value:.4g}" if isinstance(value, float) else sanitize(value, LONGEST)
        for name, value in values.items()
        if value is not None and value != ""
    }
    lines = [f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in shown.items()]
    return f"<table><caption>{escape(sanitize(caption, LONGEST))}</caption>{''.join(lines)}</table>"
