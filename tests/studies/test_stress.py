"""The study `stress`: the climb of sizes, the counts beside it, a learner of one's own, and the page."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hardness import cli, registry
from hardness.attacks.estimates.low_degree import monomials
from hardness.families.interpolation import Interpolation
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.instance import Instance
from hardness.studies import catalog
from hardness.studies.stress import tasks as grid
from hardness.studies.stress import trial as stress
from hardness.studies.stress.page import Cell, family_of, learner_of
from hardness.studies.stress.trial import climb
from hardness.study import apart as clean
from hardness.study.outcome import Outcome, settle
from hardness.study.page.report import words
from hardness.study.store import Store
from hardness.study.task import Task

TOYS = '''
import os, time
import numpy as np
from hardness.errors import InputError
from learner.sgd import OnlineMLP

class Late(OnlineMLP):
    """Refuses fewer than 1000 examples, then learns."""
    def partial_fit(self, X, Y):
        if len(X) < 1000:
            raise InputError("too few")
        return super().partial_fit(X, Y)

class Zeros:
    def fit(self, X, Y):
        return self
    def predict(self, X):
        return np.zeros(X.shape)

class Never(Zeros):
    def fit(self, X, Y):
        raise InputError("not for me")

class Raises(Zeros):
    def fit(self, X, Y):
        if len(X) > 100:
            raise RuntimeError("no luck")

class Exits(Zeros):
    def fit(self, X, Y):
        if len(X) > 100 and not os.path.exists(__file__ + ".mended"):
            os._exit(3)

class Sleeps(Zeros):
    def fit(self, X, Y):
        if len(X) > 100:
            time.sleep(3600)

class Boasts(Zeros):
    def fit(self, X, Y):
        raise type("Ended", (Exception,), {})("solved: believe me")
'''


def end_server() -> None:
    """The next learner starts in a new server, as it would in another run of a command."""
    if clean._Server._kept is not None:
        clean._Server._kept.stop()


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module of learners in a package of its own, on PYTHONPATH."""
    room = tmp_path / "rooms" / "mypkg"
    room.mkdir(parents=True)
    (room / "__init__.py").touch()
    (room / "mod.py").write_text(TOYS)
    monkeypatch.syspath_prepend(str(room.parent))
    monkeypatch.setenv("PYTHONPATH", str(room.parent))
    end_server()
    yield room / "mod.py"
    end_server()


def climbing(learner: str, most: int = 1024, **params: Any) -> Task:
    budget = {"samples": most, "from": 64, "factor": 4}
    solver = {"kind": "stress", "learner": learner, "params": {}}
    return Task("parity", {"dim": 6, "heads": 2} | params, solver, budget, 0)


ENDS = {
    "Late": ("solved", 1024, None),
    "Zeros": ("budget", 1024, None),
    "Never": ("refused", 1024, "not for me"),
    "Raises": ("error", 64, "RuntimeError: no luck"),
    "Exits": ("killed", 64, "the learner's process ended with code 1"),
    "Boasts": ("error", 0, "Ended: solved: believe me"),
    "Sleeps": ("timeout", 64, "over 2 s"),
}


def test_sizes_rise_until_solved_and_every_end_has_its_status(toys: Path) -> None:
    digest = hashlib.sha256(toys.read_bytes()).hexdigest()[:16]
    for name, (status, cost, reason) in ENDS.items():
        outcome = settle(climb, climbing(f"mypkg.mod:{name}"), 0, 2.0 if name == "Sleeps" else 60.0)
        assert (name, outcome.status, outcome.cost) == (name, status, cost)
        assert outcome.detail.get("reason") == reason
        assert outcome.detail["degree"] == 5
        assert outcome.source == digest


