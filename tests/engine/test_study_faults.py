"""Faults of the machine under a study: a full disk, a second run on the same store, a clock that jumps, a long run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import study_trials
from study_trials import numbered

from hardness.engine.outcome import Outcome
from hardness.engine.run import run
from hardness.engine.store import Store
from hardness.engine.table import export
from hardness.errors import InputError

HERE = Path(study_trials.__file__).parent
ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE)])}
ABOUT = {"study": "test", "seed": 0}
RUN = """
import sys
from pathlib import Path
import study_trials
from hardness.errors import InputError
from hardness.engine.run import run
from hardness.engine.store import Store
try:
    with Store(Path(sys.argv[1]), {"study": "test", "seed": 0}) as store:
        print(run(study_trials.numbered(int(sys.argv[2])), store, study_trials.brief, workers=int(sys.argv[3])))
except InputError as error:
    print(f"error: {error}", file=sys.stderr)
    sys.exit(2)
"""


def exported(path: Path) -> bytes:
    with Store(path) as store:
        export(store.rows, path.with_suffix(".csv"), timing=False)
    return path.with_suffix(".csv").read_bytes()


def undisturbed(folder: Path, count: int) -> bytes:
    with Store(folder / "undisturbed.db", ABOUT) as store:
        run(numbered(count), store, workers=0, trial=study_trials.trivial)
    return exported(folder / "undisturbed.db")


def test_two_runs_on_one_store_do_the_work_once(tmp_path: Path) -> None:
    """Both end well, every row is there once and is what one run would have made."""
    command = [sys.executable, "-c", RUN, str(tmp_path / "rows.db"), "40", "1"]
    runs = [subprocess.Popen(command, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for each in runs:
        assert (each.communicate(timeout=120)[1], each.returncode) == ("", 0)
    assert exported(tmp_path / "rows.db") == undisturbed(tmp_path, 40)


CROWDED = "mount -t tmpfs -o size={size}k tmpfs {disk} && cp {store}* {disk}/ 2>/dev/null; {command}; code=$?; " \
          "cp {disk}/* {back}; exit $code"  # fmt: skip


def mounts() -> bool:
    """Whether this user may have a file system of his own."""
    if sys.platform != "linux":
        return False
    tried = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not mounts(), reason="needs a mount of one's own")
@pytest.mark.parametrize("size", [40, 60, 100])
def test_a_full_disk_is_one_line_and_the_rows_before_it_stay(tmp_path: Path, size: int) -> None:
    """On a disk of 40 kB the store cannot be made or planned, on larger ones trials fill it."""
    disk, back = tmp_path / "disk", tmp_path / "back"
    disk.mkdir()
    back.mkdir()
    own = f"{sys.executable} -c '{RUN}' {disk}/rows.db 2000 0".replace("brief", "trivial")
    script = CROWDED.format(size=size, disk=disk, store=tmp_path / "rows.db", command=own, back=back)
    told = subprocess.run(["unshare", "-rm", "sh", "-c", script], env=ENVIRONMENT, capture_output=True, text=True)
    assert told.returncode == 2, told
    assert re.fullmatch(r"error: cannot (open|write) .*(full|I/O).*\n", told.stderr), told.stderr
    left = 0
    if (back / "rows.db").stat().st_size:
        with Store(back / "rows.db", ABOUT) as store:
            left = len(store.done())
            run(numbered(2000), store, workers=0, trial=study_trials.trivial)
        assert exported(back / "rows.db") == undisturbed(tmp_path, 2000)
    assert left < 2000


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of POSIX systems")
def test_a_file_that_may_not_grow_is_one_line_for_every_writer(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a full disk: planning, adding, forgetting and drawing a seed."""
    path = tmp_path / "rows.db"
    with Store(path, ABOUT) as store:
        store.plan(numbered(50))
        for task in numbered(50)[:25]:
            store.add(task, Outcome("error", 1), {})
    limited = f"""
import resource, signal, sys
from pathlib import Path
import study_trials
from hardness.errors import InputError
from hardness.engine.outcome import Outcome
from hardness.engine.store import Store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
tasks = study_trials.numbered(3000)
with Store(Path({str(path)!r}), {ABOUT!r}) as store:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
    for write in (lambda: store.plan(tasks), lambda: store.retry(tasks[:25]),
                  lambda: [store.add(t, Outcome("solved", 1, {{"text": "x" * 3000}}), {{}}) for t in tasks[25:50]]):
        try:
            write()
            print("written")
        except InputError as error:
            print(error)
        assert not store._db.in_transaction
"""
    told = subprocess.run([sys.executable, "-c", limited], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    said = told.stdout.splitlines()
    assert len(said) == 3
    assert all(line == "written" or line.startswith(f"cannot write {path}: ") for line in said)
    assert any(line.startswith("cannot write") for line in said)
    with Store(path, ABOUT) as store:  # whole, and goes on
        assert store.planned() == 50
        run(numbered(50), store, workers=0, trial=study_trials.trivial)
        assert len(store.done()) == 50


def test_what_cannot_be_read_is_not_planned(tmp_path: Path) -> None:
    with Store(tmp_path / "rows.db", ABOUT) as store, pytest.raises(InputError, match="cannot be printed"):
        store.plan(numbered(3, {"kind": "fit", "learner": "mine\u202e:Net"}))
