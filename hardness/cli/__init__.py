"""The command line: a thin skin over the library."""

import shlex
import sys
from collections.abc import Callable
from functools import cache
from io import TextIOWrapper
from typing import Annotated

import typer
from typer.exceptions import TyperException

from hardness.cli import attack, instances, questions, sq, study, suite
from hardness.cli.common import emit
from hardness.cli.learn import learn, learners
from hardness.errors import InputError
from hardness.io.texts import sanitize

ERROR_CHARACTERS = 1500  # characters of an error: a file's name may have as many as it likes

app = typer.Typer(
    name="hardness",
    help="The lab for the question: how hard is it to learn a multi-head attention layer?",
    epilog="Example: hardness generate parity --dim 64 --heads 12 --seed 0 --out hard.safetensors",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (
    instances.families,
    instances.inspect,
    instances.verify,
    instances.export,
    instances.sample,
    learn,
    learners,
    study.sweep,
    questions.ray,
    questions.board,
    questions.records,
    questions.plot,
    questions.cite,
    questions.validate,
):
    app.command()(command)
for name, group in (("generate", instances.generate_app), ("study", study.app), ("suite", suite.app)):
    app.add_typer(group, name=name)
attack.register(app)
sq.register(app)


@app.callback()
def top(
    context: typer.Context, show: Annotated[bool, typer.Option("--version", help="Print it.")] = False
) -> None:
    """Print the version if `show`, or the help if no command follows."""
    if show:
        version()
    elif context.invoked_subcommand is None:
        print(context.get_help())


def version() -> None:
    """Print the version of the installed package."""
    from importlib import metadata

    print(metadata.version("attention-hardness"))


# What needs no parser: that of typer takes longer than these commands.
SHORT: dict[tuple[str, ...], Callable[[], None]] = {
    ("--version",): version,
    ("families",): instances.families,
}
commands = cache(typer.main.get_command)  # read off the signatures of all functions: some ten milliseconds


def main() -> None:
    """Run the command line and exit: code 0 done, 1 a negative answer, 2 bad usage or input, 130 interrupted."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run the command in `arguments`, the words after the program's name, and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A name that is no text, such as a file's, can be said
            stream.reconfigure(errors="backslashreplace")
    try:
        if short := SHORT.get(tuple(arguments)):
            short()
            return 0
        line = shlex.join(["hardness", *arguments])  # which stores note
        return int(commands(app)(arguments, prog_name="hardness", standalone_mode=False, obj=line) or 0)
    except TyperException as error:
        context = getattr(error, "ctx", None)
        # It needs some, and has none
        if context is not None and context.command_path.split()[1:] == arguments:
            emit(False, {}, [context.get_help()])
            return 0
        return _refuse(error.format_message())
    except InputError as error:
        return _refuse(str(error))
    except (OSError, UnicodeError, RecursionError, OverflowError) as error:
        # A name too long or too deep for the system, bytes that are no text, a number beyond all bounds.
        return _refuse(f"{type(error).__name__}: {error}; give a smaller or shorter one")
    except MemoryError as error:
        return _refuse(f"too large for this machine ({error}); lower the largest number given")
    except typer.Abort:
        return 130


def _refuse(message: str) -> int:
    print(f"error: {sanitize(' '.join(message.split()), ERROR_CHARACTERS)}", file=sys.stderr)
    return 2
