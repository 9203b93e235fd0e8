"""Small damage to bytes and to the parts that a file is made of: JSON values and arrays."""

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, from_dtype, scalar_dtypes

Draw = Callable[[st.SearchStrategy[Any]], Any]

# What stands for texts that `json.dumps` cannot write: put in after it.
DEEP, DIGITS, LONE = "@deep@", "@digits@", "@lone@"
LATER = {DEEP: "[" * 100_000 + "]" * 100_000, DIGITS: "9" * 5000, LONE: '"\\ud800"'}
STRANGE: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 3, 10**30, -(2**63), 2.5, 5e-324, 1e308, float("nan"), float("inf"), "", "x", "1",
    "self", "=1+1", "\x1b[31mred", "\u202eabc", "a\nb", "x" * 100_000, [], {}, [1], {"self": 1}, [[1], [2, 3]], DEEP,
    DIGITS, LONE,
)  # fmt: skip
KEYS = ("self", "cls", "__class__", "", "dim", "seed", "x" * 1000, "\x1b[2J")


def pick(draw: Draw, choices: Sequence[Any]) -> Any:
    return choices[draw(st.integers(0, len(choices) - 1))]


def damaged(draw: Draw, data: bytes) -> bytes:
    """`data` cut, overwritten, repeated or emptied in places."""
    raw = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        at, span = draw(st.integers(0, len(raw))), 2 ** draw(st.integers(0, 11))
        part = raw[at : at + span]
        if pick(draw, (True, True, True, True, False)):
            raw[at : at + span] = pick(
                draw, (b"", bytes(len(part)), part + part, draw(st.binary(min_size=1, max_size=span)))
            )
        else:
            del raw[at:]
    return bytes(raw)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to everything inside a JSON value, itself first."""
    inner = value.items() if isinstance(value, dict) else enumerate(value[:4]) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


def changed(draw: Draw, value: Any) -> Any:
    """A JSON value with one or two of its parts lost, renamed, added or replaced by something strange."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 2))):
        *path, last = pick(draw, places(value)[1:] or [(None,)])
        parent = value
        for key in path:
            parent = parent[key]
        if not parent or last is None:
            return pick(draw, STRANGE)
        old = parent.pop(last)
        strange = pick(draw, STRANGE)
        if isinstance(parent, list):
            parent.insert(last, strange)
        else:
            parent |= pick(draw, ({}, {last: old, pick(draw, KEYS): strange}, {pick(draw, KEYS): old}, {last: strange}))
    return value


def text(value: Any) -> str:
    """JSON of `value`, strange parts included."""
    written = json.dumps(value)
    for placeholder, real in LATER.items():
        written = written.replace(json.dumps(placeholder), real)
    return written


def strange_array(draw: Draw, array: Any) -> Any:
    """The array as another type, in another shape, with one of its values changed; or any other array."""
    flat = np.array(array)
    kind = draw(scalar_dtypes())
    whatever = draw(arrays(kind, draw(array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))))
    spoilt = np.full(flat.shape, draw(from_dtype(np.dtype(pick(draw, ("f8", "i8"))))))
    others = (flat[:0], flat[None], np.concatenate([flat, flat]) if flat.ndim else flat, spoilt, whatever)
    with np.errstate(all="ignore"):
        return pick(draw, (*others, flat.astype(pick(draw, ("f4", "i1", "u8", "?", "i4", "f8")))))


def with_damage(draw: Draw, parts: dict[str, Any]) -> dict[str, Any]:
    """The parts of a file, one of them strange, lost or under another name; arrays and JSON values alike."""
    name = pick(draw, sorted(parts))
    other = (strange_array if isinstance(parts[name], np.ndarray) else changed)(draw, parts[name])
    rest = {key: value for key, value in parts.items() if key != name}
    return pick(draw, (rest | {name: other},) * 6 + (rest, rest | {f"../{name}": other}))
