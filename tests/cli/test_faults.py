"""Files and challenges that once did harm, each through its own command in a process of its own.

Each is refused in one line with exit code 2, in four seconds of computing and 500 MiB, and leaves nothing behind.
"""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from attack_examples import restated
from commands import check_refused, run_command
from safetensors import safe_open
from safetensors.numpy import save_file

REPORTS = Path(__file__).parents[2] / "reports"
INSTANCES = {
    "few": "rounding --dim 193 --modulus 4093 --levels 3 --heads 2",
    "sparse": "rounding --dim 257 --modulus 1048576 --levels 2 --weight 8",
    "noisy": "rounding --dim 401 --modulus 4096 --levels 2 --weight 6 --noise 20",
    "biased": "parity --dim 257 --heads 20 --flip 0.3 --bias 0.95",
    "hard": "parity --dim 20 --heads 3",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of instances, one with a seed that is no whole number, examples of too many heads, rows, a grid."""
    folder = tmp_path_factory.mktemp("faults")
    for name, line in INSTANCES.items():
        assert run_command(f"generate {line} --out", folder / name).code == 0
    assert run_command("sample", folder / "hard", "--count", 50, "--out", folder / "e.npz").code == 0
    with safe_open(folder / "hard", framework="numpy") as file:
        header = json.loads(file.metadata()["instance"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # it is no mapping
    save_file(arrays, folder / "seeded", {"instance": json.dumps({**header, "seed": 8.0})})
    restated(folder / "e.npz", folder / "heads.npz", {"heads": 2**70})
    restated(folder / "e.npz", folder / "offset.npz", {"A": 1e308})
    (folder / "rows").mkdir()
    table = pd.read_csv(REPORTS / "lattices" / "rows.csv", dtype=str).drop(columns="status")
    table.to_csv(folder / "rows" / "rows.csv", index=False)
    shutil.copy(REPORTS / "lattices" / "summary.json", folder / "rows")
    grid = 'family = "parity"\nruns = 1\nguard = 60\n[params]\ndim = [8]\nheads = [2]\n'
    (folder / "unprintable.toml").write_text(grid + '[solver]\nstrategy = "\\u202e"\n')
    return folder


FAULTS = [
    ("challenge few --count 60000 --out new", "few heads opens it in about 2^"),
    ("challenge sparse --count 20000 --out new", "junta opens it in about 2^"),
    ("challenge noisy --count 20000 --out new", "junta opens it in about 2^"),
    ("challenge biased --count 60000 --out new", "means opens it in about 2^"),
    ("sample seeded --count 5 --out new.npz", "seed must be an integer"),
    ("challenge seeded --count 5 --toy --out new", "seed must be an integer"),
    ("learn direct seeded --count 10", "seed must be an integer"),
    ("export seeded --form xor-dimacs --count 50 --out new", "seed must be an integer"),
    ("attack search heads.npz", "and there are 19"),
    ("study merge rows/rows.csv --out new", "status"),
    ("sample hard --count 99999999999999999999 --out new.parquet", "less than or equal to"),
    (
        "sq certify parity --dim 64 --heads 3 --tolerance .16 --kind transcript --out /dev/full",
        "not a regular file",
    ),
    ("sweep unprintable.toml --out new", "unknown strategy"),
    ("attack gaussian offset.npz", "do not fit the offset"),
]


@pytest.mark.parametrize(("line", "words"), FAULTS)
def test_a_fault_ends_in_one_line_soon_in_little_memory_and_leaves_nothing(
    files: Path, monkeypatch: pytest.MonkeyPatch, line: str, words: str
) -> None:
    monkeypatch.chdir(files)
    before = {path: path.lstat().st_mtime_ns for path in files.rglob("*")}
    check_refused(run_command(line), words)
    assert {path: path.lstat().st_mtime_ns for path in files.rglob("*")} == before
