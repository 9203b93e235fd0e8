"""The study `wall`: its grid, one run from examples to row, what the rows say, and the costs measured before."""

import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from math import comb
from pathlib import Path

import numpy as np
import pytest

from hardness import cli
from hardness.attacks.estimates.low_degree import monomials
from hardness.engine.outcome import Outcome
from hardness.engine.store import Row, Store
from hardness.engine.table import export
from hardness.engine.task import Task
from hardness.report.report import words
from hardness.statistics.calibration import calibration
from hardness.statistics.verdict import GROWS, growth
from hardness.studies import catalog
from hardness.studies.wall import tasks as grid
from hardness.studies.wall.cells import CONTROL, HARD, NICE, Kind, cells, kind_of, ratio, width_effect
from hardness.studies.wall.page import BATCH, RATE, how_it_errs, noise, power, without, write
from hardness.studies.wall.trial import trial
from learner.student import RATES, Student
from learner.tuning import cost

STUDENT = {"kind": "wall", "learner": "student", "params": {}, "labels": "teacher"}


def run(cell: tuple, cap: int, repetition: int = 0, **change: object) -> Outcome:
    return trial(Task(*cell, {**STUDENT, **change}, {"samples": cap}, repetition), 0, 600.0)


def test_the_grid_is_what_the_study_promises():
    full, quick = grid.tasks(False), grid.tasks(True)
    assert len({task.identity for task in full}) == len(full)
    assert len(quick) == 2 * 9 * 5
    control = [task for task in full if task.solver["labels"] == "independent"]
    assert (len(control), {task.budget["samples"] for task in control}) == (50, {10_000_000})
    plain = [task for task in full if not task.solver["params"] and task not in control]
    places = {
        f: {(t.params["dim"], t.params["heads"]) for t in plain if t.family == f} for f in ("parity", "nondegenerate")
    }
    assert places["parity"] == places["nondegenerate"] >= {(d, m) for d in (12, 16, 20, 24) for m in (2, 3, 4)}
    assert {(32, 2), (16, 5), (16, 6), (8, 2), (20, 5)} < places["parity"]
    assert {t.params["heads"] for t in plain if t.family == "rounding"} == set(range(3, 9))
    assert {t.params["rho"] for t in plain if t.family == "interpolation"} == {0.1, 0.5}
    caps = {(t.params["dim"], t.params["heads"]): t.budget["samples"] for t in plain if t.family == "parity"}
    assert caps[20, 4] == 50_000_000 > caps[20, 5] == 30_000_000
    assert {task.solver["learner"] for task in grid.user_learner_tasks(False, "mine:Own")} == {"mine:Own"}
    assert len(grid.user_learner_tasks(True, "mine:Own")) == len(quick)
    assert catalog.get("wall").user_learner_tasks is grid.user_learner_tasks


def test_a_hard_and_a_nice_layer_are_solved_and_the_row_says_how():
    hard, easy = run(grid.parity((8, 2)), 300_000), run(grid.nice((8, 2)), 300_000)
    assert hard.status == easy.status == "solved"
    assert 2 < hard.cost / easy.cost < 20
    assert hard.detail["reached"]["0.9"] == hard.cost < hard.detail["reached"]["0.98"]
    curve = hard.detail["curve"]
    assert max(c for n, _, c in curve if n < hard.cost / 4) < 0.6 < 0.9 < curve[-1][2]
    assert 0.4 < hard.detail["linear"] < 0.75
    assert easy.detail["curve"][-1][2] is None
    again = run(grid.nice((8, 2)), 300_000)
    assert (again.cost, again.detail) == (easy.cost, easy.detail)


def test_a_cap_censors_and_random_labels_are_not_solved():
    short = run(grid.parity((8, 2)), 20_000)
    assert (short.status, short.cost) == ("budget", 20_000)
    control = run(grid.parity((8, 2)), 100_000, labels="independent")
    assert control.status == "budget"
    assert control.detail["explained"] < 0.1


class Broken:
    """A learner whose predictions are not finite."""

    def partial_fit(self, X, Y):
        return self

    def predict(self, X):
        return np.full(X.shape, np.nan)


