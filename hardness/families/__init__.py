"""Families of instances: validated parameters -> secret -> teacher.

A family is a frozen dataclass of its public parameters, registered under the entry point `hardness.families`;
`Family` says what it must offer. The help of a field stands in its metadata, ``field(metadata={"help": …})``, and an
`example` of the options, where the family has one, is what the command line shows.
"""

from dataclasses import fields, is_dataclass
from shlex import quote
from typing import Any, ClassVar, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from hardness import registry
from hardness.concepts import Concepts
from hardness.errors import InputError
from hardness.examples import Words
from hardness.gadget import Gadget
from hardness.layer import MultiHeadAttention

Secret = dict[str, NDArray[Any]]
Teacher = Gadget | MultiHeadAttention


class Family(Protocol):
    """Public parameters of a family; the constructor validates them and raises `InputError`.

    Whatever `draw` returns is the secret; `realize` makes the teacher of it; `labels` are the labels of that teacher
    as anybody may see them: closed form, label noise included. `certificate` says what is proved of a teacher, as
    JSON, and `verify` re-checks it: (name, ok, detail) each. `concepts` is the class of labels that statistical-query
    bounds and games are about, None where the lab proves nothing.
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
