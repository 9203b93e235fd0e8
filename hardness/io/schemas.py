"""The JSON of every file of the lab: one schema a format, and the one way in which it is read.

`python -m hardness.io.schemas docs/schemas` publishes the schemas; they are checked with fastjsonschema, draft 7.
"""

import json
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from hardness.errors import InputError
from hardness.io.files import write_text
from hardness.io.texts import sanitize

FORMAT_VERSION = 2  # of instances, examples and challenges: 1 was that of version 0.1
LONGEST_TRIAL = 30 * 24 * 3600  # seconds of any limit on a trial
DEPTH = 32  # levels of nesting in any file of the lab
STATUSES = ("solved", "wrong", "budget", "timeout", "error", "killed", "refused")

NAME = {"type": "string", "minLength": 1, "maxLength": 200}
SCALAR = {"type": ["string", "number", "boolean", "null"], "maxLength": 1000}
SEED = {"type": "integer", "minimum": 0}
COUNT = {"type": "integer", "minimum": 1}
HASH = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
GADGET = {"enum": ["diag", "dot", "sharp", "wide"]}
NUMBERS = {"type": "array", "items": {"type": "number"}}
INTEGERS = {"type": "array", "items": {"type": "integer"}}
STRUCTURED = ["dim", "heads", "gadget", "A", "C"]


def _object(required: list[str], properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties, **more}


def _if_family(name: str, required: list[str]) -> dict[str, Any]:
    return {"if": {"properties": {"family": {"const": name}}}, "then": {"required": required}}


PUBLIC = _object(
    ["family", "dim", "tokens"],
    {
        "family": NAME,
        "dim": COUNT,
        "tokens": COUNT,
        "heads": COUNT,
        "gadget": GADGET,
        "sharpness": COUNT,
        "bits": COUNT,
        "balance": {"type": "boolean"},
        "flip": {"type": "number", "minimum": 0, "exclusiveMaximum": 0.5},
        "modulus": {"type": "integer", "minimum": 2, "maximum": 2**20},
        "levels": {"type": "integer", "minimum": 2, "maximum": 2**20},
        "weight": {"type": ["integer", "null"], "minimum": 1},
        "noise": {"type": "number", "minimum": 0},
        "exact": {"type": "boolean"},
        "A": {"type": "number"},
        "C": {"type": "number"},
        "sampling_seed": SEED,
        "format_version": {"const": FORMAT_VERSION},
        "package_version": NAME,
    },
    additionalProperties=SCALAR,
    allOf=[
        _if_family("parity", [*STRUCTURED, "flip"]),
        _if_family("rounding", [*STRUCTURED, "modulus", "levels", "weight", "noise"]),
    ],
)
INSTANCE = _object(
    ["format", "format_version", "family", "parameters", "seed", "seed_drawn", "certificate", "gadget"],
    {
        "format": {"const": "attention-hardness instance"},
        "format_version": {"const": FORMAT_VERSION},
        "package_version": NAME,
        "family": NAME,
        "parameters": {"type": "object", "additionalProperties": SCALAR},
        "tokens": COUNT,
        "heads": COUNT,
        "heads_meaning": {"type": "string"},
        "hypothesis": {"type": "string"},
        "seed": SEED,
        "seed_drawn": {"type": "boolean"},
        "command": {"type": "string"},
        "certificate": {"type": "object", "additionalProperties": SCALAR},
        "gadget": {
            "type": ["object", "null"],
            "required": ["kind", "beta", "offset", "gate"],
            "properties": {
                "kind": GADGET,
                "beta": {"type": "number", "exclusiveMinimum": 0},
                "offset": {"type": "number"},
                "gate": {"type": "number"},
            },
            "additionalProperties": False,
        },
    },
)
CHALLENGE = _object(
    [
        "format",
        "format_version",
        "count",
        "public",
        "sha256",
        "salt",
        "commitment",
        "heldout_commitment",
        "header_sha256",
    ],
    {
        "format": {"const": "attention-hardness challenge"},
        "format_version": {"const": FORMAT_VERSION},
        "package_version": NAME,
        "licence": NAME,
        "toy": {"type": "boolean"},
        "hypothesis": {"type": "string"},
        "count": COUNT,
        "public": {
            **PUBLIC,
            "properties": {**PUBLIC["properties"], "family": {"enum": ["parity", "rounding"]}},
        },
        "answers": {"type": "object"},
        "sha256": _object(["examples.npz", "heldout.npz"], {"examples.npz": HASH, "heldout.npz": HASH}),
        "salt": HASH,
        "commitment": HASH,
        "heldout_commitment": HASH,
        "header_sha256": HASH,
    },
)


