"""Instance files as they are read: untrusted, so schema first, then shapes, then values."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness import families
from hardness.errors import InputError
from hardness.families import Family, Secret, Teacher
from hardness.gadgets.coefficients import Gadget, level_range
from hardness.gadgets.sharp import Sharp
from hardness.io import schemas
from hardness.io.fields import whole
from hardness.io.files import regular
from hardness.io.texts import sanitize

Arrays = Mapping[str, NDArray[Any]]
GADGET = {"weights": "<i8", "thresholds": "<f8", "coefficients": "<f8", "values": "<f8"}
MOST_HEADER = 1 << 20  # bytes of a header
MOST_LEVEL = 2**53  # sums of weights stay exact in 64-bit integers and floats


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
        return header, family, secret, _teacher(family, secret, header["gadget"], arrays)
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


def _teacher(family: Family, secret: Secret, scalars: Mapping[str, Any] | None, arrays: Arrays) -> Teacher:
    if scalars is not None:
        return family.from_gadget(_gadget(family, scalars, arrays), secret)
    try:
        teacher = family.realize(secret)
    except InputError:
        raise
    except (
        LookupError,
        TypeError,
        ValueError,
        ArithmeticError,
        AttributeError,
    ) as error:  # of a plug-in without check
        raise InputError(f"its secret makes no {family.name} ({sanitize(error)})") from error
    if isinstance(teacher, Gadget):
        raise InputError(f"a {family.name} instance states its gadget")
    return teacher


def _gadget(family: Family, scalars: Mapping[str, Any], arrays: Arrays) -> Gadget:
    several = scalars["kind"] in ("sharp", "wide")
    kinds = {**GADGET, "betas": "<f8"} if several else GADGET
    parts = {name: arrays.get(f"gadget.{name}") for name in kinds}
    thresholds = parts["thresholds"]
    heads = 0 if thresholds is None else thresholds.size
    sizes = {
        "weights": family.dim,
        "thresholds": heads,
        "coefficients": heads,
        "values": heads + 1,
        "betas": heads,
    }
    expected, bits = family.gadget_size()
    if several:
        sizes["values"] = bits + 1
    if family.tokens != 2 or heads < 1 or expected not in (None, heads):
        raise InputError(f"{heads} heads do not fit the family {family.name}")
    for name, kind in kinds.items():
        array = parts[name]
        if (
            array is None
            or array.dtype.str != kind
            or array.shape != (sizes[name],)
            or not np.isfinite(array).all()
        ):
            raise InputError(f"gadget.{name} must hold {sizes[name]} finite numbers of type {kind}")
    # A number of JSON may be an integer; `schemas.parse` lets none pass that no float holds.
    stated: dict[str, Any] = {
        **parts,
        **{name: x if name == "kind" else float(x) for name, x in scalars.items()},
    }
    gadget = Sharp(**stated) if several else Gadget(**stated)
    weights = [abs(int(w)) for w in gadget.weights]
    if weights[0] or sum(weights) >= MOST_LEVEL:
        raise InputError("the gadget's numbers are out of range")
    if not (np.diff(gadget.thresholds) >= 0 if several else np.diff(gadget.thresholds) > 0).all():
        raise InputError("the gadget's thresholds must ascend")
    if isinstance(gadget, Sharp) and level_range(gadget.kind, gadget.weights.tolist()) != (
        0,
        len(gadget.values) - 1,
    ):
        raise InputError("the gadget's weights must be 0 or 1, as many 1s as it has bits")
    return gadget
