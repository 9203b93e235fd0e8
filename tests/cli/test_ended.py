"""Ended from outside: what was being written is gone."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from commands import HARDNESS, run_command

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends signals to one process")


def hidden(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.startswith(".")]


def ended(folder: Path, line: str, signum: int) -> tuple[int, str]:
    """How a command ends that gets a signal when it has begun to write."""
    prey = subprocess.Popen([HARDNESS, *line.split()], stderr=subprocess.PIPE, text=True, cwd=folder)
    deadline = time.monotonic() + 60
    while not hidden(folder) and prey.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert hidden(folder)
    prey.send_signal(signum)
    err = prey.communicate(timeout=60)[1]
    return prey.returncode, err


@pytest.mark.parametrize(
    ("line", "signum"),
    [
        ("sample f --count 20000000 --out e.npz", signal.SIGTERM),
        ("challenge f --toy --count 20000000 --out c", signal.SIGINT),
    ],
)
def test_a_signal_is_one_line_and_no_hidden_file(tmp_path, line: str, signum: int):
    assert run_command("generate parity --dim 60 --heads 3 --out", tmp_path / "f").code == 0
    assert ended(tmp_path, line, signum) == (130, "interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