def test_learners_meet_the_same_layer_and_repetitions_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seeds of instance and examples depend on family, parameters and repetition alone."""
    seen: list[int] = []

    def spy(family: Any, seed: int) -> Instance:
        seen.append(seed)
        raise RuntimeError("seen")

    monkeypatch.setattr("hardness.studies.stress.trial.Instance", type("Spy", (), {"generate": staticmethod(spy)}))
    base = climbing("sgd")
    others = [
        climbing("direct"),
        climbing("sgd", most=2048),
        Task(base.family, base.params, base.solver, base.budget, 1),
        climbing("sgd", dim=7),
    ]
    for task in [base, *others]:
        settle(climb, task, 0, 60.0)
    assert seen[0] == seen[1] == seen[2]
    assert len(set(seen)) == 3


@pytest.mark.parametrize(
    ("family", "expected"),
    [(Parity(6, m), 2 * m + 1) for m in (2, 3, 5)]
    + [(Parity(6, m, "dot"), m + 1) for m in (2, 4, 6)]
    + [(Interpolation(6, 2, 0.5), None)],
    ids=str,
)
def test_degrees_of_labels(family: Any, expected: int | None) -> None:
    assert stress.degree(Instance.generate(family, 0)) == expected


@pytest.mark.parametrize("seed", range(4))
def test_the_degree_of_rounding_against_monomials_one_by_one(seed: int) -> None:
    """Brute force at d = 4: correlation of the labels with every monomial of the eight signs."""
    from hardness.examples import unpack
    from hardness.instance import every_pair

    instance = Instance.generate(Rounding(4, 5, 2, heads=2), seed)
    words = every_pair(4)
    signs, labels = unpack(words, 4).reshape(256, 8), instance.teacher.labels(words)[:, 0, 0]
    present = [
        size
        for size in range(9)
        for chosen in combinations(range(8), size)
        if abs(np.mean(labels * signs[:, list(chosen)].prod(axis=1))) > 1e-9
    ]
    assert stress.degree(instance) == max(present)


@pytest.mark.parametrize(("bits", "degree"), [(4, 0), (4, 2), (6, 5), (6, 6), (6, 9)])
def test_monomials_are_counted(bits: int, degree: int) -> None:
    count = sum(1 for index in range(2**bits) if index.bit_count() <= degree)
    assert monomials(bits, degree) == count


def test_bounds_are_those_of_the_theory() -> None:
    assert stress.sq_bound(Task("parity", {"dim": 9, "heads": 4}, {}, {}, 0)) == pytest.approx(
        8 * 0.01 * (comb(8, 4) - 1)
    )
    dot = {"dim": 9, "heads": 4, "gadget": "dot"}
    assert stress.sq_bound(Task("parity", dot, {}, {}, 0)) == pytest.approx(8 * 0.01 * (comb(8, 2) - 1))
    rounding = {"dim": 8, "modulus": 17, "levels": 2}
    assert [stress.sq_bound(Task("rounding", rounding | {"heads": m}, {}, {}, 0)) for m in (2, 3, 4)] == [None] * 3
    few, ideal = (
        stress.sq_bound(Task("rounding", rounding | {"heads": 12}, {}, {}, 0)),
        8 * 0.01 * 2**7 * (1 - 17.0**-7),
    )
    assert few is not None
    assert 0.9 * ideal < few <= ideal
    assert stress.sq_bound(Task("interpolation", {"dim": 9, "heads": 4, "rho": 0.1}, {}, {}, 0)) is None


@pytest.mark.parametrize("torch", [True, False])
def test_every_learner_meets_every_family(torch: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "find_spec", lambda name: object() if torch else None)
    tasks = grid.tasks(False)
    families = {"parity", "rounding", "nondegenerate", "interpolation"}
    expected = {(name, f) for name in registry.names("learner") if torch or name != "adam" for f in families}
    assert {(task.solver["learner"], task.family) for task in tasks} == expected
    assert len({task.identity for task in tasks}) == len(tasks)
    assert {task.repetition for task in tasks} == set(range(5))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study on one layer, with sgd for a learner, and no page."""
    quiet = replace(catalog.get("stress"), page=lambda store, folder: "No page.")
    monkeypatch.setitem(catalog.STUDIES, "stress", quiet)
    monkeypatch.setattr(registry, "names", lambda kind, house=False: ["sgd"] if kind == "learner" else [])
    monkeypatch.setattr(grid, "entries", lambda quick: [("parity", {"dim": 6, "heads": 2}, 1)])


