"""Output files that appear whole or not at all, and input files of bounded size."""

import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from stat import S_ISREG

from hardness.errors import InputError

INSTANCE = b"attention-hardness instance"  # what the header of every instance says
HEAD_BYTES = 1 << 16
TEXT_BYTES = 4 << 20  # bytes of a text that is read whole: as JSON it takes up to a hundred times that


@contextmanager
def replacing(path: Path, size: int = 0, force: bool = False) -> Iterator[Path]:
    """Yield a temporary name beside `path`; rename it to `path` on success, remove it on failure.

    Missing parent folders are made. An existing target that is not a regular file (a folder, a device) is
    refused and left alone, and unless `force` so is an instance: with it a drawn seed would be lost. A full disk, also
    one that a file of `size` bytes would fill, and whatever else the system refuses is an `InputError`.
    """
    temporary = _beside(path)  # named before it is made, so that a signal between the two leaves nothing
    try:
        refuse_other_than_file(path, force)
        path.parent.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(path.parent).free
        if size > free:
            taken = f"it takes {size / 1e9:.3g} GB and {free / 1e9:.3g} are free; ask less"
            raise InputError(f"cannot write {path}: {taken}")
        temporary.touch(exist_ok=False)
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}; name another --out") from error
    finally:
        with suppress(OSError):  # on a read-only medium there is nothing to remove
            temporary.unlink(missing_ok=True)


def refuse_other_than_file(path: Path, force: bool = False) -> None:
    """Raise `InputError` where `path` is a folder, a device or, without `force`, an instance.

    A command that computes for long asks this first.
    """
    if path.exists() and not path.is_file():
        raise InputError(f"cannot write {path}: it exists and is not a regular file; name another --out")
    if not force and is_instance(path):
        raise InputError(
            f"cannot write {path}: it is an instance, whose secret would be lost; name another --out"
        )


@contextmanager
def replacing_folder(path: Path, files: Collection[str], force: bool = False) -> Iterator[Path]:
    """Yield a temporary folder, and rename it to `path` on success, which may be absent or empty.

    With `force` one that holds these `files` and no others is replaced.
    """
    place = path.resolve()
    names = {entry.name for entry in place.iterdir()} if place.is_dir() else set()
    full = names == set(files)
    if full and not force:
        raise InputError(f"{path} exists; name another --out, or say --force to replace it")
    if (place.exists() and not place.is_dir()) or path.is_symlink() or (names and not full):
        kind = f"an empty folder, or one of {', '.join(files)} alone"
        raise InputError(f"cannot write {path}: it exists, and is not {kind}; name another --out")
    folder = _beside(place)
    try:
        folder.mkdir(parents=True)
        yield folder
        if place.exists():
            shutil.rmtree(place)
        folder.rename(place)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}; name another --out") from error
    except InputError as error:  # of a file in it: the temporary name tells a user nothing
        raise InputError(str(error).replace(str(folder), str(path))) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name[:40]}.{token_hex(4)}{path.suffix}")


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path`, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def is_instance(path: Path) -> bool:
    """Say whether a file begins as those of `hardness generate` do: with an instance in the header of safetensors."""
    try:
        with path.open("rb") as file:
            return INSTANCE in file.read(HEAD_BYTES)
    except OSError:
        return False


def regular(path: Path) -> Path:
    """Return `path`, of a file that can be read: nobody may ever write to a pipe, a device may have no end."""
    try:
        if not S_ISREG(path.stat().st_mode):
            raise InputError(f"cannot read {path}: it is a pipe, a device or a folder; name a regular file")
        path.open("rb").close()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    return path


def read_bounded(path: Path, longest: int = TEXT_BYTES) -> bytes:
    """Return the bytes of a small file. Raises `InputError` for one that is longer than `longest` bytes."""
    with regular(path).open("rb") as file:
        data = file.read(longest + 1)
    if len(data) > longest:
        raise InputError(f"{path} is longer than {longest >> 10} KiB; no file of this kind is")
    return data
