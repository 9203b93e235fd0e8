"""What every command shares: where data and talk go, and the options that mean the same everywhere."""

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print exactly one JSON object on stdout.")]
Seed = Annotated[int | None, typer.Option(min=0, help="Any integer >= 0; drawn with 128 bits and recorded if absent.")]


def emit(as_json: bool, payload: Mapping[str, Any], lines: Iterable[str]) -> None:
    """Data to stdout: the payload as one JSON object, or the lines for people.

    >>> emit(True, {"queries": 148}, ["148 queries"])
    {"queries": 148}
    """
    print(json.dumps(payload) if as_json else "\n".join(lines))
    sys.stdout.flush()


def talk(line: str) -> None:
    """Talk to stderr, so that piped data stays clean."""
    print(line, file=sys.stderr, flush=True)