def test_a_learner_of_the_users_own_meets_the_same(monkeypatch):
    monkeypatch.chdir(Path(__file__).parent)
    assert run(grid.parity((8, 2)), 5000, learner="test_wall:Broken").status == "wrong"
    assert run(grid.parity((8, 2)), 5000, learner="test_wall:Missing").status == "error"
    outcome = run(grid.parity((8, 2)), 60_000, learner="sgd")  # handed the products, it is quick
    assert outcome.status == "solved"


def rows(kind: dict, family: str, cells_of: dict, cap: int = 10**6) -> list[Row]:
    """Rows whose costs are given: a number above the cap is censored."""
    make = {"parity": grid.parity, "nondegenerate": grid.nice}[family]
    found = []
    for place, costs in cells_of.items():
        for repetition, spent in enumerate(costs):
            task = Task(*make(place), {**STUDENT, **kind}, {"samples": cap}, repetition)
            detail = {
                "reached": {"0.9": spent, "0.98": 2 * spent},
                "linear": 0.6,
                "curve": [[100, 0.1, 0.0], [spent, 0.9, 0.9]],
            }
            won = spent <= cap
            found.append(Row(task, Outcome("solved" if won else "budget", min(spent, cap), detail)))
    return found


def test_medians_ratios_and_censoring():
    hard = rows({}, "parity", {(16, 2): [100, 200, 300], (16, 3): [500, 10**7, 10**7], (16, 4): [400, 900, 10**7]})
    easy = rows({}, "nondegenerate", {(16, 2): [10, 20, 30], (16, 3): [10, 10, 10], (16, 4): [10, 10, 10]})
    found = cells([*hard, *easy, Row(hard[0].task, Outcome("error", 5)), Row(hard[0].task)])
    places = found[Kind(HARD)]
    assert [places[16, m].median for m in (2, 3, 4)] == [200, None, 900]
    assert places[16, 3].bound == 10**6
    assert places[16, 2].second("0.98") == 400
    exact, bounded = ratio(places[16, 2], found[Kind(NICE)][16, 2]), ratio(places[16, 3], found[Kind(NICE)][16, 3])
    assert (exact.value, exact.bounded, bounded.value, bounded.bounded) == (10, False, 10**5, True)
    assert exact.low < 10 < exact.high
    assert ratio(found[Kind(NICE)][16, 2], places[16, 3]) is None
    cell = places[16, 3].cell
    assert (cell.dim, cell.size, cell.solved.tolist(), cell.cap) == (16, 3, [True, False, False], 10**6)


def test_kinds_are_told_apart():
    task = rows({"params": {"heads": 2}}, "parity", {(16, 2): [1]})[0].task
    assert kind_of(task) == Kind(HARD, "student, M = m")
    assert kind_of(rows({"labels": "independent"}, "parity", {(16, 2): [1]})[0].task).layers == CONTROL
    assert kind_of(rows({"params": {"batch": 16}}, "parity", {(16, 2): [1]})[0].task).learner == "student, batch 16"


def test_the_effect_of_width_is_found_where_it_is_known():
    rng, found = np.random.default_rng(0), []
    for width in (4, 16, 64):
        law = {(d, m): [int(1000 * d ** (1 + 0.5 * np.log2(width)) * rng.lognormal(0, 0.05)) for _ in range(5)]
               for d in (12, 16, 20) for m in (2, 3)}  # fmt: skip
        found += rows({"params": {"heads": width}}, "parity", law, cap=10**12)
    value, low, high = width_effect(found)
    assert low < 0.5 < high
    assert high - low < 0.2
    assert value == pytest.approx(0.5, abs=0.1)
    bent = rows({}, "parity", {(d, 2): [10**6, 2 * 10**6] for d in (24, 28, 32)})
    assert width_effect([*found, *bent]) == (value, low, high)  # one width alone says nothing of widths
    assert width_effect(rows({}, "parity", {(16, 2): [1, 2]})) is None


