"""The JSON of every file of the lab: one schema a format, and the one way in which it is read.

The schemas are the files of docs/schemas, shipped by links; they are checked with fastjsonschema, draft 7.
"""

import json
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from hardness.errors import InputError, sanitize

FORMAT_VERSION = 2  # of instances, examples and challenges: 1 was that of version 0.1
LONGEST_TRIAL = 30 * 24 * 3600  # seconds of any limit on a trial
DEPTH = 32  # levels of nesting in any file of the lab
STATUSES = ("solved", "wrong", "budget", "stuck", "timeout", "error", "killed", "refused")
SUMMARY_VERSION = 2


def finite(value: float) -> bool:
    """Say whether a number is finite as a float: Python's JSON also has NaN, infinities and integers of any length.

    >>> finite(1e308), finite(float("nan")), finite(10**400)
    (True, False, False)
    """
    return abs(value) <= sys.float_info.max


def parse(text: str | bytes, what: str) -> Any:
    """Return the value of a JSON text, or raise `InputError`, naming `what`, if it is no JSON, too deep or not finite.

    >>> parse("[" * 100_000, "answer.json")
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: answer.json is nested deeper than 32 levels
    """

    def checked(value: Any, levels: int) -> None:
        if levels == 0:
            raise RecursionError
        if isinstance(value, int | float) and not finite(value):
            raise ValueError(f"{sanitize(value, 40)} is no finite number")
        for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            checked(item, levels - 1)

    try:
        value = json.loads(text)
        checked(value, DEPTH + 1)
    except RecursionError as error:
        raise InputError(f"{what} is nested deeper than {DEPTH} levels") from error
    except ValueError as error:  # digits beyond what Python reads, bytes that are no text, what is no JSON
        raise InputError(f"{what} is not JSON: {sanitize(error)}") from error
    return value


def check(name: str, value: Any, what: str) -> None:
    """Raise `InputError`, which begins with `what`, unless a JSON value satisfies the schema `name`.

    >>> check("public", {"family": "mean", "dim": "8", "tokens": 2}, "examples.npz")
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: examples.npz does not hold what it should: dim must be integer
    """
    from fastjsonschema import JsonSchemaValueException

    try:
        _checker(name)(value)
    except JsonSchemaValueException as error:
        reason = error.message.removeprefix("data.").replace("data ", "the whole ", 1)
        raise InputError(f"{what} does not hold what it should: {sanitize(reason)}") from error


@cache
def _checker(name: str) -> Any:
    import fastjsonschema

    schema = Path(__file__).with_name(f"{name}.schema.json").read_text(encoding="utf-8")
    return fastjsonschema.compile(json.loads(schema), use_default=False)


def check_version(header: Any, what: str, advice: str) -> None:
    """Raise `InputError`, made of `what` and `advice`, if a file's header states another version of its format."""
    stated = header.get("format_version", FORMAT_VERSION) if isinstance(header, dict) else FORMAT_VERSION
    if stated != FORMAT_VERSION:
        known = f"this version reads format {FORMAT_VERSION}"
        raise InputError(f"{what} is of format {sanitize(repr(stated), 40)}, {known}: {advice}")


def canonical(value: Any) -> str:
    """Return `value` as JSON, the same for any key order, 1 or 1.0, tuple or list; other data are an `InputError`.

    >>> canonical({"b": (1.0, -0.0), "a": 0.05})
    '{"a":0.05,"b":[1,0]}'
    """
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def _plain(value: Any) -> Any:
    import numpy as np  # here, as help on a command needs the schemas and no numpy

    match value:
        case bool() | None | str():
            return value
        case int() if finite(value):
            return value
        case float() if finite(value):
            return int(value) if value.is_integer() and abs(value) < 2**53 else value
        case np.generic():
            return _plain(value.item())
        case Mapping() if all(isinstance(key, str) for key in value):
            return {key: _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
    raise InputError(
        f"expected finite numbers, text, lists and mappings with text keys, got {sanitize(repr(value), 60)}"
    )
