"""The diagonal student's step, compiled: bits in, forward, backward and update of a batch, in float32.

With u the bits of a row, Σ_j θ_ij u_j is a sum over the bits that are set, and so is what the gradient gains by a row:
no products, M d additions an informative row each way at most and half of that in the mean. Heads lie in the lanes of
vectors: weights are flat (d + 1, wide), row j holding θ_ij of all heads and the last one c, and heads beyond M are 0
from the start and stay 0.
"""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from hardness.kernels.bits import ONE as BIT
from hardness.kernels.bits import compiled, compiled_for, popcount
from hardness.kernels.single import LANES, ONE, F, hyperbolic_tangent
from hardness.kernels.tile import Memory, everywhere, piece
from learner.adam import EPSILON, NEW, NEW_SQUARE
from learner.diagonal_network import ACTIVATIONS, OPTIMIZERS, centred

ROWS = 64  # informative rows that are computed together, at most
CHAINS = 4  # sums of a row that run side by side


ARRAY, SQUARES, NOISE = types.float32[::1], types.float64[:, ::1], types.float32[:, ::1]
WORDS, LABELS, ENDS = (
    types.Array(kind, n, "C", readonly=True)
    for kind, n in ((types.uint64, 2), (types.float32, 1), (types.int64, 1))
)


class Shape(NamedTuple):
    """Sizes of a step: d, heads in whole vectors, and the places of activation and optimizer among their names."""

    dim: int
    wide: int
    activation: int
    optimizer: int


class Rule(NamedTuple):
    """Numbers of a step: the rate, the cut of the soft threshold, the zone of the loss, and the most that the gradient
    of a row by centred weights may be in norm, 0 for no such bound."""

    rate: float
    cut: float
    zone: float
    clip: float


SHAPE, RULE = types.NamedUniTuple(types.int64, 4, Shape), types.NamedUniTuple(types.float64, 4, Rule)


@piece
def _gathered(
    context: Any, count: Any, places: Any, first: Any, a: Any, start: Any, out: Any, at: Any
) -> Any:
    """One vector out[at:] = Σ_k a[start + places[first + k]:] over k < count, in four sums side by side."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        count, places, first, a, start, out, at = arguments
        source = Memory(context, builder, signature.args[3], a)
        target = Memory(context, builder, signature.args[5], out)
        data = context.make_array(signature.args[1])(context, builder, places).data
        sums = [cgutils.alloca_once_value(builder, ir.Constant(source.vector, None)) for _ in range(CHAINS)]

        def gain(total: Any, k: Any) -> None:
            place = builder.load(builder.gep(data, [builder.add(first, k)]))
            term = source.load(builder.add(start, place))
            builder.store(builder.fadd(builder.load(total), term), total)

        whole = builder.sub(count, builder.srem(count, count.type(CHAINS)))
        with cgutils.for_range_slice(builder, count.type(0), whole, count.type(CHAINS), inc=True) as (
            index,
            _,
        ):
            for i, total in enumerate(sums):
                gain(total, builder.add(index, index.type(i)))
        with cgutils.for_range_slice(builder, whole, count, count.type(1), inc=True) as (index, _):
            gain(sums[0], index)
        a, b, c, d = (builder.load(total) for total in sums)
        target.store(builder.fadd(builder.fadd(a, b), builder.fadd(c, d)), at)
        return context.get_dummy_value()

    return types.void(types.intp, places, types.intp, a, types.intp, out, types.intp), generate


@piece
def _scattered(
    context: Any, count: Any, places: Any, first: Any, a: Any, at: Any, out: Any, start: Any
) -> Any:
    """The vector a[at:] added to out[start + places[first + k]:] for every k < count."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        count, places, first, a, at, out, start = arguments
        term = Memory(context, builder, signature.args[3], a).load(at)
        target = Memory(context, builder, signature.args[5], out)
        data = context.make_array(signature.args[1])(context, builder, places).data
        with cgutils.for_range(builder, count) as loop:
            place = builder.add(start, builder.load(builder.gep(data, [builder.add(first, loop.index)])))
            target.store(builder.fadd(target.load(place), term), place)
        return context.get_dummy_value()

    return types.void(types.intp, places, types.intp, a, types.intp, out, types.intp), generate


