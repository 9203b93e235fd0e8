"""Small damage to bytes, to JSON and to arrays."""

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

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
        replaced = pick(draw, ("all", b"", bytes(len(part)), part + part, draw(st.binary(min_size=1, max_size=span))))
        raw[at : None if replaced == "all" else at + span] = b"" if replaced == "all" else replaced
    return bytes(raw)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to everything inside a JSON value, itself first."""
    inner = value.items() if isinstance(value, dict) else enumerate(value[:4]) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


def changed(draw: Draw, value: Any) -> Any:
    """A JSON value with one or two of its parts lost, renamed, added or replaced by something strange."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 2))):
        path = pick(draw, places(value))
        if not path:
            continue
        parent = value
        for key in path[:-1]:
            parent = parent[key]
        kind = draw(st.integers(0, 3)) if isinstance(parent, dict) else draw(st.sampled_from((0, 3)))
        old = parent.pop(path[-1])
        match kind:
            case 1:
                parent |= {path[-1]: old, pick(draw, KEYS): pick(draw, STRANGE)}
            case 2:
                parent[pick(draw, KEYS)] = old
            case 3 if isinstance(parent, dict):
                parent[path[-1]] = pick(draw, STRANGE)
            case 3:
                parent.insert(path[-1], pick(draw, STRANGE))
    return value


def text(value: Any) -> str:
    """JSON of `value`, strange parts included."""
    written = json.dumps(value)
    for placeholder, real in LATER.items():
        written = written.replace(json.dumps(placeholder), real)
    return written


def strange_arrays(draw: Draw, name: str, array: Any) -> dict[str, Any]:
    """Other arrays under the name: of another type, shape or value; or under another name."""
    flat = np.asarray(array)
    whole, real = pick(draw, (2**62, -1, 0, 10**9, 127)), pick(draw, (np.nan, np.inf, 1e308, 5e-324, -0.0))
    return pick(
        draw,
        (
            *({name: flat.astype(kind)} for kind in ("f4", "i1", "u8", "?", "f8", "i4")),
            *(
                {name: other}
                for other in (flat[:0], np.concatenate([flat, flat]), flat[None], np.zeros((), flat.dtype))
            ),
            {name: np.full(flat.shape, whole, dtype="i8")},
            {name: np.full(flat.shape, real, dtype="f8")},
            {"secret.self": flat, f"{name}.x": flat},
            {name: np.ones((5, 3, 2))},
        ),
    )
