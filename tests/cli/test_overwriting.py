"""No output replaces an instance, or a folder that holds what the lab did not write."""

import shutil
from pathlib import Path

import pytest
from commands import check_refused, run_command

from hardness.instance import Instance


@pytest.fixture
def pub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `pub` of an instance and a note, in the current folder, and a challenge `c`."""
    monkeypatch.chdir(tmp_path)
    assert run_command("generate parity --dim 8 --heads 2 --out pub/hard.safetensors").code == 0
    Path("pub/note.txt").write_text("mine")
    assert run_command("challenge pub/hard.safetensors --count 5 --toy --out c").code == 0
    return tmp_path / "pub"


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize(
    "line",
    [
        "export pub/hard.safetensors --form xor-dimacs --count 50 --out pub/hard.safetensors",
        "sample pub/hard.safetensors --count 5 --out pub/hard.npz",
        "study merge rows.db --out pub/hard.safetensors",
        "study export rows.db --out pub/hard.csv",
    ],
)
def test_an_instance_is_replaced_by_no_command(pub: Path, line: str) -> None:
    for suffix in (".npz", ".csv"):
        shutil.copy(pub / "hard.safetensors", pub / f"hard{suffix}")
    grid = 'family = "parity"\nruns = 1\n[params]\ndim = [8]\nheads = [2]\n[solver]\nstrategy = "flat"\n'
    Path("grid.toml").write_text(grid)
    if "rows.db" in line:
        assert run_command("sweep grid.toml --workers 0 --out sweep").code == 0
        shutil.copy("sweep/rows.db", "rows.db")
    before = contents(pub.parent)
    check_refused(run_command(line), "name another --out")
    assert contents(pub.parent) == before
    assert Instance.load("pub/hard.safetensors").heads == 2
