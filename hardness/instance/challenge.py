"""Challenges: public examples and a commitment to the secret, and the judge who needs nothing else.

A challenge is a folder. ``challenge.json`` holds the public parameters, licence, format version, salt and commitments;
``examples.npz`` the examples; ``heldout.npz`` inputs X (H, 2, d) without labels. A commitment is
SHA-256(salt ‖ digest of everything else in the folder ‖ canonical answer), salt 256 fresh bits, so a right answer also
proves that parameters and examples are the ones its author committed to.
"""

import hashlib
import json
import secrets
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError, sanitize
from hardness.examples import arrays, write
from hardness.gadgets.coefficients import Gadget, informative
from hardness.instance import Instance
from hardness.io import schemas
from hardness.io.fields import whole
from hardness.io.files import read_bounded, replacing_folder, write_text
from hardness.io.rounding import at_least_power
from hardness.io.schemas import FORMAT_VERSION
from hardness.tokens import Signs, TokenStream, pack, unpack

FORMAT = "attention-hardness challenge"
LICENCE = "CC0-1.0"
HELD_OUT = 256
COMMITTED = ("parity", "rounding")  # families whose secrets have a canonical spelling
LEAST_BITS = 60  # of a secret: the salt is public, so commitments can be tried offline, billions a second
FILES = ("examples.npz", "heldout.npz")
FILES_OF_CHALLENGE = ("challenge.json", *FILES)


@dataclass(frozen=True)
class Verdict:
    """Hold the verdict on an answer: whether it is right (`ok`), its `kind` (secret, predictions, none), and why."""

    ok: bool
    kind: str
    reason: str


def publish(
    instance: Instance, count: int, out: Path, toy: bool = False, force: bool = False
) -> dict[str, Any]:
    """Write the challenge of `instance` with `count` public examples to the new folder `out`, and return its header.

    Raises `InputError` for a family without a discrete secret, and if `out` is not empty; with `force` a folder that
    holds only a challenge is replaced. Unless `toy`, it is also raised if the seed was given by hand or there are fewer
    than 2^60 possible secrets, as anybody could then guess the seed or try all secrets.
    """
    whole("count", count, 1)
    family = instance.family
    log2_secrets(instance)  # of a family without any that is said first
    if not toy:
        refuse_guessable(instance)
    # Only inputs with z_0 != 0 say anything about the secret.
    X = unpack(TokenStream(secrets.randbits(128), 2, family.dim).packed(0, 4 * HELD_OUT), family.dim)
    X = X[informative(X)][:HELD_OUT]
    assert isinstance(instance.teacher, Gadget)
    # Noiseless labels: what a right predictor says, whatever the label noise of the examples.
    labels = instance.teacher.labels(pack(X))[:, 0, 0]
    answer = {name: value.tolist() for name, value in instance.secret.items()}
    sampling_seed = secrets.randbits(128)
    public = instance.public(sampling_seed)
    shape = (count, family.tokens, family.dim)
    with replacing_folder(out, FILES_OF_CHALLENGE, force) as folder:
        write(folder / "examples.npz", shape, lambda: instance.chunks(count, sampling_seed), public)
        np.savez(folder / "heldout.npz", X=X)
        header: dict[str, Any] = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "package_version": version("attention-hardness"),
            "licence": LICENCE,
            "toy": toy,
            "hypothesis": family.hypothesis,
            "count": count,
            "public": public,
            "answers": {
                "secret": " or ".join(f'{{"{name}": [..]}}' for name in answer),
                "predictions": f'{{"predictions": [..]}}: row 0, column 0 on the {len(X)} inputs of heldout.npz',
            },
            "sha256": {name: digest_of(folder / name) for name in FILES},
            "salt": secrets.token_hex(32),
        }
        header["commitment"] = _commit(header, _canonical_secret(public, answer))
        header["heldout_commitment"] = _commit(header, _canonical_levels(public, X, labels))
        header["header_sha256"] = digest(header)
        write_text(folder / "challenge.json", json.dumps(header, indent=1, sort_keys=True) + "\n")
    return header


def refuse_guessable(instance: Instance) -> None:
    """Raise `InputError` if the seed was given by hand, or the possible secrets are few enough to try them all."""
    if not instance.seed_drawn:
        raise InputError(
            "the instance's seed was given by hand and may be guessed; generate without --seed, or say --toy"
        )
    if (bits := log2_secrets(instance)) < LEAST_BITS:
        raise InputError(
            f"the secret is one of {at_least_power(bits)}, and all of them can be tried: a challenge needs "
            f"2^{LEAST_BITS}; raise dim or heads, or say --toy"
        )