def _axis(one: Mapping[str, Any]) -> dict[str, Any]:
    """One such value, or a list of them."""
    types = one["type"] if isinstance(one["type"], list) else [one["type"]]
    return {**one, "type": [*types, "array"], "items": one}


GRID = _object(
    ["family", "params", "solver"],
    {
        "family": NAME,
        "params": {
            "type": "object",
            "additionalProperties": _axis(SCALAR),
        },
        "solver": _object(
            [],
            {
                **dict.fromkeys(("strategy", "learner", "attack", "oracle"), _axis(NAME)),
                "tolerance": _axis({"type": "number"}),
                "options": {"type": "object"},
            },
        ),
        "budget": {"type": "object", "additionalProperties": COUNT},
        "runs": COUNT,
        "seed": SEED,
        "guard": {"type": "number", "exclusiveMinimum": 0, "maximum": LONGEST_TRIAL},
    },
)
_SECRET = [_object([name], {name: INTEGERS}) for name in ("support", "w")]
_WRAPPED = _object(["secret"], {"secret": {"anyOf": _SECRET}})
ANSWER = {"anyOf": [*_SECRET, _WRAPPED, _object(["predictions"], {"predictions": NUMBERS})]}
TASK = _object(
    ["family", "params", "solver", "budget", "repetition", "schema"],
    {
        "family": {"type": "string", "maxLength": 200},
        "params": {"type": "object"},
        "solver": {"type": "object"},
        "budget": {"type": "object"},
        "repetition": SEED,
        "plugins": {"type": "object", "additionalProperties": NAME},
        "schema": {"const": 1},
    },
    additionalProperties=False,
)
ROW = _object(
    ["identity", "task", "status", "cost", "detail", "seconds", "source", "provenance"],
    {
        "identity": HASH,
        "task": TASK,
        "status": {"enum": list(STATUSES)},
        "cost": {"type": ["number", "null"]},
        "detail": {"type": "object"},
        "seconds": {"type": "number"},
        "source": {"type": ["string", "null"], "maxLength": 200},
        "provenance": {"type": "object"},
    },
)
_NUMBER = {"type": ["number", "null"]}  # null: not finite
_LIMITS = {"type": ["object", "null"], "required": ["value", "low", "high"], "additionalProperties": _NUMBER}
SUMMARY_VERSION = 2
SUMMARY = _object(
    ["study", "schema", "verdict", "planned", "statuses", "growth"],
    {
        "study": NAME,
        "schema": {"const": SUMMARY_VERSION},
        "growth": {
            "description": "By series: the verdict; kappa, the power of N in the cost, and slope, what a head "
            "adds to the exponent of d, each with its two 95 % limits; models: p-values of likelihood ratios.",
            "type": "object",
            "additionalProperties": _object(
                ["word", "refusal", "kappa", "slope", "models"],
                {
                    "word": NAME,
                    "refusal": {"type": ["string", "null"]},
                    "kappa": _LIMITS,
                    "slope": _LIMITS,
                    "models": {
                        "type": "object",
                        "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1},
                    },
                },
            ),
        },
        "seed": SEED,
        "quick": {"type": "boolean"},
        "verdict": {"type": "string"},
        "question": {"type": "string"},
        "role": NAME,
        "planned": SEED,
        "statuses": {"type": "object", "propertyNames": {"enum": list(STATUSES)}, "additionalProperties": SEED},
        "commits": {"type": "array", "items": {"type": "string"}},
        "made_by": {"type": "array", "items": {"type": "string"}, "description": "Command lines that made the rows."},
        "numbers": {"type": "object", "description": "The numbers of the page's text, not rounded."},
        "figures": {"type": "array", "items": _object(["file", "alt", "caption"], {})},
    },
)
# Name of a format: what it is, and its schema.
SCHEMAS: dict[str, tuple[str, dict[str, Any]]] = {
    "instance": ("The header of an instance file (safetensors metadata, key `instance`).", INSTANCE),
    "public": ("What stands beside examples: member `public` of an .npz, metadata of a .parquet file.", PUBLIC),
    "challenge": ("challenge.json of a challenge folder.", CHALLENGE),
    "answer": ("An answer to a challenge, as `hardness judge` reads it.", ANSWER),
    "grid": ("The grid of a sweep, as its TOML file says it.", GRID),
    "task": ("A task of a study, as the store's table `plan` holds it.", TASK),
    "row": ("A row of a study: a task and how its trial ended.", ROW),
    "summary": ("summary.json of a study's page.", SUMMARY),
}


