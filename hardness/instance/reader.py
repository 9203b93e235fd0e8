"""Instance files as they are read: untrusted, so schema first, then shapes, then values."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness import families
from hardness.errors import InputError
from hardness.families import Family, Secret, Teacher
from hardness.io import schemas
from hardness.io.fields import whole
from hardness.io.files import regular
from hardness.io.texts import sanitize

Arrays = Mapping[str, NDArray[Any]]
MOST_HEADER = 1 << 20  # bytes of a header


def instance(path: Path) -> tuple[dict[str, Any], Family, Secret, Teacher]:
    """The header, family, secret and teacher of an instance file.

    Raises `InputError` on a missing, truncated, foreign or inconsistent file. Nothing that the header names is made
    before the arrays of the file have the size that it asks for.
    """
    header, arrays = _contents(path)
    try:
        whole("seed", header["seed"], 0)  # 8.0 is an integer to JSON Schema, and none that seeds anything
        family = families.build(header["family"], header["parameters"])
        secret = {name[7:]: value for name, value in arrays.items() if name.startswith("secret.")}
        family.check(secret)
        return header, family, secret, _teacher(family, secret, arrays)
    except InputError as error:
        raise InputError(f"{path} is not a whole instance: {error}; generate it anew") from error


def _contents(path: Path) -> tuple[dict[str, Any], Arrays]:
    """The header, as its schema says, and the arrays: safetensors hold their sizes against that of the file."""
    from safetensors import SafetensorError, safe_open

    with regular(path).open("rb") as file:
        begin = file.read(8)
        if begin.startswith(b"PK"):
            raise InputError(
                f"{path} is an archive, as of examples, and no instance; give what `generate` wrote"
            )
        if int.from_bytes(begin, "little") > MOST_HEADER:
            raise InputError(f"{path} is no instance: its header is longer than {MOST_HEADER >> 20} MiB")
    try:
        with safe_open(path, framework="numpy") as file:
            text = (file.metadata() or {}).get("instance", "{}")
            names = file.keys()  # `file` itself is no mapping
            arrays: Arrays = {name: file.get_tensor(name) for name in names}
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or sanitize(error)}") from error
    except (SafetensorError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise InputError(
            f"{path} is not a whole instance file ({sanitize(error)}); generate it anew"
        ) from error
    header = schemas.parse(text, f"the header of {path}")
    if not isinstance(header, dict) or header.get("format") != "attention-hardness instance":
        raise InputError(f"{path} is not an instance file; generate one with `hardness generate`")
    schemas.check_version(
        header,
        str(path),
        "equal seeds give other secrets now; generate it anew, or use attention-hardness 0.1",
    )
    schemas.check("instance", header, str(path))
    return header, arrays


def _teacher(family: Family, secret: Secret, arrays: Arrays) -> Teacher:
    """The teacher that the secret makes; what the file says of its gadget must be the same, to the last digits."""
    try:
        teacher = family.realize(secret)
    except InputError:
        raise
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        # Of a plug-in without check
        raise InputError(f"its secret makes no {family.name} ({sanitize(error)})") from error
    for name, array in arrays.items():
        if name.startswith("gadget."):
            made = np.asarray(getattr(teacher, name.removeprefix("gadget."), None))
            if array.shape != made.shape or not np.allclose(array, made, rtol=1e-9, atol=1e-9):
                raise InputError(f"{sanitize(name)} is not what its secret makes")
    return teacher
