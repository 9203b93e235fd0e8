"""Signals that end a run once."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType


class Interrupted(KeyboardInterrupt):
    """SIGINT or SIGTERM ended a run; the store resumes. `code` is the exit status, 130 or 143.

    Where nobody catches it, in a script, a console or a notebook, it is one line that says so, and no traceback.
    """

    def __init__(self, signum: int) -> None:
        super().__init__("interrupted: every trial that ended is stored; the same call goes on")
        self.code = 128 + signum
        if sys.excepthook is sys.__excepthook__:
            sys.excepthook = _one_line

    def _render_traceback_(self) -> list[str]:  # IPython's name for it
        return [str(self)]


def _one_line(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if isinstance(error, Interrupted):
        print(error, file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


@contextmanager
def signals() -> Iterator[None]:
    """SIGINT and SIGTERM raise `Interrupted`, once: the clean-up that follows is not interrupted again."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught = (signal.SIGINT, signal.SIGTERM)

    def stop(signum: int, frame: FrameType | None) -> None:
        for each in caught:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(signum)

    before = {each: signal.signal(each, stop) for each in caught}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
