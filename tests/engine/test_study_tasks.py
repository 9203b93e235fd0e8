"""Task identities and seeds: what must change them, and what must not."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardness.engine.task import Task, canonical
from hardness.errors import InputError

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.recursive(
    scalars | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
mappings = st.dictionaries(st.text(min_size=1, max_size=5), values, max_size=4)


def respelt(value: Any) -> Any:
    """The same data, spelt otherwise: keys in reverse, lists as tuples, whole numbers as floats."""
    if isinstance(value, dict):
        return {key: respelt(value[key]) for key in reversed(value)}
    if isinstance(value, list):
        return tuple(respelt(item) for item in value)
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return np.float64(value) if isinstance(value, float) else value


@given(mappings, mappings, mappings)
def test_spelling_does_not_change_the_identity(params: Any, solver: Any, budget: Any):
    task = Task("parity", params, solver, budget, repetition=3)
    other = Task("parity", respelt(params), respelt(solver), respelt(budget), repetition=3)
    assert task.text == other.text
    assert task.identity == other.identity
    assert Task.parse(task.text).identity == task.identity


fields = st.tuples(st.sampled_from(["parity", "rounding"]), mappings, mappings, mappings, st.integers(0, 2))


@given(fields, fields, st.integers(0, 4))
def test_other_data_has_another_identity(a: Any, b: Any, place: int):
    """In whichever field: all others are the same."""
    b = (*a[:place], b[place], *a[place + 1 :])
    same = canonical(a[place]) == canonical(b[place])
    assert (Task(*a).identity == Task(*b).identity) == same


@pytest.mark.parametrize("bad", [math.nan, math.inf, 10**400, {1: 2}, {1, 2}, object(), b"bytes"])
def test_what_is_no_plain_data_is_refused(bad: Any):
    with pytest.raises(InputError):
        canonical({"x": bad})


@given(st.integers(0, 2**128 - 1), st.integers(0, 50))
def test_seeds_depend_on_root_role_and_repetition(root: int, repetition: int):
    task, next_task = (Task("parity", {"dim": 16}, {}, {}, r) for r in (repetition, repetition + 1))
    seeds = {task.seed(root, "instance"), task.seed(root, "solver"), task.seed(root + 1, "instance")}
    assert len(seeds | {next_task.seed(root, "instance")}) == 4
    assert task.seed(root, "instance") == Task.parse(task.text).seed(root, "instance")
    assert all(0 <= seed < 2**128 for seed in seeds)


def test_a_foreign_schema_is_refused():
    text = Task("parity", {}, {}, {}, 0).text.replace('"schema":1', '"schema":99')
    with pytest.raises(InputError, match="schema"):
        Task.parse(text)
