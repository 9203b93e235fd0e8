"""A package from outside the repository, the one of docs/extending.md: listed, generated, run and paged by name."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tutorial

PATH = Path(__file__).parent.parent / "docs" / "extending.md"
PAGE = PATH.read_text()
DRIVER = """
import json, sys
from commands import told
for line in sys.stdin:
    print(json.dumps(told(line)), flush=True)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with the files of the page, installed as an installer would leave them."""
    folder = tmp_path_factory.mktemp("site")
    for block in tutorial.blocks(PAGE):
        if block.file:
            (folder / block.file).write_text(block.text)
    points = re.search(r"```toml\n(.*?)```", PAGE, flags=re.S).group(1)
    info = folder / "mylab-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mylab\nVersion: 1.0\n")
    lines = points.replace("[project.entry-points.", "[").replace('"', "")
    (info / "entry_points.txt").write_text(lines)
    return folder


@pytest.fixture(scope="module")
def commands(site, tmp_path_factory):
    """Runs commands, one a line, in one process beside which the package lies; {} is a folder to write to."""
    out = tmp_path_factory.mktemp("out")
    places = (str(site), str(Path(tutorial.__file__).parent))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places), "OMP_NUM_THREADS": "1"}

    def run(text):
        lines = "\n".join(line.strip().replace("{}", str(out)) for line in text.strip().splitlines())
        done = subprocess.run(
            [sys.executable, "-c", DRIVER], input=lines, capture_output=True, text=True, cwd=out, env=environment,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return [tuple(json.loads(line)) for line in done.stdout.splitlines()]

    run.folder, run.site = out, str(site)
    return run


def test_the_page_shows_what_happens(tmp_path):
    done = subprocess.run(
        [sys.executable, tutorial.__file__, PATH], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow  # five commands: 10 s of CPU
def test_a_family_and_what_runs_on_it(commands):
    listed, helped, made, checked, sampled, shown, learned, checked_learner, attacked, refused = commands("""
        families --json
        generate mean --help
        generate mean --dim 6 --tokens 3 --seed 4 --json --out {}/mean
        verify {}/mean --json
        sample {}/mean --count 200 --seed 1 --out {}/e.npz --json
        inspect {}/mean --reveal --json
        learn averages {}/mean --count 200 --seed 2 --json
        learn --check averages --json
        attack match {}/e.npz --json
        attack gaussian {}/e.npz
    """)
    mean = {row["name"]: row for row in json.loads(listed[1])["families"]}["mean"]
    assert mean["hypothesis"] == "None: linear regression learns it."
    assert (helped[0], helped[2]) == (0, "")
    assert "Features of a token, d." in helped[1]
    assert "k, 2 or more.  [default: 2]" in helped[1]
    assert "Example: hardness generate mean --dim 8 --out" in helped[1]
    found = json.loads(made[1])
    assert found["command"] == "hardness generate mean --dim 6 --tokens 3 --seed 4"
    assert (found["dim"], found["tokens"], sorted(found["secret"]["order"])) == (6, 3, [0, 1, 2, 3, 4, 5])
    assert (checked[0], json.loads(checked[1])["ok"]) == (0, True)
    assert sampled[0] == 0
    with np.load(commands.folder / "e.npz") as arrays:
        assert arrays["Y"].shape == (200, 3, 6)
    assert json.loads(shown[1])["secret"] == found["secret"]
    assert json.loads(learned[1])["status"] == "solved"
    assert json.loads(checked_learner[1])["checks"][0]["name"] == "construct"
    result = json.loads(attacked[1])
    assert (result["status"], result["secret"]) == ("solved", found["secret"])
    assert (refused[0], len(refused[2].splitlines())) == (2, 1)


@pytest.mark.slow  # four commands: 8 s of CPU
def test_a_study(commands):
    listed, ran, status, exported, reported = commands("""
        study list --json
        study run mean-by-size --quick --workers 1 --out {}/study --json
        study status {}/study --json
        study export {}/study --out {}/rows.csv --no-timing
        study report {}/study --json
    """)
    asks = "How many examples does a reordered mean take?"
    assert {"name": "mean-by-size", "question": asks, "trials": 6} in json.loads(listed[1])["studies"]
    assert ran[0] == 0
    assert json.loads(ran[1])["statuses"] == {"solved": 2, "budget": 2}
    assert json.loads(status[1])["done"] == 4
    assert exported[0] == 0
    assert len((commands.folder / "rows.csv").read_text().splitlines()) == 5
    assert json.loads(reported[1])["verdict"] == "2 of 4 fits found the order of the coordinates."
    assert asks in (commands.folder / "study" / "index.html").read_text()


def test_names_of_modules_and_what_is_refused(commands, site):
    (site / "elsewhere.py").write_text("from mean import Mean as Base\nclass Other(Base):\n    name = 'other'\n")
    learners, attacks, made, checked, *refused = commands("""
        learners --json
        attacks --json
        generate elsewhere:Other --dim 5 --seed 0 --out {}/other --json
        verify {}/other --json
        generate elsewhere:Base.draw --dim 5 --out {}/x
        estimate mean --dim 6
        generate mean --tokens 3 --out {}/x
        generate mean --dim 1 --out {}/x
        generate maen --dim 6 --out {}/x
    """)
    summaries = {row["name"]: row["summary"] for row in json.loads(learners[1])["learners"]}
    assert summaries["averages"] == "Least squares of the outputs on the mean token."
    assert "match" in {row["name"] for row in json.loads(attacks[1])["attacks"]}
    assert json.loads(made[1])["command"] == "hardness generate elsewhere:Other --dim 5 --tokens 2 --seed 0"
    assert json.loads(checked[1])["ok"]
    told = (
        "cannot load",
        "no hidden linear secret",
        "generate mean needs --dim",
        "dim and tokens must be 2 or more",
        "Did you mean 'mean'",
    )
    for (code, out, err), words in zip(refused, told, strict=True):
        assert (code, out, len(err.splitlines())) == (2, "", 1)
        assert words in err


def test_what_breaks_takes_one_line_and_leaves_the_rest(commands, site):
    info = site / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    groups = ("families", "learners", "attacks", "strategies", "studies")
    lines = (f"[hardness.{group}]\nbroken = broken_lab:Thing\nparity = broken_lab:Thing" for group in groups)
    (info / "entry_points.txt").write_text("\n".join(lines))
    (site / "broken_lab.py").write_text("raise RuntimeError('half\\nwritten')")
    try:
        *listed, made = commands("""
            families --json
            learners --json
            attacks --json
            strategies --json
            study list --json
            generate parity --dim 6 --heads 2 --seed 0 --out {}/still --json
        """)
    finally:
        (info / "entry_points.txt").write_text("")
    for (code, out, err), key in zip(listed, ("families", "learners", "attacks", "strategies", "studies"), strict=True):
        assert code == 0
        assert "cannot load" in err
        assert all("half" in line and "written" not in line for line in err.splitlines())
        assert len(json.loads(out)[key]) > 3
        assert json.loads(out)["broken"]
    assert json.loads(made[1])["family"] == "parity"  # a built-in name stays built in


OWN_STUDY = """
from functools import partial
from pathlib import Path
from hardness.engine.outcome import Outcome
from hardness.report import Content
from hardness.engine.study import Study
from hardness.engine.task import Task
import helper

