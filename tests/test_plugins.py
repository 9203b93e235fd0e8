"""A package from outside the repository, the one of docs/extending.md: listed, generated, run and paged by name."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import tutorial

PATH = Path(__file__).parent.parent / "docs" / "extending.md"
PAGE = PATH.read_text()
DRIVER = """
import json, sys
from commands import run_command
for line in sys.stdin:
    print(json.dumps(run_command(line)), flush=True)
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
    places = (str(Path(__file__).parents[1]), str(site), str(Path(tutorial.__file__).parent))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places), "OMP_NUM_THREADS": "1"}

    def run(text):
        lines = "\n".join(line.strip().replace("{}", str(out)) for line in text.strip().splitlines())
        completed = subprocess.run(
            [sys.executable, "-c", DRIVER],
            input=lines,
            capture_output=True,
            text=True,
            cwd=out,
            env=environment,
            check=False,
        )
        assert completed.returncode == 0, completed.stderr
        return [tuple(json.loads(line)) for line in completed.stdout.splitlines()]

    run.folder, run.site = out, str(site)
    return run


def test_the_page_shows_what_happens(tmp_path):
    completed = subprocess.run(
        [sys.executable, tutorial.__file__, PATH], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert completed.returncode == 0, completed.stderr


@pytest.mark.slow  # thirteen commands: 15 s of CPU
def test_a_family_what_runs_on_it_and_a_study(commands):
    refused, *ran = commands("""
        estimate mean --dim 6
        families --json
        learners --json
        attacks --json
        generate mean --dim 6 --tokens 3 --seed 4 --json --out {}/mean
        verify {}/mean --json
        inspect {}/mean --reveal --json
        learn averages {}/mean --count 200 --seed 2 --json
        learn --check averages --json
        sample {}/mean --count 200 --seed 1 --out {}/e.npz --json
        attack match {}/e.npz --json
        study run mean-by-size --quick --workers 1 --out {}/study --json
        study report {}/study --json
    """)
    assert (refused[:2], len(refused[2].splitlines())) == ((2, ""), 1)
    assert "no hidden linear secret" in refused[2]
    listed, learners, attacks, made, checked, shown, learned, conforms, _, attacked, study, reported = (
        json.loads(out) for _, out, _ in ran
    )
    assert {"mean", "averages", "match"} <= {
        row["name"] for rows in (listed["families"], learners["learners"], attacks["attacks"]) for row in rows
    }
    assert made["command"] == "hardness generate mean --dim 6 --tokens 3 --seed 4"
    assert checked["ok"]
    assert shown["secret"] == made["secret"] == attacked["secret"]
    assert learned["status"] == attacked["status"] == "solved"
    assert conforms["checks"][0]["name"] == "construct"
    assert study["statuses"] == {"solved": 2, "budget": 2}
    assert reported["verdict"].startswith("mean-by-size: 4 of 4 trials ended")


def test_what_breaks_takes_one_line_and_leaves_the_rest(commands, site):
    info = site / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    groups = ("families", "learners", "studies")
    lines = (f"[hardness.{group}]\nbroken = broken_lab:Thing\nparity = broken_lab:Thing" for group in groups)
    (info / "entry_points.txt").write_text("\n".join(lines))
    (site / "broken_lab.py").write_text("raise RuntimeError('half\\nwritten')")
    try:
        *listed, generated = commands("""
            families --json
            learners --json
            study list --json
            generate parity --dim 6 --heads 2 --seed 0 --out {}/still --json
        """)
    finally:
        (info / "entry_points.txt").write_text("")
    for (code, out, err), key in zip(listed, ("families", "learners", "studies"), strict=True):
        assert code == 0
        assert "cannot load" in err
        assert all("half" in line and "written" not in line for line in err.splitlines())
        assert len(json.loads(out)[key]) > 3
        assert json.loads(out)["broken"]
    assert json.loads(generated[1])["family"] == "parity"  # a built-in name stays built in
