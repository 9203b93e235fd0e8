"""Texts of untrusted origin, made fit for a terminal, a page or a spreadsheet: bounded, and nothing but text."""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

from hardness.errors import printable as printable
from hardness.errors import sanitize as sanitize

ENTRY_CHARACTERS = 4000  # characters of one text of a table
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the beginning of a formula


def sanitize_json(value: Any) -> Any:
    """JSON data of which every text, keys too, is printable and cut at `ENTRY_CHARACTERS` characters.

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
    """Whether JSON holds no text that `sanitize_json` would change.

    >>> [is_sanitized('{"reason":"' + text + '"}') for text in ("\\\\u03c1 is 2", "\\\\u202e", "\\u202e")]
    [True, False, False]
    """
    if len(text) <= ENTRY_CHARACTERS and "\\" not in text and text.isprintable():
        return True
    value = json.loads(text)
    return bool(sanitize_json(value) == value)


def load_sanitized(text: str) -> Any:
    """JSON, its texts made fit."""
    return sanitize_json(json.loads(text))


WORDS = {"true": True, "false": False, "none": None, "null": None}


def parse_value(text: str) -> int | float | bool | str | None:
    """What a user's word stands for: a finite number, true, false, none, or the text itself.

    >>> [parse_value(text) for text in ("12", "-3e-2", "True", "none", "nan", "hinge")]
    [12, -0.03, True, None, 'nan', 'hinge']
    """
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        number = float(text)
    except ValueError:
        return text
    if not isfinite(number):
        return text
    return int(text) if text.lstrip("+-").isdecimal() else number


def csv_safe(value: object) -> object:
    """An entry as a cell that no spreadsheet calculates: a text that looks like a formula gets an apostrophe.

    >>> csv_safe("=HYPERLINK(1)"), csv_safe("-x"), csv_safe("parity"), csv_safe(-1.5)
    ("'=HYPERLINK(1)", "'-x", 'parity', -1.5)
    """
    shown = sanitize_json(value)
    return f"'{shown}" if isinstance(value, str) and value.startswith(FORMULA) else shown
