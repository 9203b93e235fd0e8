"""The learners' studies through the study engine: rows, tables, page, and the same bytes for the same seed."""

from pathlib import Path

import numpy as np
import pytest

from hardness.engine.run import run
from hardness.engine.store import Store
from hardness.engine.table import export
from hardness.engine.task import Task
from hardness.report import report
from learner.studies import anatomy, critical_rho, rarity, search_gap
from learner.studies.catalog import STUDIES
from learner.studies.learner_scaling import table as scaling
from learner.studies.learner_scaling.trials import PAPER, PHASES

TABLES = {
    "rarity": rarity.table,
    "learner-scaling": scaling.table,
    "anatomy": anatomy.table,
    "critical-rho": critical_rho.table,
    "search-gap": search_gap.table,
}
SIZES = [1000 * 2**i for i in range(6)]
DEAR = ("learner-scaling", "anatomy", "critical-rho", "search-gap")


def some(name: str) -> list[Task]:
    tasks = STUDIES[name].tasks(True)
    wanted = {
        "rarity": lambda t: t.params["heads"] == t.params["tokens"] == 2 and t.params["scale"] == 3,
        "learner-scaling": lambda t: t.params["heads"] <= 2 and t.solver["learner"] not in ("lbfgs", PAPER),
        "anatomy": lambda t: t.params["heads"] == 2 and t.solver["path"] == "both",
        "critical-rho": lambda t: t.solver["learner"] != "lbfgs",
        "search-gap": lambda t: not t.repetition,
    }[name]
    return [task for task in tasks if wanted(task)]


@pytest.mark.parametrize(
    "name",
    ["rarity", *(pytest.param(name, marks=pytest.mark.slow) for name in DEAR)],
)
def test_a_study_runs_and_makes_its_page(name: str, tmp_path: Path) -> None:
    rows, table = [], []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        with Store(folder / "rows.db", {"study": name, "seed": 0, "quick": True}) as store:
            run(some(name), store, workers=0, trial=STUDIES[name].trial)
            assert not {"error", "killed"} & set(store.counts())
            export(store.rows, folder / report.ROWS, timing=False)
            table = TABLES[name](store.rows())
            if folder.name == "one":
                STUDIES[name].page(store, folder)
        rows.append((folder / report.ROWS).read_bytes())
    assert rows[0] == rows[1]
    assert "No trial has been run" not in (tmp_path / "one" / report.PAGE).read_text()
    if name == "rarity":
        assert all(abs(line["fitted"].value - line["law"]) <= 0.15 * line["law"] for line in table)
        assert all(line["farthest slope"].low < line["farthest slope"].value for line in table)
    elif name == "learner-scaling":
        phases = {line["m"]: line for line in table if line["learner"] == PHASES}
        assert phases[1]["error there"] < 1e-4 < phases[2]["error there"] < 0.1
        assert phases[2]["slope"].value < -0.5
        assert all(line["distinct inputs"] > 0.99 for line in table)
    elif name == "anatomy":
        assert [line["gave up"] for line in table] == ["crude", None, None]
        assert all(line["reason"] for line in table if line["gave up"])
        assert all(line["certified_error"] is not None for line in table if line["certified"])
    elif name == "critical-rho":
        assert all(line["found"][1.0] == "1/1" for line in table if line["learner"] == "direct")
    else:
        assert {line["start"] for line in table} == {search_gap.NEAR, search_gap.SCRATCH}
        assert all(line["found"][2.0] == "1/1" for line in table)


def test_growth_and_exponents_of_made_up_rows() -> None:
    """Error 40·4^m/n, tolerance error^(1/2): slope −1, four times the examples a head, a known exponent."""
    runs = {
        m: {
            r: {n: {"error": 40 * 4**m / n, "eta": (40 * 4**m / n) ** 0.5, "distinct": 1.0} for n in SIZES}
            for r in range(3)
        }
        for m in (1, 2)
    }
    for m, own in runs.items():
        needs = scaling.examples_to(own, 0.1)
        assert needs is not None
        assert needs.value == pytest.approx(400 * 4**m)
        slope, (exponent, eta) = scaling.slope_of(own, "error"), scaling.ledger(own, (2, 16, m))
        assert slope is not None
        assert slope.value == pytest.approx(-1)
        assert exponent is not None
        assert eta == pytest.approx(0.1**0.5)
        assert exponent.value == pytest.approx(2 * np.log(10**0.5) / np.log(32))
    lines = [
        {
            "learner": PHASES,
            "k": 2,
            "d": 16,
            "m": m,
            "least examples": 1000,
            "examples to 0.1": scaling.examples_to(own, 0.1),
        }
        for m, own in runs.items()
    ]
    assert [step["factor"] for step in scaling.growth(lines)] == [pytest.approx(4)]


def test_what_was_not_reached_is_not_extrapolated() -> None:
    never = {r: {1000: {"error": 0.5}, 2000: {"error": 0.4}} for r in range(4)}
    assert scaling.examples_to(never, 0.1) is None
    once = never | {r: {1000: {"error": 0.5}, 2000: {"error": 0.05}} for r in range(3)}
    found = scaling.examples_to(once, 0.1)
    assert found is not None
    assert found.low is None
    assert 1000 < found.value <= 2000


def test_the_interval_of_an_exponent_is_over_layers() -> None:
    def layer(a: float) -> dict[str, object]:
        return {"certified": {"0.05": 400, "0.1": 900}, "logs": {"0.05": 400 / a, "0.1": 900 / a}}

    found = rarity.clustered([layer(1.0), layer(2.0), layer(3.0)])
    assert found is not None
    assert found.value == pytest.approx(2)
    assert found.low is not None
    assert found.low < 0  # three layers that disagree say little, however many rows each has
    assert rarity.clustered([layer(1.0), layer(2.0)]) is None


def test_nothing_is_estimated_from_a_handful_of_rows() -> None:
    few = {"certified": {"0.05": 2, "0.1": rarity.FEW - 1}, "logs": {"0.05": 1.0, "0.1": 9.0}}
    many = {"certified": {"0.05": 400, "0.1": 900}, "logs": {"0.05": 200.0, "0.1": 450.0}}
    assert rarity.clustered([many] * 3) is not None
    assert rarity.clustered([many] * 3 + [few]) is None  # a layer that is left out would bias the others


def test_slopes_stand_where_every_layer_has_rows() -> None:
    """Shares η² exactly: slope 2 wherever there are rows, and none where one layer has too few."""

    def layer(rows: int) -> dict[str, object]:
        return {"certified": {str(eta): round(rows * eta**2) for eta in rarity.ETAS}}

    local = rarity.slopes([layer(10**7)] * 3)
    assert list(local) == list(rarity.ETAS[:-1])
    assert all(slope.value == pytest.approx(2, abs=1e-3) for slope in local.values())
    assert list(rarity.slopes([layer(10**7), layer(10**7), layer(10**4)])) == [0.3]


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
