"""Where the command begins: an interrupt at any moment, from this first line on, is one line and 130.

What Python says while it starts, before it has read this, is its own: a traceback of some tens of milliseconds at most.
"""

import os
import signal
import sys
from typing import NoReturn

CLEANUP_SECONDS = 3.0  # seconds to clean up


def _leave(*_: object) -> NoReturn:
    os.write(2, b"interrupted\n")
    os._exit(130)


def _end(*_: object) -> NoReturn:
    os._exit(130)


def _stop(signum: int, frame: object) -> NoReturn:
    """Say it at once, and clean up. A second one does not wait for that, nor does it last where a library goes on."""
    from threading import Timer

    signal.signal(signal.SIGINT, _end)
    os.write(2, b"interrupted\n")
    last = Timer(CLEANUP_SECONDS, _end)
    last.daemon = True
    last.start()
    raise KeyboardInterrupt


def _swallowed(unraisable: "sys.UnraisableHookArgs") -> None:
    """What Python can only print: an interrupt within a callback, such as one of the machinery of imports, ends it."""
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        os._exit(130)
    sys.__unraisablehook__(unraisable)


def main() -> None:
    """The command line, from the first instant on."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if stream is None:  # it is closed, and the next file that is opened would get its number
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:  # what is printed to None goes to stdout
        sys.stderr = os.fdopen(2, "w")
    if sys.stdout is None:
        os.write(2, b"error: stdout is closed; redirect it to a file, or to /dev/null\n")
        sys.exit(2)
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not where a shell has it ignored
    if heard:
        signal.signal(signal.SIGINT, _leave)
    from hardness.cli import run

    code = 130
    try:
        if heard:
            sys.unraisablehook = _swallowed
            signal.signal(signal.SIGINT, _stop)
        code = run(sys.argv[1:])
    except BaseException:
        if signal.getsignal(signal.SIGINT) is not _end:  # an interrupt may come out as another error of a library
            raise
    if heard:
        signal.signal(signal.SIGINT, _end)
    sys.exit(code)
