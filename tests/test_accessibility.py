"""Pages in a real browser, at the width of a desk and of a phone: axe finds nothing.

Slow, and only where Chromium is: on PATH, or playwright's own.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import run_command

from hardness.report.dashboard import PAGE

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
WIDTHS = (1280, 390)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    pytest.importorskip("axe_playwright_python")
    with playwright.sync_playwright() as here:
        try:
            chromium = here.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        except playwright.Error as error:
            pytest.skip(f"no Chromium: {error}")
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dashboard with rows, medians and a figure."""
    folder = tmp_path_factory.mktemp("games")
    assert run_command(f"study run games --quick --workers 0 --out {folder}").code == 0
    return folder / PAGE


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The pages of the site, those of studies among them."""
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", folder]
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    return [path for path in sorted(folder.rglob("*.html")) if path.stem != "404"]


def faults(browser: Any, page: Path, width: int) -> list[str]:
    """What axe says of one page at one width."""
    from axe_playwright_python.sync_playwright import Axe

    view = browser.new_page(viewport={"width": width, "height": 900})
    errors: list[str] = []
    view.on("pageerror", lambda error: errors.append(f"script: {error}"))
    view.set_default_timeout(180_000)
    view.goto(page.as_uri(), wait_until="domcontentloaded")
    violations = Axe().run(view).response["violations"]
    complaints = [f"{one['id']}: {node['html'][:120]}" for one in violations for node in one["nodes"]]
    view.close()
    return errors + complaints


@pytest.mark.parametrize("width", WIDTHS)
def test_pages(browser: Any, dashboard: Path, site: list[Path], width: int):
    assert len(site) > 30
    assert {"examples", "notebook", "theory"} <= {page.stem for page in site}
    complaints = {str(page): faults(browser, page, width) for page in [dashboard, *site]}
    assert {name: lines for name, lines in complaints.items() if lines} == {}
