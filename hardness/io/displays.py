"""Small tables that notebooks show of an object."""

from collections.abc import Mapping
from html import escape
from typing import Any

from hardness.io.texts import sanitize

LONGEST = 100  # characters of a value


def table(caption: str, values: Mapping[str, Any]) -> str:
    """Return an HTML table with a line for each value; numbers have four digits, missing values have no line.

    >>> table("Game", {"status": "solved", "ratio": 3.1249999, "bound": None})
    '<table><caption>Game</caption><tr><th>status</th><td>solved</td></tr><tr><th>ratio</th><td>3.125</td></tr></table>'
    """
    lines = [
        f"<tr><th>{escape(name)}</th><td>{escape(_text(value))}</td></tr>"
        for name, value in values.items()
        if value is not None and value != ""
    ]
    return f"<table><caption>{escape(sanitize(caption, LONGEST))}</caption>{''.join(lines)}</table>"


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if type(value) is int else sanitize(value, LONGEST)
