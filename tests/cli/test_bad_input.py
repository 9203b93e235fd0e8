"""Bad input, each through its own command: one line that names it, the right exit code, and nothing written."""

import json
import os
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest
from attack_examples import restated
from commands import HARDNESS, Completed, check_refused, run_command
from safetensors import safe_open
from safetensors.numpy import save_file

from hardness.evaluation.limits import alarm
from hardness.families.nondegenerate import Nondegenerate
from hardness.instance import Instance

WALL_SECONDS = 60.0  # for what hangs: this machine may be busy
GRID = """
family = "parity"
runs = 1
guard = 60
[params]
dim = [8, 9]
heads = [2]
[solver]
strategy = "sign-batch"
"""
AXIS = f"[{','.join(map(str, range(200)))}]"
GRIDS = {
    "small": ("runs = 1", "runs = 1"),
    "nan-guard": ("guard = 60", "guard = nan"),
    "axes": ("heads = [2]", f"heads = {AXIS}\nflip = {AXIS}\nbias = {AXIS}"),
    "deep": ("[8, 9]", "[" * 20_000 + "]" * 20_000),
}


def altered(source: Path, target: Path, change):
    """Write the same instance with a header and arrays that `change` was let loose on."""
    with safe_open(source, framework="numpy") as file:
        header = json.loads(file.metadata()["instance"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # it is no mapping
    change(header, arrays)
    save_file(arrays, target, {"instance": json.dumps(header)})


def sparse(path: Path, begins: bytes, size: int):
    """Write a file of `size` bytes that takes no space."""
    path.parent.mkdir(exist_ok=True)
    with open(path, "wb") as file:
        file.write(begins)
        file.truncate(size)


def altered_files(folder: Path):
    """Write instances, examples and a challenge that contradict themselves."""
    hard = folder / "hard"
    altered(hard, folder / "seeded", lambda header, _: header.update(seed=8.0))
    for name, power in (("large", 64), ("beyond", 1100)):
        altered(hard, folder / name, lambda header, _, p=power: header["gadget"].update(gate=2**p))
    for name, stated in (("heads", {"heads": 2**70}), ("offset", {"A": 1e308})):
        restated(folder / "e.npz", folder / f"{name}.npz", stated)
    huge = Instance.generate(Nondegenerate(4, 2, 1), 0)
    huge.secret["theta"][:] = 1e308
    huge.save(folder / "huge")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder of files that are as they should be, and of such that are not."""
    folder = tmp_path_factory.mktemp("bad")
    with pytest.MonkeyPatch.context() as here:
        here.chdir(folder)
        for line in (
            "generate parity --dim 9 --heads 3 --seed 0 --out parity",
            "generate parity --dim 20 --heads 3 --out hard",
            "generate rounding --dim 193 --modulus 4093 --levels 3 --heads 2 --out few",
            "generate rounding --dim 257 --modulus 1048576 --levels 2 --weight 8 --out weight",
            "generate parity --dim 257 --heads 20 --flip 0.3 --bias 0.95 --out biased",
            "generate nondegenerate --dim 6 --tokens 2 --heads 2 --out nice",
            "sample nice --count 10 --out nice.npz",
            "sample hard --count 50 --out e.npz",
            "challenge hard --count 100 --toy --out toy",
            "challenge parity --count 50 --toy --out sparse",
        ):
            assert run_command(line).code == 0
    altered_files(folder)
    with open(folder / "sparse" / "examples.npz", "r+b") as file:
        file.truncate(60 << 30)  # 50 examples in what says that it is 60 GB
    sparse(folder / "answer.json", b'{"a": [', 66 << 20)
    sparse(folder / "merged" / "summary.json", b'{"a": [', 150 << 20)
    (folder / "merged" / "rows.csv").write_text("identity\n")
    (folder / "right.json").write_text('{"support": [1, 2, 3]}')
    for name, (before, after) in GRIDS.items():
        (folder / f"{name}.toml").write_text(GRID.replace(before, after))
    os.mkfifo(folder / "pipe")
    (folder / "text").write_text("not an instance\n" * 100)
    return folder


REFUSED = [
    ("genrate", "Did you mean 'generate'"),
    # Options and names
    ("generate parity --dim 8 --heads 2 --gadget dag --out out", "not one of 'diag', 'dot'"),
    ("generate parity --dim 8 --heads 2", "--out"),
    ("generate parity --dim 8 --haeds 2 --out out", "--heads"),
    ("generate parrity --dim 8 --heads 2 --out out", "Did you mean 'parity'"),
    ("generate json:loads --out out", "not a family"),
    ("estimate tent --dim 8 --heads 3", "no hidden linear secret"),
    ("export parity --form xor-dimacs --out out", "how many examples"),
    ("sq play parity --dim 9 --heads 3 --tolerance .1 --strategy charcters", "did you mean 'characters'"),
    ("sq certify parity --dim 17 --heads 4 --out out --kind bound --tolerance .1 --seed 1", "transcript"),
    ("attack gausian nice.npz", "did you mean 'gaussian'"),
    ("attack gaussian nice.npz", "no hidden linear equations"),
    ("attack gaussian parity", "is not an examples file"),
    ("challenge parity --count 10 --out out", "--toy"),
    ("challenge nice --toy --count 10 --out out", "no discrete secret"),
    ("study run games --shard 3/2", "shard"),
    ("study run gmaes", "did you mean 'games'"),
    ("sq bounds nondegenerate --dim 8", "take parity or rounding"),
    ("study merge a.db b.db --out c.db", "a.db"),
    ("sweep small.toml --set runs=x --out out", "runs must be integer"),
    ("sweep small.toml --set params.dim.x=1 --out out", "dim is no table"),
    ("learn json:dmps parity --count 10", "cannot load"),
    ("learn direct parity", "--count"),
    ("learn direct nice --count 10", "too few"),
    ("learn student parity --count 2000 --set l2=3", "did you mean 'l1'?"),
    # Files
    ("verify missing", "no such file"),
    ("verify nice.npz", "nice.npz is no instance"),
    ("verify seeded", "seed must be an integer >= 0, got 8.0"),
    ("inspect beyond", "no finite number"),
    ("judge sparse text", "JSON"),
    ("attack search heads.npz", "of 19 coordinates"),
    ("attack gaussian offset.npz", "do not fit the offset"),
    ("sweep nan-guard.toml --out out", "no finite number"),
    # What might take for ever, or all memory
    ("verify pipe", "no such file"),
    ("judge /dev /dev/zero", "cannot read"),
    ("sweep axes.toml --out out", "more than 1,000,000 trials"),
    ("sweep deep.toml --out out", "deep"),
    ("sq play parity --dim 6 --heads 2 --strategy sign-batch --tolerance 1e-200", "tolerance must"),
    ("generate rounding --dim 99999 --modulus 1048576 --levels 2 --out out", "GiB"),
    (f"generate parity --dim {'9' * 21} --heads 2 --out out", "parameter dim of parity must be below 2^"),
    (f"sample parity --out out.npz --count 1{'0' * 20}", "less than or equal to"),
    (f"learn direct parity --count {'9' * 21}", "count must be an integer from 1"),
    ("judge toy answer.json", "longer than 4096 KiB"),
    ("study merge merged/rows.csv --out out", "longer than"),
    # What a price of the lab opens
    ("challenge few --count 60000 --out out", "few heads opens it in about 2^"),
    ("challenge weight --count 20000 --out out", "junta opens it in about 2^"),
    ("challenge biased --count 60000 --out out", "means opens it in about 2^"),
    # Places that cannot be written
    (
        "sq certify parity --dim 9 --heads 3 --tolerance .16 --kind transcript --out /dev/full",
        "not a regular",
    ),
    ("generate parity --dim 8 --heads 2 --out /proc/nowhere/x", "cannot write"),
]
ANSWERED = [
    ("estimate large", 0, "gaussian"),
    ("sq value --independent 5 --tolerance .02", 0, "independent parities: 1"),
    ("attack membership huge", 0, "refused"),
]


@pytest.fixture
def untouched(files, monkeypatch):
    """The folder of the files to work in; no command may have written there when the test is over."""
    monkeypatch.chdir(files)
    before = {path: path.lstat().st_mtime_ns for path in files.rglob("*")}
    yield
    assert {path: path.lstat().st_mtime_ns for path in files.rglob("*")} == before


@pytest.mark.parametrize(("line", "words"), REFUSED)
@pytest.mark.usefixtures("untouched")
def test_what_is_refused_is_one_line_and_leaves_nothing(line, words):
    with alarm(WALL_SECONDS):
        check_refused(run_command(line), words)


@pytest.mark.parametrize(("line", "code", "words"), ANSWERED)
@pytest.mark.usefixtures("untouched")
def test_what_can_be_answered_is_and_no_file_of_any_size_is_read_for_it(line, code, words):
    """To read the 60 GB of one would take minutes, and to count the levels of another for ever."""
    with alarm(WALL_SECONDS):
        completed = run_command(line)
    assert (completed.code, completed.err) == (code, "")
    assert words in completed.out


def test_an_array_that_claims_more_than_its_file_holds_is_given_no_memory(tmp_path):
    with open(tmp_path / "claims.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "|i1", "fortran_order": False, "shape": (1 << 40, 2, 6)}
        )
    with zipfile.ZipFile(tmp_path / "claims.npz", "w") as archive:
        archive.write(tmp_path / "claims.npy", "X.npy")
    check_refused(run_command(f"attack gaussian {tmp_path}/claims.npz"), "is not an examples file")


def shell(command):
    completed = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=WALL_SECONDS, check=False
    )
    return Completed(completed.returncode, completed.stdout, completed.stderr)


def test_a_full_disk_on_stdout_is_an_error_and_no_file_stays(tmp_path):
    check_refused(
        shell(f"{HARDNESS} generate parity --dim 8 --heads 2 --out {tmp_path}/x > /dev/full"), "No space left"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_closed_pipe_is_no_error():
    assert shell(f"{HARDNESS} families | true; exit ${{PIPESTATUS[0]}}").code == 0
