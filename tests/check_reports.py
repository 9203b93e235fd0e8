"""The committed studies of reports/: clean commits, the full grid, an index that leads to all of them.

Not one of the tests, since pages are made after the code that makes them: `make check-reports` runs it.
"""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hardness.engine.rows import SUMMARY
from hardness.studies import catalog

REPORTS = Path(__file__).parents[1] / "reports"
FOLDERS = sorted(path.parent for path in REPORTS.glob(f"*/{SUMMARY}"))
PLANNED = "exponential-in-m"  # the study with rows of a plan
MEASURED = [folder for folder in FOLDERS if folder.name in catalog.known()]


def summary(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / SUMMARY).read_text(encoding="utf-8")))


def test_every_study_has_its_page_and_every_page_its_study():
    assert {folder.name for folder in FOLDERS} - {"benchmarks"} == set(catalog.known())


@pytest.mark.parametrize("folder", MEASURED, ids=lambda folder: folder.name)
def test_rows_are_of_the_full_grid_and_come_from_clean_commits_of_this_history(folder: Path):
    """Rows that did not change keep the commit at which they were run; none was run from changed files."""
    commits = summary(folder).get("commits") or ()
    assert commits
    assert not summary(folder)["quick"]
    for commit in commits:
        assert re.fullmatch("[0-9a-f]{12}", commit), commit
        git("merge-base", "--is-ancestor", commit, "HEAD")


def test_rows_of_a_plan_are_not_older_than_the_plan():
    study = PLANNED.replace("-", "_")
    plan = git("log", "--diff-filter=A", "--format=%H", "-1", "--", f":/learner/studies/{study}/plan4.toml")
    for commit in summary(REPORTS / PLANNED)["commits"]:
        git("merge-base", "--is-ancestor", plan, commit)


def git(*arguments: str) -> str:
    """What git prints; raises `CalledProcessError` where it says no."""
    return subprocess.run(
        ["git", *arguments], cwd=REPORTS, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_the_index_leads_to_every_study_and_nowhere_else():
    links = re.findall(r"\]\(([^)]+)\)", (REPORTS / "README.md").read_text(encoding="utf-8"))
    assert all((REPORTS / link).is_file() for link in links), links
    assert {link.partition("/")[0] for link in links} - {".."} == {folder.name for folder in FOLDERS}
