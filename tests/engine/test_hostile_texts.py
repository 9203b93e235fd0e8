"""Texts of strangers (a reason, a learner's name) on every road that a reader meets them: terminal, page, export."""

import csv
import json
import re
import sys
from pathlib import Path

import pytest

from hardness.cli import run as command
from hardness.engine.outcome import Outcome
from hardness.engine.plugins import chosen
from hardness.engine.store import Store
from hardness.engine.task import Task, canonical
from hardness.studies import catalog

TEXTS = {
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)>&quot;\"'",
    "formula": "=HYPERLINK(\"http://x\",1)+cmd|'/C calc'!A0",
    "plus": "+1+1",
    "control": "red \x1b[31m \x1b]0;title\x07 \x00 \x08\x7f\x9b2J",
    "surrogate": "half \ud800 and \udfff",
    "right to left": "safe\u202e\u2066exe.txt\u200f",
    "lines": "one\r\ntwo\nthree\u2028four",
    "megabytes": "x" * 3_000_000,
    "mathematics": "$\\frac{$ \\undefined",
}
NAMES = [pytest.param(name, marks=[] if name in ("markup", "control") else pytest.mark.slow) for name in TEXTS]
MARKS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def filled(path: Path, study: str, text: str, kind: str) -> list[Task]:
    """A store whose rows hold the text as their reason, or as the name of a learner, a key and an entry of details."""
    found = catalog.get(study)
    tasks = [task for task in chosen(found, True) if task.solver.get("learner")][:6]
    if kind == "name":
        tasks = [Task(t.family, t.params, {**t.solver, "learner": text}, t.budget, t.repetition) for t in tasks]
    tasks = list({task.identity: task for task in tasks}.values())
    with Store(path, {"study": study, "seed": 0, "quick": True}) as store:
        store.plan(tasks if kind == "reason" else [])
        for i, task in enumerate(tasks):
            if kind == "name":  # as no lab writes it
                store._db.execute(
                    "INSERT INTO plan (identity, task) VALUES (?, ?)", (bytes.fromhex(task.identity), task.text)
                )
            status = ("error", "killed", "refused", "wrong", "timeout", "error")[i]
            store.add(task, Outcome(status, 10, {"reason": "no luck"}), {"cpu": "one"})
        if kind == "reason":  # in half of the rows as other software may write JSON
            store._db.execute("UPDATE trials SET detail = ?", (canonical({"reason": text, text[:40]: text}),))
            if "\ud800" not in text:
                raw = json.dumps({"reason": text}, ensure_ascii=False)
                store._db.execute("UPDATE trials SET detail = ? WHERE status = 'error'", (raw,))
            store._db.execute("UPDATE provenance SET text = ?", (canonical({"cpu": text, "python": "3"}),))
    return tasks


@pytest.mark.parametrize("kind", ["reason", "name"])
@pytest.mark.parametrize("name", NAMES)
def test_on_the_page_and_in_its_files(tmp_path: Path, name: str, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    for study in ("stress", "who-wins") if name in ("markup", "surrogate") else ("stress",):
        folder = tmp_path / study
        filled(folder / "rows.db", study, TEXTS[name], kind)
        assert command(["study", "report", str(folder)]) in (0, 2)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        assert not MARKS.search(said.out + said.err)
        for file in folder.iterdir():
            if file.suffix in (".html", ".svg", ".json"):
                text = file.read_text(encoding="utf-8")
                assert not MARKS.search(text), (file.name, MARKS.search(text))
                assert file.suffix == ".json" or ("<script>alert" not in text and "<img src=x" not in text)
                assert len(text) < 2_000_000


@pytest.mark.parametrize("kind", ["reason", "name"])
@pytest.mark.parametrize("name", NAMES)
def test_in_a_table(tmp_path: Path, name: str, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    tasks = filled(tmp_path / "rows.db", "stress", TEXTS[name], kind)
    assert command(["study", "export", str(tmp_path), "--out", str(tmp_path / "rows.csv")]) == 0, capsys.readouterr()
    with (tmp_path / "rows.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 1 + (
        len(tasks) if kind == "reason" or (TEXTS[name].isprintable() and name != "megabytes") else 0
    )
    assert len({len(row) for row in rows}) == 1
    for each in (each for row in rows for each in row):
        assert not each.startswith(("=", "+", "@", "\t", "\r"))
        assert not MARKS.search(each), repr(each[:80])
        assert len(each) < 10_000


@pytest.mark.parametrize("name", NAMES)
def test_in_the_terminal(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = TEXTS[name]
    filled(tmp_path / "rows.db", "stress", text, "name")
    for arguments in (
        ["study", "status", str(tmp_path)],
        ["study", "run", "stress", "--quick", "--dry-run", "--learner", text[:100_000]],
        ["study", "run", text[:100_000]],
        ["learn", text[:100_000], str(tmp_path / "rows.db"), "--count", "5"],
        ["study", "run", "stress", "--quick", "--out", str(tmp_path), "--only", text[:100_000]],
    ):
        assert command(arguments) in (0, 2)
        said = capsys.readouterr()
        assert not MARKS.search(said.out + said.err), (arguments[:2], said)
        assert len(said.out + said.err) < 5_000
        assert "Traceback" not in said.err


HOSTILE = "import numpy as np\nclass Loud:\n    def fit(self, X, Y): raise ValueError({text})\n"


@pytest.mark.parametrize("name", NAMES)
def test_from_the_learner_itself_to_all_three(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole road: a learner raises it, the row keeps it, the page, the table and the terminal show it."""
    text = "'x' * 3_000_000" if name == "megabytes" else ascii(TEXTS[name])
    (tmp_path / f"loud{len(name)}.py").write_text(HOSTILE.format(text=text))
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    learner, out = f"loud{len(name)}:Loud", str(tmp_path / "out")
    study = catalog.get("stress")
    (task, *_) = chosen(study, True, {"learner": [learner]}, only=[learner])
    from hardness.engine.run import run

    with Store(tmp_path / "out" / "rows.db", {"study": "stress", "seed": 0, "quick": True}) as store:
        run([task], store, study.trial, workers=0, guard=60.0)
        (row,) = store.rows()
    assert row.outcome is not None
    assert row.outcome.status == "error"
    reason = str(row.outcome.detail["reason"])
    assert reason.isprintable()
    assert len(reason) <= 320
    assert command(["study", "report", out]) == 0
    assert command(["study", "export", out, "--out", str(tmp_path / "rows.csv")]) == 0
    said = capsys.readouterr()
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    for shown in (page, said.out + said.err, (tmp_path / "rows.csv").read_text(encoding="utf-8")):
        assert not MARKS.search(shown)
    assert "<script>alert" not in page
