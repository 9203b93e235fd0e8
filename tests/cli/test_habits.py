"""Habits of command lines: version, help, completion, citing, and no file lost without --force."""

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import hardness
from hardness.cli import run

HARDNESS = Path(sys.executable).parent / "hardness"


def shell(*command, **environment):
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, env={**os.environ, **environment}
    )
    return done.returncode, done.stdout, done.stderr


def test_bare_help_and_version(capsys):
    assert run([]) == 0
    bare = capsys.readouterr().out
    assert run(["-h"]) == run(["--help"]) == 0
    assert capsys.readouterr().out == bare * 2
    for line in ("sq -h", "sq play parity -h", "generate parity -h", "study run -h"):
        assert run(line.split()) == 0
        assert "Example: hardness" in " ".join(capsys.readouterr().out.split())
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.strip() == version("attention-hardness")


BARE = ("generate", "sq", "study", "sq play", "sq bounds", "sq value", "generate parity", "inspect", "learn", "sweep")


@pytest.mark.parametrize("line", BARE)
def test_what_needs_more_prints_its_help(line, capsys):
    assert run([*line.split(), "--help"]) == 0
    helped = capsys.readouterr()
    assert run(line.split()) == 0
    assert capsys.readouterr() == helped
    assert helped.out.count("\n") > 10
    assert helped.err == ""


def test_as_a_module_and_completion():
    told = shell(sys.executable, "-m", "hardness", "--version")
    assert told == (0, version("attention-hardness") + "\n", "")
    script = shell(HARDNESS, _HARDNESS_COMPLETE="source_bash")
    assert script[0] == 0
    words = shell(HARDNESS, _HARDNESS_COMPLETE="complete_bash", COMP_WORDS="hardness gen", COMP_CWORD="1")[1]
    assert "generate" in words


def test_nothing_is_overwritten_without_force(capsys, tmp_path):
    line = ["generate", "parity", "--dim", "8", "--heads", "2", "--out", str(tmp_path / "p")]
    assert run(line) == 0
    before = (tmp_path / "p").read_bytes()
    assert run(line) == 2
    assert "--force" in capsys.readouterr().err
    assert (tmp_path / "p").read_bytes() == before
    assert run([*line, "--force"]) == 0
    assert (tmp_path / "p").read_bytes() != before
    publish = ["challenge", str(tmp_path / "p"), "--count", "50", "--toy", "--out", str(tmp_path / "c")]
    assert run(publish) == 0
    before = (tmp_path / "c" / "challenge.json").read_bytes()
    assert run(publish) == 2
    assert run([*publish, "--force"]) == 0
    assert (tmp_path / "c" / "challenge.json").read_bytes() != before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "p"]
    (tmp_path / "c" / "challenge.json").unlink()  # some folder of the user's own is nobody's to replace
    assert run([*publish, "--force"]) == 2


def test_cite_is_bibtex(capsys, tmp_path):
    hardness.Instance.generate(hardness.Rounding(dim=6, modulus=7, levels=2), seed=0).save(tmp_path / "r")
    assert run(["cite", str(tmp_path / "r")]) == 0
    text = capsys.readouterr().out
    assert re.fullmatch(r"@software\{[\w-]+,\n(  \w+ = \{.*\},?\n)+\}\n", text)
    assert f"version = {{{version('attention-hardness')}}}" in text
    assert "rounding: dim 6, modulus 7, levels 2" in text
