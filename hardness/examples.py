"""Labelled examples, and their files."""

import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np
from numpy.typing import NDArray

from hardness.errors import InputError, missing_extra
from hardness.io import schemas
from hardness.io.fields import require_memory
from hardness.io.files import regular, replacing
from hardness.io.texts import sanitize
from hardness.tokens import Signs, Words, compiled_pays, pack


@dataclass(frozen=True)
class Examples:
    """Labelled examples of k tokens in d features: X (n, k, d) int8 ±1, or float64 if Gaussian; Y (n, k, d) float64."""

    X: Signs
    Y: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.X.ndim != 3 or self.X.shape != self.Y.shape:
            raise InputError(
                f"X and Y must share one shape (examples, tokens, dim), got {self.X.shape}, {self.Y.shape}"
            )

    def __repr__(self) -> str:
        n, k, d = self.X.shape
        return f"Examples({n} of {k} tokens in {d} features)"

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, index: slice) -> "Examples":
        return Examples(self.X[index], self.Y[index])


@dataclass(frozen=True)
class LeanExamples:
    """Labelled examples whose labels are 0 outside column 0: X (n, k, d) int8 of ±1, that column y (n, k) float64."""

    X: Signs
    y: NDArray[np.float64]


@dataclass(frozen=True)
class InformativeExamples:
    """The r of `count` examples whose tokens x_1, x_2 of ±1 differ in coordinate 0, packed as bits, and their labels.

    In `words` (r, ceil(d/64)) uint64, bit j % 64 of word j // 64 is 1 iff the tokens differ in coordinate j; bit 0 is 1
    in every row. `positions` (r,), ascending, are the indices of these examples among all; `dim` is d. Row a of a label
    holds x_a[0] times a number in column 0: Y (r,) float64 here, `gate` in all other examples (None if not known).
    """

    words: Words
    positions: NDArray[np.int64]
    Y: NDArray[np.float64]
    count: int
    dim: int
    gate: float | None = None

    @property
    def X(self) -> "InformativeExamples":
        """Return the object itself, which serves as inputs beside the labels Y."""
        return self

    def __len__(self) -> int:
        return self.count


def open_pairs(words: Words) -> tuple[Words, Words, NDArray[np.int64]]:
    """Return those r of packed token pairs (n, 2, words) that differ in bit 0, with their XORs and indices."""
    if compiled_pays(words.size):
        from hardness.kernels import bits

        pairs, differ = np.empty_like(words), np.empty_like(words[:, 0])
        positions = np.empty(len(words), np.int64)
        count = bits.open_pairs(words, pairs, differ, positions)
        return pairs[:count], differ[:count], positions[:count]
    differ = words[:, 0] ^ words[:, 1]
    positions = np.flatnonzero(differ[:, 0] & np.uint64(1))
    return words[positions], differ[positions], positions


def informative_examples(X: Signs, Y: NDArray[np.float64]) -> InformativeExamples:
    """Return the examples of X, Y (n, 2, d) whose tokens differ in coordinate 0, packed, with their labels.

    Raises `InputError` unless every label is x_a[0] (a sign of token a) times a number in column 0, the same for both
    rows a, and 0 in other columns. `gate` of the result is the median of that number over all other examples, or None.
    """
    if X.shape[1] != 2:
        raise InputError(f"X must hold two tokens an example, got {X.shape[1]}")
    values, closed = X[:, :, 0] * Y[:, :, 0], X[:, 0, 0] == X[:, 1, 0]
    apart, largest = np.ptp(values, axis=1).max(initial=0.0), np.abs(values).max(initial=0.0)
    if apart > 1e-9 * (1 + largest) or Y[:, :, 1:].any():
        raise InputError(
            "labels must be x_a[0] times a function of the bits in which two tokens differ, in column 0 alone"
        )
    gate = float(np.median(values[closed, 0])) if closed.any() else None
    _, bits, positions = open_pairs(pack(X))
    return InformativeExamples(bits, positions, values[~closed, 0], len(X), X.shape[2], gate)


def write(
    path: Path,
    shape: tuple[int, int, int],
    chunks: Callable[[], Iterator[Examples]],
    public: Mapping[str, Any],
) -> None:
    """Write examples to `path`, `.npz` (uncompressed) or `.parquet` by suffix, one chunk at a time.

    `shape` is that of X and Y. `chunks()` yields the examples from the first at each call: an `.npz` holds all of X,
    then Y. `public` is JSON data stored with them. Raises `InputError` for another suffix or an unwritable path.
    """
    note = json.dumps(public, sort_keys=True)
    if path.suffix not in (".npz", ".parquet"):
        raise InputError(f"cannot write {path}: examples are .npz or .parquet; change the suffix")
    with replacing(path) as temporary:
        if path.suffix == ".parquet":
            _write_parquet(temporary, chunks(), note)
            return
        # The fixed date of `ZipInfo` keeps the same seed the same bytes.
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
            for name, dtype in (("X", "|i1"), ("Y", "<f8")):
                with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as file:
                    header = {"descr": dtype, "fortran_order": False, "shape": shape}
                    np.lib.format.write_array_header_2_0(file, header)
                    for chunk in chunks():
                        file.write(np.ascontiguousarray(getattr(chunk, name), dtype=dtype).data)
            with archive.open(zipfile.ZipInfo("public.npy"), "w") as file:
                np.lib.format.write_array(file, np.array(note), version=(2, 0))


