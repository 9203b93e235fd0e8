"""Sweeps: grids of a user's own, from files, scripts and notebooks, interrupted and resumed."""

from pathlib import Path

import pytest
from commands import answer, check_refused, run_command

import hardness
from hardness.cli import run
from hardness.engine.outcome import Outcome
from hardness.engine.store import Store
from hardness.engine.task import Task
from hardness.errors import InputError
from hardness.studies.sweep.grid import Grid

GRID = """
family = "parity"
runs = 2
guard = 60

[params]
dim = [8, 9]
heads = [2, 3]
flip = 0.0

[solver]
strategy = "sign-batch"
tolerance = 0.1

[budget]
queries = 100000
"""


def test_a_grid_file_runs_and_resumes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("grid.toml").write_text(GRID)
    command = "sweep grid.toml --workers 0 --out"
    first = answer(f"{command} out")
    assert (first["planned"], first["ran"], first["statuses"]) == (8, 8, {"solved": 8})
    assert answer(f"{command} out")["ran"] == 0
    assert hardness.rows("out").eval("4 <= exact_floor <= cost").all()
    Path("grid.toml").write_text(GRID.replace("[8, 9]", "[8, 9, 10]"))
    assert answer(f"{command} out")["ran"] == 4
    for line in ("status", "report"):
        assert answer(f"study {line} out")
    assert "<pre>hardness sweep grid.toml --workers 0 --out out" in Path("out/index.html").read_text()
    assert run_command(f"{command} other --set params.dim=8").code == 0
    assert (
        "grid.toml --workers 0 --out other --set params.dim=8</pre>" in Path("other/index.html").read_text()
    )


def test_solvers_and_their_options_are_axes_and_a_dry_run_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = GRID.replace('"sign-batch"', '["sign-batch", "flat"]').replace(
        "tolerance = 0.1", "tolerance = [0.1, 0.2]"
    )
    Path("grid.toml").write_text(text)
    command = "sweep grid.toml --out out --workers 0"
    assert answer(f"{command} --dry-run") == {"trials": 32}
    assert not Path("out").exists()
    less = "--set params.heads=2 --set solver.tolerance=0.2 --set runs=1"
    assert answer(f"{command} {less}")["statuses"] == {"solved": 4}
    with Store(Path("out/rows.db")) as store:
        rows = list(store.rows())
    cells = {(r.task.solver["strategy"], r.task.params["dim"], r.task.solver["tolerance"]) for r in rows}
    assert cells == {(name, d, 0.2) for name in ("sign-batch", "flat") for d in (8, 9)}
    assert answer(f"{command} --dry-run") == {"trials": 28}
    check_refused(run_command(f"{command} --set nowhere.heads=2"), "a table of params, solver, budget")


def test_an_interrupted_run_says_what_is_kept_and_what_goes_on(tmp_path, monkeypatch, capsys):
    def interrupted(grid, *engine):
        assert grid.guard == 7
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    Path("grid.toml").write_text(GRID)
    monkeypatch.setattr("hardness.studies.sweep.study.run_grid", interrupted)
    line = "sweep grid.toml --out out --timeout 7"
    assert run(line.split()) == 130
    assert f"hardness {line}\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("runs = 2", "runs = 0"), "runs must be bigger than or equal to 1"),
        (('"sign-batch"', '"sign-bach"'), "did you mean 'sign-batch'"),
        (("tolerance", "tolerence"), "did you mean 'tolerance'"),
        (("queries = ", "samples = "), "unknown budget entry of a strategy 'samples'"),
        (("heads = [2, 3]", "heads = [2, 30]"), "no room for a set of 30"),
        (("heads = [2, 3]", "heads = []"), "an axis of the grid is empty"),
        (("[budget]", "[budget"), "is not TOML"),
    ],
)
def test_what_is_no_grid_is_one_line(tmp_path, change, words):
    (tmp_path / "grid.toml").write_text(GRID.replace(*change))
    check_refused(run_command(f"sweep {tmp_path}/grid.toml --out {tmp_path}/out --workers 0"), words)


def test_options_of_learners_are_axes():
    solver = {"learner": ["direct", "lbfgs"], "options": {"starts": [1, 2]}}
    grid = Grid("nondegenerate", {"dim": [6], "heads": 2, "tokens": 2}, solver, {}, 1, 4)
    solvers = [(task.solver["learner"], task.solver["params"]["starts"]) for task in grid.tasks()]
    assert solvers == [("direct", 1), ("direct", 2), ("lbfgs", 1), ("lbfgs", 2)]
    with pytest.raises(InputError, match="one solver"):
        Grid("parity", {"dim": [8]}, {"learner": "direct", "attack": "bkw"})


def test_reading_rows_imports_nothing_that_they_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("evil.py").write_text("raise SystemExit('imported')")
    solver = {"kind": "game", "strategy": "flat", "oracle": "evil:Oracle", "tolerance": 0.1}
    with Store(tmp_path / "rows.db", {"study": "sweep", "seed": 0, "quick": False}) as store:
        for family, oracle in (("evil:Family", "window"), ("parity", "evil:Oracle")):
            task = Task(family, {"dim": 8, "heads": 2}, {**solver, "oracle": oracle}, {}, 0)
            store.plan([task])
            store.add(task, Outcome("solved", 30), {})
    assert "bound" not in hardness.rows(tmp_path)


def test_learners_attacks_and_online_learners_cost_examples(tmp_path):
    here, parity = {"runs": 1, "workers": 0}, {"dim": 8, "heads": 2}
    solved = hardness.sweep("parity", **parity, attack="gaussian", runs=2, workers=0, out=tmp_path / "a")
    assert solved.status.tolist() == ["solved"] * 2
    assert solved.cost.between(64, 200).all()
    direct = {"dim": 6, "tokens": 2, "heads": 2, "learner": "direct", "samples": 1024}
    nice = hardness.sweep("nondegenerate", **direct, **here, out=tmp_path / "b")
    assert nice.status.tolist() == ["solved"]
    constant = {"learner": "student", "samples": 500}
    online = hardness.sweep("parity", **parity, **constant, **here, out=tmp_path / "c")
    assert (online.status[0], online.cost[0]) == ("budget", 500)


def test_a_misspelt_parameter_is_said_before_what_is_lacking():
    given = {"dims": 8, "heads": "2*dim"}
    with pytest.raises(InputError, match="unknown parameter of parity 'dims'; did you mean 'dim'"):
        Grid("parity", given, {"strategy": "flat"}).tasks()
    with pytest.raises(InputError, match="unknown keyword of a sweep of parity 'dims'; did you mean 'dim'"):
        hardness.sweep("parity", **given, strategy="flat")
