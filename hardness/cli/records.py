"""The command records: the cheapest learners known of hidden sets with names."""

import csv
import json
from typing import Any

import typer

from hardness.cli.common import EXPERIMENTS, Json, emit
from hardness.errors import InputError

QUESTION = "exponential-in-m"
COUNTS = ("dim", "heads", "examples", "heads_examples", "runs", "solved")


def register(parent: typer.Typer) -> None:
    parent.command(rich_help_panel=EXPERIMENTS)(records)


def records(as_json: Json = False) -> None:
    """List the cheapest learner known of twelve hidden sets, by examples and by heads x examples.

    Each entry has a setting and a command that runs it once. Examples are medians of a committed table, on seeds that
    chose no setting. CONTRIBUTING.md says how to lower an entry.

    Example: hardness records --json
    """
    known = read()
    lines = [
        f"{each['instance']}: {each['examples']:,} examples, {each['heads_examples']:,} heads x examples "
        f"(least {each['least']}), {each['setting']}"
        for each in known
    ]
    emit(as_json, {"records": known}, lines)


def read() -> list[dict[str, Any]]:
    """Return the records of the study that asks of costs. Raises `InputError` where there are none."""
    from hardness.studies import catalog

    path = catalog.get(QUESTION).records
    if path is None:
        raise InputError(f"study {QUESTION} keeps no records")
    with path.open(newline="", encoding="utf-8") as file:
        return [_entry(line) for line in csv.DictReader(file)]


def _entry(line: dict[str, str]) -> dict[str, Any]:
    numbers = {name: int(line[name]) for name in COUNTS}
    return {**line, **numbers, "setting": json.loads(line["setting"])}