def test_the_page_shows_what_the_rows_say(tmp_path):
    hard = rows({}, "parity", {(12, 2): [100, 200, 300], (16, 2): [200, 210, 10**7], (16, 3): [500, 10**7, 10**7]})
    easy = rows({}, "nondegenerate", {(12, 2): [10, 20, 30], (16, 2): [10, 10, 10], (16, 3): [10, 10, 10]})
    control = rows({"labels": "independent"}, "parity", {(16, 2): [10**7]})
    control += rows({"params": {"batch": 16}}, "parity", {(16, 2): [105, 105, 105]})
    with Store(tmp_path / "rows.db", {"study": "wall", "seed": 0, "quick": False}) as store:
        store.plan([row.task for row in (*hard, *easy, *control)])
        for row in (*hard, *easy, *control):
            store.add(row.task, row.outcome, {})
        said = write(store, tmp_path / "page")
    assert "at least 1e+05" in said
    assert "Random labels were solved in 0 of 1 runs." in said
    names = {path.name for path in (tmp_path / "page").iterdir()}
    assert {"costs.svg", "ratios.svg", "concepts.svg", "index.html", "rows.csv"} <= names
    html = (tmp_path / "page" / "index.html").read_text()
    page = words(html)
    assert said in page
    assert re.search(r"<td[^>]*>batch 16</td>\s*<td>16</td>\s*<td>2</td>\s*<td>0.5 \[", html)
    assert "NO VERDICT" in page
    assert "> 1,000,000" in page  # censored: a bound, never a number of its own
    assert f"{monomials(32, 5):,}" in page
    figure = (tmp_path / "page" / "costs.svg").read_text()
    assert "explained" in figure  # the curves stand under the costs
    assert "Of 1 runs on random labels 0 were solved." in page


def test_the_rule_on_growth_is_tested_on_the_grid_of_the_page():
    """With all cells of the plane: the power it has, what it says falsely, and the blind spots by name."""
    rng, law = np.random.default_rng(1), {}
    for d, m in grid.PLANE:
        law[d, m] = [int(500 * comb(d - 1, m) ** 0.5 * rng.lognormal(0, 0.2)) for _ in range(5)]
    judged = growth([runs.cell for runs in cells(rows({}, "parity", law, cap=10**9))[Kind(HARD)].values()])
    rates = calibration(judged, sets=40)
    said = how_it_errs(rates)
    half = next(row.of(GROWS) for row in rates if row.name == "C(d−1, m)^0.5")
    whole = next(row.of(GROWS) for row in rates if row.name == "C(d−1, m)")
    assert f"{half:.1%} of those that grow as C(d−1, m)^0.5" in said
    assert half >= 0.8
    ends = (f"{min(half, whole):.0%}", f"{max(half, whole):.0%}")
    said_of_it = ends[0] if ends[0] == ends[1] else " to ".join(ends)
    assert f"finds {said_of_it} of costs that grow with N" in power(rates)
    assert power([]) == ""
    said = noise(judged)
    assert f"scatter by {judged.tau:.2f} in log cost about f(d)·g(m)·d^(λm)" in said
    assert f"they scatter by {judged.misfit:.2f}" in said
    assert f"(p-value {judged.wide_p:.2g})" in said
    runs = judged.tau**2 - judged.omega**2
    wide = calibration(replace(judged, omega=max(judged.misfit**2 - runs, 0.0) ** 0.5), kinds=["growth with N"])
    assert f"the word would come up in {wide[0].of(GROWS):.1%} of those that grow as {wide[0].name}" in said
    worst = max(row.of(GROWS) for row in rates if row.kind == "other f(d) g(m)")
    assert f"products f(d)·g(m) of other functions, {worst:.1%} at most here" in how_it_errs(rates)
    crossing = max(row.of(GROWS) for row in rates if row.kind == "sum with a crossover")
    assert f"up to {crossing:.0%} of those of a sum of powers that crosses over" in power(rates)


def test_the_page_says_what_hangs_on_one_m():
    """Growth that only m = 4 shows: without its cells the word is another, and the sentence says so."""
    rng = np.random.default_rng(2)
    law = {(d, m): 1e4 * d * (d / 8) ** (3 * (m == 4)) for m in (2, 3, 4) for d in range(8, 25, 2)}
    drawn = {place: [int(cost * rng.lognormal(0, 0.05)) for _ in range(5)] for place, cost in law.items()}
    judged = growth([runs.cell for runs in cells(rows({}, "parity", drawn, cap=10**9))[Kind(HARD)].values()])
    assert judged.word == GROWS
    said = without(judged)
    assert "NO VERDICT without m = 4" in said
    assert f"{judged.exponents[4]} at m = 4" in said


def test_the_page_says_how_the_student_is_made():
    student = Student()
    assert (student.batch, RATES["adam"]) == (BATCH, RATE)
    assert (student.heads, "student") == (grid.WIDTH, grid.STUDENT)


