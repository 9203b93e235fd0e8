"""An interrupt at any moment from the first line on: one line, 130, and no traceback."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends SIGINT to one process")
# Interrupts itself at its n-th import after the command has set its own handler.
BEGINS = """
import os, signal, sys, hardness.start as start
real = signal.signal

class Counts:
    left = int(sys.argv.pop(1))
    def find_spec(self, name, path=None, target=None):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGINT)

def marks(*given):
    signal.signal = real
    handler = real(*given)
    sys.meta_path.insert(0, Counts())
    return handler
signal.signal = marks
start.main()
"""


def interrupted(folder: Path, imports: int) -> tuple[int, str]:
    """How a long command ends that is interrupted at that import."""
    command = [sys.executable, "-c", BEGINS, str(imports), "study", "run", "games", "--workers", "0", "--out"]
    completed = subprocess.run(
        [*command, str(folder)], capture_output=True, text=True, cwd=folder, timeout=120, check=False
    )
    return completed.returncode, completed.stderr


FEW = (1, 2, 10, 40, 120, 200, 280)


@pytest.mark.parametrize("moments", [FEW, pytest.param(range(1, 320, 8), marks=pytest.mark.slow)])
def test_in_the_first_instants_it_is_one_line(tmp_path: Path, moments: Sequence[int]) -> None:
    for imports in moments:
        code, shown = interrupted(tmp_path, imports)
        assert code == 130, (imports, shown)
        assert "Traceback" not in shown
        assert re.fullmatch(r"interrupted(: .*)?", shown.splitlines()[-1])
        assert shown.count("interrupted") == 1


SWEEP = """
import os, signal, sys, hardness

class Stops:
    def isatty(self): return False
    def flush(self): pass
    def write(self, text):  # the run has begun: it says so
        sys.stderr = sys.__stderr__
        print(text, file=sys.stderr)
        signal.raise_signal(signal.SIGINT)

if __name__ == "__main__":
    sys.stderr = Stops()
    hardness.sweep("parity", dim=6, heads=2, strategy="characters", runs=2, workers=0, out="cut")
"""


def test_in_python_it_is_one_line_on_resuming(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SWEEP)
    completed = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert completed.returncode != 0
    assert (
        completed.stderr.splitlines()[-1]
        == "interrupted: every trial that ended is stored; the same call goes on"
    )
    assert "Traceback" not in completed.stderr


PROGRAMS = {
    # Python prints and forgets what is raised where no caller waits: in a finalizer, in a callback of an import.
    "a callback that swallows it does not go on": (
        """
class Dying:
    def __del__(self): os.kill(os.getpid(), signal.SIGINT); list(range(1000))
def run(arguments): Dying(); print('went on'); return 0
hardness.cli.run = run""",
        (130, "", "interrupted\n"),
    ),
    # One interrupt in forty was caught by something, and the study ran on.
    "a library that goes on is ended": (
        """
def run(arguments):
    try: os.kill(os.getpid(), signal.SIGINT); time.sleep(9)
    except BaseException: time.sleep(60)
hardness.cli.run, start.CLEANUP_SECONDS = run, 0.2""",
        (130, "", "interrupted\n"),
    ),
}


@pytest.mark.parametrize("case", PROGRAMS)
def test_what_goes_on_after_it(tmp_path: Path, case: str) -> None:
    program, ends = PROGRAMS[case]
    code = f"import hardness.cli, hardness.start as start, os, signal, time{program}\nstart.main()"
    command = [sys.executable, "-c", code, "--version"]
    completed = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False)
    assert (completed.returncode, completed.stdout, completed.stderr) == ends
