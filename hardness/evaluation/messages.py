"""What a worker process and its parent say to each other: JSON headers and arrays, without pickle."""

import json
from collections.abc import Mapping
from io import BufferedReader
from math import inf, prod
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HEADER_BYTES = 1 << 20


def send(stream: IO[bytes], header: Mapping[str, Any], *arrays: "NDArray[Any]") -> None:
    """One message: a line of JSON that lists types and shapes, then the arrays' own bytes."""
    listed = [[array.dtype.str, array.shape] for array in arrays]
    line = json.dumps({**header, "arrays": listed}, allow_nan=False).encode() + b"\n"
    if len(line) > HEADER_BYTES:
        raise ValueError(f"a header of {len(line)} bytes; the most is {HEADER_BYTES}")
    stream.write(line)
    for array in arrays:
        stream.write(array.tobytes())
    stream.flush()


def receive(stream: BufferedReader, allowed: float = inf) -> tuple[dict[str, Any], "list[NDArray[Any]]"]:
    """The next message. Raises `EOFError` when the other end is gone, `ValueError` for what is no message of `send`,
    or one whose arrays have more than `allowed` bytes: before any memory is asked for.
    """
    import numpy as np

    line = stream.readline(HEADER_BYTES + 1)
    if not line.endswith(b"\n"):
        raise EOFError
    try:
        header = json.loads(line)
        kinds = [_kind(*listed) for listed in header.pop("arrays")]
    except (AttributeError, LookupError, TypeError, RecursionError) as error:
        raise ValueError("no message") from error
    if sum(dtype.itemsize * prod(shape) for dtype, shape in kinds) > allowed:
        raise ValueError(f"arrays of more than {allowed} bytes")
    arrays = []
    for dtype, shape in kinds:
        data = bytearray(dtype.itemsize * prod(shape))
        if stream.readinto(data) < len(data):
            raise EOFError
        arrays.append(np.frombuffer(data, dtype).reshape(shape))
    return header, arrays


def _kind(name: str, shape: list[int]) -> "tuple[np.dtype[Any], list[int]]":
    import numpy as np

    if not all(type(length) is int and length >= 0 for length in shape):
        raise ValueError("lengths that are none")
    dtype = np.dtype(name)
    if dtype.kind not in "biuf":
        raise ValueError(f"arrays of {dtype}")
    return dtype, shape
