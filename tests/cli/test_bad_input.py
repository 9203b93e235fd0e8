"""Bad input, each through its own command: one line that names it and the right exit code, soon, in little memory."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from commands import Told, answer, check_refused, told
from measured import measured
from safetensors import safe_open
from safetensors.numpy import save_file

from hardness.challenge import digest
from hardness.engine.outcome import Outcome
from hardness.engine.store import Store
from hardness.engine.task import Task
from hardness.evaluation.limits import alarm

HARDNESS = Path(sys.executable).parent / "hardness"
CPU_SECONDS, MIB, WALL_SECONDS = 2.0, 500, 60.0  # the last only for what hangs: this machine may be busy
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
    "family": ('"parity"', "0"),
    "learner": ('strategy = "sign-batch"', "learner = 0"),
    "nan-guard": ("guard = 60", "guard = nan"),
    "inf-guard": ("guard = 60", "guard = inf"),
    "century": ("guard = 60", "guard = 3e9"),
    "nan-dim": ("[8, 9]", "[8, nan]"),
    "int64": ("runs = 1", f"runs = {2**63}"),
    "runs": ("runs = 1", f"runs = {10**30}"),
    "axes": ("heads = [2]", f"heads = {AXIS}\nflip = {AXIS}\nbias = {AXIS}"),
    "key": ("guard = 60", "a." * 30_000 + "a = 1"),
    "deep": ("[8, 9]", "[" * 20_000 + "]" * 20_000),
    "long": ("guard = 60", "guard = 60\n" + "# " * (1 << 19)),
}


def store(path, change):
    """A store of four trials, one of which holds what is no number."""
    tasks = [Task("parity", {"dim": 8, "heads": 2}, {"kind": "game"}, {}, run) for run in range(4)]
    with Store(path, {"study": "stress", "seed": 0, "quick": True}) as opened:
        opened.plan(tasks)
        for task in tasks:
            opened.add(task, Outcome("solved", 3, {"loss": 0.5}), {})
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"UPDATE trials SET {change} WHERE identity = ?", (bytes.fromhex(tasks[2].identity),))


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
            assert told(line).code == 0
    with open(folder / "sparse" / "examples.npz", "r+b") as file:
        file.truncate(6 << 30)  # 50 examples in what says that it is 6 GB
    (folder / "answer.json").write_text('{"support": [1, 2, 3]}')
    with safe_open(folder / "parity", framework="numpy") as file:
        header = json.loads(file.metadata()["instance"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # it is no mapping
    for name, power in (("large", 64), ("beyond", 1100)):
        header["gadget"]["gate"] = 2**power
        save_file(arrays, folder / name, {"instance": json.dumps(header)})
    store(folder / "nan.db", "detail = '{\"loss\":NaN}'")
    store(folder / "inf.db", "cost = 9e999")
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
    ("sweep family.toml --out out", "family must be string"),
    ("sweep learner.toml --out out", "learner must be"),
    *((f"sweep {name}.toml --out out", "no finite number") for name in ("nan-guard", "nan-dim")),
    *((f"sweep {name}.toml --out out", "guard must be smaller") for name in ("inf-guard", "century")),
    *((f"sweep {name}.toml --out out", "more than 1,000,000 trials") for name in ("int64", "runs", "axes")),
    ("sweep key.toml --out out", "too many parts"),
    ("sweep deep.toml --out out", "deep"),
    ("sweep long.toml --out out", "longer than 64 KiB"),
    ("study run needs --quick --timeout inf --out out", "--timeout"),
    ("study run needs --quick --timeout nan --out out", "--timeout"),
    ("sq play parity --dim 6 --heads 2 --strategy sign-batch --tolerance 1e-200", "tolerance must"),
    ("sq play rounding --dim 6 --modulus 5 --levels 2 --strategy adaptive --tolerance 1e-200", "tolerance must"),
    ("sq bounds parity --dim 6 --heads 2 --tolerance 1e-200", "tolerance must"),
    ("sq bounds rounding --dim 6 --modulus 5 --levels 2 --tolerance 1e-200", "tolerance must"),
    ("sq value --independent 4 --tolerance 1e-200", "tolerance must"),
    ("sq value parity --dim 5 --heads 2 --tolerance 1e-200", "tolerance must"),
    ("sq certify parity --dim 5 --heads 2 --kind bound --out out --tolerance 1e-200", "tolerance must"),
    ("estimate parity --dim 9 --heads 2 --tolerance 1e-200", "tolerance must"),
    ("verify pipe", "it is a pipe"),
    ("attack gaussian pipe.npz", "it is a pipe"),
    ("sweep pipe", "it is a pipe"),
    ("study status pipes", "it is a pipe"),
    ("judge sparse pipe", "it is a pipe"),
    ("judge /dev /dev/zero", "cannot read"),
    ("generate rounding --dim 99999 --modulus 1048576 --levels 2 --out out", "GiB"),
    (f"sample parity --out out.npz --count 1{'0' * 20}", "GB"),
    (f"challenge parity --toy --out out --count 1{'0' * 20}", "GB"),
    (f"learn direct parity --count {'9' * 21}", "too large for this machine"),
    (f"generate parity --dim {'9' * 21} --heads 2 --out out", "parameter dim of parity must be below 2^"),
]
REFUSED = [
    ("generate parity --dim 8 --heads 8 --out out", "dim - 1 = 7"),
    ("generate parity --dim 8 --heads 3 --gadget dot --out out", "even"),
    ("generate parity --dim 8 --heads 2 --gadget dag --out out", "not one of 'diag', 'dot'"),
    ("generate parity --dim 8 --heads two --out out", "--heads"),
    ("generate parity --dim 8 --heads 2 --seed -1 --out out", "--seed"),
    ("generate parity --dim 8 --heads 2", "--out"),
    ("generate rounding --out out", "--dim"),
    ("generate json:loads --out out", "not a class"),
    ("generate nowhere:Family --out out", "cannot load"),
    ("generate parrity --dim 8 --heads 2 --out out", "Did you mean 'parity'"),
    ("generate parity --dim 8 --haeds 2 --out out", "--heads"),
    ("generate rounding --dim 8 --modulus 1 --levels 2 --out out", "modulus"),
    ("generate rounding --dim 8 --modulus 5 --levels 6 --out out", "levels"),
    ("generate parity --dim 8 --heads 2 --out pipes", "not a regular file"),
    ("generate parity --dim 8 --heads 2 --out /dev/null", "not a regular file"),
    ("generate parity --dim 8 --heads 2 --out /proc/nowhere/x", "cannot write"),
    ("estimate paritty --dim 9 --heads 2", "did you mean 'parity'"),
    ("estimate parity --dim 9 --heads 2 --modulus 5", "--modulus"),
    ("estimate parity --dim 33 --heads 99", "heads"),
    ("estimate rounding --dim 33", "--modulus"),
    ("estimate interpolation --dim 8 --heads 2 --rho 0.5", "no hidden linear secret"),
    ("estimate missing", "cannot read"),
    ("sample parity --count 0 --out out.npz", "--count"),
    ("sample parity --count -5 --out out.npz", "--count"),
    ("sample parity --count 5 --out out.csv", "suffix"),
    ("verify cut", "instance"),
    ("verify text", "instance"),
    ("verify missing", "No such file"),
    ("inspect text", "instance"),
    ("export cut --out out", "instance"),
    ("export parity --form xor-dimacs --out out", "how many examples"),
    ("export parity --form lwe --count 50 --out out", "family rounding with a prime modulus"),
    ("export parity --form xnf --count 50 --out out", "unknown form 'xnf'"),
    ("genrate", "Did you mean 'generate'"),
    *(
        (f"sq play parity --dim 9 --heads 3 --tolerance {t} --strategy characters", "tolerance")
        for t in (0, -1, 2, "nan")
    ),
    ("sq play parity --dim 9 --heads 9 --tolerance .1 --strategy characters", "heads"),
    ("sq play parity --dim 9 --heads 3 --gadget dot --tolerance .1 --strategy characters", "heads"),
    ("sq play parity --dim 9 --heads 3 --tolerance .1 --strategy charcters", "did you mean 'characters'"),
    ("sq bounds parity --dim 9 --heads 3 --tolerance nan", "tolerance"),
    ("attack gausian nice.npz", "did you mean 'gaussian'"),
    ("attack gaussian missing.npz", "cannot read"),
    ("attack gaussian nice.npz", "no hidden linear equations"),
    ("judge missing missing.json", "cannot read"),
    ("judge sparse text", "JSON"),
    ("challenge parity --count 10 --out out", "--toy"),
    ("study run games --workers -1", "--workers"),
    ("study run games --seed -1", "--seed"),
    ("study run games --shard 3/2", "shard"),
    ("study run games --shard 0/2", "shard"),
    ("study run gmaes", "did you mean 'games'"),
    ("study status nowhere", "nowhere"),
    ("study export nowhere --out x.csv", "nowhere"),
    ("study report nowhere", "nowhere"),
    ("study merge a.db b.db --out c.db", "a.db"),
    ("learn dierct parity --count 10", "did you mean 'direct'"),
    ("learn no.such:Class parity --count 10", "cannot load"),
    ("learn json:dumps parity --count 10", "not a class"),
    ("learn direct parity", "--count"),
    ("learn direct parity --count 0", "at least 1 example"),
    ("learn direct nice --count 10", "too few"),
    ("learn direct missing --count 10", "cannot read"),
    ("learn direct parity --count 100 --heads 0", "heads must be"),
    *(
        (f"learn student parity --count 2000 --seed 1 --set {word}", words)
        for word, words in {
            "l2=3": "did you mean 'l1'?",
            "rate=fast": "of type float | None",
            "batch=1.5": "of type int",
            "hinted=1": "of type bool",
            "l1=-1": "l1 must be",
            "l1=inf": "finite",
            "random_state=1": "follows from the seed",
            "l1": "NAME=VALUE",
            "=1": "NAME=VALUE",
            "l1=": "NAME=VALUE",
            "l1=1 --set l1=2": "twice",
        }.items()
    ),
]


@pytest.mark.parametrize(("line", "words"), [*HEAVY, *REFUSED])
def test_what_is_refused_is_one_line_and_leaves_nothing(files, monkeypatch, line, words):
    monkeypatch.chdir(files)
    before = sorted(files.rglob("*"))
    with alarm(WALL_SECONDS):
        check_refused(told(line), words)
    assert sorted(files.rglob("*")) == before


ENDS = [
    ("estimate large", 0, ""),
    ("judge sparse answer.json", 1, ""),
    ("study merge nan.db --out {}/m.db", 2, "nan.db is damaged"),
    ("study status inf.db", 2, "inf.db is damaged"),
]


@pytest.mark.parametrize(("line", "code", "words"), ENDS)
def test_what_can_be_answered_is(files, tmp_path, monkeypatch, line, code, words):
    monkeypatch.chdir(files)
    found = told(line.format(tmp_path))
    assert (found.code, found.err.count("\n")) == (code, 1 if words else 0)
    assert words in found.err


@pytest.mark.slow
@pytest.mark.parametrize(("line", "code", "words"), [*ENDS, *((line, 2, words) for line, words in HEAVY)])
def test_bad_input_takes_little_of_the_machine(files, tmp_path, monkeypatch, line, code, words):
    monkeypatch.chdir(files)
    done = measured(HARDNESS, *line.format(tmp_path).split())
    assert (done.code, words in done.err) == (code, True)
    assert done.cpu_seconds < CPU_SECONDS
    assert done.mib < MIB


PLUGIN = """
import math
from pathlib import Path
from hardness.attacks import Outcome as Answer
from hardness.engine.outcome import Outcome
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.report import Content

