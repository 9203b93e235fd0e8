"""Challenges: public examples and a commitment to the secret, and the judge who needs nothing else.

A challenge is a folder. ``challenge.json`` holds the public parameters, licence, format version, salt and commitments;
``examples.npz`` the examples; ``heldout.npz`` inputs X (H, 2, d) without labels. A commitment is
SHA-256(salt ‖ digest of everything else in the folder ‖ canonical answer), salt 256 fresh bits, so a right answer also
proves that parameters and examples are the ones its author committed to.
"""

import hashlib
import json
import os
import secrets
import shutil
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.examples import write
from hardness.gadgets.coefficients import Gadget
from hardness.instance import Instance
from hardness.io import npz, schemas
from hardness.io.files import read_bounded, write_text
from hardness.io.texts import shown
from hardness.tokens import TokenStream, unpack

FORMAT = "attention-hardness challenge"
FORMAT_VERSION = 1
LICENCE = "CC0-1.0"
HELD_OUT = 256
FILES = ("examples.npz", "heldout.npz")
BESIDE = 1 << 16  # bytes of headers and parameters in them


@dataclass(frozen=True)
class Verdict:
    """What the judge says: `ok`, of which `kind` the answer was (secret, predictions or none), and why."""

    ok: bool
    kind: str
    reason: str


def publish(instance: Instance, count: int, out: Path, toy: bool = False) -> dict[str, Any]:
    """Write the challenge of `instance` with `count` public examples to the new folder `out`; returns its header.

    Raises `InputError` for a family without a discrete secret, for an existing non-empty `out`, and for an instance
    whose seed was given by hand unless `toy`: whoever can guess the seed has the secret.
    """
    if not instance.seed_drawn and not toy:
        raise InputError(
            "the instance's seed was given by hand and may be guessed; generate without --seed, or say --toy"
        )
    if type(instance.teacher) is not Gadget:
        raise InputError(
            f"a {instance.family.name} instance has no discrete secret to commit to; use parity or rounding"
        )
    if count < 1:
        raise InputError(f"count must be at least 1, got {count}")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"cannot write {out}: it exists; name another --out")
    out.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{out.name[:40]}.", dir=out.parent))
    try:
        header = _write(instance, count, folder, toy)
        folder.chmod(0o755)
        os.replace(folder, out)
    except OSError as error:
        raise InputError(f"cannot write {out}: {error.strerror or error}; name another --out") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return header


def _write(instance: Instance, count: int, folder: Path, toy: bool) -> dict[str, Any]:
    family = instance.family
    sampling_seed, held_seed = secrets.randbits(128), secrets.randbits(128)
    public = instance.public(sampling_seed)
    shape = (count, family.tokens, family.dim)
    write(folder / "examples.npz", shape, lambda: instance.chunks(count, sampling_seed), public)
    stream = TokenStream(held_seed, family.tokens, family.dim)
    words = stream.packed(0, 4 * HELD_OUT)
    # Only inputs with z₀ ≠ 0 say anything about the secret.
    words = words[((words[:, 0, 0] ^ words[:, 1, 0]) & np.uint64(1)).astype(bool)][:HELD_OUT]
    np.savez(folder / "heldout.npz", X=unpack(words, family.dim))
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
            "secret": '{"support": [..]} or {"w": [..]}',
            "predictions": f'{{"predictions": [..]}}: output row 0, column 0 on the {len(words)} inputs of heldout.npz',
        },
        "sha256": {name: digest_of(folder / name) for name in FILES},
        "salt": secrets.token_hex(32),
    }
    assert isinstance(instance.teacher, Gadget)
    # Noiseless labels: what a right predictor says, whatever the label noise of the examples.
    labels = instance.teacher.labels(words)
    answer = {name: value.tolist() for name, value in instance.secret.items()}
    header["commitment"] = _commit(header, _canonical_secret(public, answer))
    header["heldout_commitment"] = _commit(
        header, _canonical_levels(public, unpack(words, family.dim), labels[:, 0, 0])
    )
    header["header_sha256"] = digest(header)
    write_text(folder / "challenge.json", json.dumps(header, indent=1, sort_keys=True) + "\n")
    return header


