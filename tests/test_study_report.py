"""The page: the same rows give the same bytes, offline, with every part it owes the reader."""

import json
import re
import shutil
import subprocess
from math import comb
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from hardness import cli
from hardness.study import catalog, report
from hardness.study.catalog import Study, cells
from hardness.study.exponential import answer, series_of
from hardness.study.figures import draw
from hardness.study.store import Store
from hardness.study.tasks import Task
from hardness.study.trial import Outcome

ABOUT = {"study": "exponential-in-m", "seed": 0, "quick": True}
PROVENANCE = {"python": "3", "cpu": "a <slow> one", "commit": None}


def invented(task: Task, rng: np.random.Generator) -> Outcome:
    """A cost near the true law, without running anything; the dearest learner cells run out of budget."""
    concepts = comb(task.params["dim"] - 1, task.params["heads"])
    name = series_of(task)
    if name == "learner sgd":
        cost, limit = 500 * concepts**0.6 * rng.exponential(), 100_000
        return Outcome("solved", cost) if cost < limit else Outcome("budget", limit)
    factor = {"window adversary, sign-batch": 0.15, "window adversary, characters": 1.0}.get(name, rng.uniform())
    return Outcome("solved", float(max(1, round(factor * concepts))), {}, rng.uniform())


def fill(path: Path, quick: bool = True, seed: int = 1) -> Store:
    store, rng = Store(path, ABOUT), np.random.default_rng(seed)
    tasks = catalog.get("exponential-in-m").tasks(quick)
    store.plan(tasks)
    for task in tasks:
        store.add(task, invented(task, rng), PROVENANCE)
    return store


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    with fill(folder / "rows.db") as store:
        assert report.write(store, folder).startswith("EXPONENTIAL")
    return folder


def test_the_page_needs_no_network(written: Path) -> None:
    text = (written / "index.html").read_text()
    linked = re.findall(r"(?:src|href|xlink:href)=\"([^\"]+)\"", text) + re.findall(r"url\(([^)]+)\)", text)
    assert all(link.startswith("#") or (written / link).exists() for link in linked), linked
    assert "<script src" not in text
    assert "@import" not in text


def test_the_page_says_what_it_owes(written: Path) -> None:
    text = re.sub(r"(\s|&nbsp;)+", " ", (written / "index.html").read_text())
    for part in (
        "EXPONENTIAL.", "8τ²(N−1)", "571 of 571 planned trials", "worst-case oracle only", "for reference only",
        "held-out error", "detectable", "AIC", "BIC", "what it does not",
        "hardness study run exponential-in-m --quick --seed 0",
        "a &lt;slow&gt; one", "tolerance τ = 0.1", "nominal τ = 0.05", "(for this learner)",
    ):  # fmt: skip
        assert part in text, part


def test_the_same_rows_give_the_same_bytes(written: Path, tmp_path: Path) -> None:
    with fill(tmp_path / "rows.db") as store:
        report.write(store, tmp_path)
    names = sorted(path.name for path in written.iterdir() if path.suffix != ".db")
    assert names == ["adversary.pdf", "adversary.svg", "exponents.pdf", "exponents.svg", "honest.pdf", "honest.svg",
                     "index.html", "rows.csv", "summary.json"]  # fmt: skip
    for name in names:
        assert (written / name).read_bytes() == (tmp_path / name).read_bytes(), name


def test_every_point_tells_its_trials_and_text_is_text(written: Path) -> None:
    with Store(written / "rows.db") as store:
        result = answer(store.rows())
    for drawing in draw(result):
        ElementTree.fromstring(drawing.save("svg"))
        inline = drawing.inline()
        assert inline.count("<title>") == len(drawing.tips) > 0
        assert inline.count("<text") > 10
        assert not re.search(r"(?<!, )#[0-9a-f]{6}", inline)  # every colour can be redefined by the dark mode
    tips = [tip for drawing in draw(result) for tip in drawing.tips.values()]
    assert any("10 of 10 runs solved" in tip for tip in tips)
    assert any("0 of 5 runs solved; at least 100,000" in tip for tip in tips)


