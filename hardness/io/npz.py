"""Arrays of an uncompressed .npz file, read as untrusted: nothing is evaluated, and sizes come before memory.

`numpy.load` takes compressed members of any size; the lab's files need none.
"""

import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.io.files import is_instance, regular
from hardness.io.texts import sanitize

HEADER_BYTES = 10_000  # bytes of a header


def arrays(path: Path, kinds: Mapping[str, tuple[str, int]]) -> dict[str, NDArray[Any]]:
    """The arrays `kinds` names, with the type ("<U" of any length) and the number of axes it says.

    Raises `InputError` on a file that is not there, or is anything but an archive of such members.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "a.npz", X=np.eye(2))
    ...     arrays(Path(folder) / "a.npz", {"X": ("<f8", 2)})["X"].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    with _opened(path) as archive:
        return {name: _member(archive, f"{name}.npy", *kind) for name, kind in kinds.items()}


def length(path: Path, name: str) -> int:
    """The first extent of an array, by its header alone. Raises `InputError` as `arrays` does, and of a number.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "a.npz", X=np.eye(2))
    ...     length(Path(folder) / "a.npz", "X")
    2
    """
    with _opened(path) as archive, archive.open(f"{name}.npy") as file:
        shape = _header(file, f"{name}.npy")[0]
        if not shape:
            raise InputError(f"{name}.npy holds a number, no array")
        return shape[0]


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """An archive, what is wrong with which is said in one line. Raises `InputError`."""
    regular(path)
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except InputError as error:
        raise InputError(f"{path} is not as the lab writes it: {error}; make it anew") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or 'not an archive'}") from error
    # What zipfile says of damaged, encrypted and foreign archives.
    except (ValueError, LookupError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        if is_instance(path):
            raise InputError(
                f"{path} is an instance, and examples are needed: `hardness sample {path} --count N --out E.npz`"
            ) from error
        raise InputError(
            f"{path} is not an .npz archive of the lab ({sanitize(error)}); make it anew"
        ) from error


def integers(path: Path, longest: int) -> NDArray[np.int64]:
    """The integers of an .npy file of at most `longest` bytes. Raises `InputError` on any other file."""
    if regular(path).stat().st_size > longest:
        raise InputError(f"{path} is longer than {longest >> 20} MiB")
    with path.open("rb") as file:
        shape, fortran, dtype = _header(file, path.name)
        if dtype.kind not in "iu":
            raise InputError(f"{path.name} must hold integers, got {dtype.str}")
        if min(shape, default=0) < 0 or file.tell() + dtype.itemsize * prod(shape) != path.stat().st_size:
            raise InputError(f"{path.name} holds fewer or more entries than its shape {shape} says")
        return (
            np.frombuffer(file.read(), dtype).reshape(shape, order="F" if fortran else "C").astype(np.int64)
        )


def _member(archive: zipfile.ZipFile, name: str, kind: str, axes: int) -> NDArray[Any]:
    info = archive.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1 or info.file_size != info.compress_size:
        raise InputError(f"{name} is compressed or encrypted")
    with archive.open(info) as file:
        shape, fortran, dtype = _header(file, name)
        fits = dtype.kind == "U" if kind == "<U" else dtype.str == kind
        if not fits or len(shape) != axes:
            raise InputError(f"{name} must be {kind} with {axes} axes, got {dtype.str} with {len(shape)}")
        # The archive may claim any size
        held = min(info.file_size, Path(str(archive.filename)).stat().st_size)
        if min(shape, default=0) < 0 or file.tell() + dtype.itemsize * prod(shape) != held:
            raise InputError(f"{name} holds fewer or more entries than its shape {shape} says")
        return np.frombuffer(file.read(), dtype).reshape(shape, order="F" if fortran else "C")


def _header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type, read by numpy: nothing but literals is evaluated."""
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    try:
        return read[np.lib.format.read_magic(file)](file, max_header_size=HEADER_BYTES)
    except Exception as error:  # whatever numpy's parser raises on what is no header
        raise InputError(f"{name} has no header of an array of numbers or text") from error
