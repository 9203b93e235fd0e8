"""Arrays of an uncompressed .npz file, read as untrusted: nothing is evaluated, and no member is larger than it is.

`numpy.load` takes compressed members of any size; the lab's files need none.
"""

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.io.files import regular
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
    info = archive.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1 or info.file_size != info.compress_size:
        raise InputError(f"{name} is compressed or encrypted")
    try:
        with archive.open(info) as file:
            array = np.lib.format.read_array(file, allow_pickle=False, max_header_size=HEADER_BYTES)
    except Exception as error:  # whatever numpy raises on what is no array, or one that no machine holds
        raise InputError(f"{name} is no array of numbers or text ({sanitize(error)})") from error
    fits = array.dtype.kind == "U" if kind == "<U" else array.dtype.str == kind
    if not fits or array.ndim != axes:
        raise InputError(f"{name} must be {kind} with {axes} axes, got {array.dtype.str} with {array.ndim}")
    return np.asarray(array)
