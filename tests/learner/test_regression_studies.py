"""Studies of learners by regression: their data, their pages through the engine, and their intervals."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from hardness.engine.run import run
from hardness.engine.store import Row, Store
from hardness.engine.task import Task
from hardness.studies import catalog
from hardness.studies.catalog import get
from learner.linear import attention, certificate, feature_count, features
from learner.random_features import RandomFeatureAttention
from learner.studies import associative_memory as associative_memory_study
from learner.studies import automata as automata_study
from learner.studies import curves as study_curves
from learner.studies import linear_attention as linear_attention_study
from learner.studies import random_features as random_features_study
from learner.studies import universal_machine as machine_study

WANTED: dict[str, Callable[[Task], bool]] = {
    "random-features": lambda t: (
        t.budget["samples"] == 64 and t.solver["model"] in ("RFA", "RFA biased 8:1", "RFMLP, as many trained")
    ),
    "linear-attention": lambda t: (
        t.params["dim"] == 2 and (t.solver["method"] == "regression" or t.solver["heads"] == 1)
    ),
    "associative-memory": lambda t: t.solver["method"] == "regression" and t.solver["unitary"] in (0.0, 1.0),
    "automata": lambda t: t.params["states"] < 3,
    "universal-machine": lambda t: t.params["states"] == 3 and t.budget["samples"] > 2600,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WANTED)
def test_a_study_runs_and_makes_its_page(name: str, tmp_path: Path) -> None:
    study = get(name)
    tasks = [task for task in study.tasks(True) if task.repetition < 2 and WANTED[name](task)]
    pages = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        with Store(folder / "rows.db", {"study": name, "seed": 0, "quick": True}) as store:
            run(tasks, store, workers=0, trial=study.trial)
            assert sum(store.counts().values()) == len(tasks)
            assert set(store.counts()) <= {"solved", "wrong"}
            assert all(row.outcome is not None and row.outcome.seconds > 0 for row in store.rows())
            verdict = catalog.page(store, folder)
        pages.append([path.read_bytes() for path in sorted(folder.iterdir()) if not path.name.startswith("rows.db")])
    assert pages[0] == pages[1]
    assert "Too few" not in verdict
    html = (tmp_path / "one" / "index.html").read_text()
    assert html.count("<svg") >= 1
    assert "nan" not in html.split("Environment")[0]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in ("automata", "linear-attention") else pytest.mark.slow) for name in WANTED],
)
def test_tasks_are_distinct_and_predicted_within_the_limits(name: str) -> None:
    study = get(name)
    for quick, seconds in ((True, 60), (False, 600)):
        tasks = study.tasks(quick)
        assert len({task.identity for task in tasks}) == len(tasks)
        assert sum(map(study.seconds, tasks)) / 2 < seconds


def test_all_models_see_the_same_examples_and_repetitions_others() -> None:
    tasks = random_features_study.tasks(True)
    seeds = {(t.repetition, t.shared().seed(0, "examples")) for t in tasks}
    assert len(seeds) == len({repetition for repetition, _ in seeds}) == 3


def test_biased_heads_of_four_to_one_half_are_those_of_eight_to_one() -> None:
    X = random_features_study.sphere(40, np.random.default_rng(0))
    y = random_features_study.target("g11", X, np.eye(16)[0])
    assert y.std() == pytest.approx(1)
    models = [
        RandomFeatureAttention(40, bias=b, std=s, alpha=1e-2, keys="others", random_state=0)
        for b, s in ((4.0, 0.5), (8.0, 1.0))
    ]
    said = [model.fit(X, y).predict(X) for model in models]
    assert np.allclose(*said, atol=1e-3)


def test_paired_differences_pair_repetitions() -> None:
    lines = [
        {"target": "f1", "heads": 1000, "model": "RFA", "errors": {64: {0: 0.1, 1: 0.2, 2: 0.9}}},
        {"target": "f1", "heads": 1000, "model": "RFMLP", "errors": {64: {1: 0.3, 0: 0.2}, 128: {0: 0.1}}},
    ]
    gap = random_features_study.difference(lines, "f1", "RFA", "RFMLP")
    assert list(gap) == [64]
    assert (gap[64].value, gap[64].runs) == (pytest.approx(-0.1), 2)
    assert random_features_study.examples_to(lines[0], 0.41) == 64
    assert random_features_study.examples_to(lines[0], 0.39) is None


def test_padded_prefixes_are_the_sequences_they_begin() -> None:
    X = linear_attention_study.prefixes(130, 3, np.random.default_rng(0))
    assert X.shape == (130, 100, 3)
    V, Q = np.random.default_rng(1).normal(size=(2, 2, 3)), np.random.default_rng(2).normal(size=(2, 3, 3))
    whole = X[99]
    for t in (0, 1, 41, 99):
        assert np.allclose(attention(V, Q, X[t : t + 1]), attention(V, Q, whole[None, : t + 1]))
    assert not np.allclose(X[129, -1], whole[29])  # the second sequence is another one
    assert certificate(features(linear_attention_study.prefixes(200, 4, np.random.default_rng(3)))).rank == 40


def test_below_the_features_nothing_is_exact_and_beyond_everything() -> None:
    for ratio, status in ((0.95, "wrong"), (1.25, "solved")):
        count = round(ratio * feature_count(4))
        for r in range(3):
            task = Task("linear-attention", {"dim": 4}, {"method": "regression"}, {"samples": count}, r)
            outcome = linear_attention_study.trial(task, 0, 60.0)
            assert (outcome.status, outcome.detail["rank"]) == (status, min(count, 40))
            assert outcome.detail["identifiable"] == (status == "solved")


@pytest.mark.parametrize(("unitary", "rank"), [(0.0, 288), (1.0, 248)])
def test_memory_is_what_one_head_computes(unitary: float, rank: int) -> None:
    X, Y, p = associative_memory_study.memory(2000, unitary, np.random.default_rng(0))
    assert np.abs(features(X) @ p.T - Y).max() < 1e-11
    assert certificate(features(X)).rank == rank
    assert np.linalg.norm(p) == pytest.approx(4)


def test_certified_steps_are_right_in_every_row_and_counted() -> None:
    tasks = [t for t in automata_study.tasks(True) if t.params == {"states": 3, "letters": 2} and t.repetition < 3]
    rows = [Row(task, automata_study.trial(task, 0, 60.0)) for task in tasks]
    for line in automata_study.table(rows):
        assert line["sure right"] == line["sure"]
        assert line["sure"] + line["unsure"] == 3 * 4000
        if line["rows/span"] == 3:
            assert line["exact"] == line["full"] == 3


def test_programs_that_fit_are_run_on_the_machine_that_is_asked() -> None:
    rng = np.random.default_rng(0)
    names = [{job[0] for job in machine_study.jobs(machine_study.Machine(*size), rng)} for size in machine_study.SIZES]
    assert names[0] == {"addition", "random"}
    assert names[2] == {"addition", "busy beaver", "palindrome", "random"}


def test_intervals_are_those_of_student() -> None:
    values = list(np.random.default_rng(0).normal(1, 0.3, size=7))
    low, high = stats.t.interval(0.95, 6, np.mean(values), stats.sem(values))
    found = study_curves.mean(values)
    assert (found.low, found.high, found.runs) == (pytest.approx(low), pytest.approx(high), 7)
    logs = study_curves.mean(list(np.exp(values)), logarithmic=True)
    assert (logs.low, logs.high) == (pytest.approx(np.exp(low)), pytest.approx(np.exp(high)))
    assert study_curves.mean([0.5]).low is None
