"""The page: the same rows give the same bytes, offline, with every part it owes the reader."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from commands import answer, run_command
from page_reading import unfilled

from hardness.engine.outcome import Outcome
from hardness.engine.run import START_SECONDS
from hardness.engine.store import Store
from hardness.engine.study import Study
from hardness.engine.task import Task
from hardness.report import Axis, Content, Curves, Panel, Point, Series, Table, write
from hardness.studies import catalog


@pytest.fixture(scope="module")
def tabled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of a figure and a table."""
    folder = tmp_path_factory.mktemp("tabled")
    points = [Point(x, x, tip=f"{x} of 3 runs solved") for x in range(3)]
    figure = Curves("drawn", [Panel("", [Series("runs", points)])], Axis("x"), Axis("y"), "Three points.")
    rows = [{"name": "b", "n": "> 9", "x": 0.5}, {"name": "a", "n": "10", "x": -2.0}, {"name": "c", "n": "8"}]
    content = Content(figures=[figure], tables={"rows": Table("All rows.", rows)})
    (folder / "page.md").write_text('It is so.\n\n{{ figure("drawn") }}\n\n{{ table("rows") }}\n')
    study = replace(catalog.get("needs"), name="demo", content=lambda _: content, template=folder / "page.md")
    with Store(folder / "rows.db", {"study": "demo", "seed": 0, "quick": False}) as store:
        store.plan([task := Task("parity", {"dim": 8, "heads": 2}, {}, {}, 0)])
        store.add(task, Outcome("solved", 1.0), {})
        write(study, store.table(), folder)
    return folder


BROWSER = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def browse(page: Path, script: str, *options: str) -> str:
    """What an expression says in a browser that has run the page."""
    copy = page.with_name(f"probe{hash((script, options))}.html")
    copy.write_text(page.read_text().replace("</body>", f"<script>document.title = {script}</script></body>"))
    command = [*BROWSER, *options, "--dump-dom", copy.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    copy.unlink()
    title = re.search(r"<title>([^<]*)</title>", dom)
    assert title is not None
    return title[1]


NO_BROWSER = pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")


@NO_BROWSER
def test_a_browser_sorts_a_table_and_shows_the_counts_of_points(tabled: Path) -> None:
    names = "[...document.querySelectorAll('table.sortable tbody tr')].map(row => row.cells[0].textContent).join('')"
    sort = f"[0, 1, 2, 0, 0].map(i => (document.querySelectorAll('th button')[i].click(), {names})).join()"
    # By name; 8 < 9 < 10; -2 < 0.5 < nothing; by name again, and the other way round.
    assert browse(tabled / "index.html", sort) == "abc,cba,abc,abc,cba"
    tips = "[...document.querySelectorAll('.tip > title')].map(tip => tip.textContent).join()"
    assert browse(tabled / "index.html", tips) == "0 of 3 runs solved,1 of 3 runs solved,2 of 3 runs solved"


@NO_BROWSER
@pytest.mark.parametrize("dark", [False, True])
def test_a_browser_shows_pages_and_figures_in_both_modes(tabled: Path, dark: bool) -> None:
    """Ink is light on dark paper, dark on light: the page's, and that of the words of a figure."""
    ink = "getComputedStyle(document.querySelector('svg text')).fill"
    colors = f"getComputedStyle(document.body).backgroundColor, {ink}"
    computed = browse(
        tabled / "index.html",
        f"[{colors}].join(';')",
        f"--blink-settings=preferredColorScheme={int(not dark)}",
    )
    paper, ink = (sum(map(int, re.findall(r"\d+", color)[:3])) / 765 for color in computed.split(";"))
    assert (paper < 0.2 and ink > 0.8) if dark else (paper > 0.8 and ink < 0.2)


@pytest.mark.parametrize("end", ["error", pytest.param("killed", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", list(catalog.known()))
def test_every_study_has_a_page_whatever_its_rows(tmp_path: Path, name: str, end: str) -> None:
    """No row has been planned, then none has been run, then all of them crashed before they said anything."""
    tasks = catalog.get(name).tasks(True)[:2]
    with Store(tmp_path / "rows.db", {"study": name, "seed": 0, "quick": True}) as store:
        assert catalog.page(store, tmp_path)  # not even planned
        store.plan(tasks)
        assert catalog.page(store, tmp_path)
        assert "a &lt;sad&gt; one" not in (tmp_path / "index.html").read_text()
        for task in tasks:
            store.add(task, Outcome(end, None, {"reason": "a <sad> one"}), {})
        assert catalog.page(store, tmp_path)
    assert unfilled(tmp_path) == []
    assert "a &lt;sad&gt; one" in (tmp_path / "index.html").read_text()


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Study:
    """A study of four runs in place of the shipped one."""
    whole = catalog.get("exponential-in-m")
    tasks = whole.tasks(True)[:4]
    study = replace(whole, name="tiny", tasks=lambda quick: tasks, seconds=lambda task: 0.01)
    monkeypatch.setitem(catalog.STUDIES, "tiny", study)
    return study


def test_the_command_line_from_run_to_merge(
    tiny: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page and a merged store say whatever changes their rows, in one order; not where they lie or who runs them."""

    def printed(line: str) -> str:
        completed = run_command(line)
        assert completed.code == 0, completed.err
        return completed.out

    monkeypatch.chdir(tmp_path)
    assert "page: reports/tiny/index.html" in printed("study run tiny --workers 0")
    again = answer("study run tiny --workers 0")
    assert (again["ran"], again["planned"], again["statuses"]) == (0, 4, {"solved": 4})
    assert again["verdict"] == "tiny: 4 of 4 trials ended (4 solved)"
    assert "4 of 4 trials ended (4 solved); 0 to run" in printed("study status reports/tiny")
    for i in ("1", "2"):
        printed(f"study run --shard {i}/2 --workers 0 --quick tiny --out part{i}")
    commands = [f"hardness study run tiny --quick --shard {i}/2" for i in ("1", "2")]
    assert commands[0] in Path("part1/index.html").read_text()
    assert answer("study status part1")["statuses"] == {"solved": 2}
    printed("study merge part1/rows.db part2/rows.db --out whole/rows.db")
    with Store(Path("whole/rows.db")) as store:
        assert (store.commands, set(store.about)) == (commands, {"study", "seed", "quick"})
    printed("study export whole --out a.csv --no-timing")
    printed("study export reports/tiny --out b.csv --no-timing")
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()
    assert "page: whole/index.html" in printed("study report whole")
    assert run_command("study run tiny --seed 1 --out reports/tiny").code == 2


def test_a_crashed_trial_makes_the_exit_code_one(
    tiny: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver = {"kind": "learner", "learner": "no.such:Thing", "params": {}, "series": "x"}
    broken = Task("parity", {"dim": 16, "heads": 2}, solver, {"samples": 9}, 0)
    monkeypatch.setitem(catalog.STUDIES, "tiny", replace(tiny, tasks=lambda quick: [broken]))
    assert run_command(f"study run tiny --workers 0 --out {tmp_path}/out").code == 1
    assert "no.such:Thing" in (tmp_path / "out" / "index.html").read_text()


@pytest.mark.parametrize("name", list(catalog.known()))
def test_every_study_can_be_looked_at_before_it_runs(name: str) -> None:
    fields = answer(f"study run {name} --quick --dry-run")
    assert fields["trials"] == len(catalog.get(name).tasks(True)) > 0
    assert fields["seconds"] > START_SECONDS