def tasks(quick):
    return [Task("parity", {"dim": 8, "heads": 2}, {"kind": "own"}, {}, run) for run in range(4)]

def trial(task, root, guard):
    if task.repetition == 1:
        return Outcome("solved", 3, {"loss": math.nan})
    return Outcome("solved", math.inf if task.repetition == 2 else 3)

TEMPLATE = Path(__file__).with_suffix(".md")
TEMPLATE.write_text("Done.")
STUDY = Study("own", "Is it finite?", tasks, lambda task: 0.1, trial, content=lambda rows: Content(), template=TEMPLATE)

def liar(X, Y, public, *, budget=None, seed=0, progress=None):
    return Answer("solved", {"support": SUPPORT}, 1, 0.0)

class Report:
    status, phases, certified = "done", [{"name": "count", "diagnostics": {"adds": 10**400}}], True
    certified_error = polished_error = random_start_error = 10**400

class Huge:
    def fit(self, X, Y):
        self.report_ = Report()
        return self

    def predict(self, X):
        return 0.0 * X
"""


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Writes the plug-in under a name of its own; its attack answers with the support that is given."""

    def written(support):
        name = f"bad_{tmp_path.name.replace('-', '_')}_{len(list(tmp_path.glob('bad_*.py')))}"
        (tmp_path / f"{name}.py").write_text(PLUGIN.replace("SUPPORT", str(support)))
        return name

    monkeypatch.syspath_prepend(tmp_path)
    return written


