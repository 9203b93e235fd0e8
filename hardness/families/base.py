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
    """Return a field of a family: its help, its default if it has one, and marks such as same_secret or switch."""
    return field(default=default, metadata={"help": text, **marks})


class Family(ABC):
    """Public parameters of a family of layers: a frozen dataclass derived from this one, whose fields they are.

    It must have a `dim`, `draw` and `realize`; whatever `draw` returns is the secret. Its `hypothesis` says under which
    its layers are hard (or "None: …"), `heads_meaning` what m is, and `linear` how labels show a hidden linear
    equation: what attacks and their estimates go by. All else has a default. The help of a field stands in its
    metadata (`described`), and an `example` of the options is what the command line shows.

    Equal seeds give unrelated secrets at different parameters, but for a field with ``"same_secret": True`` in its
    metadata: it says how examples are drawn, or which of several layers is made of one secret.

    **A class derived from another one that states no hypothesis of its own has none**, nor anything else that is known
    of the other's secrets.

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
        """Raise `InputError` unless every field holds a value of its type; numpy's numbers become Python's."""
        for name, hint in types_of(type(self)).items():
            value = fitting(getattr(self, name), hint, f"parameter {name} of {self.name}")
            object.__setattr__(self, name, value)

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Secret:
        """Return a secret, drawn from `rng`: arrays by name."""

    @abstractmethod
    def realize(self, secret: Secret) -> Teacher:
        """Return the teacher that a secret makes."""

    def check(self, secret: Secret) -> None:  # noqa: B027  # most families of others have none
        """Raise `InputError` for arrays of a file that are no secret of this family; any are, unless it says."""

    def labels(self, teacher: Any, words: Words, noise: NDArray[np.float64]) -> NDArray[np.float64]:
        """Labels (n, k, d) of packed tokens (n, k, words) as anybody may see them: of a gadget in closed form.

        `noise` (n,) holds a uniform number in (0, 1) per example; at 1/2 no label has noise.
        """
        if isinstance(teacher, Gadget):
            return teacher.place(words, self.column_values(teacher, words, noise))
        return np.asarray(teacher(unpack(words, self.dim)))

    def column_values(self, teacher: Any, words: Words, noise: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values (n,) of packed pairs (n, 2, words): where z_0 != 0, row a of the label is x_a[0] times that.

        All stands in column 0. Raises `InputError` for a family whose labels have another form.
        """
        if isinstance(teacher, Gadget):
            return teacher.value(teacher.levels(words))
        raise InputError(
            f"labels of {self.name} are not stated as a function of two tokens in column 0 alone"
        )

    def open_values(self, teacher: Any, words: Words, noise: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return `column_values` where they depend on the bits u alone; else raise `InputError`."""
        return self.column_values(teacher, words, noise)

    def closed_value(self, teacher: Any) -> float:
        """Return what takes the place of `column_values` where z_0 = 0: C, the sum of the heads' coefficients."""
        return float(teacher.gate if isinstance(teacher, Gadget) else teacher.w[:, 0, 0].sum())

    def heads_shown(self, teacher: Any) -> int:
        """Return the number of heads as anybody may know it: where it follows from the secret, the largest of any."""
        return int(teacher.heads)

    @property
    def heads_follow(self) -> bool:
        """Whether the number of heads follows from the secret, so that `heads_shown` only bounds it."""
        return False

    def log2_secrets(self) -> float | None:
        """Return log2 of the number of secrets, rounded down if at all; None where they are not counted."""
        return None

    def model_secret(self) -> Secret | None:
        """Return a fixed secret whose layer has the conditions of any other's; None if they depend on it."""
        return None

    def concepts(self) -> Concepts | None:
        """Return the labels that statistical-query bounds and games are about; None where nothing is proved."""
        return None

    def certificate(self, teacher: Any) -> dict[str, Any]:
        """Return what is proved of a teacher, as JSON."""
        return {"method": "none: the layer follows from the secret"}

    def certificate_shown(self, certificate: dict[str, Any]) -> dict[str, Any]:
        """Return a certificate as anybody may know it: None for what depends on the secret."""
        return certificate

    def verify(self, teacher: Any, secret: Secret) -> Checks:
        """Check the certificate again: (name, ok, detail) each."""
        return []


@cache
def types_of(family: Any) -> Mapping[str, Any]:
    """Return the types of a family's fields, in order."""
    hints = get_type_hints(family)
    return {f.name: hints[f.name] for f in fields(family)}


def expect(secret: Secret, shapes: Mapping[str, tuple[str, tuple[int, ...]]]) -> None:
    """Raise `InputError` unless a secret holds arrays of these names, types and shapes, and finite numbers."""
    held = {name: (array.dtype.str, array.shape) for name, array in secret.items()}
    if held != dict(shapes):
        raise InputError(f"the secret must hold {dict(shapes)}, got {sanitize(held)}")
    for name, array in secret.items():
        all_finite(f"the secret's {name}", array)
