"""Bad input, each through its own command: one line and the right exit code, soon and in little memory."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from measured import measured
from safetensors import safe_open
from safetensors.numpy import save_file

from hardness.challenge import digest
from hardness.cli import run
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
    return Answer("solved", {"support": [1, 2, 3]}, 1, 0.0)

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


def instance(folder, flip=0.0):
    assert run(f"generate parity --dim 9 --heads 3 --seed 0 --flip {flip} --out {folder}/p".split()) == 0
    return folder / "p"


def challenge(folder):
    """A challenge of 50 examples, said to hold 10 million, whose file of examples is sparse and says 6 GB."""
    assert run(f"challenge {instance(folder)} --count 50 --toy --out {folder}/c".split()) == 0
    with open(folder / "c" / "examples.npz", "r+b") as file:
        file.truncate(6 << 30)
    (folder / "answer.json").write_text('{"support": [1, 2, 3]}')
    return f"judge {folder}/c {folder}/answer.json"


def store(folder, bad="NaN"):
    """A store of four trials, one of which has a figure in its detail that is no number."""
    tasks = [Task("parity", {"dim": 8, "heads": 2}, {"kind": "game"}, {}, run) for run in range(4)]
    with Store(folder / "rows.db", {"study": "stress", "seed": 0, "quick": True}) as opened:
        opened.plan(tasks)
        for task in tasks:
            opened.add(task, Outcome("solved", 3, {"loss": 0.5}), {})
    with sqlite3.connect(folder / "rows.db") as db:
        change = {"NaN": "detail = '{\"loss\":NaN}'", "cost": "cost = 9e999"}[bad]
        db.execute(f"UPDATE trials SET {change} WHERE identity = ?", (bytes.fromhex(tasks[2].identity),))
    return folder / "rows.db"


def gate(folder):
    """An instance whose gate is an integer beyond 64 bits, and one beyond all floats."""
    with safe_open(instance(folder), framework="numpy") as file:
        names = file.keys()
        header, arrays = json.loads(file.metadata()["instance"]), {name: file.get_tensor(name) for name in names}
    for name, power in (("large", 64), ("beyond", 1100)):
        header["gadget"]["gate"] = 2**power
        save_file(arrays, folder / name, {"instance": json.dumps(header)})
    return folder


def grid(folder, before="", after=""):
    assert before in GRID
    (folder / "grid.toml").write_text(GRID.replace(before, after))
    return f"sweep {folder}/grid.toml --out {folder}/out --workers 0"


def pipe(folder):
    os.mkfifo(folder / "pipe")
    os.mkfifo(folder / "pipe.npz")
    os.mkfifo(folder / "rows.db")
    return f"{folder}/pipe"


AXIS = f"[{','.join(map(str, range(200)))}]"
CASES = {
    "a gate of 2**64": (lambda f: f"estimate {gate(f)}/large --json", 0, ""),
    "a gate of 2**1100": (lambda f: f"inspect {gate(f)}/beyond", 2, "no finite number"),
    "a sparse file of examples": (challenge, 1, ""),
    "a NaN in a merged store": (lambda f: f"study merge {store(f)} --out {f}/m.db", 0, "1 rows are left out"),
    "an infinity in a repaired store": (lambda f: f"study repair {store(f, 'cost')} --out {f}/m.db", 0, "1 rows are"),
    "a family that is a number": (lambda f: grid(f, '"parity"', "0"), 2, "family must be string"),
    "a learner that is a number": (lambda f: grid(f, 'strategy = "sign-batch"', "learner = 0"), 2, "learner must be"),
    "a guard that is nan": (lambda f: grid(f, "guard = 60", "guard = nan"), 2, "no finite number"),
    "a guard that is inf": (lambda f: grid(f, "guard = 60", "guard = inf"), 2, "no finite number"),
    "a guard of a century": (lambda f: grid(f, "guard = 60", "guard = 3e9"), 2, "guard must be smaller"),
    "a dimension that is nan": (lambda f: grid(f, "[8, 9]", "[8, nan]"), 2, "no finite number"),
    "2**63 runs": (lambda f: grid(f, "runs = 1", f"runs = {2**63}"), 2, "more than 1,000,000 trials"),
    "10**30 runs": (lambda f: grid(f, "runs = 1", f"runs = {10**30}"), 2, "more than 1,000,000 trials"),
    "three long axes": (
        lambda f: grid(f, "heads = [2]", f"heads = {AXIS}\nflip = {AXIS}\nbias = {AXIS}"),
        2,
        "more than 1,000,000 trials",
    ),
    "a key of many parts": (lambda f: grid(f, "guard = 60", "a." * 30_000 + "a = 1"), 2, "too many parts"),
    "a deep array": (lambda f: grid(f, "[8, 9]", "[" * 20_000 + "]" * 20_000), 2, "deep"),
    "a grid file of 1 MiB": (
        lambda f: grid(f, "guard = 60", "guard = 60\n" + "# " * (1 << 19)),
        2,
        "longer than 64 KiB",
    ),
    "a study's limit of inf": (lambda f: f"study run needs --quick --timeout inf --out {f}/out", 2, "--timeout"),
    "a study's limit of nan": (lambda f: f"study run needs --quick --timeout nan --out {f}/out", 2, "--timeout"),
    **{
        f"a tolerance that squares to 0: {line}": (
            lambda f, line=line: f"{line} --tolerance 1e-200",
            2,
            "tolerance must",
        )
        for line in (
            "sq play parity --dim 6 --heads 2 --strategy sign-batch",
            "sq play rounding --dim 6 --modulus 5 --levels 2 --strategy adaptive",
            "sq bounds parity --dim 6 --heads 2",
            "sq bounds rounding --dim 6 --modulus 5 --levels 2",
            "sq value --independent 4",
            "sq value parity --dim 5 --heads 2",
            "sq certify parity --dim 5 --heads 2 --kind bound --out /tmp/never.json",
            "estimate parity --dim 9 --heads 2",
        )
    },
    "a pipe for an instance": (lambda f: f"verify {pipe(f)}", 2, "it is a pipe"),
    "a pipe for examples": (lambda f: f"attack gaussian {pipe(f)}.npz", 2, "it is a pipe"),
    "a pipe for a grid": (lambda f: f"sweep {pipe(f)}", 2, "it is a pipe"),
    "a pipe for a store": (lambda f: f"study status {Path(pipe(f)).parent}", 2, "it is a pipe"),
    "a pipe for an answer": (lambda f: f"{challenge(f).rpartition(' ')[0]} {pipe(f)}", 2, "it is a pipe"),
    "a device for an answer": (lambda f: "judge /dev /dev/zero", 2, "cannot read"),
}


def told(case, folder):
    make, code, words = CASES[case]
    return make(folder).split(), code, words


def is_right(code, out, err, expected, words):
    assert code == expected, err
    assert words in err
    assert "Traceback" not in err
    assert err.count("\n") == (0 if not words else 1)
    assert (out == "") == (code == 2)


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_one_line(case, tmp_path, capsys):
    line, expected, words = told(case, tmp_path)
    before = sorted(tmp_path.rglob("*"))
    capsys.readouterr()
    with alarm(WALL_SECONDS):
        code = run(line)
    is_right(code, *capsys.readouterr(), expected, words)
    assert sorted(tmp_path.rglob("*")) == before or code == 0


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_bad_input_takes_little_of_the_machine(case, tmp_path):
    line, expected, words = told(case, tmp_path)
    done = measured(HARDNESS, *line)
    is_right(done.code, done.out, done.err, expected, words)
    assert done.cpu_seconds < CPU_SECONDS
    assert done.mib < MIB


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    name = f"bad_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    return name


def test_a_trial_with_nan_ends_as_error_and_its_study_finishes(tmp_path, plugin, capsys):
    line = f"study run {plugin}:STUDY --out {tmp_path}/out --workers 0 --json".split()
    assert run(line) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["statuses"] == {"solved": 2, "error": 2}
    assert "Traceback" not in err
    assert run(line) == 1
    assert json.loads(capsys.readouterr().out)["ran"] == 0
    with Store(tmp_path / "out" / "rows.db") as opened:
        reasons = [row.outcome.detail.get("reason", "") for row in opened.rows()]
    assert ["finite numbers" in reason for reason in reasons] == [False, True, True, False]


def test_a_report_beyond_all_floats_costs_no_verdict(tmp_path, plugin, capsys):
    """Nobody but the learner is to blame for its figures: they are left out, and it is judged."""
    file = instance(tmp_path)
    capsys.readouterr()
    assert run(f"learn {plugin}:Huge {file} --count 50 --seed 0 --json".split()) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert (found["status"], found["certified"], found["certified_error"]) == ("wrong", True, None)
    assert found["phases"][0]["diagnostics"] == {"adds": None}
    assert "error" not in err
    assert run(f"learn {plugin}:Huge {file} --count 50 --seed 0".split()) == 0


def test_an_attack_is_not_believed_on_noisy_labels(tmp_path, plugin, capsys):
    file = instance(tmp_path, flip=0.2)
    capsys.readouterr()
    assert run(f"sample {file} --count 2000 --seed 1 --out {tmp_path}/e.npz".split()) == 0
    capsys.readouterr()
    assert run(f"attack {plugin}:liar {tmp_path}/e.npz --json".split()) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["status"] == "wrong"
    assert "do not follow" in found["detail"]["reason"]
    support = json.loads(_printed(capsys, f"inspect {file} --reveal --json"))["secret"]["support"]
    source = (tmp_path / f"{plugin}.py").read_text().replace("[1, 2, 3]", str(support))
    (tmp_path / f"{plugin}_right.py").write_text(source)
    assert json.loads(_printed(capsys, f"attack {plugin}_right:liar {tmp_path}/e.npz --json"))["status"] == "solved"


def _printed(capsys, line):
    capsys.readouterr()
    assert run(line.split()) == 0
    return capsys.readouterr().out


def test_a_challenge_of_its_stated_size_is_hashed_in_blocks(tmp_path, monkeypatch):
    """An honest header and a changed file of the same size: no byte of it is read whole."""
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} read whole"))
    assert run(f"challenge {instance(tmp_path)} --count 50 --toy --out {tmp_path}/c".split()) == 0
    (tmp_path / "answer.json").write_text('{"support": [1]}')
    with open(tmp_path / "c" / "examples.npz", "r+b") as file:
        file.seek(200)
        file.write(b"changed")
    assert run(f"judge {tmp_path}/c {tmp_path}/answer.json".split()) == 1
    header = json.loads((tmp_path / "c" / "challenge.json").read_text())
    assert header["header_sha256"] == digest(header)


@pytest.mark.parametrize("closed", ["1", "2", "1,2"])
def test_a_closed_stdout_is_one_line(closed, tmp_path):
    redirect = " ".join(f"{descriptor}>&-" for descriptor in closed.split(","))
    command = f"{HARDNESS} families {redirect}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=WALL_SECONDS, check=False)
    assert done.returncode == (0 if closed == "2" else 2)
    assert ("stdout is closed" in done.stderr) == (closed == "1")
    assert done.stderr.count("\n") == (closed == "1")
    assert ("parity" in done.stdout) == (closed == "2")
