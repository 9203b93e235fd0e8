"""An instance: family, parameters, seed, secret, teacher and certificate, in one file. An instance IS the answer."""

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, overload

import numpy as np
from numpy.typing import NDArray

from hardness import families
from hardness.errors import InputError, sanitize
from hardness.examples import Examples, InformativeExamples, LeanExamples, open_pairs
from hardness.families.base import UNSTATED, Family, Secret, Teacher
from hardness.gadgets.coefficients import Gadget
from hardness.io import schemas
from hardness.io.fields import require_memory, whole
from hardness.io.files import regular, replacing
from hardness.io.schemas import FORMAT_VERSION, canonical
from hardness.io.texts import table
from hardness.layer import MultiHeadAttention
from hardness.tokens import CHUNK, TokenStream, gated, gaussian, philox_key, uniform, unpack

FORMAT = "attention-hardness instance"
EXHAUSTIVE_BITS = 16
EXHAUSTIVE_ERROR = 1e-9  # of the softmax layer; the error itself has last bits that tell secrets apart
GADGET_SCALARS = ("kind", "beta", "offset", "gate")
MOST_HEADER = 1 << 20  # bytes of a header
BYTES = 64.0  # of memory for a coordinate or a head of a layer that is made of few numbers
SECRET, NOISE = 0, 1  # what is spawned from an instance's seed, family and parameters


