"""The learners' studies through the study engine: rows, tables, page, and the same bytes for the same seed."""

from pathlib import Path

import pytest

from hardness.study.run import run
from hardness.study.store import Store
from hardness.study.task import Task
from learner.studies import anatomy, learner_scaling, rarity
from learner.studies.catalog import STUDIES

TABLES = {"rarity": rarity.table, "learner-scaling": learner_scaling.table, "anatomy": anatomy.table}


def some(name: str) -> list[Task]:
    tasks = STUDIES[name].tasks(True)
    wanted = {
        "rarity": lambda t: (
            t.params["heads"] <= 3 and t.params["tokens"] == 2 and t.params["scale"] == 3 and not t.repetition
        ),
        "learner-scaling": lambda t: t.params["heads"] == 2 and t.solver["learner"] != "lbfgs",
        "anatomy": lambda t: t.params["heads"] == 2 and t.solver["path"] == "both",
    }[name]
    return [task for task in tasks if wanted(task)]


@pytest.mark.parametrize(
    "name",
    ["rarity", *(pytest.param(name, marks=pytest.mark.slow) for name in ("learner-scaling", "anatomy"))],
)
def test_a_study_runs_and_makes_its_page(name: str, tmp_path: Path) -> None:
    verdicts, rows = [], []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        with Store(folder / "rows.db", {"study": name, "seed": 0, "quick": True}) as store:
            run(some(name), store, workers=0, trial=STUDIES[name].trial)
            assert not {"error", "killed"} & set(store.counts())
            verdicts.append(STUDIES[name].page(store, folder))
            page = (folder / "index.html").read_bytes()
            STUDIES[name].page(store, folder)
            assert (folder / "index.html").read_bytes() == page  # a function of the rows, and of their seconds
            table = TABLES[name](store.rows())
        rows.append((folder / "rows.csv").read_bytes())
    assert verdicts[0] == verdicts[1]
    assert rows[0] == rows[1]
    if name == "rarity":
        assert all(abs(line["fitted"] - line["law"]) <= 0.15 * line["law"] for line in table)
    elif name == "learner-scaling":
        direct = next(line for line in table if line["learner"] == "direct")
        phases = next(line for line in table if line["learner"] == learner_scaling.PHASES)
        assert 24 < direct["examples"] <= 128
        assert phases["examples"] is None
    else:
        assert [line["gave up"] for line in table] == ["crude", None, None]


def test_trials_on_one_path_share_their_layers() -> None:
    tasks = [t for t in anatomy.tasks(True) if t.params["heads"] == 2]
    assert len({task.shared(kind="anatomy").seed(0, "instance") for task in tasks}) == 1
    assert len({task.identity for task in tasks}) == len(tasks)


@pytest.mark.slow
def test_rarity_law() -> None:
    """Every (m, k) with (m−1)(k−1) <= 4 at tau = 3 within 15%, where at least 300 rows are certified below 0.1."""
    groups: dict[tuple[int, int], list[dict[str, object]]] = {}
    for task in rarity.tasks(False):
        m, k = int(task.params["heads"]), int(task.params["tokens"])
        if task.params["scale"] == 3 and (m - 1) * (k - 1) <= 4:
            groups.setdefault((m, k), []).append(dict(rarity.trial(task, 0, 600).detail))
    for (m, k), details in groups.items():
        fitted, error, rows = rarity.exponent(details)
        assert fitted is not None
        assert error is not None
        law = (m - 1) * (k - 1)
        assert abs(fitted - law) <= 0.15 * law + (1.96 * error if rows < 300 else 0)
