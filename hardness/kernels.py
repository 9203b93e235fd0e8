"""Compiled loops on packed words: random words, levels, colex enumeration, the Walsh-Hadamard transform, softmax.

Words, sets and counts are integers, so they are exact. Random bits come from splitmix64 states and Philox keys
handed in by the caller (from a `SeedSequence`), never from a global generator. The loops run without the
interpreter's lock, so that plain threads share the work.
"""

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    Function = TypeVar("Function")

    def compiled(function: Function) -> Function: ...
    def reassociated(function: Function) -> Function: ...
else:
    from numba import njit

    compiled = njit(cache=True, nogil=True)
    # Sums of floats may be taken in any order, which is what a vector unit needs.
    reassociated = njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})

U = np.uint64
ONE, ZERO = U(1), U(0)
GOLDEN, MIX1, MIX2 = U(0x9E3779B97F4A7C15), U(0xBF58476D1CE4E5B9), U(0x94D049BB133111EB)
M1, M2, M4, H01 = U(0x5555555555555555), U(0x3333333333333333), U(0x0F0F0F0F0F0F0F0F), U(0x0101010101010101)
U2, U4, U27, U30, U31, U32, U56 = U(2), U(4), U(27), U(30), U(31), U(32), U(56)
HALF, WEYL = U(0xFFFFFFFF), U(0xBB67AE8584CAA73B)
PHILOX0, PHILOX1, PHILOX2, PHILOX3 = U(0xE14C6C93), U(0xD2E7470E), U(0x95121157), U(0xCA5A8263)
LANES, BATCH = 64, 256  # counters and examples that a vector loop takes together: they stay in the first cache
VECTOR, CHUNK, STRIP = 64, 1 << 17, 4096  # of the transform: bytes, elements, bytes


@compiled
def popcount(x: Any) -> Any:
    """Number of set bits of a uint64, as uint64."""
    # The compiler recognises this idiom and emits the processor's own instruction.
    x = x - ((x >> ONE) & M1)
    x = (x & M2) + ((x >> U2) & M2)
    return (((x + (x >> U4)) & M4) * H01) >> U56


@compiled
def random_word(state: Any) -> Any:
    """Next splitmix64 word; `state` is uint64 (1,)."""
    state[0] += GOLDEN
    z = state[0]
    z = (z ^ (z >> U30)) * MIX1
    z = (z ^ (z >> U27)) * MIX2
    return z ^ (z >> U31)


@compiled
def _high(x: Any, low: Any, high: Any) -> Any:
    """The upper 64 bits of x (low + 2^32 high), in products of 32 bits, which a vector unit has."""
    cross = (x >> U32) * low + ((x & HALF) * low >> U32)
    return (x >> U32) * high + (cross >> U32) + (((x & HALF) * high + (cross & HALF)) >> U32)


@compiled
def philox(key: Any, first: Any, out: Any, last: Any, period: Any, mask: Any) -> Any:
    """Fill `out` with the words of Philox 4x64-10 (Salmon et al., SC 2011) of `key` (2,), counters first, first + 1, …

    A counter makes four words; `out.size` is a multiple of 4. The words at last, last + period, … are cut to `mask`.
    """
    size, every = out.size // 4, mask if period == 1 else ~ZERO
    c0, c1, c2, c3 = (
        np.empty(LANES, np.uint64),
        np.empty(LANES, np.uint64),
        np.empty(LANES, np.uint64),
        np.empty(LANES, np.uint64),
    )
    for start in range(0, size, LANES):
        k0, k1 = key[0], key[1]
        for i in range(LANES):
            x = first + U(start + i)  # the other words of a counter are 0: half of the first round is the key
            c0[i], c1[i] = k0, ZERO
            c2[i], c3[i] = _high(x, PHILOX0, PHILOX1) ^ k1, x * (PHILOX1 << U32 | PHILOX0)
        for _ in range(9):
            k0 += GOLDEN
            k1 += WEYL
            # A round of all lanes at a time is one vector loop; a lane at a time would wait for its products.
            for i in range(LANES):
                x, y = c0[i], c2[i]
                c0[i], c1[i] = _high(y, PHILOX2, PHILOX3) ^ c1[i] ^ k0, y * (PHILOX3 << U32 | PHILOX2)
                c2[i], c3[i] = _high(x, PHILOX0, PHILOX1) ^ c3[i] ^ k1, x * (PHILOX1 << U32 | PHILOX0)
        lanes = min(LANES, size - start)
        for i in range(lanes):
            j = 4 * (start + i)
            out[j], out[j + 1], out[j + 2], out[j + 3] = c0[i] & every, c1[i] & every, c2[i] & every, c3[i] & every
        if mask != every:
            for j in range(last, 4 * (start + lanes), period):
                out[j] &= mask
                last = j + period


