"""The diagonal student: an attention layer whose Θ are diagonal and whose W are c E_00, trained on informative rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from hardness.errors import InputError
from hardness.examples import InformativeExamples, informative_examples, open_pairs
from hardness.layer import MultiHeadAttention
from hardness.tokens import Words, pack, unpack_bits
from learner.base import Array, Learner, Phase, SearchResult, outputs, signs
from learner.diagonal_network import Rule, descend, forward, starting
from learner.student import EXPLAINED

FIRST = 64  # informative rows that fix offset and scale of the labels before the first update
FEW, MANY, GROWN = 16, 64, 1 << 17  # the batch unless it is given: few, and many after this many examples
OF_EXAMPLES = ("batch", "pool", "clip", "noise")  # options without a meaning for whole populations
SATURATED = 20.0  # tanh of it is 1 in 64 bits


@dataclass(eq=False, repr=False)
class Diagonal(Learner):
    """Heads with Θ_i = diag(θ_i) and W_i = c_i E_00, online by Adam: hidden parities, from 2,000 examples.

    It is trained in float32 on informative rows, whose tokens differ in coordinate 0 (E_00 is 1 in its corner, else 0).
    There the layer's output is x_a[0] f(u) in column 0, f(u) = Σ_i c_i tanh(θ_i0 + Σ_j θ_ij u_j), u_j = 1 iff they
    differ in coordinate j (theory 1.1): a two-layer network on bits, with d multiply-adds per example and head. The
    learner knows this form, but not the hidden set, thresholds, sharpness or coefficients.

    It starts from θ_ij ~ N(0, r²/d), thresholds θ_i0 = -Σ_j θ_ij/2 + N(0, r²/d), and c ~ N(0, q²/(d M)). Steps of Adam
    are taken in t_ij = -θ_ij/2 and b_i = θ_i0 + Σ_j θ_ij/2, the weights of the same network on signs
    (`learner.diagonal_network`), down the gradient of the squared error. A batch counts all examples drawn; the
    gradient is the mean over the whole batch, to which other rows give nothing. The first 64 informative rows fix the
    offset A of the labels, their midrange where they take two values and else their mean, and scale the rest to
    variance 1. No step is taken before.

    `heads` M; `rate`, the step size for t; `threshold_rate`, `output_rate`: its factors for b and c; `batch` examples a
    step, if None 16, and 64 from example 131,072 on; `l1`: after each step every t_ij goes towards 0 by rate · l1 and
    no further (soft threshold); `decay`: before a step every weight loses that share of itself, times its rate; `start`
    r; `output_start` q; `beta1` and `beta2` of Adam, 0 is no momentum; `pool`, the number of different examples: in
    place of later ones the first are read again, every pass in a new random order; `clip` G: gradients of single rows,
    by b, t and c, are shortened to that norm; `noise` κ: every entry of the mean gradient gains N(0, κ² G²/batch), and
    the number of steps does not depend on what was learned.

    The defaults, a slow output layer and no momentum, are one setting for every width, size of the hidden set and
    number of features; the study exponential-in-m says what that costs beside settings tuned to each.

    The same examples give the same weights in whatever pieces they come, as signs with outputs or as those of
    `Instance.informative`. `fit` starts anew, holds a tenth out and makes one pass over the rest.
    """

    solved_at: ClassVar[float] = (1 - EXPLAINED) ** 0.5
    reads_informative: ClassVar[bool] = True  # `partial_fit` takes `InformativeExamples` too
    ranges = (
        *((name, 1) for name in ("heads", "batch", "pool")),
        *((name, "(0, inf)") for name in ("rate", "start", "output_rate", "threshold_rate", "output_start")),
        *((name, "[0, inf)") for name in ("l1", "decay", "clip", "noise")),
        *((name, "[0, 1)") for name in ("beta1", "beta2")),
    )

    heads: int = 16
    rate: float = 0.03
    batch: int | None = None
    l1: float = 0.03
    start: float = 4.0
    pool: int | None = None
    output_rate: float = 0.1
    threshold_rate: float = 1.0
    beta1: float = 0.0
    beta2: float = 0.99
    output_start: float = 1.0
    decay: float = 0.0
    clip: float = 0.0
    noise: float = 0.0

    def check_options(self) -> None:
        super().check_options()
        if self.noise and not self.clip:
            raise InputError("noise is measured in clip, the largest norm of a row's gradient: give clip too")

    def _begin(self, read: InformativeExamples) -> None:
        from learner.kernels_diagonal import Network  # numba is loaded only where it is used

        self.check_options()
        seeds = np.random.SeedSequence(self.random_state).spawn(3)
        starts, self._noises, self._orders = map(np.random.default_rng, seeds)
        self._network = Network(starting(starts, self.heads, read.dim, self.start, self.output_start))
        self.n_features_in_, self._offset, self._scale = read.dim, 0.0, 0.0
        self._gate: float | None = None
        self._informative = self._gradients = self._taken = 0
        self._waiting = self._pool = split(read, 0)[0]
        self._order = np.empty(0, np.int64)

    def partial_fit(self, X: ArrayLike | InformativeExamples, Y: ArrayLike) -> Self:
        """Learn, in order, from tokens X of ±1 and labels Y, both (n, 2, d), or only informative ones; return self.

        Informative ones, whose tokens differ in coordinate 0, come as `InformativeExamples` X with labels Y (r,).
        Raises `InputError` on other input, and unless Y is x_a[0] times one number for both rows in column 0, else 0.
        """
        if isinstance(X, InformativeExamples):
            read = replace(X, Y=np.asarray(Y, dtype=np.float64))
        else:
            x = signs(X)
            read = informative_examples(x, outputs(Y, x))
        if not hasattr(self, "_network"):
            self._begin(read)
        elif read.dim != self.n_features_in_:
            raise InputError(f"X has {read.dim} features, the examples before had {self.n_features_in_}")
        self._gate = self._gate if read.gate is None else read.gate
        self._waiting = joined(self._waiting, self._pooled(read, self.pool) if self.pool else read)
        self._informative = len(self._pool.Y) if self.pool else self._informative + len(read.Y)
        if self._scale or len(self._waiting.Y) >= FIRST:
            self._train()
        return self

    def descend(self, correlations: Callable[[Array], Array], dim: int) -> Iterator[Array]:
        """Yield the values (2^n,) of the learned function f on all sign vectors, n = dim - 1, before each step.

        Steps go down the expected loss E(f - y)²/2, y the label. `correlations` maps tables of functions h, (q, 2^n),
        to the means of y h, (q,). Raises `InputError` if batch, pool, clip or noise is set, which are about examples.
        """
        self.check_options()
        for name in OF_EXAMPLES:
            if getattr(self, name) != getattr(type(self), name):
                raise InputError(f"{name} says something of examples, and a descent by answers has none")
        starts, *_ = np.random.SeedSequence(self.random_state).spawn(3)  # as in `partial_fit`
        first = starting(np.random.default_rng(starts), self.heads, dim, self.start, self.output_start)
        return descend(correlations, first, self._rule())

    def open_values(self, words: Words) -> Array:
        """Return labels (r,) predicted where tokens differ in coordinate 0; bits of `words` (r, W) tell where else."""
        check_is_fitted(self, "_network")
        if not self._scale:
            return np.zeros(len(words))
        bits = unpack_bits(words, self.n_features_in_).astype(np.float64)
        return np.asarray(forward(self.weights_.astype(np.float64), bits) / self._scale + self._offset)

    def layer(self) -> MultiHeadAttention:
        """Return the learned layer: the M trained heads, and two saturated ones that set the labels' constants A and C.

        A is the offset of labels where tokens differ in coordinate 0, C the label where they do not. The two have Θ =
        ±20 E_00 and W = a_i E_00 (1 in its corner), a_1 - a_2 = A and a_1 + a_2 = C less the other heads' W_00.
        """
        weights, d = self.weights_.astype(np.float64), self.n_features_in_
        c = weights[d] / (self._scale or 1.0)
        closed = (c.sum() + self._offset if self._gate is None else self._gate) - c.sum()
        theta, w = np.zeros((2, len(c) + 2, d, d))
        theta[: len(c), range(d), range(d)] = weights[:d].T
        theta[len(c) :, 0, 0] = SATURATED, -SATURATED
        w[:, 0, 0] = *c, (closed + self._offset) / 2, (closed - self._offset) / 2
        return MultiHeadAttention(theta, w)

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """Return the multiply-adds of a forward and backward pass over examples, only half of which have a gradient."""
        return float(examples * self.heads * (dim + 1))

    @property
    def weights_(self) -> Array:
        """Return the M heads' weights (d + 1, M), for labels of variance 1: diagonals of Θ, and output weights c."""
        return np.asarray(self._network.weights())

    @property
    def work_(self) -> dict[str, Any]:
        """Return counts by name: weights, informative examples drawn and trained on, and multiply-adds in training.

        Informative are those whose tokens differ in coordinate 0. With `noise`, `noise_of` has its level and clip.
        """
        trained = self.heads * (self.n_features_in_ + 1)
        return {
            "weights": trained,
            "informative": self._informative,
            "gradient_examples": self._gradients,
            "multiply_adds": 2.0 * trained * self._gradients,
        } | ({"noise_of": {"kappa": float(self.noise), "clip": float(self.clip)}} if self.noise else {})

    def _search(self, X: Array, Y: Array, rng: np.random.Generator) -> SearchResult:
        if hasattr(self, "_network"):
            del self._network
        self.partial_fit(X, Y)
        self._train()
        self._take(self._waiting.count, self._waiting.count)
        if not np.isfinite(self.weights_).all():
            return SearchResult(None, refused="the weights are no longer finite: lower the rate")
        return SearchResult(self.layer(), (Phase("train", "ok", "", self.work_),))

    def _check_sizes(self, n: int, k: int, d: int) -> None:
        if n < 2:
            raise InputError("fit needs at least 2 examples, one of which is held out")

    def _predict(self, x: NDArray[Any]) -> Array:
        """Return predictions (n, 2, d): 0 before the first step, NaN once the weights are no longer finite."""
        x = signs(x)
        (_, words, positions), out = open_pairs(pack(x)), np.zeros(x.shape)
        if self._scale:
            value = np.full(len(x), self._gate or 0.0)
            value[positions] = self.open_values(words)
            out[:, :, 0] = x[:, :, 0] * value[:, None]
        return out

    def _rule(self) -> Rule:
        return Rule(*(float(getattr(self, name)) for name in Rule._fields))

    def _train(self) -> None:
        """Train on waiting examples that fill batches of `batch`; None means 16, and 64 from example 131,072 on."""
        if self.batch is None and self._taken < GROWN:
            self._take(min(self._waiting.count, GROWN - self._taken), FEW)
        usual = MANY if self._taken >= GROWN else FEW
        self._take(self._waiting.count, self.batch or usual)

    def _take(self, count: int, batch: int) -> None:
        """Train on the first `count` of the waiting examples, as far as they fill batches of `batch`."""
        count -= count % batch if count else 0
        if not count:
            return
        if not self._scale:
            self._offset, self._scale = _standard(self._waiting.Y[:FIRST])
        part, self._waiting = split(self._waiting, count)
        ends = np.searchsorted(part.positions, np.arange(0, count + 1, batch))
        labels = (part.Y - self._offset) * self._scale
        noise = None
        if self.noise:
            shape = len(ends) - 1, self.n_features_in_ + 1, self.heads
            noise = self._noises.standard_normal(shape, dtype=np.float32)
            noise *= np.float32(self.noise * self.clip / batch**0.5)
        self._network.train(part.words, labels, ends, batch, self._rule(), noise)
        self._gradients += len(labels)
        self._taken += count

    def _pooled(self, read: InformativeExamples, size: int) -> InformativeExamples:
        """Return `read` with all examples after the learner's first `size` replaced by those, shuffled each pass."""
        new, rest = split(read, min(read.count, size - self._pool.count))
        self._pool = joined(self._pool, new)
        while len(self._order) < rest.count:
            self._order = np.concatenate([self._order, self._orders.permutation(size)])
        again, self._order = np.split(self._order, [rest.count])
        row_of = np.full(self._pool.count, -1)
        row_of[self._pool.positions] = np.arange(len(self._pool.Y))
        places = np.flatnonzero(row_of[again] >= 0)
        rows = row_of[again[places]]
        pooled = replace(rest, words=self._pool.words[rows], positions=places, Y=self._pool.Y[rows])
        return joined(new, pooled)


