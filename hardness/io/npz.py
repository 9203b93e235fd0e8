"""Arrays of .npy files and .npz archives from others, read by numpy without pickle, and no larger than their file."""

import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.io.files import is_instance, regular
from hardness.io.texts import sanitize


def arrays(path: Path, kinds: Mapping[str, tuple[str, int]]) -> dict[str, NDArray[Any]]:
    """Return the arrays that `kinds` names, with their types ("<U" of any length) and numbers of axes, of an archive.

    Raises `InputError` on a file that is not there, or holds anything else under these names.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "a.npz", X=np.eye(2))
    ...     arrays(Path(folder) / "a.npz", {"X": ("<f8", 2)})["X"].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    found = {}
    with _opened(path) as archive:
        for name, (kind, axes) in kinds.items():
            with _member(archive, name) as (file, size):
                array = _array(file, f"{name}.npy", size)
            if not array.dtype.str.startswith(kind) or array.ndim != axes:
                raise InputError(
                    f"{name}.npy must be {kind} with {axes} axes, got {array.dtype.str} with {array.ndim}"
                )
            found[name] = array
    return found


def length(path: Path, name: str) -> int:
    """Return the first extent of an array by its header alone. Raises `InputError` as `arrays` does, and of a number.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "a.npz", X=np.eye(2))
    ...     length(Path(folder) / "a.npz", "X")
    2
    """
    with _opened(path) as archive, _member(archive, name) as (file, size):
        shape = _shape(file, f"{name}.npy", size)
        if not shape:
            raise InputError(f"{name}.npy holds a number, no array")
        return shape[0]


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive. Raises `InputError`, in one line, for whatever is wrong with it."""
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


@contextmanager
def _member(archive: zipfile.ZipFile, name: str) -> Iterator[tuple[IO[bytes], int]]:
    """Open an array of an archive, and say its bytes: no more than the archive has, whatever that claims."""
    info = archive.getinfo(f"{name}.npy")
    with archive.open(info) as file:
        yield file, min(info.file_size, Path(str(archive.filename)).stat().st_size)


def _array(file: IO[bytes], name: str, size: int) -> NDArray[Any]:
    _shape(file, name, size)  # numpy makes room for as much as a header says
    file.seek(0)
    return np.asarray(npy.read_array(file, allow_pickle=False))


def _shape(file: IO[bytes], name: str, size: int) -> tuple[int, ...]:
    """Return the shape that the header of an array of `size` bytes says, by numpy: only literals are evaluated."""
    try:
        read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        shape, _, dtype = read[npy.read_magic(file)](file)
    except Exception as error:  # whatever numpy's parser raises on what is no header
        raise InputError(f"{name} has no header of an array of numbers or text") from error
    if dtype.hasobject or min(shape, default=0) < 0 or file.tell() + dtype.itemsize * prod(shape) != size:
        raise InputError(f"{name} holds fewer or more entries than its shape {shape} says")
    return tuple(shape)
