"""What goes between the lab and a learner apart: a JSON header and raw arrays, never pickles, and never unbounded."""

import json
import socket
import time
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.io import schemas

HEADER = 1 << 20  # bytes of a header
KINDS = ("|i1", "<f8", "<i8")
CHUNK = 1 << 20


def send(pipe: socket.socket, header: Mapping[str, Any], *arrays: NDArray[Any], deadline: float | None = None) -> None:
    """One message. Raises `TimeoutError` beyond the deadline, a `time.monotonic()`; `OSError` if nobody hears it."""
    listed = [[array.dtype.str, array.shape] for array in arrays]
    head = json.dumps({**header, "arrays": listed}).encode()
    if len(head) > HEADER:
        raise ValueError(f"a header of {len(head)} bytes")
    parts: list[Any] = [len(head).to_bytes(8, "little") + head]
    parts += [np.ascontiguousarray(array).data.cast("B") for array in arrays if array.size]
    for part in parts:
        view = memoryview(part)
        while view:
            _until(pipe, deadline)
            view = view[pipe.send(view[:CHUNK]) :]


def receive(
    pipe: socket.socket, deadline: float | None = None, most: int | None = None
) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """The next message, of at most `most` bytes of arrays. Nothing is allocated that is larger.

    Raises `TimeoutError` beyond the deadline, `EOFError` when the other end is gone, `ValueError` for what is none.
    """
    length = int.from_bytes(_exactly(pipe, 8, deadline), "little")
    if length > HEADER:
        raise ValueError(f"a header of {length} bytes")
    header = schemas.parse(bytes(_exactly(pipe, length, deadline)), "the header")
    listed = header.pop("arrays", None) if isinstance(header, dict) else None
    if not isinstance(listed, list) or len(listed) > 4:
        raise ValueError("a header that lists no arrays")
    shapes = [_shape(each) for each in listed]
    if most is not None and sum(np.dtype(kind).itemsize * prod(shape) for kind, shape in shapes) > most:
        raise ValueError(f"arrays of shapes {[shape for _, shape in shapes]}")
    found = []
    for kind, shape in shapes:
        data = _exactly(pipe, np.dtype(kind).itemsize * prod(shape), deadline)
        found.append(np.frombuffer(data, dtype=kind).reshape(shape))
    return header, found


def _shape(listed: Any) -> tuple[str, tuple[int, ...]]:
    if not (isinstance(listed, list) and len(listed) == 2 and listed[0] in KINDS and isinstance(listed[1], list)):
        raise ValueError("a header that lists no arrays")
    if len(listed[1]) > 4 or not all(type(n) is int and 0 <= n < 2**40 for n in listed[1]):
        raise ValueError("an array of no shape")
    return listed[0], tuple(listed[1])


def _until(pipe: socket.socket, deadline: float | None) -> None:
    left = None if deadline is None else deadline - time.monotonic()
    if left is not None and left <= 0:
        raise TimeoutError
    pipe.settimeout(left)


def _exactly(pipe: socket.socket, count: int, deadline: float | None) -> bytearray:
    data = bytearray(count)
    view, got = memoryview(data), 0
    while got < count:
        _until(pipe, deadline)
        part = pipe.recv_into(view[got:])
        if not part:
            raise EOFError
        got += part
    return data