@compiled
def weigh(words: Any, planes: Any, values: Any, dot: Any, out: Any) -> Any:
    """Levels out (n,) int64 of packed pairs (n, 2, W): Σ_j w_j u_j, or z_0 Σ_j w_j z_j if `dot` (theory 1.1).

    The weights are w_j = Σ_p values_p (bit j of planes_p), planes (P, W).
    """
    plus, minus = np.empty(BATCH, np.uint64), np.empty(BATCH, np.uint64)
    for start in range(0, out.size, BATCH):
        part, total = words[start : start + BATCH], out[start : start + BATCH]
        total[:] = 0
        flat = part.reshape(part.size)
        for w in range(words.shape[2]):
            if words.shape[2] == 1:  # a step that the compiler knows: four times as fast
                for i in range(total.size):
                    plus[i] = flat[2 * i] ^ flat[2 * i + 1]
            else:
                for i in range(total.size):
                    plus[i] = part[i, 0, w] ^ part[i, 1, w]
            if dot:
                for i in range(total.size):
                    # Where u_j = 1, z_j = x1_j, so z_0 z_j = -1 exactly where the sign bits of x1_0 and x1_j differ.
                    minus[i] = plus[i] & (part[i, 0, w] ^ (ZERO - (part[i, 0, 0] & ONE)))
                    plus[i] ^= minus[i]
            for p in range(values.size):
                plane, value = planes[p, w], values[p]
                if plane:
                    for i in range(total.size):
                        total[i] += value * np.int64(popcount(plus[i] & plane))
                    if dot:
                        for i in range(total.size):
                            total[i] -= value * np.int64(popcount(minus[i] & plane))


@reassociated
def attention_scores(x: Any, right: Any, out: Any) -> Any:
    """Scores out (n, m, k, k) of tokens x (n, k, d), less the largest of their row: x_a·right_bi, and 0 for b = k - 1.

    `right` (n, k - 1, m, d) holds Θ_i (x_b - x_{k-1}): a softmax does not see what all scores of its row share.
    """
    n, m, k, _ = out.shape
    for e in range(n):
        for i in range(m):
            for a in range(k):
                top = 0.0
                for b in range(k - 1):
                    score = 0.0
                    for j in range(x.shape[2]):
                        score += x[e, a, j] * right[e, b, i, j]
                    out[e, i, a, b] = score
                    top = max(top, score)
                out[e, i, a, k - 1] = -top
                for b in range(k - 1):
                    out[e, i, a, b] -= top


@reassociated
def attend(weights: Any, moved: Any, out: Any) -> Any:
    """out (n, k, d) += Σ_i Σ_b p_ab moved_bi with p the rows of weights (n, m, k, k) over their sums.

    `moved` (n, k - 1, m, d) holds (x_b - x_{k-1}) W_i: what token k - 1 itself adds is in `out` already.
    """
    n, m, k, _ = weights.shape
    for e in range(n):
        for i in range(m):
            for a in range(k):
                total = 0.0
                for b in range(k):
                    total += weights[e, i, a, b]
                for b in range(k - 1):
                    p = weights[e, i, a, b] / total
                    for j in range(out.shape[2]):
                        out[e, a, j] += p * moved[e, b, i, j]


