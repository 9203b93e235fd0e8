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
from mutations import STRANGE, Rng, changed, damaged, pick, text

from hardness.challenge import digest, publish
from hardness.engine.outcome import Outcome
from hardness.engine.store import Store
from hardness.engine.task import Task
from hardness.examples import write
from hardness.families.interpolation import Interpolation
from hardness.families.nondegenerate import Nondegenerate
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.instance import Instance

FAMILIES = (Parity(6, 2), Rounding(6, 5, 2), Nondegenerate(4, 2, 2), Interpolation(5, 2, 0.5))
Lines = list[list[str]]


@cache
def made(index: int = 0) -> Instance:
    """A small instance of a family."""
    return Instance.generate(FAMILIES[index], seed=index)


def instances(rng: Rng, folder: Path) -> Lines:
    """A damaged instance file, and one of the commands on instances."""
    from safetensors.numpy import load, save

    whole = made(int(rng.integers(len(FAMILIES))))
    data, header, arrays = whole.to_bytes(), whole.header(), dict(load(whole.to_bytes()))
    match int(rng.integers(4)):
        case 0:
            data = damaged(rng, data)
        case 1:
            name = pick(rng, sorted(arrays))
            arrays = arrays | strange_arrays(rng, name, arrays[name])
            data = save(arrays, {"instance": json.dumps(header)})
        case _:
            data = save(arrays, {"instance": text(changed(rng, header)).encode("utf-8", "replace").decode()})
    (folder / "f").write_bytes(data)
    command = pick(rng, ("inspect", "verify", "inspect --reveal", "export", "sample", "challenge", "estimate"))
    ending = {"export": "--out out.safetensors", "sample": "--count 5 --out out.npz"}
    ending["challenge"] = "--count 4 --toy --out out"
    return [[*command.split()[:1], "f", *command.split()[1:], *ending.get(command, "").split()]]


def strange_arrays(rng: Rng, name: str, array: Any) -> dict[str, Any]:
    """Other arrays under the name: of another type, shape or value; or under another name."""
    flat = np.asarray(array)
    return pick(
        rng,
        (
            {name: flat.astype(pick(rng, ("f4", "i1", "u8", "?", "f8", "i4")))},
            {name: flat[:0]},
            {name: np.concatenate([flat, flat])},
            {name: flat[None]},
            {name: np.zeros((), flat.dtype)},
            {name: np.full(flat.shape, pick(rng, (2**62, -1, 0, 10**9, 127)), dtype="i8")},
            {name: np.full(flat.shape, pick(rng, (np.nan, np.inf, 1e308, 5e-324, -0.0)), dtype="f8")},
            {"secret.self": flat, f"{name}.x": flat},
            {name: np.ones((5, 3, 2))},
        ),
    )


def npz(parts: dict[str, bytes], kind: int = zipfile.ZIP_STORED) -> bytes:
    """A zip archive of these members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def npy(array: Any) -> bytes:
    """An array in numpy's format."""
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def headed(text: str, data: bytes = b"") -> bytes:
    """A member in numpy's format with a header of one's own."""
    written = text.encode("latin1", "replace") + b"\n"
    return b"\x93NUMPY\x02\x00" + len(written).to_bytes(4, "little") + written + data


def headers(rng: Rng) -> str:
    """Headers of arrays that nobody wrote in good faith."""
    shape = pick(rng, ("(9999999999999, 2, 6)", "(-1, 2, 6)", "(12, 2)", "()", "(12, 2, 6, 1)", "(2**40,)", "(1e9,)"))
    kind = pick(rng, ("'|i1'", "'<f8'", "'|O'", "'<U99999'", "'|V8'", "[('a', '<f8')]", "'self'", "None", "'|S0'"))
    return pick(
        rng,
        (
            f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}",
            "(" * 5000 + ")" * 5000,
            "-" * 9000 + "1",
            "{'descr': '|i1'}",
            "__import__('os').system('touch pwned')",
            "{" * 150,
            "x" * 200_000,
            "\x00",
        ),
    )


@cache
def sampled() -> tuple[Any, Any, dict[str, Any]]:
    """Twelve examples of a parity and what stands beside them."""
    examples = made().examples(12, 1)
    return examples.X, examples.Y, made().public(1)


