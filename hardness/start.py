"""Where the command begins: an interrupt in its first instants, while the rest is imported, is one line and 130."""

import os
import signal


def _leave(*_: object) -> None:
    os.write(2, b"interrupted\n")
    os._exit(130)


def main() -> None:
    """The command line, from the first instant on."""
    before = signal.signal(signal.SIGINT, _leave)
    from hardness.cli import main as command

    signal.signal(signal.SIGINT, before)
    command()