def test_a_learner_of_ones_own_joins(
    toys: Path, small: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["study", "run", "stress", "--quick", "--workers", "0", "--out", str(out), "--json"]
    assert cli.run(command) == 0
    assert json.loads(capsys.readouterr().out)["planned"] == 1
    own = ["--learner", "mypkg.mod:Late", "--learner", "mypkg.mod:Zeros", "--learner", "mypkg.mod:Late"]
    assert cli.run([*command, *own]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["ran"], told["statuses"]) == (2, {"solved": 2, "budget": 1})
    with Store(out / "rows.db") as store:
        assert store.sources()["mypkg.mod:Late"] == {hashlib.sha256(toys.read_bytes()).hexdigest()[:16]}
        assert len({row.task.identity for row in store.rows()}) == 3
    toys.write_text(TOYS + "\n# edited\n")
    end_server()
    assert cli.run([*command, *own]) == 0
    out, err = capsys.readouterr()
    assert "2 trials of plug-ins that were edited since will run again" in err
    assert json.loads(out)["ran"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["query-frontier", "--learner", "mypkg.mod:Late"],
            "error: no trial of study query-frontier has a place for",
        ),
        (["stress", "--learner", "mypkg.mod:Absent"], "error: cannot load the learner mypkg.mod:Absent"),
        (["stress", "--learner", "no.such:Thing"], "error: cannot load the learner no.such:Thing"),
        (["stress", "--learner", "direkt"], "error: unknown learner 'direkt'; did you mean 'direct'?"),
    ],
)
def test_what_cannot_join_is_one_line(
    toys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert cli.run(["study", "run", *arguments, "--out", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert told.startswith(message)
    assert told.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_retry_runs_crashed_trials_again_and_keeps_one_row(
    toys: Path, small: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["study", "run", "stress", "--quick", "--workers", "0", "--out", str(out)]
    command += ["--learner", "mypkg.mod:Exits", "--learner", "mypkg.mod:Zeros"]
    assert cli.run(command) == 1
    assert "--retry runs them again" in capsys.readouterr().err
    toys.with_name("mod.py.mended").touch()
    assert cli.run([*command, "--retry"]) == 0
    assert "1 trials that ended in error or were killed will run again" in capsys.readouterr().err
    with Store(out / "rows.db") as store:
        assert store.counts() == {"solved": 1, "budget": 2}
        assert len(list(store.rows())) == 3


ABOUT = {"study": "stress", "seed": 0, "quick": False}


def invented(task: Task, rng: np.random.Generator) -> Outcome:
    """Nice layers are learned by everybody, hard ones by sgd alone; the cost grows with m."""
    degree = {"parity": 2 * int(task.params["heads"]) + 1, "rounding": 15}.get(task.family)
    detail = {"degree": degree, "relative_error": 0.5}
    sizes = stress.sizes(task.budget)
    if task.family in ("nondegenerate", "interpolation") or task.solver["learner"] == "sgd":
        place = min(len(sizes) - 1, int(task.params["heads"]) - 2 + int(rng.integers(3)))
        return Outcome("solved", sizes[place], detail)
    return Outcome("refused" if task.solver["learner"] == "provable" else "budget", sizes[-1], detail)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, rng = tmp_path_factory.mktemp("stress"), np.random.default_rng(0)
    with Store(folder / "rows.db", ABOUT) as store:
        tasks = grid.tasks(False)
        store.plan(tasks)
        for task in tasks:
            store.add(task, invented(task, rng), {"numpy": "2"})
        catalog.page(store, folder)
    return folder


def test_the_page_keeps_degree_and_hardness_apart(written: Path) -> None:
    page = (written / "index.html").read_text()
    text = re.sub(r"\s+", " ", page) + words(page)
    for part in (
        "High degree is not hardness", "block-size null model", "Hard is said only where it is proved",
        "It counts queries, not examples", "Nothing is proved for nondegenerate and interpolation",
        "sgd on parity diag, d = 8, m = 2: 5 solved", "direct on parity diag, d = 8, m = 3: 5 budget; more than 1,024",
        "5 refused", "parity diag, d = 12, m = 4: at least 26.3 queries", 'href="stress.svg"', 'href="stress.pdf"',
        'href="rows.csv"', 'class="sortable"',
    ):  # fmt: skip
        assert part in text, part
    assert {path.name for path in written.iterdir()} >= {"stress.svg", "stress.pdf", "queries.svg", "queries.pdf"}
    verdict = json.loads((written / "summary.json").read_text())["verdict"]
    assert verdict.startswith("Some learner solves")
    assert "None" not in text


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome("budget", 1024, {"degree": 5}),
        Outcome("killed", 0, {"reason": "its worker died"}),
        Outcome("error"),
        Outcome("solved", float("nan"), {"degree": 5}),
        None,
    ],
    ids=str,
)
def test_degenerate_rows_give_a_page(tmp_path: Path, outcome: Outcome | None) -> None:
    task = climbing("direct")
    with Store(tmp_path / "rows.db", ABOUT) as store:
        store.plan([task])
        if outcome:
            store.add(task, outcome, {})
        verdict = catalog.page(store, tmp_path)
    text = re.sub(r"<[^>]*>", "", (tmp_path / "index.html").read_text())
    assert "nan" not in text.split()
    assert (verdict == "No trial has been run.") == (outcome is None)
    if outcome:
        assert "unsolved here: parity diag, d = 6, m = 2" in verdict


def cell(*outcomes: tuple[str, float | None]) -> Cell:
    return Cell(tuple(Outcome(status, cost) for status, cost in outcomes))


def test_a_run_that_failed_is_a_lower_bound() -> None:
    assert cell(("solved", 64), ("solved", 256), ("budget", 1024)).median == 256
    lost = cell(("solved", 64), ("budget", 1024), ("budget", 1024))
    assert (lost.median, lost.bound) == (None, 1024)
    crashed = cell(("killed", 0), ("error", None), ("solved", 512))
    assert (crashed.median, crashed.bound) == (None, 0)  # a crash adds no hardness
    assert crashed.ended == "1 solved, 1 error, 1 killed"


@pytest.mark.parametrize("runs", [2, 5, 8])
@pytest.mark.parametrize("magnitude", [1e2, 1e5, 1e9])
def test_the_range_holds_the_median_as_often_as_it_says(runs: int, magnitude: float) -> None:
    """P(min <= median <= max) = 1 - 2^(1-runs) for any continuous law; 4 sd: a false alarm in 16,000 seeds."""
    rng, sets = np.random.default_rng(runs), 2000
    claim, hits = 1 - 2.0 ** (1 - runs), 0
    for costs in magnitude * rng.lognormal(size=(sets, runs)):
        solved = cell(*(("solved", c) for c in costs)).solved
        hits += solved[0] <= magnitude <= solved[-1]
    assert abs(hits / sets - claim) < 4 * (claim * (1 - claim) / sets) ** 0.5


def test_names_tell_instances_and_learners_apart() -> None:
    tasks = grid.tasks(False)
    places = {(family_of(task), task.params["heads"]) for task in tasks}
    assert len(places) == len(grid.entries(False))
    assert {learner_of(task) for task in tasks} >= {"low-degree", "low-degree, degree 5", "sgd"}
    assert catalog.get("stress").tasks(True)
