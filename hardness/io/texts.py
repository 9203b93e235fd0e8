"""Texts that come from strangers, made fit for a terminal, a page or a spreadsheet: bounded, and nothing but text."""

import json
from collections.abc import Mapping
from typing import Any

from hardness.errors import InputError

LONGEST = 300  # characters of one text
ENTRY = 4000  # characters of one text of a table
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the beginning of a formula


def shown(text: object, longest: int = LONGEST) -> str:
    """One line of a stranger's text: what is not printable is written as its escape, what is too long is cut.

    Control characters, surrogates and marks that turn the direction of writing could change what a terminal or a page
    shows of the text around them.

    >>> print(shown("red \\x1b[31m and \\u202e left"), shown("x" * 9, longest=4))
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


def entry(value: Any) -> Any:
    """JSON data of which every text, keys too, is printable and cut at `ENTRY` characters.

    >>> entry("a\\x1b[2J"), entry(["\\u202e", 1.5]), entry({"a\\nb": 2})
    ('a\\\\x1b[2J', ['\\\\u202e', 1.5], {'a\\nb': 2})
    """
    match value:
        case str():
            return printable(value if len(value) <= ENTRY else f"{value[:ENTRY]}…")
        case Mapping():
            return {entry(key): entry(item) for key, item in value.items()}
        case list() | tuple():
            return [entry(item) for item in value]
    return value


def fits(text: str) -> bool:
    """Whether JSON holds no text that `entry` would change.

    >>> fits('{"reason":"\\\\u03c1 is 2"}'), fits('{"reason":"\\\\u202e"}'), fits('{"reason":"\\u202e"}')
    (True, False, False)
    """
    if len(text) <= ENTRY and "\\" not in text and text.isprintable():
        return True
    found = json.loads(text)
    return bool(entry(found) == found)


def printed(text: str) -> str:
    """The same JSON. Raises `InputError` if it does not fit."""
    if not fits(text):
        raise InputError(f"a task holds a text that is too long or cannot be printed: {shown(text)}")
    return text


def parsed(text: str) -> Any:
    """JSON, its texts made fit."""
    found = json.loads(text)
    return found if fits(text) else entry(found)


def cell(value: object) -> object:
    """An entry as a cell that no spreadsheet calculates: a text that looks like a formula gets an apostrophe.

    >>> cell("=HYPERLINK(1)"), cell("-x"), cell("parity"), cell(-1.5)
    ("'=HYPERLINK(1)", "'-x", 'parity', -1.5)
    """
    shown = entry(value)
    return f"'{shown}" if isinstance(value, str) and value.startswith(FORMULA) else shown
