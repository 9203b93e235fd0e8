"""The worker's side of `hardness.evaluation.worker`: two processes, one that serves a solver and one that watches it.

The watching one is the parent of the other, adopts whatever loses its own parent there (Linux), and ends it all when
the lifeline closes or the serving one ends. The kernel ends the serving one if the watching one is killed.
"""

import os
import select
import signal
import sys
import time
from contextlib import suppress
from typing import Any

from hardness import registry
from hardness.errors import InputError, TrialEnded, one_line
from hardness.evaluation.limits import adopt_orphans, die_with_parent
from hardness.evaluation.messages import receive, send
from hardness.evaluation.solver import Solver

REAP_SECONDS = 0.1  # between two looks at children that have ended
KILL_SECONDS = 0.01  # between two rounds of killing, since a process may have started another meanwhile


def main() -> None:
    """Serve one solver until the other end hangs up. Called with the number of the lifeline's reading end."""
    lifeline = int(sys.argv[1])
    adopt_orphans()
    child = os.fork()
    if child:
        _watch(child, lifeline)
    die_with_parent()
    os.close(lifeline)
    _serve()


def _serve() -> None:
    """Answer requests on the standard input, on what was the standard output."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)  # what the learner prints is no reply
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the parent decides
    sys.argv[1:] = []
    made, _ = receive(requests)
    sys.path[:] = made["paths"]
    registry.provide(made["provided"])
    adapter: Any = None
    with suppress(EOFError, BrokenPipeError):
        header: dict[str, Any] = {"do": "make"}
        arrays: list[Any] = []
        while True:
            try:
                if header["do"] == "make":
                    from hardness.evaluation.adapters import adapted

                    adapter = adapted(Solver(**made["solver"]), made["seed"], made["allowance"])
                    _load_optimizers()
                    send(replies, {"streamed": adapter.streamed})
                elif header["do"] == "learn":
                    adapter.partial_fit(*arrays)
                    send(replies, {})
                elif header["do"] == "predict":
                    send(replies, {}, adapter.predict(*arrays, again=header["again"]))
                elif header["do"] == "examine":
                    from hardness.evaluation.conformance import tried

                    send(replies, {"answer": tried(Solver(**header["solver"]), header["check"])})
                else:
                    send(replies, {"answer": getattr(adapter, header["do"])()})
            except Exception as error:
                send(replies, {"raised": _raised(error)})
            header, arrays = receive(requests)


def _load_optimizers() -> None:
    """Have torch, if the learner's module has loaded it, load what it keeps until an optimizer is made.

    That takes seconds of the CPU, which would count as learning, once in every fit: a learner cannot know of them.
    """
    torch: Any = sys.modules.get("torch")
    with suppress(Exception):
        if torch is not None:
            torch.optim.SGD([torch.zeros(1, device="cpu", requires_grad=True)])


def _raised(error: Exception) -> list[Any]:
    from hardness.evaluation.adapters import plain

    if isinstance(error, TrialEnded):
        return [error.status, error.reason[:1000], error.kind, plain(dict(error.detail))]
    return [
        "error",
        str(error)[:1000] if isinstance(error, InputError) else one_line(error),
        type(error).__name__,
        {},
    ]


def _watch(child: int, lifeline: int) -> None:
    """Wait for the end of the lifeline or of the child, end all that is left, and end as the child did."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.closerange(0, lifeline)
    os.closerange(lifeline + 1, 1024)
    statuses: dict[int, int] = {}
    while child not in statuses and not select.select([lifeline], [], [], REAP_SECONDS)[0]:
        _reap(statuses)
    _end_children(statuses)
    code = os.waitstatus_to_exitcode(statuses.get(child, 0))
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(max(code, 0))


def _reap(statuses: dict[int, int]) -> bool:
    """Note how children ended, those that were adopted too; whether there may be more."""
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            statuses[ended[0]] = ended[1]
    except ChildProcessError:
        return False
    return True


def _end_children(statuses: dict[int, int]) -> None:
    """Kill what descends from this process until nothing does."""
    import psutil

    while _reap(statuses):
        for descendant in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                descendant.kill()
        time.sleep(KILL_SECONDS)


if __name__ == "__main__":
    main()
