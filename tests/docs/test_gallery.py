"""The examples and the notebook, run in an empty folder; the site shows what they make."""

import contextlib
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import notebook
import pytest

from hardness import registry

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NOTEBOOK = ROOT / "examples" / "ray.ipynb"


def words(picture: Path) -> list[str]:
    """The texts of a picture that are no numbers: titles, labels and legends."""
    texts = re.findall(r"<text[^>]*>(.*?)</text>", picture.read_text(encoding="utf-8"), flags=re.S)
    return sorted(text for text in texts if re.search(r"[^\W\d]", text))


LONG = ("lwe", "own_family", "own_learner", "own_strategy", "ray", "two_tolerances")  # a minute together


def run(path: Path, folder: Path):
    """Run an example in an empty folder; the long ones as a user would, whose workers import them."""
    if path.stem in LONG:
        here = {"MATPLOTLIBRC": str(path.parent), "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, path]
        subprocess.run(command, cwd=folder, env={**os.environ, **here}, check=True, timeout=300)
        return
    plt.switch_backend("agg")
    with contextlib.chdir(folder), plt.rc_context(fname=path.with_name("matplotlibrc")):
        runpy.run_path(str(path), run_name="__main__")
        plt.close("all")


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.slow] * (path.stem in LONG), id=path.stem) for path in EXAMPLES],
)
def test_an_example_draws_the_picture_that_the_site_shows(path: Path, tmp_path):
    run(path, tmp_path)
    drawn, shown = tmp_path / f"{path.stem}.svg", path.with_suffix(".svg")
    assert words(drawn) == words(shown) != []
    assert shown.stat().st_size < 60_000


def test_the_gallery_has_a_picture_of_every_family(tmp_path):
    plt.switch_backend("agg")
    with contextlib.chdir(tmp_path), plt.rc_context():
        runpy.run_path(str(ROOT / "docs" / "making" / "gallery.py"), run_name="__main__")
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    for name in registry.names("family", builtin=True):
        shown = ROOT / "docs" / "gallery" / f"{name}.svg"
        assert words(tmp_path / shown.name) == words(shown) != []
        assert f"(gallery/{name}.svg)" in page


@pytest.mark.slow
def test_the_notebook_prints_what_it_is_kept_with(tmp_path):
    kept, new = nbformat.read(NOTEBOOK, as_version=4), notebook.executed(NOTEBOOK, tmp_path)
    nbformat.validate(kept)
    assert notebook.printed(new) == notebook.printed(kept)
    assert (tmp_path / "rays" / "4m" / "index.html").exists()
    pictures = [output for cell in new.cells for output in cell.get("outputs", []) if "data" in output]
    assert [sorted(output["data"]) for output in pictures] == [["image/png", "text/plain"]]
