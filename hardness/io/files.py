"""Output files that appear whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISREG

from hardness.errors import InputError


@contextmanager
def replacing(path: Path, size: int = 0) -> Iterator[Path]:
    """Yield a temporary name beside `path`; rename it to `path` on success, remove it on failure.

    Missing parent folders are made. An existing target that is not a regular file (a folder, a device) is
    refused and left alone. A full disk, also one that a file of `size` bytes would fill, and whatever else the system
    refuses is an `InputError`.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder) / "a" / "b.txt") as temporary:
    ...         _ = temporary.write_text("whole")
    ...     (Path(folder) / "a" / "b.txt").read_text()
    'whole'
    """
    temporary = None
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"cannot write {path}: it exists and is not a regular file; name another --out")
        path.parent.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(path.parent).free
        if size > free:
            raise InputError(
                f"cannot write {path}: it takes {size / 1e9:.3g} GB and {free / 1e9:.3g} are free; ask less"
            )
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=path.suffix, dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        yield temporary
        mask = os.umask(0)  # the only portable way to read it is to set it
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}; name another --out") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path`, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


TEXT_BYTES = 64 << 20  # bytes of a text that is read whole


def regular(path: Path) -> Path:
    """`path` itself, of a file that can be read. Raises `InputError` for what is none: nobody may ever write to a pipe,
    a device may have no end.

    >>> regular(Path("/dev/zero"))
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: cannot read /dev/zero: it is a pipe, a device or a folder; name a regular file
    """
    try:
        if not S_ISREG(path.stat().st_mode):
            raise InputError(f"cannot read {path}: it is a pipe, a device or a folder; name a regular file")
        path.open("rb").close()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    return path


def read_bounded(path: Path, longest: int = TEXT_BYTES) -> bytes:
    """The bytes of a small file. Raises `InputError` if it cannot be read, or is longer than `longest` bytes."""
    try:
        with regular(path).open("rb") as file:
            data = file.read(longest + 1)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    if len(data) > longest:
        raise InputError(f"{path} is longer than {longest >> 10} KiB; no file of this kind is")
    return data