@piece
def _product(context: Any, a: Any, at: Any, b: Any, start: Any) -> Any:
    """Σ_i a[at + i] b[start + i] over the lanes of a vector, halves added to halves."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, at, b, start = arguments
        left, right = (Memory(context, builder, signature.args[n], array) for n, array in ((0, a), (2, b)))
        total, lanes = builder.fmul(left.load(at), right.load(start)), LANES
        while lanes > 1:
            lanes //= 2
            halves = (
                ir.Constant(ir.VectorType(ir.IntType(32), lanes), list(range(n, n + lanes)))
                for n in (0, lanes)
            )
            low, high = (builder.shuffle_vector(total, total, half) for half in halves)
            total = builder.fadd(low, high)
        return builder.extract_element(total, ir.IntType(32)(0))

    return types.float32(a, types.intp, b, types.intp), generate


@piece
def _backward(
    context: Any, pull: Any, h: Any, slope: Any, at: Any, c: Any, start: Any, out: Any, by_c: Any
) -> Any:
    """One vector of heads of a row: slope[at:] becomes pull c[start:] slope[at:], and out[by_c:] gains pull h[at:]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pull, _, _, at, _, start, _, by_c = arguments
        active, steep, coefficients, gradient = (
            Memory(context, builder, signature.args[n], arguments[n]) for n in (1, 2, 4, 6)
        )
        pulled = everywhere(builder, pull, steep.vector)
        by_h = builder.fmul(builder.fmul(pulled, coefficients.load(start)), steep.load(at))
        steep.store(by_h, at)
        gradient.store(builder.fadd(gradient.load(by_c), builder.fmul(pulled, active.load(at))), by_c)
        return context.get_dummy_value()

    return types.void(types.float32, h, slope, types.intp, c, types.intp, out, types.intp), generate


@piece
def _entries(context: Any, count: Any, step: Any, centred: Any, start: Any, weights: Any) -> Any:
    """One vector of heads, rows at start, start + step, …: θ_0 = b + Σ_j t_j and θ_j = -2 t_j, `count` rows in all."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        count, step, _, start, _ = arguments
        source, target = (Memory(context, builder, signature.args[n], arguments[n]) for n in (2, 4))
        total = cgutils.alloca_once_value(builder, source.load(start))
        minus_two = everywhere(builder, ir.FloatType()(-2.0), source.vector)
        with cgutils.for_range(builder, count, start=count.type(1)) as loop:
            place = builder.add(start, builder.mul(loop.index, step))
            row = source.load(place)
            builder.store(builder.fadd(builder.load(total), row), total)
            target.store(builder.fmul(minus_two, row), place)
        target.store(builder.load(total), start)
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, centred, types.intp, weights), generate


@piece
def _by_centred(context: Any, count: Any, step: Any, gradient: Any, start: Any) -> Any:
    """One vector of heads: the gradient by t_j, g_0 - 2 g_j, in the place of that by θ_j; b has that of θ_0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        count, step, gradient, start = arguments
        memory = Memory(context, builder, signature.args[2], gradient)
        first, minus_two = memory.load(start), everywhere(builder, ir.FloatType()(-2.0), memory.vector)
        with cgutils.for_range(builder, count, start=count.type(1)) as loop:
            place = builder.add(start, builder.mul(loop.index, step))
            memory.store(builder.fadd(first, builder.fmul(minus_two, memory.load(place))), place)
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, gradient, types.intp), generate


@compiled
def _place(words: Any, step: int, places: Any, counts: Any) -> Any:
    """The places j `step` of the bits j that are set in rows of words (n, W): `counts` of them a row, side by side."""
    pitch = places.size // counts.size
    for e in range(len(words)):
        k = e * pitch
        for w in range(words.shape[1]):
            left = words[e, w]
            while left:
                places[k] = np.int64(popcount((left & (~left + BIT)) - BIT) + np.uint64(64 * w)) * step
                left &= left - BIT
                k += 1
        counts[e] = k - e * pitch


