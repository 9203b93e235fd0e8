"""The page of `switches`."""

from pathlib import Path

from hardness.study.store import Store

QUESTION = "What makes hidden parities easy again, and what does each switch leave of the bounds?"


def write(store: Store, folder: Path) -> str:
    """Not written yet."""
    return ""
