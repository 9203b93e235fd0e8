"""Studies from the command line: what a run writes, resumes, merges and reports, whatever its rows."""

from dataclasses import replace
from pathlib import Path

import pytest
from commands import answer, run_command

from hardness.engine.outcome import Outcome
from hardness.engine.store import Store
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.report import dashboard
from hardness.studies import catalog


@pytest.mark.parametrize("name", list(catalog.known()))
def test_every_study_has_a_dashboard_whatever_its_rows(tmp_path, name: str):
    """No row has been planned, then none has been run, then all of them crashed before they said anything."""
    study = catalog.get(name)
    tasks = study.tasks(True)[:2]
    with Store(tmp_path / "rows.db", {"study": name, "seed": 0, "quick": True}) as store:
        assert dashboard.write(study, store.table(), tmp_path)  # not even planned
        store.plan(tasks)
        assert dashboard.write(study, store.table(), tmp_path)
        for task in tasks:
            store.add(task, Outcome("error", None, {"reason": "a <sad> one"}), {})
        assert dashboard.write(study, store.table(), tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert "a &lt;sad&gt; one" in page
    assert "<sad>" not in page


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Study:
    """A study of four games in place of the shipped one."""
    whole = catalog.get("games")
    tasks = [task for task in whole.tasks(True) if task.solver.get("strategy") == "sign-batch"][:4]
    study = replace(whole, name="tiny", tasks=lambda quick: tasks, seconds=lambda task: 0.01)
    monkeypatch.setitem(catalog.STUDIES, "tiny", study)
    return study


def test_the_command_line_from_run_to_merge(tiny: Study, tmp_path, monkeypatch: pytest.MonkeyPatch):
    """A page and a merged store say which commands made their rows."""

    def printed(line: str) -> str:
        completed = run_command(line)
        assert completed.code == 0, completed.err
        return completed.out

    monkeypatch.chdir(tmp_path)
    assert "page: out/tiny/index.html" in printed("study run tiny --workers 0")
    again = answer("study run tiny --workers 0")
    assert (again["ran"], again["planned"], again["statuses"]) == (0, 4, {"solved": 4})
    assert "4 of 4 trials ended (4 solved); 0 to run" in printed("study status out/tiny")
    lines = [f"study run --shard {i}/2 --workers 0 --quick tiny --out part{i}" for i in (1, 2)]
    for line in lines:
        printed(line)
    commands = [f"hardness {line}" for line in lines]
    assert commands[0] in Path("part1/index.html").read_text()
    assert answer("study status part1")["statuses"] == {"solved": 2}
    printed("study merge part1/rows.db part2/rows.db --out whole/rows.db")
    with Store(Path("whole/rows.db")) as store:
        assert (store.commands, set(store.about)) == (commands, {"study", "seed", "quick"})
    printed("study export whole --out a.csv --no-timing")
    printed("study export out/tiny --out b.csv --no-timing")
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    assert "page: whole/index.html" in printed("study report whole")
    assert run_command("study run tiny --seed 1 --out out/tiny").code == 2


def test_a_crashed_trial_makes_the_exit_code_one(tiny: Study, tmp_path, monkeypatch: pytest.MonkeyPatch):
    solver = {"kind": "learner", "learner": "no.such:Thing", "params": {}, "series": "x"}
    broken = Task("parity", {"dim": 16, "heads": 2}, solver, {"samples": 9}, 0)
    monkeypatch.setitem(catalog.STUDIES, "tiny", replace(tiny, tasks=lambda quick: [broken]))
    assert run_command(f"study run tiny --workers 0 --out {tmp_path}/out").code == 1
    assert "no.such:Thing" in (tmp_path / "out" / "index.html").read_text()


@pytest.mark.parametrize("name", list(catalog.known()))
def test_every_study_can_be_looked_at_before_it_runs(name: str):
    fields = answer(f"study run {name} --quick --dry-run")
    assert fields["trials"] == len(catalog.get(name).tasks(True)) > 0
    assert fields["seconds"] > 0
