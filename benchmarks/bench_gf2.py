"""Reduced echelon forms of random bit matrices, beside those of libm4ri, python-flint and galois that are present. Ours
and libm4ri hold 64 bits of a row in a word; python-flint holds an entry in a word of 64 bits, and galois one in a byte,
so that a ratio to either is also one of layouts. Ours and libm4ri copy the matrix first, in the time that is given.

The echelon forms of ours, libm4ri and galois are compared here; that of python-flint in a test of the kernel. Galois is
left out beyond 2048 columns, which keeps the run short. Rounds are at least five, at 2048 columns at least three, and
one at 4096, which has no quartiles. The goal beside python-flint is set at 1024 and 4096 columns; one of at most three
times its time beside libm4ri is set wherever that is present.
"""

import ctypes
from collections.abc import Iterator
from ctypes.util import find_library
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.harness import Row, absent, optional, race, row, threads
from hardness.kernels.gf2 import rref2
from hardness.tokens import pack_bits

TOPIC = "5 GF(2) elimination"
SIZES = (64, 128, 256, 512, 1024, 2048, 4096)
SLOW = {"galois": 2048, "python-flint": 4096}  # largest size at which the peer answers in seconds


class Mzd(ctypes.Structure):
    """M4RI's matrix (mzd.h of release 20200125): what is needed is where its rows lie."""

    _fields_ = [
        *(
            (name, ctypes.c_int)
            for name in ("nrows", "ncols", "width", "rowstride", "offset_vector", "row_offset")
        ),
        ("flags", ctypes.c_uint8),
        ("blockrows_log", ctypes.c_uint8),
        ("padding", ctypes.c_uint8 * 14),
        ("high_bitmask", ctypes.c_uint64),
        ("blocks", ctypes.c_void_p),
        ("rows", ctypes.POINTER(ctypes.c_void_p)),
    ]


def m4ri() -> Any:
    """The library as Debian's libm4ri-dev has it, or None."""
    name = find_library("m4ri")
    if name is None or "20200125" not in name:  # another release may have another struct
        return None
    library = ctypes.CDLL(name)
    library.mzd_init.restype = ctypes.POINTER(Mzd)
    return library


def rows() -> Iterator[Row]:
    library, flint, galois = m4ri(), optional("flint"), optional("galois")
    yield from absent(TOPIC, {"libm4ri 20200125": library, "python-flint": flint, "galois": galois})
    for d in SIZES:
        with threads(1):
            yield _row(d, library, flint, galois)


def _row(d: int, library: Any, flint: Any, galois: Any) -> Row:
    A = np.random.default_rng(d).integers(0, 2, (d + 9, d), dtype=np.uint8)
    packed = pack_bits(A)
    work, entrants, echelons = packed.copy(), {}, {}

    def ours() -> None:
        work[:] = packed
        rref2(work, d)

    entrants["ours"], echelons["ours"] = ours, lambda: work
    if library:
        matrix = library.mzd_init(*A.shape)
        shape = (len(A), matrix.contents.rowstride)
        memory = np.ctypeslib.as_array(
            ctypes.cast(matrix.contents.rows[0], ctypes.POINTER(ctypes.c_uint64)), shape
        )

        def theirs() -> None:
            memory[:, : packed.shape[1]] = packed
            library.mzd_echelonize_m4ri(matrix, 1, 0)

        entrants["libm4ri"], echelons["libm4ri"] = theirs, lambda: memory[:, : packed.shape[1]]
    if galois and d <= SLOW["galois"]:
        field = galois.GF(2)(A)
        entrants["galois"], echelons["galois"] = (
            field.row_reduce,
            lambda: pack_bits(np.asarray(field.row_reduce())),
        )
    if flint and d <= SLOW["python-flint"]:
        nmod = flint.nmod_mat(*A.shape, A.ravel().tolist(), 2)
        entrants["python-flint"] = nmod.rref
    times = race(entrants, seconds=1.0, minimum=5 if d <= 1024 else 1 if d > 2048 else 3)
    for name, echelon in echelons.items():
        if not np.array_equal(echelon(), work):
            raise ArithmeticError(f"{name} finds another echelon form at {d}")
    over = {name: times.ratio(name, "ours")[0] for name in entrants if name != "ours"}
    goals = {}
    if "libm4ri" in over:
        goals["within 3x of libm4ri"] = over["libm4ri"] >= 1 / 3
    if d in (1024, 4096) and "python-flint" in over:
        goals[">= 4x python-flint"] = over["python-flint"] >= 4
    note = ", ".join(f"{name} takes {ratio:.3g}x as long" for name, ratio in over.items())
    return replace(row(TOPIC, f"{d + 9} x {d}", 1, times, unit="matrix").judged(goals), note=note)