def joined(first: InformativeExamples, after: InformativeExamples) -> InformativeExamples:
    """Return all examples of `first`, followed by those of `after`."""
    return replace(
        first,
        words=np.concatenate([first.words, after.words]),
        positions=np.concatenate([first.positions, after.positions + first.count]),
        Y=np.concatenate([first.Y, after.Y]),
        count=first.count + after.count,
    )


def split(rows: InformativeExamples, count: int) -> tuple[InformativeExamples, InformativeExamples]:
    """Return the first `count` examples of `rows`, and the others."""
    cut = int(np.searchsorted(rows.positions, count))
    places, left = rows.positions, rows.count - count
    first = replace(rows, words=rows.words[:cut], positions=places[:cut], Y=rows.Y[:cut], count=count)
    return first, replace(
        rows, words=rows.words[cut:], positions=places[cut:] - count, Y=rows.Y[cut:], count=left
    )


def _standard(values: Array) -> tuple[float, float]:
    """Return the offset that is taken off labels (r,), and the factor that then brings their mean square to 1."""
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    two = np.all((values == low) | (values == high))
    offset = (low + high) / 2 if two else float(values.mean())
    spread = float(np.sqrt(np.mean((values - offset) ** 2)))
    return offset, 1 / spread if spread > 0 else 1.0
