"""Bad input, each through its own command: one line that names it and the right exit code.

Times and memory are measured in tests/cli/test_faults.py.
"""

import json
import os
import subprocess
import zipfile

import numpy as np
import pytest
from commands import HARDNESS, Completed, answer, check_refused, run_command
from safetensors import safe_open
from safetensors.numpy import save_file

from hardness.evaluation.limits import alarm

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
    "learner": ('strategy = "sign-batch"', "learner = 0"),
    "nan-guard": ("guard = 60", "guard = nan"),
    "century": ("guard = 60", "guard = 3e9"),
    "int64": ("runs = 1", f"runs = {2**63}"),
    "axes": ("heads = [2]", f"heads = {AXIS}\nflip = {AXIS}\nbias = {AXIS}"),
    "deep": ("[8, 9]", "[" * 20_000 + "]" * 20_000),
    "long": ("guard = 60", "guard = 60\n" + "# " * (1 << 19)),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder of files that are as they should be, and of such that are not."""
    folder = tmp_path_factory.mktemp("bad")
    with pytest.MonkeyPatch.context() as here:
        here.chdir(folder)
        for line in (
            "generate parity --dim 9 --heads 3 --seed 0 --out parity",
            "generate nondegenerate --dim 6 --tokens 2 --heads 2 --out nice",
            "sample nice --count 10 --out nice.npz",
            "challenge parity --count 50 --toy --out sparse",
        ):
            assert run_command(line).code == 0
    with open(folder / "sparse" / "examples.npz", "r+b") as file:
        file.truncate(60 << 30)  # 50 examples in what says that it is 60 GB
    (folder / "answer.json").write_text('{"support": [1, 2, 3]}')
    with safe_open(folder / "parity", framework="numpy") as file:
        header = json.loads(file.metadata()["instance"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # it is no mapping
    for name, power in (("large", 64), ("beyond", 1100)):
        header["gadget"]["gate"] = 2**power
        save_file(arrays, folder / name, {"instance": json.dumps(header)})
    (folder / "small.toml").write_text(GRID)
    for name, (before, after) in GRIDS.items():
        (folder / f"{name}.toml").write_text(GRID.replace(before, after))
    (folder / "pipes").mkdir()
    for name in ("pipe", "pipe.npz", "pipes/rows.db"):
        os.mkfifo(folder / name)
    (folder / "cut").write_bytes((folder / "parity").read_bytes()[:-40])
    (folder / "text").write_text("not an instance\n" * 100)
    return folder


# What might take long or much memory to refuse.
HEAVY = [
    ("inspect beyond", "no finite number"),
    ("sweep learner.toml --out out", "learner must be"),
    ("sweep nan-guard.toml --out out", "no finite number"),
    ("sweep century.toml --out out", "guard must be smaller"),
    *((f"sweep {name}.toml --out out", "more than 1,000,000 trials") for name in ("int64", "axes")),
    ("sweep deep.toml --out out", "deep"),
    ("sweep long.toml --out out", "longer than 64 KiB"),
    ("study run needs --quick --timeout inf --out out", "--timeout"),
    ("sq play parity --dim 6 --heads 2 --strategy sign-batch --tolerance 1e-200", "tolerance must"),
    ("sq bounds parity --dim 6 --heads 2 --tolerance 1e-200", "tolerance must"),
    ("sq value --independent 4 --tolerance 1e-200", "tolerance must"),
    ("sweep small.toml --set runs=x --out out", "runs must be integer"),
    ("verify pipe", "it is a pipe"),
    ("attack gaussian pipe.npz", "it is a pipe"),
    ("study status pipes", "it is a pipe"),
    ("judge /dev /dev/zero", "cannot read"),
    ("generate rounding --dim 99999 --modulus 1048576 --levels 2 --out out", "GiB"),
    (f"sample parity --out out.npz --count 1{'0' * 20}", "less than or equal to"),
    (f"challenge parity --toy --out out --count 1{'0' * 20}", "GB"),
    (f"learn direct parity --count {'9' * 21}", "too large for this machine"),
    (f"generate parity --dim {'9' * 21} --heads 2 --out out", "parameter dim of parity must be below 2^"),
]
REFUSED = [
    ("generate parity --dim 8 --heads 2 --gadget dag --out out", "not one of 'diag', 'dot'"),
    ("generate parity --dim 8 --heads two --out out", "--heads"),
    ("generate parity --dim 8 --heads 2 --seed -1 --out out", "--seed"),
    ("generate parity --dim 8 --heads 2", "--out"),
    ("generate rounding --levels 98 --out out", "levels"),
    ("generate json:loads --out out", "not a class"),
    ("generate parrity --dim 8 --heads 2 --out out", "Did you mean 'parity'"),
    ("generate parity --dim 8 --haeds 2 --out out", "--heads"),
    ("generate parity --dim 8 --heads 2 --out pipes", "not a regular file"),
    ("generate parity --dim 8 --heads 2 --out /proc/nowhere/x", "cannot write"),
    ("estimate paritty --dim 9 --heads 2", "did you mean 'parity'"),
    ("estimate parity --dim 9 --heads 2 --modulus 5", "--modulus"),
    ("estimate parity --dim 33", "--heads"),
    ("estimate interpolation --dim 8 --heads 2 --rho 0.5", "no hidden linear secret"),
    ("sample parity --count 0 --out out.npz", "--count"),
    ("sample parity --count 5 --out out.csv", "suffix"),
    ("verify cut", "instance"),
    ("verify missing", "No such file"),
    ("export parity --form xor-dimacs --out out", "how many examples"),
    ("export parity --form xnf --count 50 --out out", "'xnf' is not one of"),
    ("genrate", "Did you mean 'generate'"),
    *(
        (f"sq play parity --dim 9 --heads 3 --tolerance {t} --strategy characters", "tolerance")
        for t in (0, 2, "nan")
    ),
    ("sq play parity --dim 9 --heads 3 --tolerance .1 --strategy charcters", "did you mean 'characters'"),
    *(
        (f"sq value --independent {options}", "")
        for options in ("5", "5 --tolerance nan", "1000 --tolerance 0.001")
    ),
    *(
        (f"sq certify parity --dim 17 --heads 4 --out out --kind {options}", words)
        for options, words in {
            "prof --tolerance .1": "not one of 'transcript', 'bound', 'value'",
            "bound --tolerance .1 --seed 1": "for a transcript",
            "bound --tolerance .25": "no floor exists at tolerance 0.25",
            "value --tolerance .1": "up to 11 concepts",
        }.items()
    ),
    ("attack gausian nice.npz", "did you mean 'gaussian'"),
    ("attack gaussian nice.npz", "no hidden linear equations"),
    ("judge missing missing.json", "cannot read"),
    ("judge sparse text", "JSON"),
    ("challenge parity --count 10 --out out", "--toy"),
    ("challenge nice --toy --count 10 --out out", "no discrete secret"),
    ("study run games --workers -1", "--workers"),
    ("study run games --shard 3/2", "shard"),
    ("study run gmaes", "did you mean 'games'"),
    ("study status nowhere", "nowhere"),
    ("study merge a.db b.db --out c.db", "a.db"),
    ("learn dierct parity --count 10", "did you mean 'direct'"),
    ("learn json:dumps parity --count 10", "not a class"),
    ("learn json:dmps parity --count 10", "did you mean 'dumps'"),
    ("learn json.py:dumps parity --count 10", "leave off .py: json:dumps"),
    ("attack gaussian parity", "`hardness sample parity --count N"),
    ("verify nice.npz", "an archive, as of examples"),
    ("learn direct parity", "--count"),
    ("learn direct nice --count 10", "too few"),
    *(
        (f"learn student parity --count 2000 --seed 1 --set {word}", words)
        for word, words in {
            "l2=3": "did you mean 'l1'?",
            "rate=fast": "of type float | None",
            "l1=inf": "finite",
            "random_state=1": "follows from the seed",
            "l1": "NAME=VALUE",
            "l1=1 --set l1=2": "twice",
        }.items()
    ),
]


@pytest.mark.parametrize(("line", "words"), [*HEAVY, *REFUSED])
def test_what_is_refused_is_one_line_and_leaves_nothing(files, monkeypatch, line, words):
    monkeypatch.chdir(files)
    before = sorted(files.rglob("*"))
    with alarm(WALL_SECONDS):
        check_refused(run_command(line), words)
    assert sorted(files.rglob("*")) == before


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("estimate large", 0, "gaussian"),
        ("judge sparse answer.json", 1, "examples.npz is larger than the examples"),
    ],
)
def test_what_can_be_answered_is_and_no_file_of_any_size_is_read_for_it(
    files, monkeypatch, line, code, words
):
    """To read the 60 GB of one would take minutes, and to count the levels of another for ever."""
    monkeypatch.chdir(files)
    with alarm(WALL_SECONDS):
        completed = run_command(line)
    assert (completed.code, completed.err) == (code, "")
    assert words in completed.out


def test_an_array_that_claims_more_than_its_file_holds_is_given_no_memory(files, monkeypatch):
    monkeypatch.chdir(files)
    with open("claims.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "|i1", "fortran_order": False, "shape": (1 << 40, 2, 6)}
        )
    with zipfile.ZipFile("claims.npz", "w") as archive:
        archive.write("claims.npy", "X.npy")
    check_refused(
        run_command("attack gaussian claims.npz"), "X.npy holds fewer or more entries than its shape"
    )


LIAR = """
from hardness.attacks import Recovery

