"""Where the command begins: a signal that ends it is one line and its code, and what was being written is removed.

An interrupt ends it with 130, SIGTERM with 143, SIGHUP with 129. A second signal ends it at once.
"""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

WORDS = {signal.SIGINT: b"interrupted\n", signal.SIGTERM: b"terminated\n", signal.SIGHUP: b"hung up\n"}
received: list[int] = []


def _stop(signum: int, frame: FrameType | None) -> NoReturn:
    """Say it, and raise: whatever is open is closed and removed on the way up."""
    received.append(signum)
    for each in WORDS:
        signal.signal(each, signal.SIG_DFL)
    os.write(2, WORDS[signal.Signals(signum)])
    raise KeyboardInterrupt


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if stream is None:  # it is closed, and the next file that is opened would get its number
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:  # what is printed to None goes to stdout
        sys.stderr = os.fdopen(2, "w")
    if sys.stdout is None:
        os.write(2, b"error: stdout is closed; redirect it to a file, or to /dev/null\n")
        sys.exit(2)
    for each in WORDS:
        if signal.getsignal(each) is not signal.SIG_IGN:  # which a shell has ignored, as nohup does
            signal.signal(each, _stop)
    code = 130
    try:
        from hardness.cli import run

        code = run(sys.argv[1:])
    except BaseException:
        if not received:  # an interrupt may come out as another error of a library
            raise
    sys.exit(128 + received[0] if received and code == 130 else code)
