"""Linear attention learned by regression, with the pointwise certificate: which predictions are forced.

It is a linear function of cubic features (Yau et al. 2024, arXiv 2410.10101, section 2): a head reads
Σ_i V z_i (z_iᵀ Q q) = V S Q q, with S = Σ_i z_i z_iᵀ over all tokens and q the query token. The paper's tokens are the
columns of a d×n matrix and its query the last one; here tokens are rows, and `query` says which asks.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.errors import InputError
from learner.base import Array, tokens
from learner.regression import RidgeLearner, held_rows, refuse_beyond, row_blocks

Indices = NDArray[np.intp]
INSIDE = 1e-8  # share of an input's features outside the span up to which its prediction is certified
RANK, SPAN_RANK = 1e-9, 1e-10  # relative singular values that count: of equilibrated features, and of a span


def feature_count(dim: int) -> int:
    """Return ψ = d²(d+1)/2, the number of `features` (XᵀX)_jk q_l, j <= k, of tokens X of size d and a query token q.

    >>> [feature_count(d) for d in (2, 4, 8, 12, 16, 20, 24, 32)]
    [6, 40, 288, 936, 2176, 4200, 7200, 16896]
    """
    return dim * dim * (dim + 1) // 2


def weights(dim: int) -> Array:
    """Return factors (ψ,), √2 if j < k, else 1, that make `kernel` the inner product of `features` (XᵀX)_jk q_l."""
    j, k = np.triu_indices(dim)
    return np.repeat(np.where(j < k, np.sqrt(2), 1.0), dim)


def features(X: Array, query: int = -1) -> Array:
    """Return H(X) (n, ψ) of tokens X (n, k, d): S_jk q_l at index (pair j <= k, l), S = XᵀX, q the row `query` of X."""
    x = np.asarray(X, dtype=np.float64)
    j, k = np.triu_indices(x.shape[2])
    return np.asarray((x.transpose(0, 2, 1) @ x)[:, j, k, None] * x[:, query, None, :]).reshape(len(x), -1)


def attention(V: Array, Q: Array, X: Array, query: int = -1) -> Array:
    """Return Σ_h V_h S Q_h q, (n, outputs), S = XᵀX, q row `query` of X (n, k, d); V (H, outputs, d), Q (H, d, d)."""
    x = np.asarray(X, dtype=np.float64)
    scores = x @ Q[:, None] @ x[:, query, :, None]
    return np.asarray((V[:, None] @ (x.transpose(0, 2, 1) @ scores)).sum(axis=0)[..., 0])


def parameters(V: Array, Q: Array) -> Array:
    """Return p (outputs, ψ) with attention(V, Q, X) = features(X) @ p.T; layers with one p are the same function."""
    W = np.einsum("haj,hkl->ajkl", V, Q)
    j, k = np.triu_indices(V.shape[2])
    both = W[:, j, k] + W[:, k, j]
    both[:, j == k] /= 2
    return np.asarray(both.reshape(len(both), -1))


def kernel(X: Array, q: int, Z: Array, p: int) -> Array:
    """Return <x_q, z_p> Σ_ij <x_i, z_j>² (n, n'), the inner products of weighted `features` at query tokens q and p."""
    gram = np.empty((len(X), len(Z)))
    dim, pairs = X.shape[2], X.shape[1] * Z.shape[1]
    if dim < pairs:
        right = (Z.transpose(0, 2, 1) @ Z).reshape(len(Z), -1).T
    for rows in row_blocks(len(X), len(Z)):
        part = X[rows]
        if dim < pairs:
            total = (part.transpose(0, 2, 1) @ part).reshape(len(part), -1) @ right
        else:
            total = np.zeros((len(part), len(Z)))
            for i, j in np.ndindex(X.shape[1], Z.shape[1]):
                total += np.square(part[:, i] @ Z[:, j].T)
        gram[rows] = total * (part[:, q] @ Z[:, p].T)
    return gram


@dataclass(frozen=True)
class Certificate:
    """Says if examples determine a linear attention, by Λ = HᵀH/n, H (n, ψ) the `features` of n examples.

    If labels come from one and `identifiable` holds (full rank), all least-squares solutions are one function on inputs
    of all lengths (Yau et al. 2024, lemma 2.3). This is sufficient, not necessary; never true of ±1 tokens, whose
    squares are constant. `lam_min` is the least eigenvalue of Λ, 0 below full rank.
    """

    identifiable: bool
    rank: int
    lam_min: float


def certificate(H: Array) -> Certificate:
    """Return whether features H (n, ψ) determine a linear attention, with their rank and least eigenvalue of HᵀH/n."""
    size = np.linalg.norm(H, axis=0)
    spectrum = np.linalg.svd(H / np.where(size > 0, size, 1.0), compute_uv=False)
    rank = int(np.sum(spectrum > RANK * spectrum.max(initial=0.0)))
    full = rank == H.shape[1]
    # Singular values of H itself: the eigenvalues of HᵀH would lose half of the digits.
    lam = np.linalg.svd(H, compute_uv=False) ** 2 / len(H)
    return Certificate(full, rank, float(lam[-1]) if full else 0.0)


def of_features(H: Array, Y: Array) -> tuple[Array, Array]:
    """Return an orthonormal basis (f, r) of the row space of H (n, f), r its rank, and the least-norm p of H p ≈ Y."""
    from scipy.linalg import qr, solve_triangular

    # Pivoted QR finds the rank as SVD does, several times faster: H = upperᵀ basisᵀ, its rows in the pivots' order.
    basis, upper, order = qr(H.T, mode="economic", pivoting=True, check_finite=False)
    size = np.abs(np.diag(upper))
    rank = int(np.sum(size > SPAN_RANK * size.max(initial=0.0)))
    q, r = qr(upper[:rank].T, mode="economic", check_finite=False)
    within: Array = basis[:, :rank].astype(np.float64)
    return within, within @ solve_triangular(r, q.T @ Y[order])


def of_kernel(K: Array, Y: Array) -> tuple[Array, Array]:
    """Return matrices B (n, r) and p (n, ·) for K = HHᵀ, H the features of n examples with outputs Y (n, ·).

    A new input with kernel values k (n,) has coordinates k @ B in the row space of H, and predicted outputs k @ p.
    """
    lam, U = np.linalg.eigh(K)
    keep = lam > SPAN_RANK * lam.max(initial=0.0)
    lam, U = lam[keep], U[:, keep]
    return U / np.sqrt(lam), U @ ((U.T @ Y) / lam[:, None])


@dataclass(frozen=True)
class Component:
    """Holds a part of the regression that shares no feature with the rest.

    Queries without a common coordinate have orthogonal features. `asks` are the query coordinates of this part, `holds`
    those that its keys ever use, `support` its training tokens if it is solved by kernel. `basis` (of its features) and
    `solution` (coefficients) are the results of `of_features` or `of_kernel`.
    """

    asks: Indices
    holds: Indices
    support: Array | None
    basis: Array
    solution: Array


@dataclass(eq=False, repr=False, kw_only=True)
class LinearAttention(RidgeLearner):
    """Least squares over all linear attention layers at once: random layers, from 1,000 examples.

    `query` is the index of the query token, or 'all': then features have two parts, one with the first token as query,
    and the mean of those with each other token as query. `alpha` 0 is the least-norm solution, which alone can certify
    predictions (`certify`); otherwise ridge. There is no intercept, as F(−X) = −F(X). After a fit `rank_` is the rank
    of the features of the training examples.
    """

    centred = False

    query: int | str = "all"
    alpha: float | tuple[float, ...] = 0.0

    def multiply_adds(self, examples: int, tokens: int, dim: int) -> float:
        """Return roughly the multiply-adds of a fit of Y (n, k, d), by kernel or by QR, whichever it would take."""
        groups = len(self._groups(tokens))
        size, rows = groups * feature_count(dim), examples * tokens
        if self.alpha != 0 or size > 4 * rows:
            kernel = float(rows) ** 2 * groups * dim * (1 + tokens**2)
            return kernel + (self._solving(rows) if self.alpha != 0 else 20.0 * rows**3)
        short, long = sorted((float(examples * tokens), float(size)))
        return 2 * (2 * short**2 * long + 2 * short**3)

    def _start(self, X: Array, rng: np.random.Generator) -> int | None:
        self._groups(X.shape[1])
        return None

    def _groups(self, tokens: int) -> list[list[int]]:
        """Return lists of indices of query tokens: features are averaged within a list, and concatenated over lists."""
        if self.query == "all":
            return [[0], list(range(1, tokens))][:tokens]
        if not (isinstance(self.query, int) and -tokens <= self.query < tokens):
            raise InputError(
                f"query must be 'all' or a token from {-tokens} to {tokens - 1}, got {self.query!r}"
            )
        return [[self.query % tokens]]

    def _asking(self, tokens: int) -> int:
        return self._groups(tokens)[0][0]

    def gram(self, X: Array, Z: Array) -> Array:
        x, z = np.asarray(X, dtype=np.float64), np.asarray(Z, dtype=np.float64)
        gram = np.zeros((len(x), len(z)))
        for group, other in zip(self._groups(x.shape[1]), self._groups(z.shape[1]), strict=True):
            for q, p in ((a, b) for a in group for b in other):
                gram += kernel(x, q, z, p) / len(group) / len(other)
        return gram

    def _fit(self, rows: Array, targets: Array, group: int, rng: np.random.Generator) -> Array:
        if self.alpha != 0:
            return super()._fit(rows, targets, group, rng)
        self.alpha_, self.intercept_ = np.zeros((2, targets.shape[1]))
        kept = len(rows) - held_rows(len(rows), group)
        self.components_ = list(self._split(rows[:kept], targets[:kept]))
        judged = self._outputs(rows[kept:])
        self.components_ = list(self._split(rows, targets))
        self.rank_ = sum(part.basis.shape[1] for part in self.components_)
        self.n_features_ = len(self._groups(rows.shape[1])) * feature_count(rows.shape[2])
        return judged

    def _split(self, rows: Array, targets: Array) -> Iterator[Component]:
        everything = np.arange(rows.shape[2])
        for members, asks in self.orthogonal_parts(rows):
            inside = rows[members]
            holds = np.flatnonzero(inside.any(axis=(0, 1))) if len(asks) < len(everything) else everything
            size = len(self._groups(rows.shape[1])) * len(holds) * (len(holds) + 1) // 2 * len(asks)
            # The kernel squares the condition number: only where features are many more than examples.
            by_features = size <= 4 * len(inside)
            memory = 24e-9 * len(inside) * (size if by_features else len(inside))
            refuse_beyond(memory, f"exact regression on {len(inside)} rows")
            if by_features:
                span = of_features(self._features(inside, asks, holds), targets[members])
            else:
                span = of_kernel(self.gram(inside, inside), targets[members])
            yield Component(asks, holds, None if by_features else inside, *span)

    def orthogonal_parts(self, rows: Array) -> Iterator[tuple[Indices, Indices]]:
        """Yield the index pairs (examples, coordinates) of parts of `rows` whose query tokens share no coordinate."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        n, d = len(rows), rows.shape[2]
        if self.query == "all":
            yield np.arange(n), np.arange(d)
            return
        i, coordinate = np.nonzero(rows[:, self._asking(rows.shape[1])])
        graph = csr_array((np.ones(len(i)), (i, n + coordinate)), shape=(n + d, n + d))
        label = connected_components(graph, directed=False)[1]
        for part in np.unique(label[i]):
            yield np.flatnonzero(label[:n] == part), np.flatnonzero(label[n:] == part)

    def _features(self, X: Array, asks: Indices, holds: Indices) -> Array:
        """Return weighted features (n, ·) of X: of a query q all (XᵀX)_jk q_l with l in `asks`, j and k in `holds`."""
        x = np.asarray(X, dtype=np.float64)
        if self.query != "all":
            # The order decides how sums round, and so the rows of the study
            selected = np.asfortranarray(x[:, :, holds])
            j, k = np.triu_indices(len(holds))
            moments = (selected.transpose(0, 2, 1) @ selected)[:, j, k] * np.where(j < k, np.sqrt(2), 1.0)
            return np.asarray(moments[:, :, None] * x[:, self._asking(x.shape[1])][:, None, asks]).reshape(
                len(x), -1
            )
        groups = [np.mean([features(x, q) for q in group], axis=0) for group in self._groups(x.shape[1])]
        return np.concatenate([g * weights(x.shape[2]) for g in groups], axis=1)

    def _touched(self, rows: Array) -> Iterator[tuple[Indices, Component, Array]]:
        """Yield for each part of the fit: indices of `rows` it serves, the part, their features or kernel values."""
        for part in self.components_:
            if len(part.asks) == rows.shape[2]:
                touched = np.arange(len(rows))
            else:
                touched = np.flatnonzero(rows[:, self._asking(rows.shape[1])][:, part.asks].any(axis=1))
            inside = rows[touched]
            if not len(inside):
                continue
            if part.support is None:
                yield touched, part, self._features(inside, part.asks, part.holds)
            else:
                yield touched, part, self.gram(inside, part.support)

    def _outputs(self, rows: Array) -> Array:
        if self.alpha != 0:
            return super()._outputs(rows)
        out = np.zeros((len(rows), len(self.intercept_)))
        for touched, part, coordinates in self._touched(rows):
            out[touched] += coordinates @ part.solution
        return out

    def residual(self, X: ArrayLike) -> Array:
        """Return the share (n,) of the squared features of X (n, k, d) outside the span of the training examples'.

        If the fit was to every token's output, it is the largest of k shares. Raises `InputError` unless alpha is 0.
        """
        if self.alpha != 0:
            raise InputError("the pointwise certificate belongs to exact regression: set alpha=0")
        x = tokens(X)
        rows = self._rows(x)
        inside = np.zeros(len(rows))
        for touched, part, coordinates in self._touched(rows):
            inside[touched] += np.sum((coordinates @ part.basis) ** 2, axis=1)
        total = self._length(rows)
        outside = np.maximum(1 - inside / np.where(total > 0, total, 1.0), 0.0)
        return np.asarray(outside.reshape(len(x), -1).max(axis=1))

    def _length(self, X: Array) -> Array:
        """Return the squared norm (n,) of the weighted features of X (n, k, d), the diagonal of the kernel."""
        x = np.asarray(X, dtype=np.float64)
        inner, total = x @ x.transpose(0, 2, 1), np.zeros(len(x))
        moments = np.sum(inner**2, axis=(1, 2))
        for group in self._groups(x.shape[1]):
            total += sum(inner[:, q, p] for q in group for p in group) * moments / len(group) ** 2
        return total

    def certify(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Return for which X (n, k, d) the training examples force the prediction, (n,): their features span X's."""
        return self.residual(X) < INSIDE

    @property
    def p_(self) -> Array:
        """Return p (outputs, ψ), predictions being features(X) @ p.T; `InputError` if query is 'all' or alpha > 0."""
        if self.query == "all" or self.alpha != 0:
            raise InputError("parameters p are those of one query token and alpha=0")
        d = self.n_features_in_
        index = np.zeros((d, d), dtype=np.intp)
        j, k = np.triu_indices(d)
        index[j, k] = np.arange(len(j))
        p = np.zeros((len(self.intercept_), len(j), d))
        for part in self.components_:
            if part.support is not None:
                H = features(part.support, self._asking(part.support.shape[1])) * weights(d)
                p += (part.solution.T @ H).reshape(p.shape) * weights(d).reshape(-1, d)
                continue
            a, b = np.triu_indices(len(part.holds))
            place = index[part.holds[a], part.holds[b]]
            solution = part.solution.reshape(len(a), len(part.asks), -1).transpose(2, 0, 1)
            p[:, place[:, None], part.asks] += solution * np.where(a < b, np.sqrt(2), 1.0)[:, None]
        return p.reshape(len(p), -1)
