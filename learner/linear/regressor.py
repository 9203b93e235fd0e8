"""Algorithm 1 of Yau et al. as an estimator, with the pointwise certificate: which predictions are forced."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.errors import InputError
from learner.base import Array
from learner.linear.certificate import Certificate, Span, certificate
from learner.linear.features import feature_count, features, kernel, weights
from learner.ridge import RidgeLearner, real_tokens, refuse_beyond, views

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Component:
    """A part of the regression that shares no feature with the rest.

    Queries that have no coordinate in common have orthogonal features. `asks` are the query coordinates of this
    part, `holds` the coordinates that its keys ever use, `support` its training tokens if it is solved by kernel.
    """

    asks: Indices
    holds: Indices
    span: Span
    support: Array | None


class LinearAttention(RidgeLearner):
    """Least squares over all linear attention layers at once, of any number of heads.

    `degrees` are those of the score, (zᵀQq)^p: (1,) is the paper's layer. `query`, `keys` as in `learner.ridge.views`.
    `alpha` 0 is the least-norm solution and gives the certificates; otherwise ridge. There is no intercept: a layer is
    odd. After a fit `rank_` is the rank of the features of the training examples.

    >>> from learner.linear.features import attention
    >>> rng = np.random.default_rng(0)
    >>> V, Q, X = rng.normal(size=(2, 1, 3)), rng.normal(size=(2, 3, 3)), rng.normal(size=(60, 5, 3))
    >>> model = LinearAttention(query=-1).fit(X, attention(V, Q, X))
    >>> model.score(X, attention(V, Q, X)) > 1 - 1e-12, model.certificate(X).identifiable, model.certify(X).all()
    (True, True, np.True_)
    """

    centred = False

    def __init__(
        self,
        degrees: tuple[int, ...] = (1,),
        *,
        query: int | str = "all",
        keys: str = "all",
        alpha: float | tuple[float, ...] = 0.0,
        rank_tol: float = 1e-10,
        memory_gb: float = 5.0,
        random_state: int | None = None,
    ) -> None:
        super().__init__(alpha, memory_gb, random_state)
        self.degrees = degrees
        self.query = query
        self.keys = keys
        self.rank_tol = rank_tol

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """About what a fit of Y (n, k, d) costs: kernel and factors, or, exactly, two pivoted factorisations.

        >>> [round(LinearAttention(alpha=a).multiply_adds(1000, 2, 12) / 1e9, 1) for a in (0.0, 1e-6)]
        [54.3, 3.1]
        """
        groups = len(views(tokens, self.query, self.keys))
        size, rows = groups * feature_count(dim), examples * tokens
        if self.alpha != 0 or self.degrees != (1,) or size > 4 * rows:
            kernel = float(rows) ** 2 * groups * dim * (1 + tokens**2) * len(self.degrees)
            return kernel + (self._solving(rows) if self.alpha != 0 else 20.0 * rows**3)
        short, long = sorted((float(examples * tokens), float(size)))
        return 2 * (2 * short**2 * long + 2 * short**3)

    def _start(self, X: Array, rng: np.random.Generator) -> int | None:
        self._views(X)
        if not self.degrees or min(self.degrees) < 1:
            raise InputError(f"degrees must be integers from 1 up, got {self.degrees}")
        return None

    def _views(self, X: Array) -> list[list[tuple[int, list[int]]]]:
        return views(X.shape[1], self.query, self.keys)

    def _asker(self, X: Array) -> tuple[int, list[int]]:
        """The one query token, and its keys."""
        ((asker,),) = self._views(X)
        return asker

    def gram(self, X: Array, Z: Array) -> Array:
        # Tokens of length about 1 keep the degrees comparable; one degree alone is scaled as a whole.
        scale = 1 if len(self.degrees) == 1 else X.shape[2] ** -0.5
        x, z = np.asarray(X, dtype=np.float64) * scale, np.asarray(Z, dtype=np.float64) * scale
        gram = np.zeros((len(x), len(z)))
        for group, other in zip(self._views(X), self._views(Z), strict=True):
            for (q, keys), (p, others) in ((a, b) for a in group for b in other):
                for degree in self.degrees:
                    gram += kernel((x[:, q], x[:, keys]), (z[:, p], z[:, others]), degree) / len(group) / len(other)
        return gram

    def _solve(self, rows: Array, targets: Array, each: int, rng: np.random.Generator) -> None:
        if self.alpha != 0:
            super()._solve(rows, targets, each, rng)
            return
        self._start(rows, rng)
        self.alpha_, self.intercept_ = np.zeros((2, targets.shape[1]))
        kept = len(rows) - max(1, min(len(rows) // each // 10, 2000)) * each
        self.components_ = list(self._split(rows[:kept], targets[:kept]))
        self._judged = self._predict(rows[kept:])
        self.components_ = list(self._split(rows, targets))
        self.rank_ = sum(part.span.rank for part in self.components_)
        self.n_features_ = len(self._views(rows)) * feature_count(rows.shape[2]) if self.degrees == (1,) else None

    def _diagnostics(self) -> dict[str, Any]:
        return super()._diagnostics() | ({"rank": self.rank_} if self.alpha == 0 else {})

    def _split(self, rows: Array, targets: Array) -> Iterator[Component]:
        everything = np.arange(rows.shape[2])
        for members, asks in self.orthogonal_parts(rows):
            own = rows[members]
            holds = np.flatnonzero(own.any(axis=(0, 1))) if len(asks) < len(everything) else everything
            size = len(self._views(rows)) * len(holds) * (len(holds) + 1) // 2 * len(asks)
            # The kernel squares the condition number: only where features are many more than examples.
            by_features = self.degrees == (1,) and size <= 4 * len(own)
            least = 24e-9 * len(own) * (size if by_features else len(own))
            refuse_beyond(self.memory_gb, least, f"exact regression on {len(own)} rows")
            if by_features:
                span = Span.of_features(self._features(own, asks, holds), targets[members], self.rank_tol)
                yield Component(asks, holds, span, None)
            else:
                span = Span.of_kernel(self.gram(own, own), targets[members], self.rank_tol)
                yield Component(asks, holds, span, own)

    def orthogonal_parts(self, rows: Array) -> Iterator[tuple[Indices, Indices]]:
        """Rows and query coordinates of every part: connected components of who uses which coordinate."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        n, d = len(rows), rows.shape[2]
        if self.query == "all" or self.degrees != (1,):
            yield np.arange(n), np.arange(d)
            return
        uses = rows[:, self._asker(rows)[0]] != 0
        i, coordinate = np.nonzero(uses)
        graph = csr_array((np.ones(len(i)), (i, n + coordinate)), shape=(n + d, n + d))
        label = connected_components(graph, directed=False)[1]
        for part in np.unique(label[i]):
            yield np.flatnonzero(label[:n] == part), np.flatnonzero(label[n:] == part)

    def _features(self, X: Array, asks: Indices, holds: Indices) -> Array:
        """√2-weighted features of every group of views, restricted to some coordinates."""
        x = np.asarray(X, dtype=np.float64)
        if self.query != "all":
            q, keys = self._asker(x)
            own = x[:, keys][:, :, holds]
            j, k = np.triu_indices(len(holds))
            moments = (own.transpose(0, 2, 1) @ own)[:, j, k] * np.where(j < k, np.sqrt(2), 1.0)
            return np.asarray(moments[:, :, None] * x[:, q][:, None, asks]).reshape(len(x), -1)
        groups = [np.mean([features(x, q, keys) for q, keys in group], axis=0) for group in self._views(x)]
        return np.concatenate([g * weights(x.shape[2]) for g in groups], axis=1)

    def _coordinates(self, part: Component, X: Array) -> Array:
        if part.support is None:
            return self._features(X, part.asks, part.holds)
        return self.gram(X, part.support)

    def _touched(self, rows: Array) -> Iterator[tuple[Indices, Component, Array]]:
        """For every part the rows whose query has a coordinate of it, and their coordinates there."""
        for part in self.components_:
            if len(part.asks) == rows.shape[2]:
                touched = np.arange(len(rows))
            else:
                touched = np.flatnonzero(rows[:, self._asker(rows)[0]][:, part.asks].any(axis=1))
            if len(touched):
                yield touched, part, self._coordinates(part, rows[touched])

    def _predict(self, rows: Array) -> Array:
        if self.alpha != 0:
            return super()._predict(rows)
        out = np.zeros((len(rows), len(self.intercept_)))
        for touched, part, coordinates in self._touched(rows):
            out[touched] += coordinates @ part.span.solution
        return out

    def residual(self, X: ArrayLike) -> Array:
        """Share r of |H(X)|² outside the span of the training features, (n,): the largest of the rows of an example.

        Raises `InputError` unless alpha is 0.
        """
        if self.alpha != 0:
            raise InputError("the pointwise certificate belongs to exact regression: set alpha=0")
        x = real_tokens(X)
        rows = self._rows(x)
        inside = np.zeros(len(rows))
        for touched, part, coordinates in self._touched(rows):
            inside[touched] += part.span.inside(coordinates)
        total = self._length(rows)
        outside = np.maximum(1 - inside / np.where(total > 0, total, 1.0), 0.0)
        return np.asarray(outside.reshape(len(x), -1).max(axis=1))

    def _length(self, X: Array) -> Array:
        """|H(X)|² (n,): the diagonal of the kernel."""
        scale = 1 if len(self.degrees) == 1 else X.shape[2] ** -0.5
        x = np.asarray(X, dtype=np.float64) * scale
        inner, total = x @ x.transpose(0, 2, 1), np.zeros(len(x))
        for group in self._views(X):
            for (q, keys), (p, others) in ((a, b) for a in group for b in group):
                for degree in self.degrees:
                    among = np.sum(inner[:, keys][:, :, others] ** (degree + 1), axis=(1, 2))
                    total += inner[:, q, p] ** degree * among / len(group) ** 2
        return total

    def certify(self, X: ArrayLike, tol: float = 1e-8) -> NDArray[np.bool_]:
        """Whether all least-squares solutions agree at each X, (n,): its features lie in the span of those seen."""
        return self.residual(X) < tol

    def certificate(self, X: ArrayLike, rank_tol: float = 1e-9) -> Certificate:
        """The certificate of examples X for a single query token (paper, algorithm 2)."""
        if self.query == "all" or self.degrees != (1,):
            raise InputError("the certificate is that of degree 1 with one query token: set query to its index")
        rows = self._rows(real_tokens(X))
        return certificate(features(rows, *self._asker(rows)), rank_tol)

    @property
    def p_(self) -> Array:
        """The function as `learner.linear.features.parameters`, (outputs, ψ); for one query, degree 1, alpha 0."""
        if self.query == "all" or self.degrees != (1,) or self.alpha != 0:
            raise InputError("parameters p are those of degree 1 with one query token and alpha=0")
        d = self.n_features_in_
        index = np.zeros((d, d), dtype=np.intp)
        j, k = np.triu_indices(d)
        index[j, k] = np.arange(len(j))
        p = np.zeros((len(self.intercept_), len(j), d))
        for part in self.components_:
            if part.support is not None:
                H = features(part.support, *self._asker(part.support)) * weights(d)
                p += (part.span.solution.T @ H).reshape(p.shape) * weights(d).reshape(-1, d)
                continue
            a, b = np.triu_indices(len(part.holds))
            place = index[part.holds[a], part.holds[b]]
            solution = part.span.solution.reshape(len(a), len(part.asks), -1).transpose(2, 0, 1)
            p[:, place[:, None], part.asks] += solution * np.where(a < b, np.sqrt(2), 1.0)[:, None]
        return p.reshape(len(p), -1)