@compiled
def next_mask(mask: Any) -> Any:
    """The colex successor. After the last set of n = 64 bits the sum wraps: callers count, never compare."""
    low = mask & (~mask + ONE)
    ripple = mask + low
    shift = popcount(low - ONE) + U2
    return ripple | ((mask ^ ripple) >> shift) if ripple else ZERO


@compiled
def enumerate_masks(first: Any, out: Any) -> Any:
    """Fill `out` uint64 (count,) with consecutive colex sets from `first`."""
    mask = first
    for i in range(out.size):
        out[i] = mask
        mask = next_mask(mask)


@compiled
def shuffle(values: Any, state: Any) -> Any:
    """Fisher-Yates in place (the modulo bias of 64 bits over an array is below 2^-30)."""
    for i in range(values.size - 1, 0, -1):
        j = random_word(state) % U(i + 1)
        values[i], values[j] = values[j], values[i]


def _network(levels: int, across: bool) -> Any:
    """Walsh-Hadamard levels on 2^levels vectors of 64 bytes, which stay in registers: compiled code of its own.

    `network(f, start, stride, g, at, step, count)` takes vectors at start, start + stride, … of f through all levels
    between them, after those inside each vector if `across`, to at, at + step, … of g; then the next vectors beside
    them, until `count` elements of each are done. The loops that a compiler sees in place of this become scalar code.
    """
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba import types
    from numba.core.errors import TypingError
    from numba.extending import intrinsic

    @intrinsic
    def network(context: Any, f: Any, start: Any, stride: Any, g: Any, at: Any, step: Any) -> Any:
        if f.layout != "C" or g.layout != "C":
            raise TypingError("a Walsh-Hadamard transform is made in place on a contiguous array")

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kind = signature.args[0]
            size, width = kind.dtype.bitwidth // 8, VECTOR * 8 // kind.dtype.bitwidth
            vector = ir.VectorType(context.get_data_type(kind.dtype), width)
            real = isinstance(kind.dtype, types.Float)
            add, sub = (builder.fadd, builder.fsub) if real else (builder.add, builder.sub)

            def order(places: list[int]) -> Any:
                return ir.Constant(ir.VectorType(ir.IntType(32), width), places)

            def pointers(array: Any, first: Any, stride: Any) -> list[Any]:
                data = context.make_array(kind)(context, builder, array).data
                places = [builder.add(first, builder.mul(stride, stride.type(i))) for i in range(1 << levels)]
                return [builder.bitcast(builder.gep(data, [place]), vector.as_pointer()) for place in places]

            x = [builder.load(place, align=size) for place in pointers(*arguments[:3])]
            for bit in (1 << i for i in range(width.bit_length() - 1) if across):
                partner = order([i ^ bit for i in range(width)])
                upper = order([i + width * bool(i & bit) for i in range(width)])
                for i, own in enumerate(x):
                    other = builder.shuffle_vector(own, own, partner)
                    x[i] = builder.shuffle_vector(add(own, other), sub(other, own), upper)
            for bit in (1 << i for i in range(levels)):
                for i in (i for i in range(1 << levels) if not i & bit):
                    x[i], x[i | bit] = add(x[i], x[i | bit]), sub(x[i], x[i | bit])
            for value, place in zip(x, pointers(*arguments[3:]), strict=True):
                builder.store(value, place, align=size)
            return context.get_dummy_value()

        return types.void(f, types.intp, types.intp, g, types.intp, types.intp), generate

    return network


_WITHIN, _WITHIN_AND_4 = _network(0, True), _network(4, True)
_NEXT_1, _NEXT_2, _NEXT_3, _NEXT_4 = (_network(levels, False) for levels in range(1, 5))


