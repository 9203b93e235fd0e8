"""The study `switches`: what its students are given."""

from collections import Counter

from learner.studies.switches import BLOCKS, CHAIN_CAP, RUNS, tasks


def test_students_taught_and_untaught_are_given_the_same() -> None:
    """Untaught ones had a cap of 1M examples once, and taught ones of 20M."""
    students = [task for task in tasks(False) if task.family == "nested" and task.solver["kind"] == "learner"]
    assert {task.budget["samples"] for task in students} == {CHAIN_CAP}
    assert {task.params["block"] for task in students} == set(BLOCKS)
    runs = Counter((task.params["block"], task.params["dim"]) for task in students)
    assert set(runs.values()) == {RUNS}
