"""Damaged files of every format of the lab, and the commands that read them."""

import io
import json
import shutil
import sqlite3
import zipfile
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from damage import STRANGE, Draw, changed, damaged, pick, text, with_damage
from hypothesis import strategies as st

from hardness.challenge import digest, publish
from hardness.engine.outcome import Outcome
from hardness.engine.store import Store
from hardness.families.interpolation import Interpolation
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.instance import Instance
from hardness.studies import catalog

FAMILIES = (Parity(6, 2), Rounding(6, 5, 2), Nondegenerate(4, 2, 2), Interpolation(5, 2, 0.5))


@cache
def made(index: int = 0) -> Instance:
    """A small instance of a family."""
    return Instance.generate(FAMILIES[index], seed=index)


def put(draw: Draw, path: Path, data: bytes) -> None:
    """Write the file, in one of four cases with damage to its bytes."""
    path.write_bytes(damaged(draw, data) if draw(st.integers(0, 3)) == 0 else data)


def instances(draw: Draw, folder: Path) -> list[str]:
    """A damaged instance file, and one of the commands on instances."""
    from safetensors.numpy import load, save

    whole = made(draw(st.integers(0, len(FAMILIES) - 1)))
    parts = with_damage(draw, {"header": whole.header(), **load(whole.to_bytes())})
    header = text(parts.pop("header", {})).encode("utf-8", "replace").decode()
    with suppress(TypeError, KeyError, ValueError):  # no safetensors file holds arrays of such types
        put(draw, folder / "f", save(parts, {"instance": header}))
    commands = ("inspect f", "verify f", "inspect f --reveal", "estimate f", "export f --out out.safetensors",
                "sample f --count 5 --out out.npz", "challenge f --count 4 --toy --out out")  # fmt: skip
    return pick(draw, commands).split()


def headed(draw: Draw) -> bytes:
    """A member in numpy's format with a header that nobody wrote in good faith."""
    shape = pick(draw, ("(9999999999999, 2, 6)", "(-1, 2, 6)", "(12, 2)", "()", "(12, 2, 6, 1)", "(2**40,)", "(1e9,)"))
    kind = pick(draw, ("'|i1'", "'<f8'", "'|O'", "'<U99999'", "'|V8'", "[('a', '<f8')]", "'self'", "None", "'|S0'"))
    whole = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}"
    others = ("(" * 5000 + ")" * 5000, "-" * 9000 + "1", "{'descr': '|i1'}", "__import__('os').system('touch pwned')",
              "{" * 150, "x" * 200_000, "\x00")  # fmt: skip
    written = pick(draw, (*(whole,) * 4, *others)).encode("latin1", "replace") + b"\n"
    return b"\x93NUMPY\x02\x00" + len(written).to_bytes(4, "little") + written + bytes(draw(st.integers(0, 199)))


