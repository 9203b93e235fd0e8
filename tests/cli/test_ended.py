"""Ended from outside: what was being written is gone, at once or when it is written again."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import HARDNESS, run_command

from hardness.io.files import write_text

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
    reminders = r"(?m)^.*; \d+ s so far.*\n"  # of a job on a busy machine
    return prey.returncode, re.sub(reminders, "", err)


@pytest.mark.parametrize(
    ("line", "signum", "code", "words"),
    [
        ("sample f --count 20000000 --out e.npz", signal.SIGTERM, 143, "terminated\n"),
        ("challenge f --toy --count 20000000 --out c", signal.SIGHUP, 129, "hung up\n"),
        ("challenge f --toy --count 20000000 --out c", signal.SIGINT, 130, "interrupted\n"),
    ],
)
def test_a_signal_is_one_line_its_code_and_no_hidden_file(
    tmp_path: Path, line: str, signum: int, code: int, words: str
) -> None:
    assert run_command("generate parity --dim 60 --heads 3 --out", tmp_path / "f").code == 0
    assert ended(tmp_path, line, signum) == (code, words)
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


def test_what_a_killed_command_leaves_goes_when_it_is_written_again(tmp_path: Path) -> None:
    """No handler hears SIGKILL: its temporary file stays until the next command that writes the same."""
    assert run_command("generate parity --dim 60 --heads 3 --out", tmp_path / "f").code == 0
    assert ended(tmp_path, "sample f --count 20000000 --out e.npz", signal.SIGKILL)[0] == -signal.SIGKILL
    assert len(hidden(tmp_path)) == 1
    write_text(tmp_path / "other", "x")
    assert len(hidden(tmp_path)) == 1
    assert run_command(f"sample {tmp_path}/f --count 5 --out {tmp_path}/e.npz").code == 0
    assert hidden(tmp_path) == []


def test_an_end_at_once_leaves_no_hidden_file(tmp_path: Path) -> None:
    """As where an interrupt falls into a callback, or a library goes on for longer than there is to clean up."""
    program = (
        "import signal; from pathlib import Path; from hardness import start; from hardness.io.files import replacing;"
        "writing = replacing(Path('e')); writing.__enter__(); start.received.append(signal.SIGTERM); start._end()"
    )
    ended_at_once = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=False)
    assert ended_at_once.returncode == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []
