"""Commands made of a family: an option for every field, so that families of other packages have them too."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, cast, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from hardness.cli.common import MARKUP
from hardness.errors import InputError, unknown

if TYPE_CHECKING:
    from hardness.families import Family

SPELLED = (int, float, str, bool)  # what a command line and the JSON of a file can both say
KEYWORD = inspect.Parameter.KEYWORD_ONLY


def command(
    name: str, run: Callable[..., None], *, verb: str, target: inspect.Parameter | None = None, ending: str = ""
) -> TyperCommand:
    """The command ``hardness verb name``: `run` with an option for each field of the family, made into the family.

    `run` takes ``family`` and keywords of its own, which stay options; `target` is the argument that holds the name,
    where that is still on the line; `ending` ends the worked example. Raises `InputError` if there is no such family,
    or if a field clashes with an option of `run` or has a type that cannot be spelled.
    """
    from hardness import families

    family = families.get(name)
    own = [p for p in inspect.signature(run).parameters.values() if p.name != "family"] + ([target] if target else [])
    made = {f.name: _parameter(f, hint) for f, hint in _fields(family)}
    clash = made.keys() & {p.name for p in own}
    if clash:
        raise InputError(f"family {name} has a field '{clash.pop()}', which is an option of every family; rename it")

    def call(**given: Any) -> None:
        values = {field: given.pop(field) for field in made}
        missing = [families.option(f.name) for f, _ in _fields(family) if _required(f) and values[f.name] is None]
        if missing:
            raise InputError(f"{verb} {name} needs {' '.join(missing)}")
        if target:
            del given[target.name]
        run(family=_make(family, values), **given)

    # Typer reads the options off the signature of a function.
    parameters = [*made.values(), *(p.replace(kind=KEYWORD) for p in own)]
    vars(call)["__signature__"] = inspect.Signature(parameters)
    example = getattr(family, "example", "") or " ".join(
        f"{families.option(f.name)} {f.name.upper()}" for f, _ in _fields(family) if _required(f)
    )
    app = typer.Typer(add_completion=False, rich_markup_mode=MARKUP)
    text = f"{family.summary[:1].upper()}{family.summary[1:]}. m: {family.heads_meaning}."
    app.command(
        name,
        help=text,
        epilog=f"Example: hardness {verb} {name} {example}{ending}",
        no_args_is_help=any(_required(f) for f, _ in _fields(family)),
    )(call)
    made_command = typer.main.get_command(app)
    assert isinstance(made_command, TyperCommand)
    return made_command


def _fields(family: "type[Family]") -> Iterator[tuple[Field[Any], Any]]:
    """The fields and their types. Raises `InputError` for one that the command line cannot spell."""
    from hardness.families.base import types_of

    hints = types_of(family)
    for f in fields(cast(Any, family)):  # a dataclass
        kind = _plain(hints[f.name])
        if kind not in SPELLED and not (get_origin(kind) is Literal and all(type(x) is str for x in get_args(kind))):
            raise InputError(f"field {f.name} of family {family.name} is no int, float, str or bool, nor one or None")
        yield f, hints[f.name]


def _plain(hint: Any) -> Any:
    """The type of an option's value; None if it has several.

    >>> _plain(int | None), _plain(Literal["diag", "dot"]), _plain(int | str)
    (<class 'int'>, typing.Literal['diag', 'dot'], None)
    """
    if get_origin(hint) in (Union, UnionType):
        kinds = [kind for kind in get_args(hint) if kind is not NoneType]
        return _plain(kinds[0]) if len(kinds) == 1 else None
    return hint


def _required(f: "Field[Any]") -> bool:
    return f.default is MISSING and f.default_factory is MISSING


def _parameter(f: "Field[Any]", hint: Any) -> inspect.Parameter:
    """The option of a field, as typer reads it off a function."""
    from hardness.families import option

    kind, default = _plain(hint), None if f.default is MISSING else f.default
    if f.default_factory is not MISSING:
        default = f.default_factory()
    # Options that are missing are told all at once, by the command, and not one by one, by the parser.
    text = f.metadata.get("help", "") + ("  [required]" if _required(f) else "")
    names = [option(f.name)] if kind is not bool or default is False else [f"{option(f.name)}/{option(f'no_{f.name}')}"]
    annotation: Any = Annotated[kind | None if default is None else kind, typer.Option(*names, help=text)]
    return inspect.Parameter(f.name, KEYWORD, default=default, annotation=annotation)


def _make(family: "type[Family]", values: Mapping[str, Any]) -> "Family":
    try:
        return family(**values)
    except (TypeError, ValueError) as error:  # of a family that does not know `InputError`
        raise error if isinstance(error, InputError) else InputError(f"{family.name}: {error}") from error


class FamilyCommands(Mapping[str, TyperCommand]):
    """A command for every family, made when it is asked for: only the family named is imported."""

    def __init__(self, make: Callable[[str], TyperCommand]) -> None:
        self.make = make

    def __iter__(self) -> Iterator[str]:
        return iter(_families())

    def __len__(self) -> int:
        return len(_families())

    def __getitem__(self, name: str) -> TyperCommand:
        if name not in _families() and ":" not in name:
            raise KeyError(name)
        return self.make(name)


class OfFamilies(TyperGroup, ABC):
    """A group whose commands are the families; subclasses say how `make` makes one."""

    @staticmethod
    @abstractmethod
    def make(name: str) -> TyperCommand:
        """The command of the family `name`."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands: Any = FamilyCommands(self.make)

    def list_commands(self, ctx: Any) -> list[str]:
        """The registered families; looking them up imports none."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The names alone: what a family is and what it takes, it says itself."""
        with formatter.section("Families"):
            formatter.write_dl([(name, f"options: {ctx.command_path} {name} --help") for name in self.commands])


class OfFileOrFamily(TyperCommand, ABC):
    """A command on a file that becomes the command of a family where the line names one, wherever in it."""

    @staticmethod
    @abstractmethod
    def make(name: str) -> TyperCommand:
        """The command of the family `name`, whose first argument is that name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the line, as the family's if there is one in it. Raises `InputError` for a misspelt family."""
        known = _families()
        words = [word for word in args if not word.startswith("-") and (word in known or not Path(word).exists())]
        name = next((word for word in words if word in known or ":" in word), None)
        if name is not None:
            of_family = self.make(name)
            self.params, self.callback = of_family.params, of_family.callback
            self.help, self.epilog = of_family.help, of_family.epilog
        elif words and _near(words[0], known):
            raise unknown("family", words[0], known)
        return super().parse_args(ctx, args)


def _families() -> list[str]:
    from hardness import registry  # to list what is installed is slow: not before it is needed

    return registry.names("family")


def _near(word: str, known: list[str]) -> bool:
    from difflib import get_close_matches

    return bool(get_close_matches(word, known, n=1, cutoff=0.7))
