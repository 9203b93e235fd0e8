"""The script with which the workflow `evaluate` runs a submitted learner, on a small one; and what it refuses."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PLACE = Path(__file__).parents[2] / ".github" / "evaluate"
ENVIRONMENT = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
LEARNER = """
import numpy as np
class Learner:
    def fit(self, X, Y):
        self.mean = Y.mean(axis=0)
        return self
    def predict(self, X):
        return np.broadcast_to(self.mean, X.shape).copy()
"""


def run(script: str, *words: object, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(PLACE / script), *map(str, words)]
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)


@pytest.mark.slow  # a check and a study: many processes
def test_a_submitted_learner_gets_rows_and_a_page(tmp_path):
    (tmp_path / "mean_learner").mkdir()
    (tmp_path / "mean_learner" / "learner.py").write_text(LEARNER)
    options = ["--quick", "--family", "nondegenerate", "--examples", "512", "--workers", "0"]
    done = run("evaluate", "mean_learner", tmp_path / "made", *options, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = (tmp_path / "made" / "rows.csv").read_text()
    assert "mean_learner.learner:Learner" in rows
    assert "counted" in rows
    assert (tmp_path / "made" / "index.html").exists()


@pytest.mark.parametrize("name", ["absent", "Capital", "1st"])
def test_a_folder_without_a_learner_or_a_name_is_refused(tmp_path, name: str):
    if name != "absent":
        (tmp_path / name).mkdir()
        (tmp_path / name / "learner.py").write_text(LEARNER)
    assert run("evaluate", name, "made", folder=tmp_path).returncode == 2
    assert not (tmp_path / "made").exists()


REQUIREMENTS = [
    (b"numpy==2.0.2\nscikit-learn==1.6.1\n", 0),
    (b"--no-binary foo\nfoo==1.0\n", 1),
    (b"https://example.org/foo-1.0-py3-none-any.whl\n", 1),
    (b"foo==${HOME}\n", 1),
]


@pytest.mark.parametrize(("lines", "code"), REQUIREMENTS)
def test_requirements_are_names_and_versions(tmp_path, lines: bytes, code: int):
    """Options, addresses and paths make pip run code of others, whatever its own command line says."""
    (tmp_path / "requirements.txt").write_bytes(lines)
    done = run("requirements", "requirements.txt", folder=tmp_path)
    assert (done.returncode, bool(done.stderr)) == (code, code == 1)
    (tmp_path / "linked").symlink_to("requirements.txt")
    assert run("requirements", "linked", folder=tmp_path).returncode == 1


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    return subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


@pytest.mark.parametrize(
    ("files", "name"),
    [
        (["submissions/mine/learner.py", "submissions/mine/requirements.txt"], "mine"),
        (["submissions/mine/learner.py", "hardness/scores.py"], None),
        (["submissions/mine/learner.py", "submissions/yours/learner.py"], None),
        (["submissions/mine$(id)/learner.py"], None),
    ],
)
def test_a_branch_that_changes_more_than_one_submission_is_refused(
    tmp_path, files: list[str], name: str | None
):
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "base")
    base = git(tmp_path, "rev-parse", "HEAD").strip()
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("x")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "more")
    done = run("submission", tmp_path, base, folder=tmp_path)
    assert (done.returncode, done.stdout) == ((0, f"name={name}\n") if name else (1, ""))