@compiled
def _outputs(shape: Any, places: Any, counts: Any, weights: Any, h: Any, slope: Any, out: Any) -> Any:
    """Activations h (n, wide), their derivatives and outputs (n,) of rows whose bits are set at `places`."""
    wide, pitch, c = shape.wide, places.size // counts.size, shape.dim * shape.wide
    for e in range(out.size):
        for v in range(0, wide, LANES):
            _gathered(counts[e], places, e * pitch, weights, v, h, e * wide + v)
    if shape.activation == 0:
        hyperbolic_tangent(h)
        for i in range(h.size):
            slope[i] = ONE - h[i] * h[i]
    else:
        for i in range(h.size):
            slope[i] = F(h[i] > F(0))
            h[i] *= slope[i]
    for e in range(out.size):
        out[e] = F(0)
        for v in range(0, wide, LANES):
            out[e] += _product(h, e * wide + v, weights, c + v)


@compiled
def _pulls(rule: Any, shape: Any, weights: Any, h: Any, slope: Any, y: Any, out: Any) -> Any:
    """Outputs (n,) become what the loss pulls at; returns the sum of squared errors."""
    total, wide, c = 0.0, shape.wide, weights[shape.dim * shape.wide :]
    zone, bound = F(rule.zone), F(rule.clip)
    for e in range(out.size):
        error = out[e] - y[e]
        total += np.float64(error) * np.float64(error)
        if rule.zone >= 0:
            error = F(error > zone) - F(error < -zone)
        if rule.clip > 0:
            square = F(0)
            for i in range(wide):
                by = c[i] * slope[e * wide + i]
                square += h[e * wide + i] * h[e * wide + i] + F(shape.dim) * by * by
            norm = abs(error) * np.sqrt(square)
            if norm > bound:
                error *= bound / norm
        out[e] = error
    return total


@compiled
def _gains(
    shape: Any, places: Any, counts: Any, pulls: Any, weights: Any, h: Any, slope: Any, gradient: Any
) -> Any:
    """What the gradient gains by rows; `slope` is used up."""
    wide, pitch, c = shape.wide, places.size // counts.size, shape.dim * shape.wide
    for e in range(pulls.size):
        for v in range(0, wide, LANES):
            _backward(pulls[e], h, slope, e * wide + v, weights, c + v, gradient, c + v)
            _scattered(counts[e], places, e * pitch, slope, e * wide + v, gradient, v)


@compiled_for(types.void(types.int64, types.int64, types.float64, types.float64, *[ARRAY] * 4))
def _update(
    optimizer: int, step: int, rate: float, share: float, weights: Any, gradient: Any, first: Any, second: Any
) -> Any:
    """One update by the gradient times `share`."""
    part = F(share)
    if optimizer == 0:
        root = (1 - (1 - NEW_SQUARE) ** step) ** 0.5
        factor, epsilon = F(rate * root / (1 - (1 - NEW) ** step)), F(EPSILON * root)
        slow, slower = F(NEW), F(NEW_SQUARE)
        for i in range(weights.size):
            g = gradient[i] * part
            first[i] += slow * (g - first[i])
            second[i] += slower * (g * g - second[i])
            weights[i] -= factor * first[i] / (np.sqrt(second[i]) + epsilon)
    elif optimizer == 1:
        kept, factor = F(1 - NEW), F(rate)
        for i in range(weights.size):
            first[i] = kept * first[i] + gradient[i] * part
            weights[i] -= factor * first[i]
    else:
        factor = F(rate)
        for i in range(weights.size):
            weights[i] -= factor * (F(gradient[i] > F(0)) - F(gradient[i] < F(0)))


@compiled_for(types.void(types.float64, ARRAY))
def _shrink(cut: float, theta: Any) -> Any:
    """The soft threshold: every number goes towards 0 by `cut`, and no further."""
    bound = F(cut)
    for i in range(theta.size):
        theta[i] -= max(-bound, min(bound, theta[i]))


