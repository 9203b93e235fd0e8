"""Every tutorial does what it says: run as a reader would, in an empty folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import tutorial

FOLDER = Path(__file__).parents[2] / "docs" / "tutorials"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.stem != "index")
# What could not be done without reading our sources, and the lines of a reader's own that it may take.
SHORT = {"own-sweep": 15, "own-family": 15, "own-attack": 15, "one-learner": 15, "board": 20}


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_tutorial(page: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, tutorial.__file__, page], cwd=tmp_path, env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_there_are_twelve_and_the_index_names_them() -> None:
    assert len(PAGES) == 12
    index = (FOLDER / "index.md").read_text()
    assert [page.name for page in PAGES if f"]({page.name})" not in index] == []
    for page in PAGES:
        assert len(list(tutorial.blocks(page.read_text()))) >= 2


@pytest.mark.parametrize("name", SHORT)
def test_what_was_impossible_takes_few_lines(name: str) -> None:
    assert 0 < tutorial.lines_of_user((FOLDER / f"{name}.md").read_text()) <= SHORT[name]


def test_a_page_that_says_something_else_is_found(tmp_path: Path) -> None:
    for text, right in (("```python\nprint(2)\n```\n\n```text\n2\n```\n", True), ("```console\n$ false\n```\n", False),
                        ("```console\n$ echo a b c\na … c\n```\n", True), ("```console\n$ echo a\nb\n```\n", False),
                        ('```python title="a.py"\nx = 5\n```\n```python\nimport a; print(a.x)\n```\n```text\n6\n```\n',
                         False)):  # fmt: skip
        page = tmp_path / "page.md"
        page.write_text(text)
        done = subprocess.run([sys.executable, tutorial.__file__, page], cwd=tmp_path, capture_output=True, check=False)
        assert (done.returncode == 0) == right, text
