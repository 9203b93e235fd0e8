"""Output files that appear whole or not at all, and input files of bounded size."""

import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from hardness.errors import InputError

TEXT_BYTES = 4 << 20  # bytes of a text that is read whole: as JSON it takes up to a hundred times that


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of an empty temporary file beside `path`; rename it to `path` on success, remove it on failure.

    Missing parent folders are made. Raises `InputError` if `path` is a folder or device, or the system refuses.
    """
    temporary = _beside(path)  # named before it is made, so that a signal between the two leaves nothing
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"cannot write {path}: it exists and is not a regular file; name another --out")
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.touch(exist_ok=False)
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}; name another --out") from error
    finally:
        with suppress(OSError):  # on a read-only medium there is nothing to remove
            temporary.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path, files: Collection[str], force: bool = False) -> Iterator[Path]:
    """Yield a temporary folder, and rename it to `path` on success; remove it on failure.

    Raises `InputError` unless `path` is free or an empty folder; with `force` it may hold files of the names `files`.
    """
    path = path.resolve()
    names = {entry.name for entry in path.iterdir()} if path.is_dir() else set()
    if (path.exists() and not path.is_dir()) or names - {*files} or (names and not force):
        raise InputError(f"{path} exists; name another --out, or say --force if it holds a challenge alone")
    folder = _beside(path)
    try:
        folder.mkdir(parents=True)
        yield folder
        for name in names:
            (path / name).unlink()
        folder.rename(path)  # an empty folder gives way
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}; name another --out") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name[:40]}.{token_hex(4)}{path.suffix}")


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path`, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def regular(path: Path) -> Path:
    """Return `path`, or raise `InputError` unless it is a regular file: reading a pipe or device might never end."""
    if not path.is_file():
        reason = "it is a folder" if path.is_dir() else "there is no such file"
        raise InputError(f"cannot read {path}: {reason}")
    return path


def read_bounded(path: Path, longest: int = TEXT_BYTES) -> bytes:
    """Return the bytes of a file. Raises `InputError` for one that is longer than `longest` bytes, or not regular."""
    with regular(path).open("rb") as file:
        data = file.read(longest + 1)
    if len(data) > longest:
        raise InputError(f"{path} is longer than {longest >> 10} KiB; no file of this kind is")
    return data