@compiled_for(
    types.void(SHAPE, RULE, types.int64, types.int64, WORDS, LABELS, ENDS, NOISE, *[ARRAY] * 5, SQUARES)
)
def train(
    shape: Any, rule: Any, batch: int, step: int, words: Any, labels: Any, ends: Any, noise: Any,
    weights: Any, centred: Any, gradient: Any, first: Any, second: Any, squares: Any,
) -> Any:  # fmt: skip
    """Updates by batches: batch b holds `batch` examples, of which the rows ends[b] .. ends[b + 1] are informative.

    Steps are taken in `centred`, and `weights` follow. The gradient there is the sum over these rows over `batch`, and
    gains noise[b], unless there is none. `step` updates were made before. `squares` (batches, 2) gets sums over rows of
    the squared error before the update and of the squared label.
    """
    d, wide = shape.dim, shape.wide
    places, counts = np.empty(ROWS * d, np.int64), np.empty(ROWS, np.int64)
    h, slope, out = np.empty(ROWS * wide, F), np.empty(ROWS * wide, F), np.empty(ROWS, F)
    for b in range(len(squares)):
        gradient[:] = F(0)
        for start in range(ends[b], ends[b + 1], ROWS):
            stop = min(start + ROWS, ends[b + 1])
            n, y = stop - start, labels[start:stop]
            active, steep, pulls = h[: n * wide], slope[: n * wide], out[:n]
            _place(words[start:stop], wide, places, counts)
            _outputs(shape, places, counts, weights, active, steep, pulls)
            squares[b, 0] += _pulls(rule, shape, weights, active, steep, y, pulls)
            for e in range(n):
                squares[b, 1] += np.float64(y[e]) * np.float64(y[e])
            _gains(shape, places, counts, pulls, weights, active, steep, gradient)
        for v in range(0, wide, LANES):
            _by_centred(d, wide, gradient, v)
        if noise.size:
            for i in range(gradient.size):
                gradient[i] += F(batch) * noise[b, i]
        _update(shape.optimizer, step + b + 1, rule.rate, 1 / batch, centred, gradient, first, second)
        if rule.cut > 0:
            _shrink(rule.cut, centred[wide : d * wide])
        for v in range(0, wide, LANES):
            _entries(d, wide, centred, v, weights)
        weights[d * wide :] = centred[d * wide :]


class Network:
    """Weights (d + 1, M) of a diagonal student, as of `learner.diagonal_network`, laid out for its step.

    >>> from learner.diagonal_network import starting
    >>> network = Network(starting(np.random.default_rng(0), heads=4, dim=3, scale=1.0))
    >>> network.weights().shape
    (4, 4)
    """

    def __init__(self, weights: Any, activation: str = "tanh", optimizer: str = "adam") -> None:
        size, self.heads = weights.shape
        wide = -(-self.heads // LANES) * LANES
        self.shape = Shape(size - 1, wide, ACTIVATIONS.index(activation), OPTIMIZERS.index(optimizer))
        arrays = (np.zeros(size * wide, F) for _ in range(5))
        self._weights, self._centred, self._gradient, self._first, self._second = arrays
        self._weights.reshape(size, wide)[:, : self.heads] = weights
        self._centred.reshape(size, wide)[:, : self.heads] = centred(weights)
        self.steps = 0

    def weights(self) -> Any:
        """θ and c as (d + 1, M) float32."""
        return self._weights.reshape(-1, self.shape.wide)[:, : self.heads].copy()

    def train(self, words: Any, labels: Any, ends: Any, batch: int, rule: Rule, noise: Any = None) -> Any:
        """An update a batch of `batch` examples, of which the rows ends[b] .. ends[b + 1] are informative.

        `noise` (batches, d + 1, M), if there is any, is added to the mean gradients. Returns (batches, 2): sums over
        the rows of squared errors before the update, and of squared labels.
        """
        squares = np.zeros((len(ends) - 1, 2))
        laid = np.zeros((0, 0), F)
        if noise is not None:
            laid = np.zeros((len(squares), self.shape.dim + 1, self.shape.wide), F)
            laid[:, :, : self.heads] = noise
            laid = laid.reshape(len(squares), -1)
        rows = np.ascontiguousarray(words), np.asarray(labels, F), np.asarray(ends, np.int64), laid
        state = self._weights, self._centred, self._gradient, self._first, self._second
        train(self.shape, rule, batch, self.steps, *rows, *state, squares)
        self.steps += len(squares)
        return squares
