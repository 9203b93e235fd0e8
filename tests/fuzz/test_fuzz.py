"""Damaged files of every format: each command that reads them ends with 0, 1 or 2, and on 2 with one line of error.

Thirty of a kind by default, the same every time; `make fuzz` tries 5,000 of each.
"""

import contextlib
import copy
import io
import json
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest
from commands import run_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardness.engine.outcome import Outcome
from hardness.engine.store import Store
from hardness.evaluation.limits import alarm
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.instance import Instance
from hardness.instance.challenge import FILES, digest, digest_of, publish
from hardness.studies import catalog

SECONDS = 120.0  # for what hangs: the machine may be busy
LONG = settings().max_examples > 100  # with --hypothesis-profile=fuzz
Draw = Callable[[st.SearchStrategy[Any]], Any]
STRANGE: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 3, 10**30, -(2**63), 2.5, 5e-324, 1e308, float("nan"), float("inf")),
    *("", "x", "1", "self", "=1+1", "\x1b[31mred", "\u202eabc", "a\nb", "x" * 100_000, "\ud800"),
    *([], {}, [1], {"self": 1}, [[1], [2, 3]]),
)
KEYS = ("self", "cls", "__class__", "", "dim", "seed", "x" * 1000, "\x1b[2J")


def pick(draw: Draw, choices: Sequence[Any]) -> Any:
    return choices[draw(st.integers(0, len(choices) - 1))]


def damaged(draw: Draw, data: bytes) -> bytes:
    """`data` cut, overwritten, repeated or emptied in places."""
    raw = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        at, span = draw(st.integers(0, len(raw))), 2 ** draw(st.integers(0, 11))
        part, noise = raw[at : at + span], draw(st.binary(min_size=1, max_size=span))
        raw[at : at + span] = pick(draw, (b"", bytes(len(part)), part + part, noise))
    return bytes(raw)