@compiled
def _sweep(f: Any, start: Any, stride: Any, g: Any, at: Any, step: Any, levels: Any, count: Any) -> Any:
    """One network on the `count` elements beside f[start], f[start + stride], …, to g[at], g[at + step], …"""
    width = VECTOR // f.itemsize
    if levels == 1:
        for j in range(0, count, width):
            _NEXT_1(f, start + j, stride, g, at + j, step)
    elif levels == 2:
        for j in range(0, count, width):
            _NEXT_2(f, start + j, stride, g, at + j, step)
    elif levels == 3:
        for j in range(0, count, width):
            _NEXT_3(f, start + j, stride, g, at + j, step)
    else:
        for j in range(0, count, width):
            _NEXT_4(f, start + j, stride, g, at + j, step)


@compiled
def _share(rows: Any, widest: Any) -> Any:
    """Levels to take next of the log2(rows) that are left, at most `widest`: equal shares of the fewest sweeps."""
    left = 0
    while 1 << left < rows:
        left += 1
    return -(-left // -(-left // widest))


@compiled
def _rows(f: Any, first: Any, last: Any) -> Any:
    """All levels inside each chunk of f[first:last]: a chunk stays in the second-level cache."""
    width = VECTOR // f.itemsize
    for chunk in range(first, last, CHUNK):
        end = min(chunk + CHUNK, last)
        size = end - chunk
        h = 16 * width if size >= 16 * width else min(width, size)
        for start in range(chunk, end, h):
            if h == 16 * width:
                _WITHIN_AND_4(f, start, width, f, start, width)
            elif h == width:
                _WITHIN(f, start, width, f, start, width)
            else:
                part, half = f[start : start + h], 1
                while half < h:
                    for i in range(h):
                        if not i & half:
                            x, y = part[i], part[i | half]
                            part[i], part[i | half] = x + y, x - y
                    half *= 2
        while h < size:
            # Vectors a way of the first cache (4 KiB) apart all fall into one set of it, which holds 8 or more of them.
            levels = _share(size // h, 4 if h * f.itemsize < 4096 else 3)
            for block in range(chunk, end, h << levels):
                _sweep(f, block, h, f, block, h, levels, h)
            h <<= levels


@compiled
def _columns(f: Any, first: Any, last: Any) -> Any:
    """The levels between the chunks, for columns first..last - 1: a strip at a time, so that memory is read once."""
    rows, strip = f.size // CHUNK, STRIP // f.itemsize
    pitch = strip + VECTOR // f.itemsize  # not a power of two: rows of the strip do not displace one another
    held = np.empty(rows * pitch, f.dtype)
    for start in range(first, last, strip):
        h = 1
        while h < rows:
            levels = _share(rows // h, 4)
            source, a, p = (f, start, CHUNK) if h == 1 else (held, 0, pitch)
            target, b, q = (f, start, CHUNK) if h << levels == rows else (held, 0, pitch)
            for block in range(0, rows, h << levels):
                for i in range(block, block + h):
                    _sweep(source, a + i * p, h * p, target, b + i * q, h * q, levels, strip)
            h <<= levels


@compiled
def walsh_hadamard(f: Any) -> Any:
    """In-place transform f[S] <- sum_v f[v] (-1)^|S & v|, any signed or float type, length 2^k, contiguous."""
    _rows(f, 0, f.size)
    if f.size > CHUNK:
        _columns(f, 0, CHUNK)


def walsh_hadamard_shared(f: NDArray[Any], threads: int) -> None:
    """`walsh_hadamard` by several threads, each with its share of rows, then of columns: the same bits.

    >>> f = np.arange(2.0**21)
    >>> walsh_hadamard_shared(f, threads=2)
    >>> f[:3].tolist()
    [2199022206976.0, -1048576.0, -2097152.0]
    """
    from concurrent.futures import ThreadPoolExecutor

    if f.size < 16 * CHUNK or threads < 2:  # starting a thread takes longer than a chunk
        walsh_hadamard(f)
        return
    with ThreadPoolExecutor(threads) as pool:
        for work, total, unit in ((_rows, f.size, CHUNK), (_columns, CHUNK, STRIP // f.itemsize)):
            cuts = [total // unit * i // threads * unit for i in range(threads + 1)]
            list(pool.map(work, [f] * threads, cuts[:-1], cuts[1:]))
