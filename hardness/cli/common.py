"""What every command shares: where data and talk go, options that mean the same everywhere, options of a family."""

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer
from typer.core import TyperCommand, TyperGroup

from hardness.errors import InputError
from hardness.io.texts import printable

if TYPE_CHECKING:
    from hardness.instance import Instance

# What makes no difference to the rows: left out where a page says which command made them.
INCIDENTAL = ("out", "workers", "scheduler", "retry", "dry_run", "as_json")
# Help in panels is for eyes alone
MARKUP: Literal["markdown"] | None = "markdown" if sys.stdout.isatty() else None
GUESSABLE = 2**60  # seeds below can be tried, all of them
OUTPUT, RESOURCES = "Output", "Resources"  # panels of options
INSTANCES, SOLVERS, EXPERIMENTS = "Instances", "Solvers", "Experiments"  # panels of commands
Json = Annotated[
    bool, typer.Option("--json", help="Print exactly one JSON object on stdout.", rich_help_panel=OUTPUT)
]
Force = Annotated[bool, typer.Option("--force", help="Replace what --out names.", rich_help_panel=OUTPUT)]
Workers = Annotated[
    int | None,
    typer.Option(min=0, help="Processes; 0: this one; default: one a CPU.", rich_help_panel=RESOURCES),
]
Scheduler = Annotated[
    str | None, typer.Option(help="A Dask scheduler, tcp://HOST:PORT.", rich_help_panel=RESOURCES)
]
Seed = Annotated[
    int | None, typer.Option(min=0, help="Any integer >= 0; drawn with 128 bits and recorded if absent.")
]


def group(text: str, example: str, **settings: Any) -> typer.Typer:
    """A group of commands that shows its help where no command is named."""
    return typer.Typer(no_args_is_help=True, help=text, epilog=f"Example: hardness {example}", **settings)


def emit(as_json: bool, payload: Mapping[str, Any], lines: Iterable[str]) -> None:
    """Data to stdout: the payload as one JSON object, or the lines for people.

    >>> emit(True, {"queries": 148}, ["148 queries"])
    {"queries": 148}

    Raises `InputError` if stdout cannot hold it (a full disk); a closed pipe is nobody's error.
    """
    try:
        print(json.dumps(payload) if as_json else "\n".join(printable(line) for line in lines))
        sys.stdout.flush()
    except BrokenPipeError:
        abandon_stdout()
    except OSError as error:
        abandon_stdout()
        raise InputError(
            f"cannot write to stdout: {error.strerror}; free some space or redirect it"
        ) from error


def abandon_stdout() -> None:
    """Drop what stdout still buffers: it cannot be written, and the interpreter would try again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def first_line(thing: Any) -> str:
    """The first line of a docstring: what a list says of a thing; nothing where there is none."""
    return (thing.__doc__ or "").strip().partition("\n")[0]


def listed(kind: str) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """What is registered of a kind, by name, and what of it cannot be loaded: one line on stderr each, and as JSON."""
    from hardness import families, registry

    loaded: dict[str, Any] = {}
    broken = []
    for name in registry.names(kind):
        try:
            loaded[name] = families.get(name) if kind == "family" else registry.get(kind, name)
        except InputError as error:
            broken.append({"name": name, "error": str(error)})
            talk(f"skipped: {error}")
    return loaded, broken


def complete(kind: str) -> Callable[[str], list[str]]:
    """Completion of a registered name, of a "study" or of an instance of the "suite"; what is heavy is not imported."""

    def names(incomplete: str) -> list[str]:
        from hardness import registry
        from hardness.studies import catalog

        if kind == "suite":
            pinned = Path(registry.__file__).parent / "instance" / "suite.json"
            known = json.loads(pinned.read_text())["digests"]
        else:
            known = catalog.names() if kind == "study" else registry.names(kind)
        return [name for name in known if name.startswith(incomplete)]

    return names


def emit_registered(kind: str, kinds: str, as_json: bool, more: Mapping[str, Any] | None = None) -> None:
    """Print what is registered of a kind, and `more`: names, and the first line of what each says of itself."""
    loaded, broken = listed(kind)
    things = {**loaded, **(more or {})}
    emit_list(
        kinds, [{"name": name, "summary": first_line(things[name])} for name in things], broken, as_json
    )


def emit_list(
    kinds: str, rows: Sequence[Mapping[str, str]], broken: Sequence[Mapping[str, str]], as_json: bool
) -> None:
    """Print a line of name and summary for each row, and a line below it for each further entry."""
    lines = []
    for row in rows:
        name, summary, *others = row
        lines.append(f"{row[name]:18} {row[summary]}")
        lines += [f"{'':18} {other}: {row[other]}" for other in others]
    emit(as_json, {kinds: rows, "broken": broken}, lines)


def refuse_existing(out: Path, force: bool) -> None:
    """Raise `InputError` for a file that is there, unless forced: with an instance a drawn seed would be lost."""
    if out.is_file() and not force:
        raise InputError(f"{out} exists; name another --out, or say --force to replace it")


def warn_of_seed(instance: "Instance") -> None:
    """Say on stderr that a seed is small: whoever tries all of them has the secret, and the noise of the examples."""
    if instance.seed < GUESSABLE:
        talk(
            f"warning: the instance's seed has {instance.seed.bit_length()} bits and can be found by trying seeds, and "
            "with it the secret and the label noise; generate without --seed to draw one of 128 bits"
        )


def talk(line: str) -> None:
    """Talk to stderr, so that piped data stays clean."""
    print(printable(line), file=sys.stderr, flush=True)


def typed(context: typer.Context) -> str:
    """The command line of a context, in one order, without what makes no difference to the rows."""
    words = context.command_path.split()
    for option in context.command.params:
        value = context.params.get(str(option.name))
        if option.name in INCIDENTAL or value in (None, [], (), False) or value == option.default:
            continue
        for each in value if isinstance(value, list | tuple) else [value]:
            flag = [] if option.param_type_name == "argument" else [option.opts[0]]
            words += flag if each is True else [*flag, str(each)]
    return shlex.join(words)


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
        return iter(family_names())

    def __len__(self) -> int:
        return len(family_names())

    def __getitem__(self, name: str) -> TyperCommand:
        if name not in family_names() and ":" not in name:
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


def family_names() -> list[str]:
    """The registered families."""
    from hardness import registry

    return registry.names("family")