def judge(folder: Path, answer: Any) -> Verdict:
    """Is `answer` (the parsed ANSWER.json) right? The instance is not needed.

    A challenge that was changed is rejected with its reason. Raises `InputError` if there is no readable challenge.
    """
    header = _load(folder)
    changed = _changed(header, folder)
    if changed:
        return Verdict(False, "none", f"the challenge was changed: {changed}")
    if isinstance(answer, dict) and isinstance(answer.get("secret"), dict):
        answer = answer["secret"]
    try:
        if isinstance(answer, dict) and "predictions" in answer:
            X = npz.arrays(folder / "heldout.npz", {"X": ("|i1", 3)})["X"]
            if X.shape[1:] != (2, header["public"]["dim"]):
                return Verdict(
                    False, "none", f"heldout.npz does not hold pairs of tokens of dim {header['public']['dim']}"
                )
            values = np.array(answer["predictions"], dtype=np.float64)  # what are no numbers is a ValueError
            if values.shape != (len(X),):
                return Verdict(False, "predictions", f"{len(X)} predictions expected, got shape {values.shape}")
            right = _commit(header, _canonical_levels(header["public"], X, values)) == header["heldout_commitment"]
            return Verdict(
                right, "predictions", "every held-out label is right" if right else "a held-out label is wrong"
            )
        right = _commit(header, _canonical_secret(header["public"], answer)) == header["commitment"]
    except (ValueError, TypeError, OverflowError) as error:
        return Verdict(False, "none", f"not an answer to this challenge: {shown(error)}")
    return Verdict(
        right, "secret", "the secret opens the commitment" if right else "the secret does not open the commitment"
    )


def _load(folder: Path) -> dict[str, Any]:
    path = folder / "challenge.json"
    header = schemas.parse(read_bounded(path), str(path))
    if not isinstance(header, dict) or header.get("format") != FORMAT or header.get("format_version") != FORMAT_VERSION:
        raise InputError(f"{folder} is not a challenge of format {FORMAT_VERSION}; make one with `hardness challenge`")
    return header


def answer_of(path: Path) -> Any:
    """What an ANSWER.json holds. Raises `InputError` on a file that cannot be read, or is no JSON."""
    return schemas.parse(read_bounded(path), str(path))


def _changed(header: dict[str, Any], folder: Path) -> str:
    if header.get("header_sha256") != digest(header):
        return "challenge.json does not have the digest it states"
    schemas.check("challenge", header, f"{folder}/challenge.json")
    entries = header["public"]["tokens"] * header["public"]["dim"]
    for name, most in zip(FILES, (9 * header["count"] * entries, HELD_OUT * entries), strict=True):
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        if path.stat().st_size > most + BESIDE:  # said before the digest of a file of any size is made
            return f"{name} is larger than the examples that challenge.json states"
        if digest_of(path) != header["sha256"][name]:
            return f"{name} does not have the digest that challenge.json states"
    return ""


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def digest_of(path: Path) -> str:
    """SHA-256, in hex, of a file of any size, in the memory of a block."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def digest(header: dict[str, Any]) -> str:
    """SHA-256, in hex, of a header without its own digest."""
    return _sha256(_canonical({name: value for name, value in header.items() if name != "header_sha256"}))


def _commit(header: dict[str, Any], answer: bytes) -> str:
    """SHA-256 of salt, everything the challenge states beside its commitments, and the canonical answer."""
    stated = {k: v for k, v in header.items() if k not in ("commitment", "heldout_commitment", "header_sha256")}
    return _sha256(bytes.fromhex(header["salt"]) + bytes.fromhex(digest(stated)) + answer)


def _canonical_secret(public: dict[str, Any], answer: Any) -> bytes:
    """One spelling of each secret: an ascending support, or residues 0..q-1. Raises `ValueError` if it is none."""
    name = "support" if public["family"] == "parity" else "w"
    if not isinstance(answer, dict) or name not in answer:
        raise ValueError(f'expected {{"{name}": [..]}} or {{"predictions": [..]}}')
    values = answer[name]
    if not isinstance(values, list) or not all(isinstance(x, int) and not isinstance(x, bool) for x in values):
        raise ValueError(f"{name} must be a list of integers")
    n = int(public["dim"]) - 1
    if name == "support":
        if len(set(values)) != len(values) or not all(1 <= x <= n for x in values):
            raise ValueError(f"support must hold different coordinates in 1..{n}")
        return _canonical({name: sorted(values)})
    if len(values) != n:
        raise ValueError(f"w must have {n} entries, got {len(values)}")
    return _canonical({name: [x % int(public["modulus"]) for x in values]})


def _canonical_levels(public: dict[str, Any], X: NDArray[np.int8], values: NDArray[np.float64]) -> bytes:
    """The integer levels x₁[0]·value - A of outputs (H,) in row 0, column 0; `ValueError` if one is no number."""
    level = X[:, 0, 0] * values - float(public["A"])
    if not np.isfinite(level).all():
        raise ValueError("predictions must be finite numbers")
    return _canonical(np.rint(level).astype(np.int64).tolist())