def npz(draw: Draw, parts: dict[str, Any]) -> bytes:
    """A zip archive of arrays and JSON texts, one in four with a member that says of itself what is not so."""
    out, kinds = io.BytesIO(), (zipfile.ZIP_STORED,) * 3 + (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    forged = pick(draw, sorted(parts)) if parts and draw(st.integers(0, 3)) == 0 else None
    with zipfile.ZipFile(out, "w", pick(draw, kinds)) as archive:
        for name, part in parts.items():
            member = io.BytesIO()
            np.save(member, part if isinstance(part, np.ndarray) else text(part))
            archive.writestr(f"{name}.npy", headed(draw) if name == forged else member.getvalue())
    return out.getvalue()


@cache
def sampled() -> dict[str, Any]:
    """Twelve examples of a parity and what stands beside them."""
    examples = made().examples(12, 1)
    return {"X": examples.X, "Y": examples.Y, "public": made().public(1)}


def examples(draw: Draw, folder: Path) -> list[str]:
    """A damaged examples file, and an attack on it."""
    put(draw, folder / "e.npz", npz(draw, with_damage(draw, sampled())))
    return ["attack", pick(draw, ("gaussian", "search", "bkw")), "e.npz", "--budget", "100"]


def parquet(draw: Draw, folder: Path) -> list[str]:
    """The same as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    parts = with_damage(draw, sampled() | {"shape": [2, 6]})
    values = {name: part.tolist() for name, part in parts.items() if isinstance(part, np.ndarray)}
    lists = {name: value if isinstance(value, list) else [value] for name, value in values.items()}
    out, meta = io.BytesIO(), {name: text(parts[name]) for name in ("public", "shape") if name in parts}
    with suppress(pa.ArrowInvalid, pa.ArrowTypeError, UnicodeError, OverflowError):  # what Arrow itself refuses
        pq.write_table(pa.table(lists).replace_schema_metadata(meta), out)
    put(draw, folder / "e.parquet", out.getvalue())
    return ["attack", "gaussian", "e.parquet"]


@cache
def challenge_folder() -> Path:
    """A whole challenge, toy of course, of twelve examples."""
    folder = Path(mkdtemp(prefix="fuzz-challenge-")) / "c"
    publish(made(), 12, folder, toy=True)
    return folder


def right() -> dict[str, Any]:
    """Its answer."""
    return {name: value.tolist() for name, value in made().secret.items()}


def challenges(draw: Draw, folder: Path) -> list[str]:
    """A damaged challenge, in most cases with digests that fit the damage, and the right answer to it."""
    from hardness.challenge import _sha256

    copy = shutil.copytree(challenge_folder(), folder / "c")
    header = json.loads((copy / "challenge.json").read_text())
    match draw(st.integers(0, 3)):
        case 0:
            name = pick(draw, ("challenge.json", "examples.npz", "heldout.npz"))
            (copy / name).write_bytes(damaged(draw, (copy / name).read_bytes()))
        case 1:
            parts = with_damage(draw, dict(np.load(copy / "heldout.npz")))
            (copy / "heldout.npz").write_bytes(npz(draw, parts))
        case _:
            header = changed(draw, header)
    with suppress(Exception):
        if draw(st.integers(0, 9)) < 7:
            header["sha256"] = {name: _sha256((copy / name).read_bytes()) for name in ("examples.npz", "heldout.npz")}
            header["header_sha256"] = digest(header)
        (copy / "challenge.json").write_text(text(header))
    answer = right() if draw(st.booleans()) else {"predictions": [1.0] * 256}
    (folder / "answer.json").write_text(json.dumps(answer))
    return ["judge", "c", "answer.json"]


def answers(draw: Draw, folder: Path) -> list[str]:
    """A strange answer to a whole challenge."""
    base = pick(draw, (right(), {"secret": right()}, {"predictions": [0.5] * 256}, {"w": [1, 2]}, {}))
    answer = text(changed(draw, base) if draw(st.integers(0, 4)) else pick(draw, STRANGE))
    put(draw, folder / "answer.json", answer.encode("utf-8", "surrogatepass"))
    return ["judge", str(challenge_folder()), "answer.json"]


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


COLUMNS = {
    "meta": ("key", "value"),
    "plan": ("position", "identity", "task"),
    "provenance": ("id", "text"),
    "trials": ("identity", "status", "cost", "detail", "seconds", "source", "provenance"),
}


def stores(draw: Draw, folder: Path) -> list[str]:
    """A damaged store, and one of the commands on stores."""
    path = folder / "rows.db"
    path.write_bytes(stored())
    if draw(st.integers(0, 2)) == 0:
        path.write_bytes(damaged(draw, stored()))
    else:
        with closing(sqlite3.connect(path)) as db, suppress(sqlite3.Error), db:
            db.execute("PRAGMA foreign_keys = OFF")
            _edit(draw, db)
    if draw(st.integers(0, 19)) == 0:
        (folder / "rows.db-wal").write_bytes(draw(st.binary(max_size=200)))
    commands = ("status .", "export . --out out.csv", "merge rows.db rows.db --out out.db")
    return ["study", *pick(draw, (*commands * 4, "report .")).split()]  # a page takes a second and more


def _edit(draw: Draw, db: sqlite3.Connection) -> None:
    """One table is dropped, loses a column or rows, or has one of its values replaced: by anything, by changed JSON."""
    table = pick(draw, sorted(COLUMNS))
    column = pick(draw, COLUMNS[table])
    match draw(st.integers(0, 5)):
        case 0:
            db.execute(f"DROP TABLE {table}")
        case 1:
            db.execute(f"ALTER TABLE {table} RENAME COLUMN {column} TO other")
        case 2:
            db.execute(f"DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} LIMIT 2)")
        case 3:
            db.execute(f"UPDATE {table} SET {column} = CAST(x'ff41' AS TEXT) WHERE rowid = 1 OR {column} = 'study'")
        case _:
            (old,) = pick(draw, db.execute(f"SELECT {column} FROM {table}").fetchall())
            new = pick(draw, (None, 7, -1.5, "x", "", "nan", b"\xff\xfe", "{", "[]", "=1+1", 1e308))
            with suppress(TypeError, ValueError):
                new = text(changed(draw, json.loads(old)))
            db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", [new, old])


FORMATS = {"instances": instances, "examples": examples, "parquet": parquet, "challenges": challenges,
           "answers": answers, "stores": stores}  # fmt: skip