def tasks(quick):
    return [Task("parity", {"dim": d, "heads": 2}, {"kind": "own"}, {}, 0) for d in (8, 9)]

def trial(task, root, guard, factor=1):
    return Outcome("solved", factor * helper.cost(task.params["dim"]))

shown = {"content": lambda rows: Content(), "template": Path(__file__).with_name("own.md")}
OWN = Study("own", "What does it cost?", tasks, lambda task: 0.1, trial, **shown)
PARTIAL = Study("own", "What does it cost?", tasks, lambda task: 0.1, partial(trial, factor=2), **shown)
"""


@pytest.mark.slow  # six commands of studies: 18 s of CPU
def test_an_edit_of_a_studys_own_trial_runs_its_rows_again(commands, site):
    """What the trial imports from beside it counts, another file does not; a trial may be a functools.partial."""
    (site / "own_study.py").write_text(OWN_STUDY)
    (site / "own.md").write_text("All are solved.\n")
    (site / "helper.py").write_text("def cost(d):\n    return d\n")
    for name in ("OWN", "PARTIAL"):
        asked = f"study run own_study:{name} --workers 0 --out {{}}/{name} --json"
        first, again = commands(f"{asked}\n{asked}")
        assert [json.loads(out)["ran"] for _, out, _ in (first, again)] == [2, 0], first[2]
        (site / "other.py").write_text("x = 1\n")
        assert json.loads(commands(asked)[0][1])["ran"] == 0
        for file, text in (("helper", "def cost(d):\n    return 2 * d\n"), ("own_study", OWN_STUDY + "\n# edited\n")):
            (site / f"{file}.py").write_text(text + f"# for {name}\n")
            ((_, out, err),) = commands(asked)
            assert (json.loads(out)["ran"], json.loads(out)["planned"]) == (2, 2)
            assert "2 trials of plug-ins that were edited since will run again" in err


@pytest.mark.slow  # every grid twice: 6 s of CPU
def test_installed_plugins_change_no_shipped_grid(commands):
    grids = "[len(get(name).tasks(quick)) for name in STUDIES for quick in (False, True)]"
    code = f"from hardness.studies.catalog import STUDIES, get; print({grids})"
    folder = str(commands.folder.parent)
    with_plugins, without = (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder,
            env={**os.environ, "PYTHONPATH": path},
        ).stdout
        for path in (commands.site, "")
    )  # fmt: skip
    assert with_plugins == without != ""
