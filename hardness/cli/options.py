"""Commands made of a family: an option for every field, so that families of other packages have them too."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, fields
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from hardness.cli.common import MARKUP
from hardness.errors import InputError


def with_options(
    options: Iterable[Parameter], make: Callable[..., Any], run: Callable[..., None]
) -> Callable[..., None]:
    """`run` as typer reads it: its first argument is what `make` makes of `options`, which stand in its place.

    Raises `InputError` for an option that `run` has too.
    """
    fields, others = list(options), list(signature(run).parameters.values())[1:]
    if clash := {p.name for p in fields} & {p.name for p in others}:
        raise InputError(f"a field '{clash.pop()}' clashes with the option of every family; rename it")

    def call(**given: Any) -> None:
        run(make(**{p.name: given.pop(p.name) for p in fields}), **given)

    # Typer reads the options off the signature of a function.
    vars(call)["__signature__"] = Signature([p.replace(kind=p.KEYWORD_ONLY) for p in (*fields, *others)])
    return call


def command(verb: str, name: str, run: Callable[..., None], ending: str = "") -> TyperCommand:
    """The command ``hardness verb name``: `run` with an option for each field of the family, made into the family.

    `ending` ends the worked example. Raises `InputError` if there is no such family, or if a field clashes with an
    option of `run`.
    """
    from hardness import families
    from hardness.families.base import types_of

    family, types = families.get(name), types_of(families.get(name))
    known = fields(cast(Any, family))  # a dataclass
    options = [_option(f, types[f.name]) for f in known]
    required = (
        f"{families.option(p.name)} {p.name.upper()}" for p in options if p.default is Parameter.empty
    )
    app = typer.Typer(add_completion=False, rich_markup_mode=MARKUP)
    app.command(
        name,
        help=f"{family.summary[:1].upper()}{family.summary[1:]}. m: {family.heads_meaning}.",
        epilog=f"Example: hardness {verb} {name} {family.example or ' '.join(required)}{ending}",
    )(with_options(options, lambda **values: families.build(family, values), run))
    return cast(TyperCommand, typer.main.get_command(app))


def _option(f: "Field[Any]", hint: Any) -> Parameter:
    """The option of a field."""
    default = Parameter.empty if f.default is MISSING else f.default
    if f.default_factory is not MISSING:
        default = f.default_factory()
    annotation = Annotated[hint, typer.Option(help=f.metadata.get("help", ""))]
    return Parameter(f.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


class FamilyCommands(Mapping[str, TyperCommand]):
    """A command for every family, made when it is asked for: only the family named is imported."""

    def __init__(self, make: Callable[[str], TyperCommand]) -> None:
        self.make = make

    def __iter__(self) -> Iterator[str]:
        return iter(names())

    def __len__(self) -> int:
        return len(names())

    def __getitem__(self, name: str) -> TyperCommand:
        if name not in names() and ":" not in name:
            raise KeyError(name)
        return self.make(name)


class FamilyGroup(TyperGroup):
    """A group whose commands are the families; listing them imports none."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The registered families."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The names alone: what a family is and what it takes, it says itself."""
        with formatter.section("Families"):
            formatter.write_dl(
                [(name, f"options: {ctx.command_path} {name} --help") for name in self.commands]
            )


def names() -> list[str]:
    """The registered families."""
    from hardness import registry  # to list what is installed is slow: not before it is needed

    return registry.names("family")
