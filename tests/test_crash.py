"""The fifteen crash and error scenarios that a lab like this one must survive, in order."""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import study_trials
from study_trials import alive, descendants, numbered

from hardness import cli
from hardness.engine.outcome import Outcome
from hardness.engine.run import run
from hardness.engine.store import Store
from hardness.engine.table import export
from hardness.engine.task import Task
from hardness.errors import InputError
from hardness.statistics.cells import Cell
from hardness.statistics.verdict import growth
from hardness.studies import catalog
from hardness.studies.exponential_in_m.series import STUDENT_HARD, series
from hardness.studies.wall.tasks import parity, runs

ROOT, HERE = Path(__file__).parents[1], Path(study_trials.__file__).parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE)])}
COMMAND = [sys.executable, "-c", "from hardness.cli import main; main()"]
ABOUT = {"study": "test", "seed": 0}
PARITY = ["generate", "parity", "--dim", "16", "--heads", "4"]

# A study of 150 trials of 20 ms on two workers: the prey of the killing tests.
PREY = """
import sys
from pathlib import Path
import study_trials
from hardness.engine.run import Interrupted, run
from hardness.engine.store import Store
if __name__ == "__main__":
    with Store(Path(sys.argv[1]), {"study": "test", "seed": 0}) as store:
        print("ready", flush=True)
        try:
            run(study_trials.numbered(150), store, workers=2, trial=getattr(study_trials, sys.argv[2]))
        except Interrupted as stop:
            sys.exit(stop.code)
"""


def hardness(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    options = {"capture_output": True, "text": True, "timeout": 120, "env": ENVIRONMENT} | options
    return subprocess.run([*COMMAND, *arguments], **options)


def hunt(folder: Path, trial: str = "brief") -> "subprocess.Popen[str]":
    """The prey, started and past its imports."""
    (folder / "prey.py").write_text(PREY)
    command = [sys.executable, str(folder / "prey.py"), str(folder / "rows.db"), trial]
    prey = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=ENVIRONMENT)
    assert prey.stdout is not None
    assert prey.stdout.readline() == "ready\n"
    return prey


def stored(folder: Path) -> int:
    try:
        with Store(folder / "rows.db") as store:
            return len(store.done())
    except InputError as error:  # the run has not made it yet
        if "run the study first" not in str(error):
            raise
        return 0


def wait_until_stored(folder: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    while stored(folder) < count:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def undisturbed(folder: Path) -> bytes:
    return exported(folder / "undisturbed.db", run_first=True)


def exported(path: Path, run_first: bool = False) -> bytes:
    with Store(path, ABOUT) as store:
        if run_first:
            run(numbered(150), store, workers=0, trial=study_trials.trivial)
        export(store.rows, path.with_suffix(".csv"), timing=False)
    return path.with_suffix(".csv").read_bytes()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_01_a_full_disk_is_an_error(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        told = hardness("study", "list", stdout=full, stderr=subprocess.PIPE, capture_output=False)
    assert told.returncode == 2
    assert re.fullmatch(r"error: .*\n", told.stderr)
    assert hardness(*PARITY, "--out", "/dev/full").returncode == 2


def test_02_seed_zero_is_a_seed_and_a_drawn_one_is_recorded(tmp_path: Path) -> None:
    import json

    for name in ("a", "b"):
        assert hardness(*PARITY, "--seed", "0", "--out", str(tmp_path / name)).returncode == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    seeds = {json.loads(hardness(*PARITY, "--out", str(tmp_path / n), "--json").stdout)["seed"] for n in "cd"}
    assert len(seeds) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["generate", "parity", "--dim", "4", "--heads", "9", "--out", "never"],
        ["generate", "parity", "--dim", "-4", "--heads", "2", "--out", "never"],
        ["study", "run", "exponential-in-m", "--workers", "-1"],
        ["study", "run", "exponential-in-m", "--seed", "-1"],
        ["study", "run", "exponential-in-m", "--shard", "3/2"],
        ["study", "run", "exponential-in-m", "--shard", "0/2"],
        ["study", "status", "nowhere"],
        ["study", "export", "nowhere", "--out", "x.csv"],
        ["study", "report", "nowhere"],
        ["study", "merge", "a.db", "b.db", "--out", "c.db"],
    ],
)
def test_03_what_cannot_work_is_refused_at_once(tmp_path: Path, arguments: list[str]) -> None:
    began = time.process_time()
    told = hardness(*arguments, cwd=tmp_path, timeout=20)
    assert told.returncode == 2
    assert re.fullmatch(r"error: .*\n", told.stderr), told.stderr
    assert list(tmp_path.iterdir()) == []
    assert time.process_time() - began < 1


