"""Families of instances: validated parameters -> secret -> teacher.

A family is a frozen dataclass of its public parameters, registered under the entry point `hardness.families`;
`Family` says what it must offer. The help of a field stands in its metadata, ``field(metadata={"help": …})``, and an
`example` of the options, where the family has one, is what the command line shows.
"""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from shlex import quote
from types import UnionType
from typing import Any, ClassVar, Literal, Protocol, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.errors import InputError, unknown
from hardness.families.concepts import Concepts
from hardness.gadgets.coefficients import Gadget
from hardness.io.texts import shown
from hardness.layer import MultiHeadAttention
from hardness.tokens import Words

Secret = dict[str, NDArray[Any]]
Teacher = Gadget | MultiHeadAttention
MOST = 2**62  # of an integer parameter: beyond, arithmetic in 64 bits fails


class Family(Protocol):
    """Public parameters of a family; the constructor validates them and raises `InputError`.

    Whatever `draw` returns is the secret; `realize` makes the teacher of it; `labels` are the labels of that teacher
    as anybody may see them: closed form, label noise included. `certificate` says what is proved of a teacher, as
    JSON, and `verify` re-checks it: (name, ok, detail) each. `concepts` is the class of labels that statistical-query
    bounds and games are about, None where the lab proves nothing. A family may also offer `check(secret)`, which raises
    `InputError` for arrays that are no secret of its own: what a file holds is a stranger's.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    hypothesis: ClassVar[str]
    heads_meaning: ClassVar[str]

    @property
    def dim(self) -> int: ...
    @property
    def tokens(self) -> int: ...
    def draw(self, rng: np.random.Generator) -> Secret: ...
    def realize(self, secret: Secret) -> Teacher: ...
    def labels(self, teacher: Any, words: Words, noise: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def certificate(self, teacher: Any) -> dict[str, Any]: ...
    def verify(self, teacher: Any, secret: Secret) -> list[tuple[str, bool, str]]: ...
    def cost(self) -> dict[str, float]: ...
    def concepts(self) -> Concepts | None: ...


MEMBERS = [*Family.__annotations__, *(name for name in vars(Family) if not name.startswith("_"))]


def get(name: str) -> type[Family]:
    """The family registered as `name`, or behind ``package.module:Name``.

    Raises `InputError` if there is none, or if what stands there is no family; nothing of it is called.

    >>> get("parity").__name__
    'Parity'
    >>> get("fractions:Fraction")
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: fractions:Fraction is not a family: a family is a frozen dataclass with name, ...
    """
    found: Any = registry.get("family", name)
    if not (isinstance(found, type) and is_dataclass(found)):
        raise InputError(f"{name} is not a family: a family is a frozen dataclass with {', '.join(MEMBERS)}")
    has = {f.name for f in fields(found)}
    lacking = [member for member in MEMBERS if member not in has and not hasattr(found, member)]
    if lacking:
        raise InputError(f"{name} is not a family: it lacks {', '.join(lacking)}")
    return cast(type[Family], found)


def build(name: str | type[Family], parameters: Mapping[str, Any]) -> Family:
    """The family `name`, or of that class, with these parameters, such as a file states.

    Raises `InputError` for one that is unknown, missing, of another type than its field or refused by the family.

    >>> build("parity", {"dim": 8, "heads": "2"})
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: parameter heads of parity must be of type int, got '2'
    """
    family, found = (get(name) if isinstance(name, str) else name), {}
    name = getattr(family, "name", family.__name__)
    kind = cast(Any, family)  # a dataclass
    try:
        hints = get_type_hints(family)
    except NameError as error:
        raise InputError(f"the types of family {name} cannot be read: {error}") from error
    for f in fields(kind):
        if f.name in parameters:
            value = parameters[f.name]
            value = value.item() if isinstance(value, np.generic) else value
            found[f.name] = _fitting(value, hints[f.name], f"parameter {f.name} of {name}")
        elif f.default is MISSING and f.default_factory is MISSING:
            raise InputError(f"{name} lacks its parameter {f.name}")
    if strange := sorted(parameters.keys() - found.keys()):
        raise unknown(f"parameter of {name}", shown(strange[0]), [f.name for f in fields(kind)])
    try:
        return cast(Family, kind(**found))
    except InputError:
        raise
    except (TypeError, ValueError, ArithmeticError) as error:  # of a family that does not know `InputError`
        raise InputError(f"{name} refuses its parameters: {shown(error)}") from error


def _fitting(value: Any, hint: Any, what: str) -> Any:
    """`value` if it is of the type of a field: True is no integer, 1 is a float."""
    if get_origin(hint) is Literal:
        fits = value in get_args(hint)
    else:
        kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        fits = type(value) in kinds or (type(value) is int and float in kinds)
    if fits and isinstance(value, int) and abs(value) >= MOST:
        raise InputError(f"{what} must be below 2^{MOST.bit_length() - 1} in size, got {shown(repr(value), 60)}")
    if fits:
        return value
    kind = " or ".join(get_args(hint)) if get_origin(hint) is Literal else f"of type {getattr(hint, '__name__', hint)}"
    raise InputError(f"{what} must be {kind}, got {shown(repr(value), 60)}")


def check_types(family: Any) -> None:
    """Raise `InputError` unless every field of a family holds a value of its type; numpy's integers become Python's.

    >>> get("parity")(dim=8.0, heads=2)
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: parameter dim of parity must be of type int, got 8.0
    """
    for name, hint in _hints(cast(Any, type(family))).items():
        value = getattr(family, name)
        if isinstance(value, np.generic):
            value = value.item()
            object.__setattr__(family, name, value)
        _fitting(value, hint, f"parameter {name} of {family.name}")


@cache
def _hints(family: Any) -> dict[str, Any]:
    hints = get_type_hints(family)
    return {f.name: hints[f.name] for f in fields(family)}


def expect(secret: Secret, shapes: Mapping[str, tuple[str, tuple[int, ...]]]) -> None:
    """Raise `InputError` unless a secret holds arrays of these names, types and shapes, and finite numbers.

    >>> expect({"w": np.zeros(3, np.int64)}, {"w": ("<i8", (4,))})
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: the secret's w must be <i8 of shape (4,), got <i8 of shape (3,)
    """
    if secret.keys() != shapes.keys():
        raise InputError(
            f"the secret must hold {', '.join(shapes)}, got {shown(', '.join(sorted(secret)) or 'nothing')}"
        )
    for name, (kind, shape) in shapes.items():
        array = secret[name]
        if (array.dtype.str, array.shape) != (kind, shape):
            got = f"{array.dtype.str} of shape {array.shape}"
            raise InputError(f"the secret's {name} must be {kind} of shape {shape}, got {got}")
        if not np.isfinite(array).all():
            raise InputError(f"the secret's {name} must hold finite numbers")


def option(parameter: str) -> str:
    """How the command line spells a parameter.

    >>> option("max_weight")
    '--max-weight'
    """
    return "--" + parameter.replace("_", "-")


def parameters(family: Family) -> dict[str, Any]:
    """The parameters of a family as files name them: all, defaults included, but for switches that are off.

    A field with ``"switch": True`` in its metadata is one that came later: a file says nothing of it while it has its
    default, and is, byte for byte, what it was before.

    >>> parity = get("parity")
    >>> parameters(parity(dim=8, heads=2)).keys() ^ parameters(parity(dim=8, heads=2, bias=0.5)).keys()
    {'bias'}
    """
    known = fields(cast(Any, family))
    values = {f.name: (getattr(family, f.name), f) for f in known}
    return {name: value for name, (value, f) in values.items() if not f.metadata.get("switch") or value != f.default}


def options_of(family: Family) -> list[str]:
    """The options of `hardness generate` that give these parameters.

    >>> options_of(get("rounding")(dim=6, modulus=4, levels=2, exact=True))
    ['--dim 6', '--modulus 4', '--levels 2', '--gadget diag', '--noise 0.0', '--exact']
    """
    found = []
    defaults = {f.name: f.default for f in fields(cast(Any, family))}
    for name, given in parameters(family).items():
        match given:
            case None:
                pass
            case True:
                found.append(option(name))
            case False:
                found += [] if defaults[name] is False else [option(f"no_{name}")]
            case value:
                found.append(f"{option(name)} {quote(str(value))}")
    return found


def name_of(family: Family) -> str:
    """The name under which `get` finds the class of a family: the registered one, or ``package.module:Name``.

    >>> name_of(get("parity")(dim=8, heads=2))
    'parity'
    """
    own = type(family)
    if family.name in registry.points("family") and registry.get("family", family.name) is own:
        return family.name
    return f"{own.__module__}:{own.__qualname__}"