def changed(draw: Draw, value: dict[str, Any]) -> dict[str, Any]:
    """A JSON object with one or two of its parts, or of its parts' parts, lost, renamed, added or replaced."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 2))):
        inner = [each for each in (value, *value.values()) if isinstance(each, dict) and each]
        parent = pick(draw, inner or [{"": 0}])
        key, strange = pick(draw, [*parent]), pick(draw, STRANGE)
        old = parent.pop(key)
        again = ({}, {key: old, pick(draw, KEYS): strange}, {pick(draw, KEYS): old}, {key: strange})
        parent |= pick(draw, again)
    return value


@cache
def instance(index: int = 0) -> Instance:
    """A small instance of a family."""
    families = Parity(6, 2), Rounding(6, 5, 2), Nondegenerate(4, 2, 2)
    return Instance.generate(families[index], seed=index)


def put(draw: Draw, path: Path, data: bytes):
    """Write the file, in one of four cases with damage to its bytes."""
    path.write_bytes(damaged(draw, data) if draw(st.integers(0, 3)) == 0 else data)


def instances(draw: Draw, folder: Path) -> str:
    """A damaged instance file, and one of the commands on instances."""
    from safetensors.numpy import load, save

    whole = instance(draw(st.integers(0, 2)))
    header = json.dumps(changed(draw, whole.header()))
    put(draw, folder / "f", save(load(whole.to_bytes()), {"instance": header}))
    commands = (
        *("inspect f", "verify f", "inspect f --reveal", "estimate f", "export f --out out.safetensors"),
        *("sample f --count 5 --out out.npz", "challenge f --count 4 --toy --out out"),
    )
    return str(pick(draw, commands))


def examples(draw: Draw, folder: Path) -> str:
    """A damaged examples file, and an attack on it."""
    whole, out = instance().examples(12, 1), io.BytesIO()
    np.savez(out, X=whole.X, Y=whole.Y, public=np.array(json.dumps(changed(draw, instance().public(1)))))
    put(draw, folder / "e.npz", out.getvalue())
    return f"attack {pick(draw, ('gaussian', 'search', 'bkw'))} e.npz --budget 100"


@cache
def challenge_folder() -> Path:
    """A whole challenge of twelve examples."""
    folder = Path(mkdtemp(prefix="fuzz-challenge-")) / "c"
    publish(instance(), 12, folder, toy=True)
    return folder


def challenges(draw: Draw, folder: Path) -> str:
    """A damaged challenge, in most cases with digests that fit the damage, and an answer to it."""
    whole = shutil.copytree(challenge_folder(), folder / "c")
    name = pick(draw, ("challenge.json", *FILES))
    (whole / name).write_bytes(damaged(draw, (whole / name).read_bytes()))
    with suppress(Exception):
        header = changed(draw, json.loads((challenge_folder() / "challenge.json").read_text()))
        header["sha256"] = {name: digest_of(whole / name) for name in FILES}
        header["header_sha256"] = digest(header)
        (whole / "challenge.json").write_text(json.dumps(header))
    right = {name: value.tolist() for name, value in instance().secret.items()}
    answer = pick(draw, (right, {"predictions": [0.5] * 256}, changed(draw, {"secret": right})))
    put(draw, folder / "answer.json", json.dumps(answer).encode())
    return f"judge {pick(draw, ('c', challenge_folder()))} answer.json"


@cache
def stored() -> bytes:
    """A store of six trials of the study needs, of which five ended."""
    folder = Path(mkdtemp(prefix="fuzz-store-"))
    tasks = catalog.get("needs").tasks(True)[:6]
    with Store(folder / "rows.db", {"study": "needs", "seed": 0, "quick": True}) as store:
        store.plan(tasks)
        for task, status in zip(tasks, ("solved", "wrong", "error", "refused", "budget"), strict=False):
            store.add(task, Outcome(status, 64, {"reason": "x", "bound": 0.5}, 0.1), {"numpy": "2"})
    with closing(sqlite3.connect(folder / "rows.db")) as db:
        db.execute("PRAGMA journal_mode = DELETE")
    return (folder / "rows.db").read_bytes()


def stores(draw: Draw, folder: Path) -> str:
    """A store with damage, or with another value in one column of one table, and one of the commands on stores."""
    path = folder / "rows.db"
    path.write_bytes(stored())
    if draw(st.integers(0, 2)) == 0:
        path.write_bytes(damaged(draw, stored()))
    else:
        with closing(sqlite3.connect(path)) as db, suppress(sqlite3.IntegrityError), db:
            db.execute("PRAGMA foreign_keys = OFF")
            names = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            table = pick(draw, sorted(name for (name,) in names))
            column = pick(draw, [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")])
            (old,) = pick(draw, db.execute(f"SELECT {column} FROM {table}").fetchall())
            new = pick(draw, (None, 7, -1.5, "x", "", "nan", b"\xff\xfe", "{", "[" * 100_000, "=1+1", 1e308))
            with suppress(TypeError, ValueError, AttributeError):
                new = json.dumps(changed(draw, json.loads(old)))
            db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", [new, old])
    commands = ("status .", "export . --out out.csv", "merge rows.db rows.db --out out.db")
    return f"study {pick(draw, commands)}"


@pytest.mark.parametrize("write", [instances, examples, challenges, stores])
@settings(
    max_examples=settings().max_examples if LONG else 30,
    derandomize=not LONG,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_what_is_damaged_ends_in_one_line(write: Callable[[Draw, Path], str], data: st.DataObject):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, contextlib.chdir(name):
        line = write(data.draw, Path(name))
        before = set(Path(name).rglob("*"))
        with alarm(SECONDS):
            code, _, stderr_text = run_command(line)
        new = {path.relative_to(name).parts[0] for path in set(Path(name).rglob("*")) - before}
    assert code in (0, 1, 2)
    assert "Traceback (most recent call last)" not in stderr_text
    errors = re.findall(r"(?m)^error: .*$", stderr_text)
    assert code != 2 or (len(errors) == 1 and len(errors[0]) < 2000)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", stderr_text)
    assert {top for top in new if not top.startswith(("out", "rows.db-"))} == set()
