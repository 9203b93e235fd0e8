"""Output files that appear whole or not at all."""

import glob
import os
import shutil
import socket
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from stat import S_ISREG

from hardness.errors import InputError

INSTANCE = b"attention-hardness instance"  # what the header of every instance says
HEAD_BYTES = 1 << 16
# Temporary files and folders of this process: a signal that ends it at once removes them
unfinished: set[Path] = set()


@contextmanager
def replacing(path: Path, size: int = 0, force: bool = False) -> Iterator[Path]:
    """Yield a temporary name beside `path`; rename it to `path` on success, remove it on failure.

    Missing parent folders are made. An existing target that is not a regular file (a folder, a device) is
    refused and left alone, and unless `force` so is an instance: with it a drawn seed would be lost. A full disk, also
    one that a file of `size` bytes would fill, and whatever else the system refuses is an `InputError`.

    >>> import tempfile
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
        if not force and is_instance(path):
            raise InputError(
                f"cannot write {path}: it is an instance, whose secret would be lost; name another --out"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(path.parent).free
        if size > free:
            raise InputError(
                f"cannot write {path}: it takes {size / 1e9:.3g} GB and {free / 1e9:.3g} are free; ask less"
            )
        temporary = _beside(path)  # named before it is made, so that a signal between the two leaves nothing
        unfinished.add(temporary)
        temporary.touch(mode=0o600, exist_ok=False)
        yield temporary
        mask = os.umask(0)  # the only portable way to read it is to set it
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}; name another --out") from error
    finally:
        if temporary is not None:
            with suppress(OSError):  # on a read-only medium there is nothing to remove
                temporary.unlink(missing_ok=True)
            unfinished.discard(temporary)


@contextmanager
def replacing_folder(path: Path, files: Collection[str] = ()) -> Iterator[Path]:
    """The same of a folder. An existing one is replaced only if it is empty or holds these `files` and no others."""
    folder = None
    try:
        place = _replaceable(path, files)
        place.parent.mkdir(parents=True, exist_ok=True)
        folder = _beside(place)
        unfinished.add(folder)
        folder.mkdir(mode=0o700)
        fresh, old = folder / "fresh", folder / "old"
        fresh.mkdir()
        yield fresh
        if place.exists():
            place.rename(old)
        try:
            fresh.rename(place)
        except OSError:
            old.rename(place)
            raise
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}; name another --out") from error
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
            unfinished.discard(folder)


def remove_unfinished() -> None:
    """Remove what this process is writing. For an end at once, in which no `finally` runs any more."""
    for path in list(unfinished):
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def _replaceable(path: Path, files: Collection[str]) -> Path:
    """The absolute path of a folder that may be replaced. Raises `InputError` if it holds anything else."""
    if path.is_symlink():
        raise InputError(f"cannot write {path}: it is a symbolic link; name a folder itself")
    if path.exists() and not path.is_dir():
        raise InputError(f"cannot write {path}: it exists and is no folder; name another --out")
    if Path.cwd().is_relative_to(path.resolve()):
        raise InputError(f"cannot replace {path}: it is the folder that you are in; name it from outside")
    names = sorted(entry.name for entry in path.iterdir()) if path.exists() else []
    if names and not files:
        raise InputError(f"cannot write {path}: it exists; name another --out")
    if others := [name for name in names if name not in files or not (path / name).is_file()]:
        raise InputError(
            f"cannot replace {path}: it holds {others[0]}, which is none of its files; name another --out"
        )
    if names and set(names) != set(files):
        raise InputError(
            f"cannot replace {path}: it exists without all of {', '.join(files)}; name another --out"
        )
    return path.resolve()


def _beside(path: Path) -> Path:
    """A temporary name beside `path`, of this machine and process. What killed processes left of such is removed."""
    begin = f".{path.name[:40]}.{zlib.crc32(socket.gethostname().encode()):08x}-"
    for left in path.parent.glob(f"{glob.escape(begin)}*"):
        process = left.name.removeprefix(begin).partition("-")[0]
        if process.isdecimal() and not _runs(int(process)):
            shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(missing_ok=True)
    return path.with_name(f"{begin}{os.getpid()}-{token_hex(4)}{path.suffix}")


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def is_instance(path: Path) -> bool:
    """Whether a file begins as those of `hardness generate` do: safetensors with an instance in their header."""
    try:
        with path.open("rb") as file:
            return INSTANCE in file.read(HEAD_BYTES)
    except OSError:
        return False


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path`, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


TEXT_BYTES = 4 << 20  # bytes of a text that is read whole: as JSON it takes up to a hundred times that


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
