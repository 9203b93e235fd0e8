"""Run plan 4, part by part, then the tuning of its cells and the settings that win: all that the store lacks.

``python -m learner.studies.exponential_in_m FOLDER [WORKERS]`` resumes where it was interrupted.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from hardness.engine.progress import Progress
from hardness.engine.run import run
from hardness.engine.store import STORE, Store
from hardness.engine.task import Task
from hardness.engine.tuning import Results
from learner.studies.exponential_in_m import STUDY, plan


def main(folder: Path, workers: int = 1) -> None:
    """Run what the store in `folder` lacks of the plan."""
    fixed, trial, seconds, guard = plan.read(), STUDY.trial, STUDY.seconds, STUDY.guard
    with Store(folder / STORE, {"study": STUDY.name, "seed": 0, "quick": False}) as store:
        store.made_by("python -m learner.studies.exponential_in_m out/plan4")

        def results(tasks: Sequence[Task]) -> Results:
            run(tasks, store, trial, guard=guard, workers=workers, seconds=seconds, progress=Progress())
            return {row.task.identity: row.outcome for row in store.rows() if row.outcome}

        for part in plan.parts(fixed):
            results(part)
        for cell in plan.tuned(fixed):
            results(plan.winners(fixed, cell, results))
        results(plan.largest(fixed))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
