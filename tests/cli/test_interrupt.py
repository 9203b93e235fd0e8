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


FEW = (1, 40, 200)


@pytest.mark.parametrize("moments", [FEW, pytest.param(range(1, 320, 8), marks=pytest.mark.slow)])
def test_in_the_first_instants_it_is_one_line(tmp_path: Path, moments: Sequence[int]) -> None:
    for imports in moments:
        code, shown = interrupted(tmp_path, imports)
        assert code == 130, (imports, shown)
        assert "Traceback" not in shown
        assert re.fullmatch(r"interrupted(: .*)?", shown.splitlines()[-1])
        assert shown.count("interrupted") == 1
