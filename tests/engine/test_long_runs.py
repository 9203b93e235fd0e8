"""Long runs: what the lab's process holds grows neither with trials that have ended nor with learners that crash."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import study_trials

HERE, ROOT = Path(study_trials.__file__).parent, Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE)])}
MEASURED = """
import os, sys
from pathlib import Path
import study_trials
from hardness.engine.run import run
from hardness.engine.store import Store

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

count, workers, trial = int(sys.argv[2]), int(sys.argv[3]), getattr(study_trials, sys.argv[4])
seen = []
class Watched(Store):
    def add(self, *given):
        super().add(*given)
        seen.append(0)
        if len(seen) in (count // 4, count):
            print(resident(), flush=True)

if __name__ == "__main__":
    tasks = study_trials.numbered(count)
    for task in tasks:
        task.identity, task.text
    with Watched(Path(sys.argv[1]), {"study": "test", "seed": 0}) as store:
        run(tasks, store, trial, workers=workers, guard=60.0)
        print(store.counts())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("count", "workers", "trial", "status"),
    [(20_000, 0, "trivial", "solved"), (20_000, 2, "trivial", "solved"), (100, 0, "exits", "killed"),
     (100, 2, "exits", "killed")],
)  # fmt: skip
def test_memory_of_a_long_run_is_flat(tmp_path: Path, count: int, workers: int, trial: str, status: str) -> None:
    """What the lab's process holds after a quarter of its trials and after all, in bytes: 4 MB apart at most."""
    script = tmp_path / "measured.py"
    script.write_text(MEASURED)
    command = [sys.executable, str(script), str(tmp_path / "rows.db"), str(count), str(workers), trial]
    told = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=900, check=False)
    assert told.returncode == 0, told.stderr
    quarter, whole, counts = told.stdout.splitlines()
    assert counts == str({status: count})
    assert int(whole) - int(quarter) < 4 << 20, (quarter, whole)
    size = sum(file.stat().st_size for file in tmp_path.glob("rows.db*"))
    assert count < 1000 or size / count < 600
