"""Arrays of an uncompressed .npz file, read as untrusted: nothing is evaluated, and sizes come before memory.

`numpy.load` takes compressed members of any size, and evaluates headers; the lab's files need neither.
"""

import re
import zipfile
import zlib
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.io.files import regular
from hardness.io.texts import sanitize

HEADER = re.compile(
    rb"\{'descr': '([<|>=][a-zA-Z]\d{1,9})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,18}, ?)*\d{0,18})\), ?\} *\n"
)
HEADER_BYTES = 1 << 16  # bytes of a header


def arrays(path: Path, kinds: Mapping[str, tuple[str, int]]) -> dict[str, NDArray[Any]]:
    """The arrays `kinds` names, with the type ("<U" of any length) and the number of axes it says.

    Raises `InputError` on a file that is not there, or is anything but an archive of such members.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "a.npz", X=np.eye(2))
    ...     arrays(Path(folder) / "a.npz", {"X": ("<f8", 2)})["X"].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    regular(path)
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: _member(archive, f"{name}.npy", *kind) for name, kind in kinds.items()}
    except InputError as error:
        raise InputError(f"{path} is not as the lab writes it: {error}; make it anew") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or 'not an archive'}") from error
    # What zipfile says of damaged, encrypted and foreign archives.
    except (ValueError, LookupError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{path} is not an .npz archive of the lab ({sanitize(error)}); make it anew") from error


def _member(archive: zipfile.ZipFile, name: str, kind: str, axes: int) -> NDArray[Any]:
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise InputError(f"it holds no {name}") from None
    if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1 or info.file_size != info.compress_size:
        raise InputError(f"{name} is compressed or encrypted")
    if info.file_size > Path(str(archive.filename)).stat().st_size:
        raise InputError(f"{name} is said to be larger than the file")
    with archive.open(info) as file:
        dtype, shape, fortran, start = _header(file, name)
        fits = dtype.kind == "U" if kind == "<U" else dtype.str == kind
        if not fits or len(shape) != axes:
            raise InputError(f"{name} must be {kind} with {axes} axes, got {dtype.str} with {len(shape)}")
        if start + dtype.itemsize * prod(shape) != info.file_size:
            raise InputError(f"{name} holds fewer or more entries than its shape {shape} says")
        data = np.frombuffer(file.read(), dtype)
    return data.reshape(shape, order="F" if fortran else "C")


def _header(file: IO[bytes], name: str) -> tuple[np.dtype[Any], tuple[int, ...], bool, int]:
    """Type, shape, order, and where the data begins."""
    magic = file.read(8)
    wide = 2 if magic[6:7] == b"\x01" else 4
    length = int.from_bytes(file.read(wide), "little")
    text = file.read(length) if length <= HEADER_BYTES else b""
    found = HEADER.fullmatch(text)
    if magic[:6] != b"\x93NUMPY" or magic[6:] not in (b"\x01\x00", b"\x02\x00", b"\x03\x00") or not found:
        raise InputError(f"{name} has no header of an array of numbers or text")
    kind, fortran, extent = found.groups()
    try:
        dtype = np.dtype(kind.decode())
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} has no type of numpy") from error
    if dtype.kind not in "biufU" or not dtype.itemsize:
        raise InputError(f"{name} must hold numbers or text, got {dtype.str}")
    return dtype, tuple(int(part) for part in extent.split(b",") if part.strip()), fortran == b"True", 8 + wide + length