def test_a_trial_with_nan_ends_as_error_and_its_study_finishes(tmp_path, plugin):
    line = f"study run {plugin([1])}:STUDY --out {tmp_path}/out --workers 0"
    assert answer(line, code=1)["statuses"] == {"solved": 2, "error": 2}
    assert answer(line, code=1)["ran"] == 0
    with Store(tmp_path / "out" / "rows.db") as opened:
        reasons = [row.outcome.detail.get("reason", "") for row in opened.rows()]
    assert ["finite numbers" in reason for reason in reasons] == [False, True, True, False]


def test_a_report_beyond_all_floats_costs_no_verdict(files, plugin):
    """Nobody but the learner is to blame for its figures: they are left out, and it is judged."""
    line = f"learn {plugin([1])}:Huge {files}/parity --count 50 --seed 0"
    found = answer(line)
    assert (found["status"], found["certified"], found["certified_error"]) == ("wrong", True, None)
    assert found["phases"][0]["diagnostics"] == {"adds": None}
    assert told(line).code == 0


def test_an_attack_is_not_believed_on_noisy_labels(tmp_path, plugin):
    made = answer(f"generate parity --dim 9 --heads 3 --seed 0 --flip 0.2 --out {tmp_path}/p")
    assert told(f"sample {tmp_path}/p --count 2000 --seed 1 --out {tmp_path}/e.npz").code == 0
    right = made["secret"]["support"]
    wrong = [1, 2, 3] if right != [1, 2, 3] else [1, 2, 4]
    found = answer(f"attack {plugin(wrong)}:liar {tmp_path}/e.npz")
    assert found["status"] == "wrong"
    assert "do not follow" in found["detail"]["reason"]
    assert answer(f"attack {plugin(right)}:liar {tmp_path}/e.npz")["status"] == "solved"


def test_a_challenge_of_its_stated_size_is_hashed_in_blocks(files, tmp_path, monkeypatch):
    """An honest header and a changed file of the same size: no byte of it is read whole."""
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} read whole"))
    assert told(f"challenge {files}/parity --count 50 --toy --out {tmp_path}/c").code == 0
    with open(tmp_path / "c" / "examples.npz", "r+b") as file:
        file.seek(200)
        file.write(b"changed")
    assert told(f"judge {tmp_path}/c {files}/answer.json").code == 1
    header = json.loads((tmp_path / "c" / "challenge.json").read_text())
    assert header["header_sha256"] == digest(header)


def shell(command):
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=WALL_SECONDS, check=False)
    return Told(done.returncode, done.stdout, done.stderr)


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
