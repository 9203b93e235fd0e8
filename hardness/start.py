"""Where the command begins: a signal that ends it is, at any moment from this first line on, one line and its code.

An interrupt ends it with 130, SIGTERM with 143, SIGHUP with 129; what was being written is removed first. What Python
says while it starts, before it has read this, is its own: a traceback of some tens of milliseconds at most.
"""

import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import NoReturn

CLEANUP_SECONDS = 3.0  # seconds to clean up
WORDS = {signal.SIGINT: b"interrupted\n", signal.SIGTERM: b"terminated\n", signal.SIGHUP: b"hung up\n"}
COMMAND = os.getpid()  # its processes, where they are forks of it, end at once
received: list[int] = []


def _leave(signum: int, frame: FrameType | None) -> NoReturn:
    os.write(2, WORDS[signal.Signals(signum)])
    os._exit(128 + signum)


def _end(signum: int = signal.SIGINT, frame: FrameType | None = None) -> NoReturn:
    """End at once: what is being written is removed here, since no `finally` runs any more."""
    # A signal may come before the module is imported, or halfway.
    remove = getattr(sys.modules.get("hardness.io.files"), "remove_unfinished", None)
    if remove is not None and os.getpid() == COMMAND:
        with suppress(OSError):
            remove()
    os._exit(128 + (received or [signum])[0])


def _stop(signum: int, frame: FrameType | None) -> NoReturn:
    """Say it at once, and clean up. A second one does not wait for that, nor does it last where a library goes on."""
    from threading import Timer

    if os.getpid() != COMMAND:
        os._exit(128 + signum)
    received.append(signum)
    for each in _heard():
        signal.signal(each, _end)
    os.write(2, WORDS[signal.Signals(signum)])
    last = Timer(CLEANUP_SECONDS, _end)
    last.daemon = True
    last.start()
    raise KeyboardInterrupt


def _heard() -> list[signal.Signals]:
    """The signals that are listened to: not those that a shell has ignored, as nohup does."""
    return [each for each in WORDS if signal.getsignal(each) is not signal.SIG_IGN]


def _swallowed(unraisable: "sys.UnraisableHookArgs") -> None:
    """What Python can only print: an interrupt within a callback, such as one of the machinery of imports, ends it."""
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        _end()
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
    for each in _heard():
        signal.signal(each, _leave)
    from hardness.cli import run

    code = 130
    try:
        sys.unraisablehook = _swallowed
        for each in _heard():
            signal.signal(each, _stop)
        code = run(sys.argv[1:])
    except BaseException:
        if not received:  # an interrupt may come out as another error of a library
            raise
    for each in _heard():
        signal.signal(each, _end)
    sys.exit(128 + received[0] if received and code == 130 else code)