def log2_secrets(instance: Instance) -> float:
    """Return log2 of the number of secrets that the public parameters of an instance leave possible.

    Raises `InputError` for a family without a discrete secret, such as random layers.
    """
    bits = instance.family.log2_secrets()
    if bits is None or instance.family.name not in COMMITTED:
        raise InputError(
            f"a {instance.family.name} instance has no discrete secret to commit to; use parity or rounding"
        )
    return float(bits)


def judge(folder: Path, answer: Any) -> Verdict:
    """Return the verdict on `answer`, the parsed ANSWER.json, by the challenge in `folder` alone, without the instance.

    If the challenge was changed, the verdict is no, and says what. Raises `InputError` if no challenge can be read.
    """
    header, changed = _read(folder)
    if changed:
        return Verdict(False, "none", f"the challenge was changed: {changed}")
    if isinstance(answer, dict) and isinstance(answer.get("secret"), dict):
        answer = answer["secret"]
    public = header["public"]
    try:
        if not isinstance(answer, dict) or "predictions" not in answer:
            right = _commit(header, _canonical_secret(public, answer)) == header["commitment"]
            opens = "opens" if right else "does not open"
            return Verdict(right, "secret", f"the secret {opens} the commitment")
        (X,) = arrays(folder / "heldout.npz", {"X": ("|i1", 3)})
        values = np.array(answer["predictions"], dtype=np.float64)  # what are no numbers is a ValueError
        if values.shape != (len(X),):
            raise ValueError(f"{len(X)} predictions expected, got shape {values.shape}")
        right = _commit(header, _canonical_levels(public, X, values)) == header["heldout_commitment"]
        reason = "every held-out label is right" if right else "a held-out label is wrong"
        return Verdict(right, "predictions", reason)
    except Exception as error:  # an answer of any form, held-out inputs of any bytes
        return Verdict(False, "none", f"not an answer to this challenge: {sanitize(error)}")


def _read(folder: Path) -> tuple[dict[str, Any], str]:
    """Return challenge.json of a folder, and how the folder was changed since it was published, or an empty text."""
    path = folder / "challenge.json"
    header = schemas.parse(read_bounded(path), str(path))
    if not isinstance(header, dict) or header.get("format") != FORMAT or "format_version" not in header:
        raise InputError(f"{folder} is not a challenge; make one with `hardness challenge`")
    schemas.check_version(header, str(folder), "ask for a new challenge, or use attention-hardness 0.1")
    if header.get("header_sha256") != digest(header):
        return header, "challenge.json does not have the digest it states"
    schemas.check("challenge", header, str(path))
    for name in FILES:
        if not (folder / name).is_file() or digest_of(folder / name) != header["sha256"][name]:
            return header, f"{name} does not have the digest that challenge.json states"
    return header, ""


def digest_of(path: Path) -> str:
    """Return the SHA-256, in hex, of a file, which is read in blocks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest(header: dict[str, Any], apart: tuple[str, ...] = ("header_sha256",)) -> str:
    """Return the SHA-256, in hex, of a challenge's header without the entries `apart`, by default its own digest."""
    return hashlib.sha256(_canonical({k: v for k, v in header.items() if k not in apart})).hexdigest()


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _commit(header: dict[str, Any], answer: bytes) -> str:
    """Return the SHA-256, in hex, of the salt, the digest of the header without commitments, and an `answer`."""
    stated = digest(header, ("commitment", "heldout_commitment", "header_sha256"))
    return hashlib.sha256(bytes.fromhex(header["salt"] + stated) + answer).hexdigest()


def _canonical_secret(public: dict[str, Any], answer: Any) -> bytes:
    """Return the secret in `answer` as JSON of one spelling: ascending support, or residues 0..q-1, or `ValueError`."""
    name = "support" if public["family"] == "parity" else "w"
    if not isinstance(answer, dict) or name not in answer:
        raise ValueError(f'expected {{"{name}": [..]}} or {{"predictions": [..]}}')
    values, n = answer[name], int(public["dim"]) - 1
    if not isinstance(values, list) or not all(type(x) is int for x in values):
        raise ValueError(f"{name} must be a list of integers")
    if name == "w":
        if len(values) != n:
            raise ValueError(f"w must have {n} entries, got {len(values)}")
        return _canonical({name: [x % int(public["modulus"]) for x in values]})
    if len(set(values)) != len(values) or not all(1 <= x <= n for x in values):
        raise ValueError(f"support must hold different coordinates in 1..{n}")
    return _canonical({name: sorted(values)})


def _canonical_levels(public: dict[str, Any], X: Signs, values: NDArray[np.float64]) -> bytes:
    """Return X[:, 0, 0] v - A rounded, as JSON, for predictions v (H,) and the labels' offset A; or `ValueError`."""
    level = X[:, 0, 0] * values - float(public["A"])
    if not (np.abs(level) < 2**53).all():  # levels are far smaller, and NaN is not
        raise ValueError("predictions must be finite numbers of a label's size")
    return _canonical(np.rint(level).astype(np.int64).tolist())
