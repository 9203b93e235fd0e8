"""Texts of others (a reason, a learner's name) on every road that a reader meets them: terminal, page, export."""

import csv
import json
import re
from pathlib import Path

import pytest
from commands import run_command
from study_trials import learning

from hardness.engine.outcome import Outcome
from hardness.engine.store import Row, Store
from hardness.engine.study import Study
from hardness.engine.task import canonical
from hardness.report import Axis, Content, Curves, Panel, Point, Series, Table
from hardness.studies import catalog
from hardness.studies.trials import online as trial

TEXTS = {
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)>&quot;\"' $\\frac{$ \\undefined",
    "formula": "=HYPERLINK(\"http://x\",1)+cmd|'/C calc'!A0",
    "control": "red \x1b[31m \x1b]0;title\x07 \x00 \x08\x7f\x9b2J \ud800 \udfff safe\u202e\u2066exe.txt\u200f",
    "lines": "one\r\ntwo\nthree\u2028four",
    "megabytes": "x" * 3_000_000,
}
NAMES = [
    pytest.param(name, marks=[] if name in ("markup", "formula", "control") else pytest.mark.slow)
    for name in TEXTS
]
MARKS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def content(rows: list[Row]) -> Content:
    names = [(str(row.outcome and row.outcome.detail["reason"]), row.task.repetition) for row in rows]
    drawn = [Panel("", [Series(name, [Point(x, 1.0)], style=x % 3) for name, x in names])]
    return Content(
        {"first": names[0][0]},
        [Curves("who", drawn, Axis("run"), Axis("cost"), alt_summary="Points.")],
        {"who": Table("Who ran.", [{"learner": name, "run": x} for name, x in names])},
    )


@pytest.fixture(autouse=True)
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A study that prints, draws and tabulates what stands in its rows."""
    (tmp_path / "page.md").write_text(
        '[measured] It is {{ n.first }}.\n\n{{ figure("who") }}\n\n{{ table("who") }}\n'
    )
    study = Study(
        "demo", "Who?", lambda quick: [], None, trial, content=content, template=tmp_path / "page.md"
    )
    monkeypatch.setitem(catalog.STUDIES, "demo", study)


def filled(folder: Path, text: str) -> None:
    """A store whose rows hold the text as their reason, in one as other software may write JSON."""
    with Store(folder / "rows.db", {"study": "demo", "seed": 0, "quick": True}) as store:
        tasks = [learning("sgd", r) for r in range(4)]
        store.plan(tasks)
        for task, status in zip(tasks, ("error", "killed", "refused", "wrong"), strict=True):
            store.add(task, Outcome(status, 10), {"cpu": "one"})
        store._db.execute("UPDATE trials SET detail = ?", (canonical({"reason": text, text[:40]: text}),))
        if "\ud800" not in text:
            raw = json.dumps({"reason": text}, ensure_ascii=False)
            store._db.execute("UPDATE trials SET detail = ? WHERE status = 'error'", (raw,))
        store._db.execute("UPDATE provenance SET text = ?", (canonical({"cpu": text, "python": "3"}),))


def clean(folder: Path) -> None:
    """No file of a page and no cell of a table says what a terminal, a browser or a spreadsheet would execute."""
    for file in folder.iterdir():
        if file.suffix in (".html", ".svg", ".json"):
            text = file.read_text(encoding="utf-8")
            assert not MARKS.search(text), (file.name, MARKS.search(text))
            assert file.suffix == ".json" or ("<script>alert" not in text and "<img src=x" not in text)
            assert len(text) < 2_000_000
    with (folder / "out.csv").open(newline="", encoding="utf-8") as table:
        rows = list(csv.reader(table))
    assert len({len(row) for row in rows}) == 1
    for each in (each for row in rows for each in row):
        assert not each.startswith(("=", "+", "@", "\t", "\r"))
        assert not MARKS.search(each), repr(each[:80])
        assert len(each) < 10_000


@pytest.mark.parametrize("name", NAMES)
def test_of_a_store(tmp_path: Path, name: str) -> None:
    out, text = tmp_path / "out", TEXTS[name]
    filled(out, text)
    for words in (
        ["study", "report", out],
        ["study", "export", out, "--out", out / "out.csv"],
        ["study", "status", out],
        ["study", "run", "games", "--quick", "--dry-run", "--only", text[:100_000]],
        ["learn", text[:100_000], out / "rows.db", "--count", "5"],
    ):
        printed = run_command("", *words)
        assert printed.code in (0, 2)
        assert not MARKS.search(printed.out + printed.err), (words[:2], printed)
        assert "Traceback" not in printed.err
        assert len(printed.out + printed.err) < 5_000
    clean(out)
