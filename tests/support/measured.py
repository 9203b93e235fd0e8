"""A command in a process whose resources are counted."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

CPU_SECONDS, MIB = 4.0, 500
# Its parent has to be small: Linux counts what a process held before it became another program.
LAUNCHER = """
import os, signal, sys
pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
signal.alarm(60)  # this machine may be busy
_, status, used = os.wait4(pid, 0)
with open(sys.argv[1], "w") as file:
    print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss >> 10, file=file)
"""


class Measured(NamedTuple):
    code: int
    out: str
    err: str
    cpu_seconds: float
    mib: int


def measured(*command: str | Path) -> Measured:
    """What a command answered, the CPU seconds and the most memory that it took; it is killed after a minute."""
    with tempfile.NamedTemporaryFile() as file:
        launched = [sys.executable, "-S", "-c", LAUNCHER, file.name, *map(str, command)]
        completed = subprocess.run(
            launched, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=True
        )
        code, seconds, mib = Path(file.name).read_text().split()
    return Measured(int(code), completed.stdout, completed.stderr, float(seconds), int(mib))


def within_limits(*command: str | Path) -> Measured:
    """The same, of at most four seconds of computing and 500 MiB.

    A command that took more has a second run: in the first it may have compiled what it needs, on a busy machine.
    """
    end = measured(*command)
    if end.cpu_seconds >= CPU_SECONDS:
        end = measured(*command)
    assert end.cpu_seconds < CPU_SECONDS, f"{command}: {end.cpu_seconds} s of computing"
    assert end.mib < MIB, f"{command}: {end.mib} MiB"
    return end
