"""Signals that end a run once."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(KeyboardInterrupt):
    """SIGINT or SIGTERM ended a run; the store resumes. `code` is the exit status, 130 or 143."""

    def __init__(self, signum: int) -> None:
        super().__init__(signum)
        self.code = 128 + signum


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
