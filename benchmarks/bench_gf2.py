"""Reduced echelon forms of random n + 9 by n bit matrices, beside libm4ri, python-flint and galois.

Ours and libm4ri hold 64 bits in a word, python-flint an entry in a word, galois one in a byte. Ours and libm4ri copy
the matrix first, in the time that is given. All forms but python-flint's are compared here, that one in a test of the
kernel.
"""

import ctypes
from collections.abc import Iterator
from ctypes.util import find_library
from typing import Any

import numpy as np

from benchmarks.harness import Call, Row, compared, optional
from hardness.kernels.gf2 import rref2
from hardness.tokens import pack_bits

SIZES = (128, 512, 1024, 2048, 4096)
MOST = 512  # columns of galois and python-flint, which take seconds beyond


class Mzd(ctypes.Structure):
    """M4RI's matrix (mzd.h of release 20200125): what is needed is where its rows lie."""

    _fields_ = [
        *((name, ctypes.c_int) for name in ("nrows", "ncols", "width", "stride", "vector", "row_offset")),
        ("flags", ctypes.c_uint8),
        ("blockrows_log", ctypes.c_uint8),
        ("padding", ctypes.c_uint8 * 14),
        ("high_bitmask", ctypes.c_uint64),
        ("blocks", ctypes.c_void_p),
        ("rows", ctypes.POINTER(ctypes.c_void_p)),
    ]


def m4ri() -> Any:
    """Return the library of that release, as Debian's libm4ri-dev has it, or None: another may have another struct."""
    name = find_library("m4ri")
    if name is None or "20200125" not in name:
        return None
    library = ctypes.CDLL(name)
    library.mzd_init.restype = ctypes.POINTER(Mzd)
    return library


def rows() -> Iterator[Row]:
    library, flint, galois = m4ri(), optional("flint"), optional("galois")
    for n in SIZES:
        A = np.random.default_rng(n).integers(0, 2, (n + 9, n), dtype=np.uint8)
        packed = pack_bits(A)
        work = packed.copy()

        def ours(work=work, packed=packed, n=n) -> np.ndarray:
            work[:] = packed
            rref2(work, n)
            return work

        calls: dict[str, Call] = {"ours": ours}
        if library:
            matrix = library.mzd_init(*A.shape)
            words = ctypes.cast(matrix.contents.rows[0], ctypes.POINTER(ctypes.c_uint64))
            memory = np.ctypeslib.as_array(words, (len(A), matrix.contents.stride))[:, : packed.shape[1]]

            def theirs(echelonize, *options, memory=memory, packed=packed, matrix=matrix) -> np.ndarray:
                memory[:] = packed
                echelonize(matrix, 1, *options)
                return memory

            calls["libm4ri: m4ri"] = lambda theirs=theirs: theirs(library.mzd_echelonize_m4ri, 0)
            calls["libm4ri: its own choice"] = lambda theirs=theirs: theirs(library.mzd_echelonize)
        if galois and n <= MOST:
            field = galois.GF(2)(A)
            calls["galois: row_reduce"] = lambda field=field: pack_bits(np.asarray(field.row_reduce()))
        for name, call in calls.items():
            if not np.array_equal(call(), ours()):
                raise ArithmeticError(f"{name} finds another echelon form at {n}")
        if flint and n <= MOST:
            calls["python-flint: nmod_mat"] = flint.nmod_mat(*A.shape, A.ravel().tolist(), 2).rref
        yield from compared(
            "Elimination over GF(2)", f"{n + 9:,} x {n:,}", "matrix", calls, dict.fromkeys(calls, 1)
        )
