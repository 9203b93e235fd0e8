"""Texts of untrusted origin, made fit for a terminal, a page or a spreadsheet: bounded, and nothing but text."""

import json
from collections.abc import Mapping
from typing import Any

TEXT_CHARACTERS = 300  # characters of one text
ENTRY_CHARACTERS = 4000  # characters of one text of a table
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the beginning of a formula


def sanitize(text: object, longest: int = TEXT_CHARACTERS) -> str:
    """One line of an untrusted text: what is not printable is written as its escape, what is too long is cut.

    Control characters, surrogates and marks that turn the direction of writing could change what a terminal or a page
    shows of the text around them.

    >>> print(sanitize("red \\x1b[31m and \\u202e left"), sanitize("x" * 9, longest=4))
    red \\x1b[31m and \\u202e left x… (9 characters)
    """
    whole = str(text)
    line = printable(whole[:longest]).replace("\n", "\\n")
    return line if len(whole) <= longest else f"{line[: max(1, longest - 3)]}… ({len(whole)} characters)"


def printable(text: str) -> str:
    """A text with what is not printable written as its escape; line feeds stay.

    >>> printable("a\\x1b[2J\\nb")
    'a\\\\x1b[2J\\nb'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode("ascii") for c in text)


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
    found = json.loads(text)
    return bool(sanitize_json(found) == found)


def load_sanitized(text: str) -> Any:
    """JSON, its texts made fit."""
    return sanitize_json(json.loads(text))


def csv_safe(value: object) -> object:
    """An entry as a cell that no spreadsheet calculates: a text that looks like a formula gets an apostrophe.

    >>> csv_safe("=HYPERLINK(1)"), csv_safe("-x"), csv_safe("parity"), csv_safe(-1.5)
    ("'=HYPERLINK(1)", "'-x", 'parity', -1.5)
    """
    shown = sanitize_json(value)
    return f"'{shown}" if isinstance(value, str) and value.startswith(FORMULA) else shown
