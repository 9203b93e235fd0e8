"""What a release needs: one version and one name everywhere, a whole sdist, a wheel that works elsewhere."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NOT_SHIPPED = (".github/", ".ci/")


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """What a command prints; a failure shows all it said."""
    known = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    completed = subprocess.run(
        command, cwd=cwd, env=known | environment, capture_output=True, text=True, check=False
    )
    assert completed.returncode == 0, f"{command}\n{completed.stdout}\n{completed.stderr}"
    return completed.stdout


def field(name: str) -> str:
    (value,) = re.findall(rf'(?m)^{name}: "?(.*?)"?$', (ROOT / "CITATION.cff").read_text())
    return str(value)


def packages(lines: Iterable[str]) -> set[str]:
    """The names in lines of requirements."""
    return {re.split(r"[\[>=;!~ ]", line)[0].lower() for line in lines}


def test_version_name_and_licence_are_said_once():
    zenodo = json.loads((ROOT / ".zenodo.json").read_text())
    (author,) = re.findall(r'^authors:\n  - name: "(.*)"$', (ROOT / "CITATION.cff").read_text(), flags=re.M)
    assert field("version") == zenodo["version"] == PROJECT["version"]
    assert field("title") == zenodo["title"]
    assert field("license") == zenodo["license"] == PROJECT["license"]
    assert PROJECT["authors"] == [{"name": author}] == zenodo["creators"]
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text()
    assert (ROOT / "LICENSES" / "MIT.txt").read_text() == (
        ROOT / "LICENSE"
    ).read_text()  # as REUSE.toml names it
    assert "urls" not in PROJECT  # none exists yet


def test_what_is_imported_is_declared():
    declared = packages(PROJECT["dependencies"])
    assert {"numpy", "numba", "scipy"} <= declared
    declared |= packages(line for extra in PROJECT["optional-dependencies"].values() for line in extra)
    trees = [
        ast.parse(path.read_text())
        for room in ("hardness", "learner")
        for path in (ROOT / room).rglob("*.py")
    ]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    modules |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    used = {name.partition(".")[0] for name in modules} - set(sys.stdlib_module_names)
    names = {
        "sklearn": "scikit-learn",
        "flint": "python-flint",
        "markdown_it": "markdown-it-py",
        "distributed": "dask",
    }
    tools = {"hardness", "learner", "mpmath", "markupsafe"}  # ours, and those of what is declared
    assert {names.get(module, module).replace("_", "-") for module in used - tools} <= declared


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist of what git tracks, and the wheel made of that sdist, as `make dist` makes them."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone")
    tree, out = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("dist")
    for name in run("git", "ls-files", cwd=ROOT).splitlines():
        if (ROOT / name).exists():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name, follow_symlinks=False)
    run(sys.executable, "-m", "build", "--outdir", out, cwd=tree)
    return out


@pytest.mark.slow
def test_the_wheel_works_where_nothing_of_ours_lies(built: Path, tmp_path):
    """Installed into an environment of its own, run from an empty folder: no file of the repository is in reach."""
    (wheel,) = built.glob("*.whl")
    home, work = tmp_path / "environment", tmp_path / "work"
    work.mkdir()
    venv.create(home, with_pip=False, symlinks=True)
    bin_ = home / ("Scripts" if os.name == "nt" else "bin")
    (packages,) = home.rglob("site-packages")
    # What the lab depends on comes from this environment; the lab itself from the wheel.
    (packages / "shared.pth").write_text(str(Path(pytest.__file__).parents[1]))
    options = ["--no-deps", "--quiet", "--no-index", "--ignore-installed"]
    run(sys.executable, "-m", "pip", "--python", bin_ / "python", "install", *options, wheel, cwd=work)
    homes = "import hardness, learner; print(hardness.__file__, learner.__file__)"
    where = run(bin_ / "python", "-c", homes, cwd=work)
    assert all(Path(path).is_relative_to(home) for path in where.split())
    hardness = bin_ / "hardness"
    run(hardness, "generate", "parity", "--dim", "8", "--heads", "2", "--out", "p.safetensors", cwd=work)
    assert run(hardness, "verify", "p.safetensors", cwd=work).endswith("ok\n")
    run(hardness, "study", "run", "needs", "--quick", "--workers", "0", "--out", "page", cwd=work)
    page = (work / "page" / "index.html").read_text(encoding="utf-8")
    assert "<h2>Cells</h2>" in page
