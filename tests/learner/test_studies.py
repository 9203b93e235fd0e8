"""Studies of learners from their tasks to their pages."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hardness.engine.run import run
from hardness.engine.store import Store
from hardness.engine.task import Task
from hardness.studies import catalog
from learner.studies.linear_attention import AUTOMATA, HEAD, MACHINE, MEMORY
from learner.studies.random_features import BIASED, RIVAL

# Quick tasks of every kind.
FEW: dict[str, Callable[[Task], bool]] = {
    HEAD: lambda t: t.params["dim"] == 2 and (t.solver["method"] == "regression" or t.solver["heads"] == 1),
    MEMORY: lambda t: t.solver["unitary"] in (0.0, 1.0) and t.solver.get("heads", 4) == 4,
    AUTOMATA: lambda t: t.params["states"] < 3,
    MACHINE: lambda t: t.params["states"] == 3 and t.budget["samples"] > 2600,
    "key-averages": lambda t: t.budget["samples"] == 64 and t.solver["model"] in ("RFA", BIASED, RIVAL),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "begins", "drawn"),
    [("linear-attention", "Where a certificate holds", 5), ("random-features", "random-features: ", 1)],
)
def test_a_few_tasks_make_a_page(tmp_path: Path, name: str, begins: str, drawn: int) -> None:
    study = catalog.get(name)
    tasks = [task for task in study.tasks(True) if task.repetition < 2 and FEW[task.family](task)]
    with Store(tmp_path / "rows.db", {"study": name, "seed": 0, "quick": True}) as store:
        run(tasks, store, workers=0, trial=study.trial)
        assert set(store.counts()) <= {"solved", "wrong"}
        assert catalog.page(store, tmp_path).startswith(begins)
    html = (tmp_path / "index.html").read_text()
    assert html.count("<svg") + html.count("<img") >= drawn
    assert "nan" not in html.split("Provenance")[0].replace("base64", "")