class Check(NamedTuple):
    """Hold the outcome of one check: the `name` of what was checked, whether it held (`ok`), and `detail` in words."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True)
class Instance:
    """Hold a layer (`teacher`) of a family, the secret and all else that made it; learners see only its `examples`.

    `seed` regenerates the secret and the label noise, so it is as secret as they are; `seed_drawn` says that it was
    drawn at random with 128 bits. The same seed gives an unrelated secret for another family or other parameters,
    except for parameters that the family marks as `same_secret` (docs/seeds.md).
    """

    family: Family
    seed: int
    seed_drawn: bool
    secret: Secret
    teacher: Teacher
    certificate: dict[str, Any]

    @classmethod
    def generate(
        cls, family: str | type[Family] | Family, seed: int | None = None, **parameters: Any
    ) -> "Instance":
        """Return an instance whose secret is drawn from `seed` (0 is a seed; None draws one of 128 bits).

        `family` is a `Family` object, or else a name, ``module:Name`` or class, with its `parameters`. Raises
        `InputError` for a parameter that is unknown, missing or of a wrong type, or that the family refuses.

        >>> generate("parity", dim=16, heads=3, seed=0)
        Instance(Parity(dim=16, heads=3, gadget='diag', ...), heads 3; the secret is not shown)
        """
        if isinstance(family, str) or parameters:
            family = families.build(cast(Any, family), parameters)
        if not isinstance(family, Family):
            raise InputError(f"generate takes a family with its parameters, got {sanitize(family, 60)}")
        drawn = seed is None
        seed = secrets.randbits(128) if seed is None else seed
        whole("seed", seed, 0)
        source = np.random.SeedSequence(int(seed), spawn_key=_lineage(family, SECRET))
        drawn_secret = family.draw(np.random.default_rng(source))
        secret = {name: np.asarray(value) for name, value in drawn_secret.items()}  # a number is an array too
        teacher = family.realize(secret)
        return cls(family, int(seed), drawn, secret, teacher, family.certificate(teacher))

    def __repr__(self) -> str:
        return f"Instance({self.family!r}, heads {self.heads_words}; the secret is not shown)"

    def _repr_html_(self) -> str:
        known = {"tokens": self.family.tokens, **self.parameters, "heads": self.heads_words}
        return table(f"Instance of {families.name_of(self.family)}", {**known, "secret": "not shown"})

    @property
    def heads(self) -> int:
        return self.teacher.heads

    @property
    def heads_shown(self) -> int:
        """Return the public number of heads, a bound if the true one depends on the secret (`Family.heads_shown`)."""
        return self.family.heads_shown(self.teacher)

    @property
    def heads_words(self) -> str:
        """Return the public number of heads as text, after "at most" where it is only a bound."""
        return f"{'at most ' if self.family.heads_follow else ''}{self.heads_shown}"

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the family by name, defaults included (`hardness.families.parameters`)."""
        return families.parameters(self.family)

    def layer(self) -> MultiHeadAttention:
        """Return the instance's layer as dense softmax attention; that of a gadget is made anew at each call."""
        return self.teacher.layer() if isinstance(self.teacher, Gadget) else self.teacher

    @overload
    def examples(self, count: int, seed: int, start: int = 0, fair: bool = False) -> Examples: ...
    @overload
    def examples(
        self, count: int, seed: int, start: int = 0, fair: bool = False, *, lean: Literal[True]
    ) -> LeanExamples: ...
    def examples(
        self, count: int, seed: int, start: int = 0, fair: bool = False, lean: bool = False
    ) -> Examples | LeanExamples:
        """Return the examples start..start + count - 1 of the endless stream that a sampling `seed` stands for.

        Inputs of a family with a `bias` (theory 2.9) are biased, and uniform if `fair`, as the judge takes them.
        `lean` gives only column 0 of the labels, y (n, k), all others being 0: at d = 64 an eighth of the memory.
        Raises `InputError` for `lean` where labels fill other columns.
        """
        family = self.family
        for name, value in (("count", count), ("seed", seed), ("start", start)):
            whole(name, value, 0)
        if family.inputs == "gaussian" and not lean:
            X = gaussian(seed, start, (count, family.tokens, family.dim))
            return Examples(cast(Any, X), self.layer()(X))
        bias = 0.0 if fair else family.bias
        words = TokenStream(seed, family.tokens, family.dim, bias).packed(start, count)
        signs = unpack(words, family.dim)
        if not lean:
            return Examples(signs, family.labels(self.teacher, words, self.noise(count, seed, start)))
        values = family.column_values(self.teacher, words, self._column_noise(count, seed, start))
        return LeanExamples(signs, gated(words, values, family.closed_value(self.teacher)))

    def informative(self, count: int, seed: int, start: int = 0) -> InformativeExamples:
        """Return those of `count` examples from `start` whose two tokens differ in coordinate 0, as bits, with labels.

        The labels are those of `examples` bit for bit. Raises `InputError` for a family whose labels depend on more
        than the coordinates in which two tokens differ.
        """
        family = self.family
        whole("count", count, 0)
        words = TokenStream(seed, family.tokens, family.dim, family.bias).packed(start, count)
        noise = self._column_noise(count, seed, start)
        pairs, bits, positions = open_pairs(words)
        labels = family.open_values(self.teacher, pairs, noise[positions])
        gate = family.closed_value(self.teacher)
        return InformativeExamples(bits, positions, labels, count, family.dim, gate)

    def noise(self, count: int, seed: int, start: int = 0) -> NDArray[np.float64]:
        """Return what label noise is made of: uniform numbers in (0, 1) (count,), one for each example from `start`.

        They are independent for other instances and sampling seeds (`seed`). They must stay secret like the instance's
        own seed: the sampling seed is public, and whoever knows the noise can remove it.
        """
        return uniform(philox_key(self.seed, *_lineage(self.family, NOISE), seed), start, count)

    def _column_noise(self, count: int, seed: int, start: int) -> NDArray[np.float64]:
        """Return uniform numbers (count,) for label noise (1/2 without); `InputError` if labels exceed column 0."""
        if self.family.only_labels:
            raise InputError(f"labels of {self.family.name} have no column_values, in column 0 alone")
        noisy = self.family.flip or self.family.noise
        return self.noise(count, seed, start) if noisy else np.broadcast_to(0.5, count)

    def chunks(self, count: int, seed: int) -> Iterator[Examples]:
        """Yield examples 0..count - 1 in chunks of moderate size. Raises `InputError` for inputs that are not signs."""
        if self.family.inputs == "gaussian":
            raise InputError("files of examples hold signs: those of Gaussian inputs are made by `examples`")
        for start in range(0, count, CHUNK):
            yield self.examples(min(CHUNK, count - start), seed, start)

    def public(self, sampling_seed: int) -> dict[str, Any]:
        """Return the public parameters as JSON data; A offsets labels, C is theirs if tokens agree in coordinate 0."""
        known = {
            "family": self.family.name,
            **self.parameters,
            "tokens": self.family.tokens,
            "heads": self.heads_shown,
            "sampling_seed": sampling_seed,
            "format_version": FORMAT_VERSION,
            "package_version": version("attention-hardness"),
        }
        if isinstance(self.teacher, Gadget):
            known |= {"A": self.teacher.offset, "C": self.teacher.gate}
        return known

    def command(self) -> str:
        """Return the command line that makes this instance again, without --out."""
        named = families.name_of(self.family), *families.options_of(self.family)
        return " ".join(["hardness generate", *named, f"--seed {self.seed}"])

    def header(self) -> dict[str, Any]:
        """Return the JSON header of an instance's file: the seed and all else, but not the arrays of the secret."""
        gadget = self.teacher if isinstance(self.teacher, Gadget) else None
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "package_version": version("attention-hardness"),
            "family": families.name_of(self.family),
            "parameters": self.parameters,
            "tokens": self.family.tokens,
            "heads": self.heads,
            "heads_meaning": self.family.heads_meaning,
            "hypothesis": self.family.hypothesis,
            "seed": self.seed,
            "seed_drawn": self.seed_drawn,
            "command": self.command(),
            "certificate": self.certificate,
            "gadget": gadget and {name: getattr(gadget, name) for name in GADGET_SCALARS},
        }

    def shown(self) -> dict[str, Any]:
        """Return the public part of the file's header, which is the same for all secrets with these parameters."""
        known = self.header() | {"heads": self.heads_shown}
        known["certificate"] = self.family.certificate_shown(self.certificate)
        return {name: value for name, value in known.items() if name not in ("seed", "command")}

    def to_bytes(self) -> bytes:
        """Return the bytes of the instance's file: the secret's arrays as safetensors, and one JSON header."""
        from safetensors.numpy import save

        arrays = {f"secret.{name}": np.asarray(value, order="C") for name, value in self.secret.items()}
        # One key only: the order of several would differ from run to run.
        return save(arrays, {"instance": json.dumps(self.header(), sort_keys=True)})

    def save(self, path: str | Path, force: bool = False) -> None:
        """Write the instance to `path`, whole or not at all. Another file there is an `InputError`, unless `force`."""
        path, data = Path(path), self.to_bytes()
        if path.is_file() and not force and path.read_bytes() != data:
            raise InputError(f"{path} exists; name another file, or say force=True to replace it")
        with replacing(path) as temporary:
            temporary.write_bytes(data)

    @classmethod
    def load(cls, path: str | Path) -> "Instance":
        """Return the instance in a file. Raises `InputError` on a missing, truncated, foreign or inconsistent file."""
        header, secret = _contents(Path(path))
        try:
            whole("seed", header["seed"], 0)  # 8.0 is an integer to JSON Schema, and none that seeds anything
            family = families.build(header["family"], header["parameters"])
            require_memory(BYTES * (family.dim + (getattr(family, "heads", None) or 0)), "its layer")
            family.check(secret)
            teacher = family.realize(secret)
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            raise InputError(
                f"{path} is not a whole instance: {sanitize(error)}; generate it anew"
            ) from error
        return cls(family, header["seed"], header["seed_drawn"], secret, teacher, header["certificate"])

    def verify(self) -> list[Check]:
        """Return the outcome of checking all that is claimed of the instance, which is made again from its seed."""
        family, again = self.family, Instance.generate(self.family, self.seed)
        follows = _same(asdict(again.teacher), asdict(self.teacher))
        same = again.certificate == self.certificate
        checks = [
            Check("seed", _same(again.secret, self.secret), "the secret regenerates from the seed"),
            Check("teacher", follows, "it follows from the secret"),
            Check("stored certificate", same, "the certificate follows from both"),
        ]
        if family.hypothesis.startswith(UNSTATED):
            checks.append(Check("hypothesis", False, family.hypothesis))
        checks += (Check(*check) for check in family.verify(self.teacher, self.secret))
        bits = family.tokens * family.dim
        if isinstance(self.teacher, Gadget) and bits <= EXHAUSTIVE_BITS:
            words = every_pair(family.dim)
            error = np.abs(self.layer()(unpack(words, family.dim)) - self.teacher.labels(words)).max()
            exhaustive = f"closed form within {EXHAUSTIVE_ERROR:g} on all 2^{bits} inputs"
            checks.append(Check("softmax layer", bool(error < EXHAUSTIVE_ERROR), exhaustive))
        return checks


