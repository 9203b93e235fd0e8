"""What a terminal shows: help in panels, and names that are completed."""

import os
import subprocess
import sys
from contextlib import suppress

import pytest

COMPLETES = "import sys, hardness.cli as cli\ntry: cli.app([], 'hardness')\nfinally: print(*sys.modules)"
COMPLETED = {
    "learn di": "direct",
    "attack bk": "bkw",
    "estimate nonde": "nondegenerate",
    "study run nice-": "nice-layers",
    "study run stress --learner prov": "provable",
    "suite make nice-m2-d8-0": "nice-m2-d8-0",
}


@pytest.mark.parametrize("line", COMPLETED)
def test_values_are_completed_without_what_is_heavy(line):
    typed = {"COMP_WORDS": f"hardness {line}", "COMP_CWORD": str(line.count(" ") + 1)}
    env = {**os.environ, "_HARDNESS_COMPLETE": "complete_bash", **typed}
    told = subprocess.run([sys.executable, "-c", COMPLETES], env=env, capture_output=True, text=True, check=False)
    words, modules = told.stdout.strip().rsplit("\n", 1)
    assert words.split() == [COMPLETED[line]]
    assert "numpy" not in modules.split()


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_help_has_panels_on_a_terminal_alone():
    command = [sys.executable, "-m", "hardness", "study", "run", "--help"]
    parent, child = os.openpty()
    env = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100"}  # so that what is drawn is text
    with subprocess.Popen(command, stdout=child, env=env), suppress(OSError):
        os.close(child)
        panels = ""
        while part := os.read(parent, 1 << 16):  # an error where nobody writes any more
            panels += part.decode(errors="replace")
    os.close(parent)
    for name in ("What is run", "Resources", "Output"):
        assert f" {name} ─" in panels
    env = {**os.environ, "FORCE_COLOR": "1"}
    piped = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    assert "╭" not in piped
    assert "\x1b" not in piped