def test_the_rates_are_tuned_on_parities_of_two():
    assert cost(8, "adam", 3e-3, seed=0, cap=150_000) < 150_000
    assert cost(8, "adam", 1e-6, seed=0, cap=20_000) == np.inf


SCRIPT = """
from pathlib import Path
from hardness.studies.wall import tasks as grid
from hardness.studies.wall.trial import trial
from hardness.engine.run import run
from hardness.engine.store import Store
tasks = list(grid.runs([grid.parity((8, 2)), grid.nice((8, 2))], 3, 40_000))
with Store(Path({path!r}), {{"study": "wall", "seed": 0}}) as store:
    run(tasks, store, trial=trial, workers=1)
"""


def test_a_run_that_is_killed_resumes_to_the_same_rows(tmp_path):
    for name, kill in (("killed", True), ("whole", False)):
        script = [sys.executable, "-c", SCRIPT.format(path=str(tmp_path / f"{name}.db"))]
        if kill:
            process = subprocess.Popen(script, start_new_session=True)
            while process.poll() is None:
                time.sleep(0.05)
                if _done(tmp_path / "killed.db") >= 2:
                    process.send_signal(signal.SIGKILL)
                    break
            process.wait()
            assert 2 <= _done(tmp_path / "killed.db") < 6
        subprocess.run(script, check=True)
        with Store(tmp_path / f"{name}.db") as store:
            export(store.rows, tmp_path / f"{name}.csv", timing=False)
    assert (tmp_path / "killed.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def _done(path: Path) -> int:
    if not path.exists() or not path.stat().st_size:
        return 0
    try:
        with Store(path) as store:
            return len(store.done())
    except Exception:  # it is only just being made
        return 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cell", "before"),
    [
        (grid.parity((8, 2)), 6.6e4),
        (grid.parity((12, 3)), 2.9e5),
        (grid.parity((16, 4)), 6.7e5),
        (grid.parity((12, 5)), 1.1e6),
        (grid.rounding((8, 5)), 2.2e5),
        (grid.nice((16, 6)), 7.4e4),
    ],
    ids=lambda value: str(value) if isinstance(value, float) else f"{value[0]}-{value[1]['dim']}-{value[1]['heads']}",
)
def test_its_costs_are_those_measured_before(cell, before):
    """Medians of five runs within a factor of two of what another implementation of the same student needed."""
    costs = [run(cell, 5_000_000, repetition).cost for repetition in range(5)]
    print(cell, sorted(costs))
    assert before / 2 < np.median(costs) < 2 * before


TINY = '''
import numpy as np

class Mean:
    """Predicts the mean of the labels that it has seen."""
    def __init__(self):
        self.sum, self.count = 0.0, 0
    def partial_fit(self, X, Y):
        self.sum, self.count = self.sum + Y.sum(axis=0), self.count + len(Y)
        return self
    def predict(self, X):
        return np.broadcast_to(self.sum / max(self.count, 1), X.shape).astype(float)
'''


def test_a_learner_of_the_users_own_stands_on_the_page_of_the_wall(tmp_path, monkeypatch, capsys):
    """`study run wall --learner module:Class`, on one cell of each kind and without the student's own runs."""
    (tmp_path / "tiny.py").write_text(TINY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    cells_ = [grid.parity((8, 2)), grid.nice((8, 2))]

    def few(quick: bool, learner: str) -> list[Task]:
        return grid.runs(cells_, 2, 4096, learner)

    study = replace(catalog.get("wall"), tasks=lambda quick: few(quick, grid.STUDENT), user_learner_tasks=few)
    monkeypatch.setitem(catalog.STUDIES, "wall", study)
    command = ["study", "run", "wall", "--learner", "tiny:Mean", "--workers", "0", "--out", str(tmp_path / "out")]
    assert cli.run([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["statuses"] == {"budget": 8}
    with Store(tmp_path / "out" / "rows.db") as store:
        found = cells(store.rows())
    assert {(kind.layers, kind.learner) for kind in found} == {
        (k, n) for k in (HARD, NICE) for n in ("student", "Mean")
    }
    said = words((tmp_path / "out" / "index.html").read_text())
    assert said.count("Mean") == 3
    assert "> 4,096" in said
