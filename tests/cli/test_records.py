"""hardness records: twelve hidden sets, the cheapest learners known, and commands that run."""

import shlex

from commands import answer, run_command


def test_twelve_hidden_sets_each_by_examples_and_by_heads_x_examples():
    known = answer("records")["records"]
    assert len({each["instance"] for each in known}) == 12
    for few, light in zip(known[::2], known[1::2], strict=True):
        assert few["instance"] == light["instance"]
        assert few["examples"] <= light["examples"]
        assert few["heads_examples"] >= light["heads_examples"]
        assert few["heads_examples"] == few["setting"]["heads"] * few["examples"]


def test_an_entry_is_run_by_its_command(tmp_path, monkeypatch):
    """Of the smallest: it makes the instance and learns it, in most runs before three medians."""
    monkeypatch.chdir(tmp_path)
    entry = min(answer("records")["records"], key=lambda each: each["examples"])
    made, learned = entry["command"].split(" && ")
    assert run_command(made.removeprefix("hardness ")).code == 0
    result = answer(shlex.join(shlex.split(learned)[1:]))
    assert result["weights"] == entry["setting"]["heads"] * (entry["dim"] + 1)
    assert result["open_curve"][-1][1] <= 0.1
