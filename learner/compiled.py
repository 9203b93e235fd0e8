"""What the compiled students share: how their loops are compiled, tanh in float32, and products on one thread."""

from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numba import njit
from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    Function = TypeVar("Function")

    def compiled(function: Function) -> Function: ...
else:
    # Multiply-adds may be fused, and no sum changes its order: with all of LLVM's fast-math flags the weights of a
    # process that compiles and of one that loads the cache were seen to differ in their last bits.
    compiled = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz"})

F = np.float32


@compiled
def hyperbolic_tangent(h: Any) -> Any:
    """Replace the float32 numbers of h, of any shape, by their tanh, within 3e-7.

    Lambert's continued fraction, cut after y^7, gives tanh y = p/q at y = h/2. Then tanh h is 2 p q/(q² + p²).
    """
    flat = h.reshape(h.size)
    for i in range(flat.size):
        y = max(F(-4.75), min(F(4.75), F(0.5) * flat[i]))
        z = y * y
        p = y * (F(135135) + z * (F(17325) + z * (F(378) + z)))
        q = F(135135) + z * (F(62370) + z * (F(3150) + z * F(28)))
        flat[i] = F(2) * p * q / (q * q + p * p)


@cache
def _blas() -> ThreadpoolController:
    import scipy.linalg.cython_blas  # noqa: F401  # numba's own loading of it comes later

    return ThreadpoolController()


def one_thread() -> Any:
    """Return a context in which BLAS has one thread, as is best for small products, one after the other."""
    return _blas().limit(limits=1, user_api="blas")
