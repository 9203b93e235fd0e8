"""Every tutorial does what it says, as a reader would run it; the site is whole and fetches nothing from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import tutorial

ROOT = Path(__file__).parents[2]
TEXTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
FOLDER = ROOT / "docs" / "tutorials"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.stem != "index")


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_texts_of_the_repository_resolve(text: Path):
    plain = re.sub(r"(?ms)^```.*?^```$", "", text.read_text(encoding="utf-8"))
    links = re.findall(r"\]\((?!https?:|mailto:)([^)\s]+)\)", plain)
    for link in links:
        target, _, part = link.partition("#")
        path = text.parent / target if target else text
        assert path.exists(), link
        if part and path.suffix == ".md":
            there = path.read_text(encoding="utf-8")
            heads = {
                re.sub(r"[^\w\s-]", "", head).strip().lower().replace(" ", "-")
                for head in re.findall(r"(?m)^#+ (.*)$", there)
            }
            assert part in heads | set(re.findall(r'<a id="([^"]+)"', there)), link


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built anew; a warning of mkdocs ends it, and a link that leads nowhere is one."""
    pytest.importorskip("mkdocs", reason="the site is built by the extra docs")
    folder = tmp_path_factory.mktemp("site")
    completed = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    assert "WARNING" not in completed.stderr
    return folder


@pytest.mark.slow
def test_nothing_of_the_site_is_fetched_from_elsewhere(site: Path):
    for page in site.rglob("*.html"):
        tags = re.findall(r"<(?:script|img|iframe|link)\b[^>]*>", page.read_text(encoding="utf-8"))
        assert [
            tag for tag in tags if re.search(r'(src|href)="(https?:)?//', tag) and "canonical" not in tag
        ] == [], page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(https?:)?//", sheet.read_text(encoding="utf-8")), sheet


@pytest.mark.slow
def test_the_site_shows_every_report_with_its_figures(site: Path):
    index = (site / "reports" / "index.html").read_text(encoding="utf-8")
    folders = [path.parent for path in ROOT.glob("reports/*/summary.json")]
    assert len(folders) >= 10
    for folder in folders:
        page = site / "reports" / folder.name / "index.html"
        assert f'href="{folder.name}/index.html"' in index
        for figure in re.findall(r'<img [^>]*src="([^":]+)"', page.read_text(encoding="utf-8")):
            assert (page.parent / figure).is_file(), (folder.name, figure)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_tutorial(page: Path, tmp_path):
    if "import torch" in page.read_text(encoding="utf-8"):
        pytest.importorskip("torch", reason="torch is not installed: its tutorials are not run")
    completed = subprocess.run(
        [sys.executable, tutorial.__file__, page],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert completed.returncode == 0, completed.stderr
