"""Texts of untrusted origin, made fit for a terminal, a page or a table: bounded, nothing but text."""

from collections.abc import Mapping
from html import escape
from typing import Any

from hardness.errors import printable as printable
from hardness.errors import sanitize as sanitize
from hardness.io.schemas import finite

LONGEST = 100  # characters of a value in a table of a notebook
ENTRY_CHARACTERS = 4000  # characters of one text of a table
WORDS = {"true": True, "false": False, "none": None, "null": None}


def sanitize_json(value: Any) -> Any:
    """Return JSON data with every text, keys too, made printable and cut at `ENTRY_CHARACTERS` characters.

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


def is_sanitized(value: Any) -> bool:
    """Say whether JSON data holds no text that `sanitize_json` would change."""
    return bool(sanitize_json(value) == value)


def parse_value(text: str) -> int | float | bool | str | None:
    """Return the value of a word on the command line: a finite number, true, false, none, or the text itself.

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


def table(caption: str, values: Mapping[str, Any]) -> str:
    """Return an HTML table of `values` for a notebook; floats have four digits, None and "" are left out.

    >>> table("Game", {"status": "solved", "ratio": 3.1249999, "bound": None})
    '<table><caption>Game</caption><tr><th>status</th><td>solved</td></tr><tr><th>ratio</th><td>3.125</td></tr></table>'
    """
    known = {name: value for name, value in values.items() if value not in (None, "")}
    texts = {name: f"{value:.4g}" if isinstance(value, float) else value for name, value in known.items()}
    cells = [(escape(name), escape(sanitize(text, LONGEST))) for name, text in texts.items()]
    lines = [f"<tr><th>{name}</th><td>{text}</td></tr>" for name, text in cells]
    return f"<table><caption>{escape(sanitize(caption, LONGEST))}</caption>{''.join(lines)}</table>"
