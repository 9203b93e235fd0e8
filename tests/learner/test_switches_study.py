"""The study `switches`: its grid, the tuning of its students, and a trial of every kind."""

from collections import Counter

import pandas as pd

from learner.studies.switches import (
    BLOCKS,
    CHAIN_CAP,
    RUNS,
    exponent,
    tasks,
)


def test_students_taught_and_untaught_are_given_the_same() -> None:
    """Untaught ones had a cap of 1M examples once, and taught ones of 20M."""
    students = [task for task in tasks(False) if task.family == "nested" and task.solver["kind"] == "learner"]
    assert {task.budget["samples"] for task in students} == {CHAIN_CAP}
    assert {task.params["block"] for task in students} == set(BLOCKS)
    runs = Counter((task.params["block"], task.params["dim"]) for task in students)
    assert set(runs.values()) == {RUNS}


def test_censored_cells_have_no_part_in_an_exponent() -> None:
    lines = pd.DataFrame({"dim": [12, 16], "costs": [[10.0, 12.0], [20.0, 30.0]], "whole": [True, False]})
    assert exponent(lines) is None
    whole = exponent(lines.assign(whole=True))
    assert whole is not None
    assert whole.value > 0
