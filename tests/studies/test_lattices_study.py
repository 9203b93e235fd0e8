"""The study `lattices`: its grid and trials."""

import pytest

from hardness.engine.outcome import run_trial
from hardness.studies import lattices


def test_the_grid_has_distinct_tasks_and_the_quick_one_is_part_of_it():
    full, quick = ({task.identity for task in lattices.tasks(quick)} for quick in (False, True))
    assert len(full) == len(lattices.tasks(False))
    assert quick <= full


@pytest.mark.parametrize(("attack", "samples"), [("bkw", 40_000), ("bkw", None), ("lattice", None)])
def test_a_trial_is_judged_by_the_secret(attack, samples):
    outcome = run_trial(lattices.trial, lattices.task(attack, samples, 97, 2, 20, 0), root=0, guard=60)
    assert outcome.status == "solved"
    assert outcome.detail["steps" if attack == "bkw" else "trials"] >= 1
