"""Small damage to bytes and to JSON, as functions of a generator: the same seed does the same damage."""

import copy
import json
from typing import Any

import numpy as np

Rng = np.random.Generator

# What stands for texts that `json.dumps` cannot write: put in after it.
DEEP, DIGITS, LONE = "@deep@", "@digits@", "@lone@"
LATER = {DEEP: "[" * 100_000 + "]" * 100_000, DIGITS: "9" * 5000, LONE: '"\\ud800"'}
STRANGE: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 3, 10**30, -(2**63), 2.5, 5e-324, 1e308, float("nan"), float("inf"), "", "x", "1",
    "self", "=1+1", "\x1b[31mred", "\u202eabc", "a\nb", "x" * 100_000, [], {}, [1], {"self": 1}, [[1], [2, 3]], DEEP,
    DIGITS, LONE,
)  # fmt: skip
KEYS = ("self", "cls", "__class__", "", "dim", "seed", "x" * 1000, "\x1b[2J")


def pick(rng: Rng, choices: Any) -> Any:
    """One of `choices`, whatever their types."""
    return choices[int(rng.integers(len(choices)))]


def damaged(rng: Rng, data: bytes) -> bytes:
    """`data` cut, overwritten, repeated or emptied in places."""
    if not data:
        return b"x"
    raw = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(raw) or 1))
        span = int(min(len(raw), 2 ** rng.integers(0, 12)))
        match int(rng.integers(6)):
            case 0:
                raw = raw[:at]
            case 1:
                raw[at : at + 1] = bytes([int(rng.integers(256))])
            case 2:
                raw[at : at + span] = rng.bytes(span)
            case 3:
                raw[at : at + span] = bytes(span)
            case 4:
                raw[at:at] = raw[at : at + span]
            case _:
                del raw[at : at + span]
    return bytes(raw)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to everything inside a JSON value, itself first."""
    inner = value.items() if isinstance(value, dict) else enumerate(value[:4]) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


def changed(rng: Rng, value: Any) -> Any:
    """A JSON value with one or two of its parts lost, renamed, added or replaced by something strange."""
    value = copy.deepcopy(value)
    for _ in range(int(rng.integers(1, 3))):
        path = pick(rng, places(value))
        if not path:
            if rng.random() < 0.1:
                return pick(rng, STRANGE)
            continue
        parent = value
        for key in path[:-1]:
            parent = parent[key]
        match int(rng.integers(4)):
            case 0:
                del parent[path[-1]]
            case 1 if isinstance(parent, dict):
                parent[pick(rng, KEYS)] = pick(rng, STRANGE)
            case 2 if isinstance(parent, dict):
                parent[pick(rng, KEYS)] = parent.pop(path[-1])
            case _:
                parent[path[-1]] = pick(rng, STRANGE)
    return value


def text(value: Any) -> str:
    """JSON of `value`, strange parts included."""
    written = json.dumps(value)
    for placeholder, real in LATER.items():
        written = written.replace(json.dumps(placeholder), real)
    return written
