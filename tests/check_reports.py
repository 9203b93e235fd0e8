"""The committed pages of reports/: one clean commit, no dangling reference, an index that says what they say.

Not one of the tests, since pages are made after the code that makes them: `make check-reports` runs it.
"""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from page_reading import check_columns, unexplained, words

from hardness.report import report
from hardness.studies import catalog

REPORTS = Path(__file__).parents[1] / "reports"
FOLDERS = sorted(path.parent for path in REPORTS.glob(f"*/{report.SUMMARY}"))
PLANNED = "exponential-in-m"  # the study with rows of a plan
MEASURED = [folder for folder in FOLDERS if folder.name in catalog.known()]


def summary(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / report.SUMMARY).read_text(encoding="utf-8")))


def test_every_study_has_its_page_and_every_page_its_study() -> None:
    assert {folder.name for folder in FOLDERS} - {"benchmarks"} == set(catalog.known())


@pytest.mark.parametrize("folder", MEASURED, ids=lambda folder: folder.name)
def test_rows_come_from_clean_commits_of_this_history(folder: Path) -> None:
    """Rows that did not change keep the commit at which they were run; none was run from changed files."""
    commits = summary(folder).get("commits") or ()
    assert commits
    for commit in commits:
        assert re.fullmatch("[0-9a-f]{12}", commit), commit
        git("merge-base", "--is-ancestor", commit, "HEAD")


def test_rows_of_a_plan_are_not_older_than_the_plan() -> None:
    study = PLANNED.replace("-", "_")
    plan = git("log", "--diff-filter=A", "--format=%H", "-1", "--", f":/learner/studies/{study}/plan.toml")
    for commit in summary(REPORTS / PLANNED)["commits"]:
        git("merge-base", "--is-ancestor", plan, commit)


def git(*arguments: str) -> str:
    """What git prints; raises `CalledProcessError` where it says no."""
    return subprocess.run(
        ["git", *arguments], cwd=REPORTS, capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.mark.parametrize("folder", MEASURED, ids=lambda folder: folder.name)
def test_a_page_is_of_the_full_grid_and_says_how_to_make_it_again(folder: Path) -> None:
    about = summary(folder)
    assert not about["quick"]
    page = words((folder / report.PAGE).read_text(encoding="utf-8"))
    assert all(command in page for command in about.get("made_by") or [report.command(about)])


@pytest.mark.parametrize("folder", [*FOLDERS, REPORTS], ids=lambda folder: folder.name)
def test_no_link_dangles(folder: Path) -> None:
    page = (folder / report.PAGE).read_text(encoding="utf-8")
    for link in re.findall(r'(?:href|src)="([^"]+)"', re.sub(r"(?s)<svg.*?</svg>", "", page)):
        file, _, part = link.partition("#")
        target = folder / file if file else folder / report.PAGE
        assert target.exists(), link
        assert not part or re.search(rf'id="{re.escape(part)}"', target.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_terms_are_marked_and_drawings_described(folder: Path) -> None:
    page = (folder / report.PAGE).read_text(encoding="utf-8")
    assert unexplained(page) == []
    check_columns(page)
    for figure in re.findall(r"<svg [^>]*>", page):
        assert re.search(r'role="img" aria-label="[^"]{40,}"', figure)


def test_the_index_is_made_of_the_summaries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "docs_href", lambda folder: "../docs/")  # as from reports/
    for folder in FOLDERS:
        (tmp_path / folder.name).mkdir()
        (tmp_path / folder.name / report.SUMMARY).write_bytes((folder / report.SUMMARY).read_bytes())
    report.write_index(tmp_path)
    assert (tmp_path / report.PAGE).read_bytes() == (REPORTS / report.PAGE).read_bytes()
