"""Where the command begins: an interrupt or SIGTERM is one line and 130, and what was being written is removed."""

import signal
import sys


def main() -> None:
    """Run the command line on `sys.argv`, and exit with its code; with 130 after an interrupt or SIGTERM."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        from hardness.cli import run

        code = run(sys.argv[1:])
    except BaseException as error:
        if KeyboardInterrupt not in (type(error), type(error.__context__)):
            raise
        code, sys.unraisablehook = 130, lambda _: None  # half an archive may not close, which is no news
    if code == 130:
        print("interrupted", file=sys.stderr)
    sys.exit(code)
