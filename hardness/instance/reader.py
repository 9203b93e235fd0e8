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
from hardness.io.fields import require_memory, whole
from hardness.io.files import regular
from hardness.io.texts import sanitize

Arrays = Mapping[str, NDArray[Any]]
MOST_HEADER = 1 << 20  # bytes of a header
BYTES = 64.0  # of memory for a coordinate of a layer that is made of few numbers


def instance(path: Path) -> tuple[dict[str, Any], Family, Secret, Teacher]:
    """Return the header, family, secret and teacher of an instance file.

    Older files hold the arrays of a gadget too, which have to be those that follow from the secret. Raises
    `InputError` on a missing, truncated, foreign or inconsistent file.
    """
    header, arrays = _contents(path)
    try:
        whole("seed", header["seed"], 0)  # 8.0 is an integer to JSON Schema, and none that seeds anything
        family = families.build(header["family"], header["parameters"])
        require_memory(BYTES * family.dim, "its layer")
        secret = {name[7:]: value for name, value in arrays.items() if name.startswith("secret.")}
        family.check(secret)
        teacher = family.realize(secret)
        for name in (name for name in arrays if name.startswith("gadget.")):
            made = np.asarray(getattr(teacher, name[7:], None), dtype=np.float64)
            if made.shape != arrays[name].shape or not np.allclose(made, arrays[name], rtol=1e-9, atol=1e-9):
                raise InputError(f"its {sanitize(name)} does not follow from its secret")
        return header, family, secret, teacher
    except InputError as error:
        raise InputError(f"{path} is not a whole instance: {error}; generate it anew") from error
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:  # of a plug-in
        raise InputError(f"{path} makes no layer: {sanitize(error)}; generate it anew") from error


def _contents(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Return the header, as its schema says, and the arrays: safetensors hold their sizes against that of the file."""
    from safetensors import SafetensorError, safe_open

    with regular(path).open("rb") as file:
        if int.from_bytes(file.read(8), "little") > MOST_HEADER:
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
    advice = "equal seeds give other secrets now; generate it anew, or use attention-hardness 0.1"
    schemas.check_version(header, str(path), advice)
    schemas.check("instance", header, str(path))
    return header, arrays
