"""What a family is: `Family`, with a default for everything but how a secret is drawn and which layer it makes."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, field, fields
from functools import cache
from typing import Any, ClassVar, Literal, get_type_hints

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.concepts import Concepts
from hardness.families.linear import Hidden
from hardness.gadgets.coefficients import Gadget
from hardness.io.fields import all_finite, fitting
from hardness.io.texts import sanitize
from hardness.layer import MultiHeadAttention
from hardness.tokens import Words, unpack

Secret = dict[str, NDArray[Any]]
Teacher = Gadget | MultiHeadAttention
Checks = list[tuple[str, bool, str]]
UNSTATED = "Not stated"
# What is known of the draws and labels of one class, which a class derived from it states anew or does not have.
CLAIMS = (
    *("heads_meaning", "linear", "heads_shown", "heads_follow", "log2_secrets"),
    *("model_secret", "concepts", "certificate", "certificate_shown", "verify"),
)


def described(text: str, default: Any = MISSING, **marks: bool) -> Any:
    """Return a field with a help text; marks: same_secret (secrets ignore it), switch (files omit a default)."""
    return field(default=default, metadata={"help": text, **marks})


class Family(ABC):
    """A family of attention layers: derive a frozen dataclass from this one, its fields being the public parameters.

    It must have a field `dim` and methods `draw`, whose result is the secret, and `realize`; all else has a default.
    `hypothesis` is the assumption under which the layers are hard (or "None: …"), `heads_meaning` says what the number
    of heads stands for, and `linear` how labels show a hidden linear equation, on which attacks and their estimates
    rely. A field's help stands in its metadata (`described`); the command line shows `example`, a line of options.

    Equal seeds give unrelated secrets at different parameters. The exception is a field with ``"same_secret": True`` in
    its metadata, which changes how examples are drawn, or which layer is made of the secret, and not the secret.

    **A class that derives from a family and states no `hypothesis` has none**, and inherits no claim on secrets.

    >>> from hardness.families.parity import Parity
    >>> class Shallow(Parity):
    ...     def draw(self, rng):
    ...         return {"support": np.arange(1, self.size + 1)}
    >>> Shallow.hypothesis, Shallow(dim=8, heads=2).concepts()
    ('Not stated; Shallow has no `hypothesis` of its own', None)
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    example: ClassVar[str] = ""
    hypothesis: ClassVar[str]
    heads_meaning: ClassVar[str] = "number of heads"
    linear: ClassVar[type[Hidden] | None] = None
    only_labels: ClassVar[bool] = False  # stated anew, without the `column_values` that go with them
    open_variance: ClassVar[float | None] = None  # of real labels of rows with z_0 != 0, where it is known
    dim: int
    tokens: int = 2
    bias: float = 0.0  # of the products of examples that are learned from (theory 2.9)
    flip: float = 0.0  # probability of a flipped sign of an example's label
    noise: float = 0.0  # standard deviation of the noise on an example's level
    inputs: Literal["sign", "gaussian"] = "sign"  # law of the features; Gaussian ones only of a dense layer

    def __init_subclass__(cls) -> None:
        stated = vars(cls)
        if "name" not in stated:
            cls.name = cls.__name__.lower()
        if "summary" not in stated:
            cls.summary = (cls.__doc__ or cls.name).strip().partition("\n")[0].rstrip(".")
        if {"labels", "column_values"} & stated.keys():
            cls.only_labels = "column_values" not in stated
        if "hypothesis" not in stated:
            for name in {*CLAIMS} - stated.keys():
                setattr(cls, name, getattr(Family, name))
            cls.hypothesis = f"{UNSTATED}; {cls.__name__} has no `hypothesis` of its own"

    def __post_init__(self) -> None:
        """Turn numpy's numbers in fields into Python's. Raises `InputError` for a value of a wrong type."""
        for name, hint in types_of(type(self)).items():
            value = fitting(getattr(self, name), hint, f"parameter {name} of {self.name}")
            object.__setattr__(self, name, value)

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Secret:
        """Return a secret drawn from `rng`, as arrays by name."""

    @abstractmethod
    def realize(self, secret: Secret) -> Teacher:
        """Return the layer that a secret determines: a `Gadget` (labels in closed form) or a `MultiHeadAttention`."""

    def check(self, secret: Secret) -> None:  # noqa: B027  # most families of others have none
        """Raise `InputError` if arrays read from a file are no secret of this family; by default accept any."""

    def labels(self, teacher: Any, words: Words, noise: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the labels (n, k, d) that the layer `teacher` gives to packed tokens (n, k, words).

        `noise` (n,) holds for each example a uniform number in (0, 1), from which label noise is made; 1/2 makes none.
        """
        if isinstance(teacher, Gadget):
            return teacher.place(words, self.column_values(teacher, words, noise))
        return np.asarray(teacher(unpack(words, self.dim)))

    def column_values(self, teacher: Any, words: Words, noise: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the number (n,) that fixes the label of each token pair, packed as bits in `words` (n, 2, W).

        Row a of the label is 0 but in column 0, where it is x_a[0] times this number if the tokens x_1, x_2 differ in
        coordinate 0, else times `closed_value`. `noise` (n,), uniform in (0, 1), makes label noise. Raises `InputError`
        for a family whose labels have another form.
        """
        if isinstance(teacher, Gadget):
            return teacher.value(teacher.levels(words))
        raise InputError(
            f"labels of {self.name} are not stated as a function of two tokens in column 0 alone"
        )

    def open_values(self, teacher: Any, words: Words, noise: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the numbers (n,) that fix labels of packed token pairs, where these depend only on which bits differ.
        Otherwise raises `InputError`. The pairs are open (differ in coordinate 0); `noise` is as in `column_values`."""
        return self.column_values(teacher, words, noise)

    def closed_value(self, teacher: Any) -> float:
        """Return C, the factor of x_a[0] in labels of pairs whose tokens agree in coordinate 0: Σ_i W_i[0, 0]."""
        return float(teacher.gate if isinstance(teacher, Gadget) else teacher.w[:, 0, 0].sum())

    def heads_shown(self, teacher: Any) -> int:
        """Return the number of heads to publish for a layer: its maximum over all secrets, where it depends on them."""
        return int(teacher.heads)

    @property
    def heads_follow(self) -> bool:
        """Say whether the number of heads depends on the secret, so that the published number is only a bound."""
        return False

    def log2_secrets(self) -> float | None:
        """Return log2 of the number of possible secrets, or a lower bound; None if they are not counted."""
        return None

    def model_secret(self) -> Secret | None:
        """Return one secret whose layer has the non-degeneracy conditions of every other's; None if these differ."""
        return None

    def concepts(self) -> Concepts | None:
        """Return the concept class that statistical-query bounds and games are about; None if nothing is proved."""
        return None

    def certificate(self, teacher: Any) -> dict[str, Any]:
        """Return what is proved of the layer `teacher`, as JSON data."""
        return {"method": "none: the layer follows from the secret"}

    def certificate_shown(self, certificate: dict[str, Any]) -> dict[str, Any]:
        """Return the public form of a certificate: entries that depend on the secret are None."""
        return certificate

    def verify(self, teacher: Any, secret: Secret) -> Checks:
        """Check anew what the certificate of a layer states; return (name, passed, detail) of each check."""
        return []


@cache
def types_of(family: Any) -> Mapping[str, Any]:
    """Return the type of each field of a family class, by name, in order."""
    hints = get_type_hints(family)
    return {f.name: hints[f.name] for f in fields(family)}


def expect(secret: Secret, shapes: Mapping[str, tuple[str, tuple[int, ...]]]) -> None:
    """Raise `InputError` unless a secret holds exactly these arrays, finite, of `shapes` = {name: (dtype, shape)}."""
    held = {name: (array.dtype.str, array.shape) for name, array in secret.items()}
    if held != dict(shapes):
        raise InputError(f"the secret must hold {dict(shapes)}, got {sanitize(held)}")
    for name, array in secret.items():
        all_finite(f"the secret's {name}", array)
