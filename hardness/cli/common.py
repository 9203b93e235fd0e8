"""What every command shares: where data and talk go, options that mean the same everywhere, options of a family."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand

from hardness.errors import InputError
from hardness.io.texts import printable


def option(text: str, *names: str, **more: Any) -> Any:
    """Return a typer option with the help `text` and the flags `names`; `more` goes to `typer.Option`."""
    return typer.Option(*names, help=text, **more)


def argument(text: str, **more: Any) -> Any:
    """Return a typer argument with the help `text`; `more` goes to `typer.Argument`."""
    return typer.Argument(help=text, **more)


Json = Annotated[bool, option("Print exactly one JSON object on stdout.", "--json")]
Force = Annotated[bool, option("Replace what --out names.", "--force")]
Workers = Annotated[int | None, option("Processes; 0: this one; default: one a CPU.", min=0)]
Scheduler = Annotated[str | None, option("A Dask scheduler, tcp://HOST:PORT.")]
Seed = Annotated[int | None, option("Any integer >= 0; drawn with 128 bits and recorded if absent.", min=0)]


def group(text: str, example: str, **settings: Any) -> typer.Typer:
    """Return a typer group, with `settings`, that prints the help `text` and an example if no subcommand follows."""
    example = f"Example: hardness {example}"
    return typer.Typer(no_args_is_help=True, help=text, epilog=example, rich_markup_mode=None, **settings)


def emit(as_json: bool, payload: Mapping[str, Any], lines: Iterable[str]) -> None:
    """Print data to stdout: `payload` as one JSON object if `as_json`, else `lines` for people.

    >>> emit(True, {"queries": 148}, ["148 queries"])
    {"queries": 148}

    Raises `InputError` if stdout cannot hold it (a full disk); a closed pipe is no error.
    """
    try:
        print(json.dumps(payload) if as_json else "\n".join(map(printable, lines)))
        sys.stdout.flush()
    except OSError as error:
        # What stdout still buffers is dropped, or the interpreter would try to write it again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise InputError(f"cannot write to stdout: {error.strerror}; redirect it") from error


def talk(line: str) -> None:
    """Print a line to stderr, so that piped data stays clean."""
    print(printable(line), file=sys.stderr, flush=True)


def emit_registered(
    kind: str,
    kinds: str,
    as_json: bool,
    more: Mapping[str, Any] | None = None,
    about: Callable[[Any], dict[str, str]] | None = None,
) -> None:
    """Print name and summary of everything registered of a `kind`, such as "learner", and of what `more` holds by name.

    The list stands under the key `kinds` in JSON. `about` maps a thing to texts to print, by default the first line of
    its docstring. What cannot be loaded gets a line on stderr, and an entry under the key "broken".
    """
    from hardness import registry

    rows, broken = [], []
    for name, thing in (*registry.loaded(kind), *(more or {}).items()):
        if isinstance(thing, InputError):
            broken.append({"name": name, "error": str(thing)})
            talk(f"skipped: {thing}")
        elif about is None:
            rows.append({"name": name, "summary": (thing.__doc__ or "").strip().partition("\n")[0]})
        else:
            rows.append({"name": name, **about(thing)})
    lines = []
    for row in rows:
        lines.append(f"{row['name']:18} {row['summary']}")
        lines += [f"{'':18} {key}: {row[key]}" for key in row if key not in ("name", "summary")]
    emit(as_json, {kinds: rows, "broken": broken}, lines)


def emit_checks(as_json: bool, checks: Iterable[Any], **more: Any) -> None:
    """Print checks (name, ok, detail), with `more` entries in JSON, and exit with code 1 if one failed."""
    listed = [check._asdict() for check in checks]
    passed = all(check["ok"] for check in listed)
    lines = [f"{'ok' if c['ok'] else 'NO':3} {c['name']}: {c['detail']}".rstrip(": ") for c in listed]
    emit(as_json, {"ok": passed, **more, "checks": listed}, [*lines, "ok" if passed else "NOT ok"])
    if not passed:
        raise typer.Exit(1)


def refuse_existing(out: Path, force: bool) -> None:
    """Raise `InputError` if the file `out` exists, unless `force`: to overwrite an instance would lose its seed."""
    if out.is_file() and not force:
        raise InputError(f"{out} exists; name another --out, or say --force to replace it")


def with_options(
    options: Iterable[Parameter], make: Callable[..., Any], run: Callable[..., None]
) -> Callable[..., None]:
    """Return a function for typer that takes `options` and those of `run`, and calls `run(make(**options), …)`.

    Raises `InputError` for an option that `run` has too.
    """
    fields, others = list(options), list(signature(run).parameters.values())[1:]
    if clash := {p.name for p in fields} & {p.name for p in others}:
        raise InputError(f"a field '{clash.pop()}' clashes with the option of every family; rename it")

    def call(**given: Any) -> None:
        run(make(**{p.name: given.pop(p.name) for p in fields}), **given)

    # Typer reads the options off the signature of a function.
    vars(call)["__signature__"] = Signature([p.replace(kind=p.KEYWORD_ONLY) for p in (*fields, *others)])
    vars(call)["__doc__"] = run.__doc__
    return call


def command(verb: str, name: str, run: Callable[..., None], ending: str = "") -> TyperCommand:
    """Return the command ``hardness verb name``, with an option for each field of the family `name`, for typer.

    The command builds the family from its options and calls `run` with it. `ending` follows the example in its help.
    Raises `InputError` for an unknown family, and if a field has the name of an option of `run`.
    """
    from hardness import families
    from hardness.families.base import types_of

    family = families.get(name)
    options, required = [], []
    for field in fields(cast(Any, family)):  # a dataclass
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if default is MISSING:
            required.append(f"{families.option(field.name)} {field.name.upper()}")
            default = Parameter.empty
        hint: Any = types_of(family)[field.name]
        hint = Annotated[hint, option(field.metadata.get("help", ""))]
        options.append(Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hint))
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(
        name,
        help=f"{family.summary[:1].upper()}{family.summary[1:]}. m: {family.heads_meaning}.",
        epilog=f"Example: hardness {verb} {name} {family.example or ' '.join(required)}{ending}",
    )(with_options(options, lambda **values: families.build(family, values), run))
    return cast(TyperCommand, typer.main.get_command(app))


def family_names() -> list[str]:
    """Return the names of the registered families."""
    from hardness import registry

    return registry.names("family")
