"""What a user can get wrong, in one line that is fit for a terminal. It imports nothing of the lab."""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

TEXT_CHARACTERS = 300  # characters of one text
MOST_LISTED, LONGEST_NAME = 30, 60


def sanitize(text: object, longest: int = TEXT_CHARACTERS) -> str:
    """Return an untrusted text as one line of printable characters, others escaped, cut to about `longest` characters.

    >>> print(sanitize("red \\x1b[31m and \\u202e left"), sanitize("x" * 9, longest=4))
    red \\x1b[31m and \\u202e left x… (9 characters)
    """
    whole = str(text)
    line = printable(whole[:longest]).replace("\n", "\\n")
    return line if len(whole) <= longest else f"{line[: max(1, longest - 3)]}… ({len(whole)} characters)"


def printable(text: str) -> str:
    """Return a text with escapes in place of characters that are not printable, except line feeds.

    Control characters and marks for the direction of writing could change how the text around them is shown.

    >>> printable("a\\x1b[2J\\nb")
    'a\\\\x1b[2J\\nb'
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode("ascii") for c in text
    )


class InputError(ValueError):
    """An error for bad input; its message is one line: what is wrong, where, what was expected and what to do.

    The command line prints it as ``error: …`` and exits with code 2; the library raises it.
    """


def unknown(kind: str, name: str, known: Iterable[str]) -> InputError:
    """Return the error for a misspelt name of a `kind`, such as "family"; it suggests the nearest `known` name.

    >>> str(unknown("family", "paritty", ["parity", "rounding"]))
    "unknown family 'paritty'; did you mean 'parity'? (known: parity, rounding)"
    """
    from difflib import get_close_matches

    names, name = sorted(known), sanitize(name, LONGEST_NAME)
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    listed = f"known: {', '.join(names)}" if len(names) <= MOST_LISTED else f"{len(names)} are known"
    return InputError(f"unknown {kind} '{name}'{hint} ({listed})")


def check_names(kind: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Raise `InputError` if one of `names`, all of a `kind` such as "score", is not `known`; suggest the nearest."""
    if strange := sorted({*names} - {*known}):
        raise unknown(kind, strange[0], known)


def spelled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, wrapped to raise `InputError` for an unknown keyword and to suggest the nearest one.

    >>> spelled(missing_extra)("dask", extr="cluster")
    Traceback (most recent call last):
    ...
    hardness.errors.InputError: unknown keyword of missing_extra 'extr'; did you mean 'extra'? (known: extra, ...)
    """
    from inspect import Parameter, signature

    known = signature(function).parameters
    if any(each.kind is Parameter.VAR_KEYWORD for each in known.values()):
        return function

    @wraps(function)
    def call(*args: Any, **given: Any) -> Any:
        if strange := given.keys() - known:
            raise unknown(f"keyword of {function.__name__}", min(strange), known)
        return function(*args, **given)

    return call


def missing_extra(package: str, extra: str, purpose: str) -> InputError:
    """Return the error that some `purpose` needs a `package` that is missing and comes with the pip extra `extra`."""
    return InputError(f"{purpose} needs {package}: pip install 'attention-hardness[{extra}]'")


class TrialEnded(Exception):
    """An exception that ends a trial (one run of a solver) before it is judged, with a one-line `reason`.
    `status` is what the trial is reported as, such as "budget"; `detail` is what the solver says of its own work."""

    def __init__(self, status: str, reason: str, detail: Mapping[str, Any] | None = None) -> None:
        super().__init__(status, reason, detail)
        self.status, self.reason, self.detail = status, reason, detail or {}


def one_line(error: BaseException) -> str:
    """Return the first line of an exception's message, after the name of its class unless it is an `InputError`."""
    kind = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
    return f"{kind}{error}".partition("\n")[0][:1000]