def liar(X, Y, public, *, budget=None, seed=0, progress=None):
    return Recovery("solved", {"support": SUPPORT}, 1, 0.0)
"""


def test_an_attack_is_not_believed_on_noisy_labels(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    right = answer(f"generate parity --dim 9 --heads 3 --seed 0 --flip 0.2 --out {tmp_path}/p")["secret"][
        "support"
    ]
    assert run_command(f"sample {tmp_path}/p --count 2000 --seed 1 --out {tmp_path}/e.npz").code == 0
    for name, support, status in (("wrong_liar", [1, 2, 4], "wrong"), ("right_liar", right, "solved")):
        (tmp_path / f"{name}.py").write_text(LIAR.replace("SUPPORT", str(support)))
        report = answer(f"attack {name}:liar {tmp_path}/e.npz")
        assert report["status"] == status
        assert ("do not follow" in report["detail"].get("reason", "")) == (status == "wrong")


def shell(command):
    completed = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=WALL_SECONDS, check=False
    )
    return Completed(completed.returncode, completed.stdout, completed.stderr)


@pytest.mark.parametrize("closed", ["1", "2", "1,2"])
def test_a_closed_stdout_is_one_line(closed):
    redirect = " ".join(f"{descriptor}>&-" for descriptor in closed.split(","))
    code, out, err = shell(f"{HARDNESS} families {redirect}")
    assert code == (0 if closed == "2" else 2)
    assert ("stdout is closed" in err) == (closed == "1")
    assert err.count("\n") == (closed == "1")
    assert ("parity" in out) == (closed == "2")


def test_a_full_disk_on_stdout_is_an_error_and_no_file_stays(tmp_path):
    for command in ("families", f"generate parity --dim 8 --heads 2 --out {tmp_path}/x"):
        check_refused(shell(f"{HARDNESS} {command} > /dev/full"), "No space left")
    assert list(tmp_path.iterdir()) == []


def test_a_closed_pipe_is_no_error():
    assert shell(f"{HARDNESS} families | true; exit ${{PIPESTATUS[0]}}").code == 0