def test_04_options_go_anywhere_and_misspelt_names_get_a_suggestion() -> None:
    assert hardness("study", "run", "--dry-run", "exponential-in-m", "--quick").returncode == 0
    assert hardness("study", "run", "exponential-in-m", "--quick", "--dry-run").returncode == 0
    assert "did you mean 'exponential-in-m'?" in hardness("study", "run", "exponental-in-m").stderr


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("signum", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("trial", ["brief", "learns"])
def test_05_killed_parents_leave_no_children_and_a_store_that_resumes(
    tmp_path: Path, signum: int, code: int, trial: str
) -> None:
    prey = hunt(tmp_path, trial)
    wait_until_stored(tmp_path, 5)
    children = descendants(prey.pid)
    assert len(children) >= 2
    prey.send_signal(signum)
    assert prey.wait(10) == code
    deadline = time.monotonic() + 5
    while alive(children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive(children) == set()
    left = stored(tmp_path)
    assert 5 <= left < 150
    if trial == "brief":
        with Store(tmp_path / "rows.db", ABOUT) as store:
            assert run(numbered(150), store, workers=0, trial=study_trials.trivial) == 150 - left
        assert exported(tmp_path / "rows.db") == undisturbed(tmp_path)


@pytest.mark.parametrize("kills", [2, pytest.param(200, marks=pytest.mark.slow)])
def test_05_kill_9_at_random_moments(tmp_path: Path, kills: int) -> None:
    rng = np.random.default_rng(kills)
    for _ in range(kills):
        prey = hunt(tmp_path)
        time.sleep(float(rng.uniform(0, 1.5)))
        prey.kill()
        prey.wait()
        if stored(tmp_path) == 150:
            (tmp_path / "rows.db").unlink()  # the next hunt starts a new store
    prey = hunt(tmp_path)
    assert prey.wait(120) == 0
    assert exported(tmp_path / "rows.db") == undisturbed(tmp_path)


@pytest.mark.slow  # tests/test_interrupt.py tries the first instants by default
def test_05_an_interrupted_command_says_so_and_goes_on(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    arguments = ["study", "run", "exponential-in-m", "--quick", "--out", out]
    prey = subprocess.Popen([*COMMAND, *arguments], env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not stored(tmp_path / "out"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    prey.send_signal(signal.SIGINT)
    told = prey.communicate(timeout=30)[1]
    assert prey.returncode == 130
    assert "the same command goes on" in told
    assert "Traceback" not in told
    assert "to run" in hardness("study", "status", out).stdout


def test_06_a_torn_store_is_one_sentence_and_a_torn_journal_resumes(tmp_path: Path) -> None:
    prey = hunt(tmp_path)
    wait_until_stored(tmp_path, 20)
    prey.kill()
    prey.wait()
    journal = tmp_path / "rows.db-wal"
    journal.write_bytes(journal.read_bytes()[:-40])
    with Store(tmp_path / "rows.db", ABOUT) as store:
        assert len(store.done()) >= 19
        run(numbered(150), store, workers=0, trial=study_trials.trivial)
    assert exported(tmp_path / "rows.db") == undisturbed(tmp_path)
    whole = (tmp_path / "rows.db").read_bytes()
    for torn in (whole[:-40], whole[: len(whole) // 2], whole[:4096] + b"\xff" * 4096 + whole[8192:]):
        (tmp_path / "rows.db").write_bytes(torn)
        told = hardness("study", "status", str(tmp_path))
        assert told.returncode in (0, 2)  # what can be read is reported, and what cannot is counted
        assert re.fullmatch(r"(error: )?.*rows\.db is damaged.*\n", told.stderr)


# 07, learners that raise, sleep, exit, answer nan or the wrong shape: test_study_engine.py.


def test_08_a_second_run_does_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    task = catalog.get("stress").user_learner_tasks(True, "sgd")[0]
    study = replace(catalog.get("stress"), tasks=lambda quick: [task])
    monkeypatch.setitem(catalog.STUDIES, "stress", study)
    with Store(tmp_path / "rows.db", {"study": "stress", "seed": 0, "quick": False}) as store:
        store.plan([task])
        store.add(task, Outcome("solved", 1, {"degree": 5}), {})
    assert cli.run(["study", "run", "stress", "--out", str(tmp_path), "--workers", "0"]) == 0
    assert "nothing to do" in capsys.readouterr().err


def test_09_the_order_of_keys_is_no_identity() -> None:
    a, b = Task("parity", {"a": 1, "b": 2.0}, {}, {}, 0), Task("parity", {"b": 2, "a": 1.0}, {}, {}, 0)
    assert a.identity == b.identity


def test_10_missing_folders_are_made(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "c.db"
    with Store(deep, ABOUT) as store:
        store.plan(numbered(1))
        export(store.rows, tmp_path / "x" / "y" / "rows.csv")
    assert deep.exists()
    assert (tmp_path / "x" / "y" / "rows.csv").exists()
    with pytest.raises(InputError, match="cannot open"):
        Store(Path("/proc/nowhere/rows.db"), ABOUT)


@pytest.mark.parametrize("size", [10**2, 10**4, 10**6, 10**9])
def test_11_the_interval_of_a_mean_covers(size: int) -> None:
    """alpha(s) of costs that are geometric with mean `size`, like an exhaustive search's: 95 % intervals cover."""
    rng, hits, sets = np.random.default_rng(size), 0, 40
    for _ in range(sets):
        cells = [
            Cell(d, s, rng.geometric(1 / (size * (d / 16) ** s), 20).astype(float), np.ones(20, dtype=bool))
            for d in (16, 24, 32, 48, 64)
            for s in (2, 3, 4, 5)
        ]
        found = growth(cells)
        hits += sum(interval.low <= s <= interval.high for s, interval in found.exponents.items())
    assert hits >= 0.85 * 4 * sets  # P(fewer | coverage 0.9) < 2 % for independent intervals


def solved(d: int, s: int, run: int, status: str = "solved", cost: float | None = 50.0) -> tuple[Task, Outcome]:
    (task,) = runs([parity((d, s))], 1, 60)
    detail = {"reached": {"0.9": 50, "0.98": None}, "curve": [[50, 0.9, 0.9]]}
    return replace(task, repetition=run), Outcome(status, cost, detail)


DEGENERATE: dict[str, list[tuple[Task, Outcome]]] = {
    "no rows": [],
    "one row": [solved(16, 2, 0)],
    "all censored": [solved(d, s, r, "budget") for d in (16, 24, 32, 48) for s in (2, 3, 4, 5) for r in range(3)],
    "all crashed": [solved(d, s, 0, "killed", None) for d in (16, 24, 32, 48) for s in (2, 3, 4, 5)],
    "zero cost": [solved(d, s, 0, "solved", 0.0) for d in (16, 24) for s in (2, 3)],
    "25 groups": [solved(d, s, 0) for d in range(16, 41) for s in (2, 3)],
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_12_degenerate_data_gives_a_page_that_says_so(tmp_path: Path, name: str) -> None:
    """No statistic is made of costs that do not vary, are no numbers, or are all lower bounds."""
    with Store(tmp_path / "rows.db", {"study": "exponential-in-m", "seed": 0, "quick": False}) as store:
        store.plan(task for task, _ in DEGENERATE[name])
        for task, outcome in DEGENERATE[name]:
            store.add(task, outcome, {})
        verdict = catalog.page(store, tmp_path)
        found = series(store.rows())
    assert "GROWS" not in verdict
    assert "POLYNOMIAL FITS" not in verdict
    assert STUDENT_HARD not in found or found[STUDENT_HARD].growth.word == "NO VERDICT"
    text = re.sub(r"<[^>]*>", "", (tmp_path / "index.html").read_text())
    assert "nan" not in text.split()
    assert (tmp_path / "proved.svg").exists()
    assert (tmp_path / "measured.svg").exists() == (STUDENT_HARD in found)


def test_13_nothing_piped_has_escapes(tmp_path: Path) -> None:
    runs = [hardness("study", "list"), hardness("study", "--help"), hardness("study", "run", "nonsense")]
    runs.append(hardness("study", "run", "exponential-in-m", "--dry-run"))
    assert all("\x1b" not in told.stdout + told.stderr for told in runs)


def test_14_repetitions_differ() -> None:
    from hardness.studies.trials import trial

    solver = {"kind": "game", "oracle": "sampled", "strategy": "characters", "tolerance": 0.05, "samples": 448}
    tasks = [Task("parity", {"dim": 24, "heads": 4}, solver, {"queries": 40_000}, r) for r in range(5)]
    assert len({trial(task, 0, 60.0).cost for task in tasks}) == 5


@pytest.mark.slow
def test_15_an_installed_copy_works_away_from_the_source(tmp_path: Path) -> None:
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(tmp_path / "site")]
    subprocess.run([*install, str(ROOT)], check=True, timeout=300)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    told = hardness("study", "list", cwd=tmp_path, env=environment)
    assert told.returncode == 0
    assert "exponential-in-m" in told.stdout
    assert (tmp_path / "site" / "hardness" / "study" / "page" / "base.html").exists()
