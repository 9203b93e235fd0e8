"""The study of nice layers: its tasks, what trials share, and the thresholds of the learner."""

from pathlib import Path

import numpy as np

from hardness.engine import rows
from hardness.engine.frames import frame
from learner.provable import diagnosis
from learner.studies import nice_layers
from learner.studies.nice_layers import KNOBS, STUDY, breaking, given_in


def test_tasks_are_distinct_and_every_knob_goes_from_mild_to_strong():
    tasks = STUDY.tasks(False)
    assert len({task.identity for task in tasks}) == len(tasks)
    for _, values in KNOBS.values():
        assert list(values) in (sorted(values), sorted(values, reverse=True))


def test_layers_at_all_values_of_a_knob_are_made_of_one_secret():
    mild, strong = (given_in(nice_layers.turned("coherence", value, 0), 0) for value in (0.5, 0.7))
    assert np.array_equal(mild.instance.secret["theta"], strong.instance.secret["theta"])
    assert np.array_equal(mild.X, strong.X)
    assert not np.allclose(mild.instance.layer().theta, strong.instance.layer().theta)


def test_thresholds_of_the_learner_are_those_of_the_committed_rows():
    table = frame(rows.read(Path(__file__).parents[2] / "reports" / "nice-layers").rows)
    names = {
        "coherence": "incoherence of theta",
        "diagonal": "diagonal of theta",
        "norm_ratio": "ratio of norms of theta",
        "scale": "score spread tau",
        "coherence_w": "incoherence of w",
        "sum_w": "sum of w",
    }
    seen = {}
    for knob, (_, values) in KNOBS.items():
        order = [*values, float("inf")]
        first = [breaking(table, knob, method)[2] for method in ("phases", "random_rounds")]
        mildest = min(first, key=order.index)
        if mildest != float("inf"):
            seen[names[knob]] = mildest
    of_the_sum = {"stable rank of the sum of w": 1.001}
    assert seen | of_the_sum == diagnosis.LEAST | diagnosis.MOST