def _write_parquet(path: Path, chunks: Iterator[Examples], note: str) -> None:
    """Write columns X and Y, each example as k lists of d numbers, and the JSON text `note` as metadata."""
    pa, pq = _pyarrow()
    with ExitStack() as stack:
        writer = None
        for chunk in chunks:
            columns = []
            for array in (chunk.X, chunk.Y):
                lists = pa.array(array.ravel())
                for size in array.shape[:0:-1]:
                    lists = pa.FixedSizeListArray.from_arrays(lists, size)
                columns.append(lists)
            stated = {"public": note, "shape": json.dumps(chunk.X.shape[1:])}
            table = pa.table(columns, names=["X", "Y"]).replace_schema_metadata(stated)
            writer = writer or stack.enter_context(pq.ParquetWriter(path, table.schema))
            writer.write_table(table)


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise missing_extra("pyarrow", "parquet", "a .parquet file") from error
    return pa, pq


def read(path: Path) -> tuple[Examples, dict[str, Any]]:
    """Return examples and their `public` parameters from a file of `write`. Raises `InputError` on any other file.

    Schema, shapes and values are checked in this order, and sizes against the file's before memory is allocated.
    """
    try:
        if regular(path).suffix == ".parquet":
            X, Y, note = _read_parquet(path)
        else:
            X, Y, note = arrays(path, {"X": ("|i1", 3), "Y": ("<f8", 3), "public": ("<U", 0)})
    except InputError:
        raise
    except Exception as error:  # whatever numpy, zipfile and pyarrow raise on damaged and foreign files
        why = (
            sanitize(error) if path.suffix == ".parquet" or is_zipfile(path) else "it is no archive of arrays"
        )
        raise InputError(
            f"{path} is not an examples file of `hardness sample` ({why}); "
            "make one with `hardness sample F --out E.npz`"
        ) from error
    what = f"`public` of {path}"
    public: dict[str, Any] = schemas.parse(str(note), what)
    schemas.check_version(public, what, "sample the examples anew")
    schemas.check("public", public, what)
    if X.shape[1:] != (public["tokens"], public["dim"]) or X.dtype != np.int8 or Y.dtype != np.float64:
        stated = f"{public['tokens']} tokens of dim {public['dim']}"
        raise InputError(f"{path} says {stated} and holds X {X.shape} and Y {Y.shape}: make it anew")
    # np.abs(-128) is -128: compared as they are, in the memory of a mask.
    if not len(X) or not ((X == 1) | (X == -1)).all() or not np.isfinite(Y).all():
        raise InputError(f"{path} must hold examples: tokens +1 or -1, labels finite: make it anew")
    return Examples(X, Y), public


def arrays(path: Path, kinds: Mapping[str, tuple[str, int]]) -> list[NDArray[Any]]:
    """Return the arrays of an .npz archive that `kinds` names, in the order of its names.

    `kinds` maps a name to how its array's dtype must start, such as "<f8", and to its number of axes. Nothing is
    unpickled, and no array is larger than the file. Raises `ValueError`, or what numpy raises, for a compressed file
    and for arrays of another kind.
    """
    with np.load(path, allow_pickle=False) as archive:
        if any(member.compress_type for member in archive.zip.infolist()):
            raise ValueError("it is compressed")
        held = [np.asarray(archive[name]) for name in kinds]
    for array, (kind, axes) in zip(held, kinds.values(), strict=True):
        if not array.dtype.str.startswith(kind) or array.ndim != axes:
            raise ValueError(f"{array.dtype.str} with {array.ndim} axes stands for {kind} with {axes}")
    return held


def _read_parquet(path: Path) -> tuple[Signs, NDArray[np.float64], Any]:
    """Return X and Y (n, k, d) and the public parameters (JSON) of a parquet file, also one that version 0.3 wrote."""
    _, pq = _pyarrow()
    with pq.ParquetFile(path) as file:
        held, stated = file.metadata, file.schema_arrow.metadata or {}
        # By the file's own account: a list of any length takes a few bytes.
        entries = sum(held.row_group(i).column(0).num_values for i in range(held.num_row_groups))
        require_memory(20.0 * entries, str(path), "read it in parts")
        shape = (held.num_rows, *schemas.parse(stated[b"shape"], "its shape"))
        columns = [file.read([name])[name].combine_chunks() for name in ("X", "Y")]
        # Where `datasets` is loaded, a type of its own wraps the lists that 0.3 wrote.
        lists = [getattr(column, "storage", column) for column in columns]
        X, Y = (each.flatten().flatten().to_numpy().reshape(shape) for each in lists)
        return X, Y, stated[b"public"].decode()