def examples(rng: Rng, folder: Path) -> Lines:
    """A damaged examples file, and an attack on it."""
    if rng.random() < 0.3:
        return parquet(rng, folder)
    X, Y, public = sampled()
    parts = {"X.npy": npy(X), "Y.npy": npy(Y), "public.npy": npy(json.dumps(public))}
    name, kind, data = pick(rng, sorted(parts)), zipfile.ZIP_STORED, None
    match int(rng.integers(7)):
        case 0:
            data = damaged(rng, npz(parts))
        case 1:
            parts["public.npy"] = npy(text(changed(rng, public)))
        case 2:
            parts[name] = headed(headers(rng), bytes(int(rng.integers(200))))
        case 3:
            array = {"X.npy": X, "Y.npy": Y}.get(name, Y)
            parts |= {name: npy(next(iter(strange_arrays(rng, "x", array).values())))}
        case 4:
            kind = pick(rng, (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
            data = npz(parts, kind) if rng.random() < 0.5 else damaged(rng, npz(parts, kind))
        case 5:
            raw = bytearray(npz(parts))  # flags of encryption, methods and sizes of the directory
            at = raw.find(b"PK\x01\x02") + pick(rng, (8, 10, 20, 24, 42))
            raw[at : at + 2] = rng.bytes(2)
            data = bytes(raw)
        case _:
            parts.pop(name) if rng.random() < 0.5 else parts.update({"../" + name: parts[name], "Z.npy": b"x"})
    (folder / "e.npz").write_bytes(data if data is not None else npz(parts, kind))
    return [["attack", pick(rng, ("gaussian", "gaussian", "search", "bkw")), "e.npz", "--budget", "100"]]


def parquet(rng: Rng, folder: Path) -> Lines:
    """The same as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, Y, public = sampled()
    path, meta = folder / "e.parquet", {"public": json.dumps(public), "shape": "[2, 6]"}
    if rng.random() < 0.4:
        write(path, X.shape, lambda: iter([made().examples(12, 1)]), public)
        path.write_bytes(damaged(rng, path.read_bytes()))
    else:
        columns: dict[str, Any] = {
            name: pa.array(values.tolist(), pa.list_(pa.list_(pa.type_for_alias(kind))))
            for name, values, kind in (("X", X, "int8"), ("Y", Y, "float64"))
        }
        match int(rng.integers(4)):
            case 0:
                meta["public"] = text(changed(rng, public))
            case 1:
                meta["shape"] = pick(rng, ("[2, 7]", "[]", "x", "[-1, 6]", "[99999999999, 9]", "{}", "3", "[true, 12]"))
            case 2:
                columns.pop(pick(rng, ("X", "Y")))
            case _:
                strange = (1, None, "x", [None], [1.5], ["a"], [], [3] * 12, [float("nan")] * 12)
                columns[pick(rng, ("X", "Y"))] = [pick(rng, strange)] * 12
        if rng.random() < 0.1:
            meta.pop(pick(rng, sorted(meta)))
        pq.write_table(pa.table(columns).replace_schema_metadata(meta), path)
    return [["attack", "gaussian", "e.parquet"]]


@cache
def challenge_folder() -> Path:
    """A whole challenge, toy of course, of twelve examples."""
    folder = Path(mkdtemp(prefix="fuzz-challenge-")) / "c"
    publish(made(), 12, folder, toy=True)
    return folder


def right() -> dict[str, Any]:
    """Its answer."""
    return {name: value.tolist() for name, value in made().secret.items()}


def challenges(rng: Rng, folder: Path) -> Lines:
    """A damaged challenge, in half of the cases with digests that fit the damage, and the right answer to it."""
    copy = shutil.copytree(challenge_folder(), folder / "c")
    header = json.loads((copy / "challenge.json").read_text())
    match int(rng.integers(4)):
        case 0:
            name = pick(rng, ("challenge.json", "examples.npz", "heldout.npz"))
            (copy / name).write_bytes(damaged(rng, (copy / name).read_bytes()))
        case 1:
            X = next(iter(strange_arrays(rng, "X", np.load(copy / "heldout.npz")["X"]).values()))
            member = npy(X) if rng.random() < 0.5 else headed(headers(rng))
            (copy / "heldout.npz").write_bytes(npz({pick(rng, ("X.npy", "X.npy", "Y.npy")): member}))
        case _:
            header = changed(rng, header)
    with suppress(Exception):
        if rng.random() < 0.7:
            from hardness.challenge import _sha256

            header["sha256"] = {name: _sha256((copy / name).read_bytes()) for name in ("examples.npz", "heldout.npz")}
            header["header_sha256"] = digest(header)
        (copy / "challenge.json").write_text(text(header))
    answer = right() if rng.random() < 0.5 else {"predictions": [1.0] * 256}
    (folder / "answer.json").write_text(json.dumps(answer))
    return [["judge", "c", "answer.json"]]


def answers(rng: Rng, folder: Path) -> Lines:
    """A strange answer to a whole challenge."""
    base = pick(rng, (right(), {"secret": right()}, {"predictions": [0.5] * 256}, {"w": [1, 2]}, {}))
    answer = text(changed(rng, base) if rng.random() < 0.8 else pick(rng, STRANGE))
    data = answer.encode("utf-8", "surrogatepass")
    (folder / "answer.json").write_bytes(damaged(rng, data) if rng.random() < 0.3 else data)
    return [["judge", str(challenge_folder()), "answer.json"]]


@cache
def stored() -> bytes:
    """A store of six trials of the study stress, of which five ended."""
    folder = Path(mkdtemp(prefix="fuzz-store-"))
    task = {"kind": "stress", "learner": "sgd", "params": {}}
    tasks = [
        Task("parity", {"dim": 8, "heads": 2}, task, {"samples": 64, "from": 64, "factor": 2}, r) for r in range(6)
    ]
    with Store(folder / "rows.db", {"study": "stress", "seed": 0, "quick": True}) as store:
        store.plan(tasks)
        for task_, status in zip(tasks, ("solved", "wrong", "error", "refused", "budget"), strict=False):
            detail = {"degree": 5, "reason": "x", "sign_accuracy": 0.5}
            store.add(task_, Outcome(status, 64, detail, 0.1), {"numpy": "2"})
    with closing(sqlite3.connect(folder / "rows.db")) as db:
        db.execute("PRAGMA journal_mode = DELETE")
    return (folder / "rows.db").read_bytes()


COLUMNS = {
    "meta": ("key", "value"),
    "plan": ("position", "identity", "task"),
    "provenance": ("id", "text"),
    "trials": ("identity", "status", "cost", "detail", "seconds", "source", "provenance"),
}


def stores(rng: Rng, folder: Path) -> Lines:
    """A damaged store, and one of the commands on stores."""
    path = folder / "rows.db"
    path.write_bytes(stored())
    if rng.random() < 0.3:
        path.write_bytes(damaged(rng, stored()))
    else:
        with closing(sqlite3.connect(path)) as db, suppress(sqlite3.Error):
            db.execute("PRAGMA foreign_keys = OFF")
            _edit(rng, db)
            db.commit()
    if rng.random() < 0.05:
        (folder / "rows.db-wal").write_bytes(rng.bytes(200))
    command = pick(rng, ("status", "status", "export", "export", "merge", "merge", "repair", "report"))
    if command == "report" and rng.random() < 0.7:  # a page takes a second and more
        command = "export"
    line = {
        "status": "status .", "export": "export . --out out.csv", "merge": "merge rows.db rows.db --out out.db",
        "report": "report .", "repair": "repair . --out out.db",
    }[command]  # fmt: skip
    return [["study", *line.split()]]


def _edit(rng: Rng, db: sqlite3.Connection) -> None:
    table = pick(rng, sorted(COLUMNS))
    column = pick(rng, COLUMNS[table])
    match int(rng.integers(6)):
        case 0:
            db.execute(f"DROP TABLE {table}")
        case 1:
            db.execute(f"ALTER TABLE {table} RENAME COLUMN {column} TO other")
        case 2:
            db.execute(f"DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} LIMIT 2)")
        case 3:
            values: tuple[Any, ...] = (None, 7, -1.5, "x", "", "nan", b"\xff\xfe", "{", "[]", "=1+1", 1e308)
            value = pick(rng, values)
            db.execute(
                f"UPDATE {table} SET {column} = ? WHERE {column} IN (SELECT {column} FROM {table} LIMIT 1)", [value]
            )
        case 4:
            db.execute(f"UPDATE {table} SET {column} = CAST(x'ff41' AS TEXT) WHERE rowid = 1 OR {column} = 'study'")
        case _:
            table, column = pick(
                rng, (("plan", "task"), ("trials", "detail"), ("provenance", "text"), ("meta", "value"))
            )
            old = pick(rng, db.execute(f"SELECT {column} FROM {table}").fetchall())[0]
            new = text(changed(rng, json.loads(old)))
            db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", [new, old])


FORMATS = {
    "instances": instances, "examples": examples, "challenges": challenges, "answers": answers, "stores": stores,
}  # fmt: skip