def test_nothing_is_drawn_beyond_the_measured_range(written: Path) -> None:
    with Store(written / "rows.db") as store:
        result = answer(store.rows())
    measured = set(cells(quick=True))
    for drawing in draw(result):
        for axes in drawing.figure.axes:
            for line in axes.lines:
                x = np.asarray(line.get_xdata(), dtype=float)
                if line.get_transform() == axes.transData and x.size:
                    assert x.min() >= min(s for _, s in measured) - 0.2
                    assert x.max() <= max(s for _, s in measured) + 0.2


def test_every_cell_stands_in_the_table(written: Path) -> None:
    text = (written / "index.html").read_text()
    for d, s in cells(quick=True):
        assert re.search(rf"<tr><td>{d}</td><td>{s}</td><td>{comb(d - 1, s):,}</td>", text)


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
@pytest.mark.parametrize("width", [380, 800, 1400])
def test_a_browser_runs_the_page(written: Path, width: int) -> None:
    """The script ran (every head of a sortable table became a button), and the page is not wider than the window."""
    fits = "document.documentElement.scrollWidth <= window.innerWidth"
    probe = f"<script>document.title = document.querySelectorAll('th button').length + ' ' + ({fits})</script>"
    copy = written / f"probe{width}.html"
    copy.write_text((written / "index.html").read_text().replace("</body>", probe + "</body>"))
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    command = ["chromium", *options, f"--window-size={width},900", "--dump-dom", copy.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    copy.unlink()
    found = re.search(r"<title>(\d+) (true|false)</title>", dom)
    assert found is not None
    assert int(found[1]) > 20
    assert found[2] == "true"


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Study:
    """A study of four games in place of the shipped one."""
    tasks = [t for t in catalog.get("exponential-in-m").tasks(True) if series_of(t).startswith("honest")][:4]
    study = Study("tiny", "Is it small?", lambda quick: tasks, lambda task: 0.01)
    monkeypatch.setitem(catalog.STUDIES, "tiny", study)
    return study


def test_the_command_line_from_run_to_merge(
    tiny: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    def said(*arguments: str, code: int = 0) -> str:
        assert cli.run(list(arguments)) == code
        return capsys.readouterr().out

    monkeypatch.chdir(tmp_path)
    assert "page: reports/tiny/index.html" in said("study", "run", "tiny", "--workers", "0")
    again = json.loads(said("study", "run", "tiny", "--workers", "0", "--json"))
    assert (again["ran"], again["planned"], again["statuses"]) == (0, 4, {"solved": 4})
    assert again["verdict"].startswith("INCONCLUSIVE")
    assert "4 of 4 trials ended (4 solved); 0 to run" in said("study", "status", "reports/tiny")
    for i in ("1", "2"):
        said("study", "run", "tiny", "--workers", "0", "--shard", f"{i}/2", "--out", f"part{i}")
    assert json.loads(said("study", "status", "part1", "--json"))["statuses"] == {"solved": 2}
    said("study", "merge", "part1/rows.db", "part2/rows.db", "--out", "whole/rows.db")
    said("study", "export", "whole", "--out", "a.csv", "--no-timing")
    said("study", "export", "reports/tiny", "--out", "b.csv", "--no-timing")
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    assert "page: whole/index.html" in said("study", "report", "whole")
    index = Path("reports/index.html").read_text()
    assert 'href="tiny/index.html"' in index
    assert "INCONCLUSIVE" in index
    said("study", "run", "tiny", "--seed", "1", "--out", "reports/tiny", code=2)


def test_a_crashed_trial_makes_the_exit_code_one(tiny: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Task(
        "parity",
        {"dim": 16, "heads": 2},
        {"kind": "learner", "learner": "no.such:Thing", "params": {}},
        {"samples": 9},
        0,
    )
    monkeypatch.setitem(catalog.STUDIES, "tiny", Study("tiny", "?", lambda quick: [broken], lambda task: 1.0))
    assert cli.run(["study", "run", "tiny", "--workers", "0", "--out", str(tmp_path / "out")]) == 1
    assert "no.such:Thing" in (tmp_path / "out" / "index.html").read_text()


@pytest.mark.parametrize("name", list(catalog.known()))
def test_every_study_can_be_looked_at_before_it_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    from hardness.cli import run as command

    assert command(["study", "run", name, "--quick", "--dry-run", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["trials"] == len(catalog.get(name).tasks(True)) > 0
    assert found["seconds"] > 0