def finite(value: float) -> bool:
    """Whether a number is one that a float holds: Python's JSON has NaN, infinities and integers of any length too.

    >>> finite(1e308), finite(float("nan")), finite(10**400)
    (True, False, False)
    """
    return abs(value) <= sys.float_info.max


def parse(text: str | bytes, what: str) -> Any:
    """The JSON value of a text: at most `DEPTH` levels deep, its numbers `finite`. Raises `InputError` that begins with
    `what`.

    >>> parse("[" * 100_000, "answer.json")
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: answer.json is nested deeper than 32 levels
    """
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise InputError(f"{what} is nested deeper than {DEPTH} levels") from error
    except ValueError as error:  # digits beyond what Python reads, bytes that are no text, what is no JSON
        raise InputError(f"{what} is not JSON: {sanitize(error)}") from error
    level, deep = [value], 0
    while level:
        deep += 1
        if deep > DEPTH:
            raise InputError(f"{what} is nested deeper than {DEPTH} levels")
        for item in level:
            if isinstance(item, int | float) and not finite(item):
                raise InputError(f"{what} holds {sanitize(item, 40)}, which is no finite number")
        inner = (v.values() if isinstance(v, dict) else v for v in level if isinstance(v, dict | list))
        level = [item for each in inner for item in each if isinstance(item, dict | list | int | float)]
    return value


def check(name: str, value: Any, what: str) -> Any:
    """`value` itself if it is as the schema `name` says. Raises `InputError` that begins with `what`.

    >>> check("public", {"family": "mean", "dim": "8", "tokens": 2}, "examples.npz")
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: examples.npz does not hold what it should: dim must be integer
    """
    from fastjsonschema import JsonSchemaValueException

    try:
        return _checker(name)(value)
    except JsonSchemaValueException as error:
        said = error.message.removeprefix("data.").replace("data ", "the whole ", 1)
        raise InputError(f"{what} does not hold what it should: {sanitize(said)}") from error


def canonical(value: Any) -> str:
    """JSON that does not depend on key order, on 1 or 1.0, on tuple or list. Raises `InputError` on other data.

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


def check_version(header: Any, what: str, advice: str) -> None:
    """Raise `InputError` if a header states another format than `FORMAT_VERSION`; `advice` says what to do.

    >>> check_version({"format_version": 1}, "old.npz", "sample it anew")
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: old.npz is of format 1, this version reads format 2: sample it anew
    """
    stated = header.get("format_version", FORMAT_VERSION) if isinstance(header, dict) else FORMAT_VERSION
    if stated != FORMAT_VERSION:
        told = sanitize(repr(stated), 40)
        raise InputError(f"{what} is of format {told}, this version reads format {FORMAT_VERSION}: {advice}")


@cache
def _checker(name: str) -> Callable[[Any], Any]:
    import fastjsonschema

    found: Callable[[Any], Any] = fastjsonschema.compile({"$schema": DRAFT, **SCHEMAS[name][1]}, use_default=False)
    return found


DRAFT = "http://json-schema.org/draft-07/schema#"


def published() -> dict[str, str]:
    """The files of docs/schemas: names and texts."""
    return {
        f"{name}.schema.json": json.dumps({"$schema": DRAFT, "title": name, "description": text, **schema}, indent=1)
        + "\n"
        for name, (text, schema) in SCHEMAS.items()
    }


if __name__ == "__main__":
    for file, text in published().items():
        write_text(Path(sys.argv[1]) / file, text)
