"""What a family is: `Family`, with a default for everything but how a secret is drawn and which layer it makes."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from inspect import getattr_static
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError
from hardness.families.concepts import Concepts
from hardness.gadgets.coefficients import Gadget, informative
from hardness.io.texts import sanitize
from hardness.layer import MultiHeadAttention
from hardness.tokens import Signs, TokenStream, Words, unpack

Secret = dict[str, NDArray[Any]]
Teacher = Gadget | MultiHeadAttention
MAX_INTEGER = 2**62  # of a parameter: beyond, arithmetic in 64 bits fails
COMPARED = 4096  # random inputs on which labels are compared with the concept class
UNSTATED = "Not stated"
SHOWN = ("log2_label_vectors", "heads_shown", "certificate_shown", "model_secret")
CLAIMS = ("hypothesis", "heads_meaning", "log2_secrets", "concepts", "certificate", "verify", *SHOWN)
NO_PART_OF_LABELS = (*CLAIMS, "name", "summary", "example", "check")


class Family(ABC):
    """Public parameters of a family of layers: a frozen dataclass derived from this one, whose fields they are.

    It must have a `dim`, a `hypothesis` under which its layers are hard (or "None: …"), `draw` and `realize`; whatever
    `draw` returns is the secret. All else has a default: two tokens, the class's name in lower case, the first line of
    its docstring as `summary`, labels without noise, and nothing proved. The help of a field stands in its metadata,
    ``field(metadata={"help": …})``, and an `example` of the options is what the command line shows.

    Equal seeds give unrelated secrets at different parameters, but for a field with ``"same_secret": True`` in its
    metadata: such a one says how examples are drawn, or which of several layers is made of one secret.

    **What is inherited.** `hypothesis`, `heads_meaning`, `log2_secrets`, `concepts`, `certificate` and `verify` are
    claims about secrets and labels. A class inherits a claim only as long as every method, property and constant of the
    class that states it is the same there; other defaults of fields, `name`, `summary`, `example`, `check` and methods
    with double underscores are free. So a class that redefines `draw`, `realize`, `labels`, or a helper of theirs,
    states its own claims (which may be ``concepts = Parent.concepts``) or has those of this class, none;
    `Instance.verify` then says no until it states a hypothesis, and compares its labels with the concepts it states.

    >>> from hardness.families.parity import Parity
    >>> class Shallow(Parity):
    ...     def draw(self, rng):
    ...         return {"support": np.arange(1, self.size + 1)}
    >>> Shallow.hypothesis, Shallow(dim=8, heads=2).concepts()
    ('Not stated: Shallow redefines draw of Parity and inherits no claim of it; state a hypothesis', None)
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    hypothesis: ClassVar[str] = f"{UNSTATED}; state a hypothesis"
    heads_meaning: ClassVar[str] = "number of heads"
    example: ClassVar[str] = ""
    dim: int
    tokens: int = 2
    bias: float = 0.0  # of the products of examples that are learned from (theory 2.9)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" not in vars(cls):
            cls.name = cls.__name__.lower()
        if "summary" not in vars(cls):
            cls.summary = (cls.__doc__ or cls.name).strip().partition("\n")[0].rstrip(".")
        for claim in CLAIMS:
            stater = next(base for base in cls.__mro__ if claim in vars(base))
            if changed := _redefined(cls, stater):
                setattr(cls, claim, vars(Family)[claim])
                if claim == "hypothesis":
                    told = f"{cls.__name__} redefines {', '.join(changed)} of {stater.__name__}"
                    cls.hypothesis = f"{UNSTATED}: {told} and inherits no claim of it; state a hypothesis"

    def __post_init__(self) -> None:
        """Raise `InputError` unless every field holds a value of its type; numpy's numbers become Python's."""
        for name, hint in types_of(type(self)).items():
            value = fitting(getattr(self, name), hint, f"parameter {name} of {self.name}")
            object.__setattr__(self, name, value)

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Secret:
        """A secret, drawn from `rng`: arrays by name."""

    @abstractmethod
    def realize(self, secret: Secret) -> Teacher:
        """The teacher that a secret makes."""

    def check(self, secret: Secret) -> None:  # noqa: B027  # most families of others have none
        """Raise `InputError` for arrays of a file that are no secret of this family; any are, unless it says."""

    def gadget_size(self) -> tuple[int | None, int]:
        """Heads of the gadget that a file holds, None for any number, and bits of one of several sharpnesses."""
        return None, 0

    def from_gadget(self, gadget: Gadget, secret: Secret) -> Teacher:
        """The teacher whose gadget, as a file holds it, is this one: of a layer that shows more, with the rest."""
        return gadget

    def labels(self, teacher: Any, words: Words, noise: NDArray[np.float64]) -> NDArray[np.float64]:
        """Labels (n, k, d) of packed tokens (n, k, words) as anybody may see them: of a gadget in closed form.

        `noise` (n,) holds a uniform number in (0, 1) per example; at 1/2 no label has noise.
        """
        return np.asarray(
            teacher.labels(words) if isinstance(teacher, Gadget) else teacher(unpack(words, self.dim))
        )

    def open_values(self, teacher: Any, words: Words, noise: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values (n,) of packed pairs (n, 2, words) with z_0 != 0: row a of the label is x_a[0] times that in column 0.

        Where labels have this form and the value depends on the bits u alone, states it; else raises `InputError`.
        """
        raise InputError(f"labels of {self.name} are no function of the bits in which two tokens differ")

    def closed_value(self, teacher: Any) -> float:
        """The same where z_0 = 0: C, the sum of the heads' coefficients."""
        return float(teacher.gate if isinstance(teacher, Gadget) else teacher.w[:, 0, 0].sum())

    def log2_label_vectors(self, X: Signs) -> float | None:
        """log2 of an upper bound on the vectors of noiseless labels that secrets give to inputs X (n, k, d) with
        z_0 != 0; None where they are not counted: no challenge then."""
        return None

    def heads_shown(self, teacher: Any) -> int:
        """The number of heads as anybody may know it: where it follows from the secret, the most that any takes."""
        return int(teacher.heads)

    def certificate_shown(self, certificate: dict[str, Any]) -> dict[str, Any]:
        """A certificate as anybody may know it: None for what depends on the secret."""
        return certificate

    def model_secret(self) -> Secret | None:
        """A fixed secret whose layer has the same non-degeneracy conditions as any other's; None if they depend on it.

        What is printed of an instance must be the same bytes for all secrets, unless the secret is asked for.
        """
        return None

    def log2_secrets(self) -> float | None:
        """log2 of the number of secrets, rounded down if at all; None where they are not counted: no challenge then."""
        return None

    def concepts(self) -> Concepts | None:
        """The class of labels that statistical-query bounds and games are about; None where nothing is proved."""
        return None

    def certificate(self, teacher: Any) -> dict[str, Any]:
        """What is proved of a teacher, as JSON."""
        return {"method": "none: the layer follows from the secret"}

    def verify(self, teacher: Any, secret: Secret) -> list[tuple[str, bool, str]]:
        """Re-check the certificate: (name, ok, detail) each."""
        return []


def _redefined(cls: type, stater: type) -> list[str]:
    """What a class has otherwise than the one that states a claim, of all that labels may be made of there."""
    free = {*NO_PART_OF_LABELS, *getattr(stater, "__dataclass_fields__", ())}
    names = dict.fromkeys(name for base in stater.__mro__[:-1] for name in vars(base) if name not in free)
    kept = (name for name in names if not name.startswith(("__", "_abc_")) and stater is not Family)
    return [name for name in kept if getattr_static(cls, name) is not getattr_static(stater, name)]


def disagreement(family: Family, concepts: Concepts, teacher: Teacher, secret: Secret) -> str | None:
    """How labels differ from those of a concept class on random inputs; None if they agree.

    They must be x_a[0] (A + g) on row a, column 0, where z_0 != 0, g being what the class says of the secret, and
    x_a[0] C elsewhere, with numbers A and C, and 0 in all other columns. Of labels that are wrong on a share p of all
    inputs this misses (1 - p)^4096, with fewer inputs beyond dim 256.

    >>> from hardness.families.parity import Parity
    >>> parity = Parity(dim=8, heads=2)
    >>> secret, other = ({"support": np.array(places)} for places in ([1, 2], [1, 3]))
    >>> disagreement(parity, parity.sets, parity.realize(secret), secret) is None
    True
    >>> disagreement(parity, parity.sets, parity.realize(secret), other)
    'labels differ from those of parity of 2 out of 7 bits on 24% of 4096 random inputs'
    """
    count = min(COMPARED, max(32, 2**20 // family.dim))
    words = TokenStream(0, family.tokens, family.dim).packed(0, count)
    X, Y = unpack(words, family.dim), family.labels(teacher, words, np.full(count, 0.5))
    try:
        g = concepts.target(secret, X)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        return f"the secret is none of {concepts.label}: {sanitize(error)}"
    gate, is_open = X[:, 0, 0], informative(X)
    A, C = np.median((Y[:, 0, 0] * gate - g)[is_open]), np.median((Y[:, 0, 0] * gate)[~is_open])
    right = np.zeros(Y.shape)
    right[:, :, 0] = X[:, :, 0] * np.where(is_open, A + g, C)[:, None]
    wrong = (~np.isclose(Y, right, rtol=0, atol=1e-9 * (1 + abs(A) + abs(C)))).any(axis=(1, 2)).mean()
    return (
        f"labels differ from those of {concepts.label} on {wrong:.0%} of {count} random inputs"
        if wrong
        else None
    )


@cache
def types_of(family: Any) -> Mapping[str, Any]:
    """The types of a family's fields, in order. Raises `InputError` for one that a command line cannot spell."""
    try:
        hints = get_type_hints(family)
    except NameError as error:  # an annotation as text, of a name that only type checkers import
        raise InputError(f"the types of family {family.name} cannot be read: {error}") from error
    types = {f.name: hints[f.name] for f in fields(family)}
    for name, hint in types.items():
        whole = get_origin(hint) in (Union, UnionType)
        kinds = {kind for kind in (get_args(hint) if whole else (hint,)) if kind is not NoneType}
        texts = all(
            get_origin(kind) is Literal and all(type(x) is str for x in get_args(kind)) for kind in kinds
        )
        if len(kinds) != 1 or not (texts or kinds <= {int, float, str, bool}):
            raise InputError(
                f"field {name} of family {family.name} has the type {getattr(hint, '__name__', hint)}; give it int, "
                "float, str, bool or a Literal of texts, or one of them or None"
            )
    return types


def fitting(value: Any, hint: Any, what: str) -> Any:
    """`value`, as a Python number, if it is of the type of a field: True is no integer, 1 is a float.

    >>> fitting("2", int, "heads")
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: heads must be of type int, got '2'
    """
    value = value.item() if isinstance(value, np.generic) else value
    kinds = get_args(hint) if get_origin(hint) in (Literal, Union, UnionType) else (hint,)
    alike = type(value) in kinds or (type(value) is int and float in kinds)
    fits = value in kinds if get_origin(hint) is Literal else alike
    if fits and isinstance(value, int) and abs(value) >= MAX_INTEGER:
        raise InputError(
            f"{what} must be below 2^{MAX_INTEGER.bit_length() - 1} in size, got {sanitize(repr(value), 60)}"
        )
    if fits:
        return value
    kind = (
        " or ".join(get_args(hint))
        if get_origin(hint) is Literal
        else f"of type {getattr(hint, '__name__', hint)}"
    )
    raise InputError(f"{what} must be {kind}, got {sanitize(repr(value), 60)}")


def expect(secret: Secret, shapes: Mapping[str, tuple[str, tuple[int, ...]]]) -> None:
    """Raise `InputError` unless a secret holds arrays of these names, types and shapes, and finite numbers.

    >>> expect({"w": np.zeros(3, np.int64)}, {"w": ("<i8", (4,))})
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: the secret's w must be <i8 of shape (4,), got <i8 of shape (3,)
    """
    if secret.keys() != shapes.keys():
        got = sanitize(", ".join(sorted(secret)) or "nothing")
        raise InputError(f"the secret must hold {', '.join(shapes)}, got {got}")
    for name, (kind, shape) in shapes.items():
        array = secret[name]
        if (array.dtype.str, array.shape) != (kind, shape):
            got = f"{array.dtype.str} of shape {array.shape}"
            raise InputError(f"the secret's {name} must be {kind} of shape {shape}, got {got}")
        if not np.isfinite(array).all():
            raise InputError(f"the secret's {name} must hold finite numbers")