generate, load = Instance.generate, Instance.load


def _contents(path: Path) -> tuple[dict[str, Any], Secret]:
    """Return the checked header of an instance file, and its unchecked secret. Raises `InputError` on other files."""
    from safetensors import safe_open

    with regular(path).open("rb") as file:
        if int.from_bytes(file.read(8), "little") > MOST_HEADER:
            raise InputError(f"{path} is no instance file; generate one with `hardness generate`")
    try:
        with safe_open(path, framework="numpy") as file:
            text = (file.metadata() or {}).get("instance", "{}")
            names = [name for name in file.keys() if name.startswith("secret.")]  # noqa: SIM118  it is no mapping
            secret = {name.removeprefix("secret."): file.get_tensor(name) for name in names}
    except Exception as error:  # whatever safetensors raise on damaged and foreign files
        raise InputError(f"{path} is no instance file ({sanitize(error)}); generate it anew") from error
    header = schemas.parse(text, f"the header of {path}")
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InputError(f"{path} is not an instance file; generate one with `hardness generate`")
    advice = "equal seeds give other secrets now; generate it anew, or use attention-hardness 0.1"
    schemas.check_version(header, str(path), advice)
    schemas.check("instance", header, str(path))
    return header, secret


def _lineage(family: Family, child: int) -> tuple[int, ...]:
    """Return the key that numpy joins to a seed to draw the secret (`child` is SECRET) or the label noise (NOISE).

    It is a SHA-256 of family and parameters, then `child`. Parameters marked `same_secret` do not enter the secret's.
    """
    parameters = families.parameters(family)
    if child == SECRET:
        kept = {f.name for f in fields(cast(Any, family)) if not f.metadata.get("same_secret")}
        parameters = {name: value for name, value in parameters.items() if name in kept}
    digest = hashlib.sha256(canonical([family.name, parameters]).encode()).digest()
    return *np.frombuffer(digest, ">u4").tolist(), child


def every_pair(dim: int) -> NDArray[np.uint64]:
    """Return all 2^(2 dim) pairs of tokens, packed as uint64 (2^(2 dim), 2, 1); dim is small."""
    index = np.arange(1 << 2 * dim, dtype=np.uint64)
    return np.stack([index & np.uint64((1 << dim) - 1), index >> np.uint64(dim)], axis=1)[:, :, None]


def _same(first: Any, second: Any) -> bool:
    """Say whether two secrets, or the fields of two layers, hold the same numbers."""
    if isinstance(first, Mapping):
        return first.keys() == second.keys() and all(_same(first[name], second[name]) for name in first)
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    return np.array_equal(first, second)
