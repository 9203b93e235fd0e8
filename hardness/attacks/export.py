"""Examples of hidden equations in the forms that other people's solvers read: XOR-DIMACS and LWE.

Everything here is made of examples and public parameters alone, as an attack sees them.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.attacks import Public
from hardness.attacks.acceptance import accepts, polish, trusted
from hardness.attacks.equations import Equations, extract
from hardness.errors import InputError
from hardness.examples import Examples
from hardness.gadgets import modular
from hardness.gadgets.modular import centred, is_prime, preimages
from hardness.io.files import replacing, write_text

Integers = NDArray[np.int64]
SLACK = 2.0  # standard deviations by which the wrong labels that are allowed exceed those expected


def xor_dimacs(examples: Examples, public: Public) -> str:
    """A parity's examples as XOR clauses for a SAT solver that reads ``x`` lines: variable j is "bit j is in the set".

    An informative example of label 1 is the clause ``x j₁ j₂ … 0`` of the bits that are set, one of label 0 has its
    first variable negated. With label noise η example i of N gets a noise variable n + i in its clause. Sequential
    counters (Sinz 2005) let at most ηN + 2 √(Nη(1−η)) of those be true, and of the bits as many as the set has: the
    formula is then satisfied by the hidden set unless more labels than that are wrong. Raises `InputError` for a family
    without parity equations.

    >>> import hardness
    >>> instance = hardness.Instance.generate(hardness.Parity(dim=8, heads=2), seed=0)
    >>> text = xor_dimacs(instance.examples(60, seed=1), instance.public(1))
    >>> [line for line in text.splitlines() if line.startswith("p")]
    ['p cnf 7 34']
    """
    equations = extract(examples.X, examples.Y, public)
    if not equations.are_parities:
        raise InputError(
            f"family {public['family']} has no parities; XOR clauses are made of parity examples"
        )
    n, count = equations.n, len(equations)
    clauses = [f"x{' '.join(map(str, row))} 0" for row in _xors(equations)]
    comments = [f"parity of a set of {equations.sparsity} of {n} bits; variable j: bit j is in the set"]
    variables = n
    if equations.flip:
        flips, limit = range(n + 1, n + count + 1), _wrong_labels(count, equations.flip)
        counter = list(at_most(flips, limit, n + count))
        weight = list(at_most(range(1, n + 1), equations.sparsity or n, _highest(counter, n + count)))
        variables = _highest(weight, _highest(counter, n + count))
        clauses += [f"{' '.join(map(str, clause))} 0" for clause in counter + weight]
        comments.append(
            f"each label is wrong with probability {equations.flip:g}; variable {n} + i: label i is wrong; "
            f"at most {limit}"
        )
    header = [*(f"c {line}" for line in comments), f"p cnf {variables} {len(clauses)}"]
    return "\n".join([*header, *clauses]) + "\n"


def _wrong_labels(count: int, flip: float) -> int:
    """How many of `count` labels may be wrong: `SLACK` standard deviations more than are expected."""
    return min(count, ceil(flip * count + SLACK * sqrt(count * flip * (1 - flip))))


def _highest(clauses: list[list[int]], before: int) -> int:
    """The highest variable of clauses, or the highest before them."""
    return max([before, *(abs(literal) for clause in clauses for literal in clause)])


def _xors(equations: Equations) -> Iterator[list[int]]:
    for i, (row, level) in enumerate(zip(equations.a, equations.level, strict=True)):
        literals = (1 + np.flatnonzero(row)).tolist() + ([equations.n + 1 + i] if equations.flip else [])
        if not literals:
            continue  # no bit is set: such a label says nothing
        yield [literals[0] if level else -literals[0], *literals[1:]]


def at_most(literals: range, limit: int, used: int) -> Iterator[list[int]]:
    """Clauses that hold iff at most `limit` of the literals are true, with variables beyond `used` (Sinz 2005).

    >>> list(at_most(range(1, 4), 1, 3))
    [[-1, 4], [-2, 5], [-4, 5], [-2, -4], [-3, -5]]
    """
    if limit >= len(literals):
        return
    if not limit:
        yield from ([-x] for x in literals)
        return

    def more_than(i: int, j: int) -> int:  # among the first i + 1 literals more than j are true
        return used + 1 + i * limit + j

    last = len(literals) - 1
    for i, x in enumerate(literals):
        if i == 0:
            yield [-x, more_than(0, 0)]
            yield from ([-more_than(0, j)] for j in range(1, limit))
            continue
        if i < last:
            yield [-x, more_than(i, 0)]
            yield [-more_than(i - 1, 0), more_than(i, 0)]
            for j in range(1, limit):
                yield [-x, -more_than(i - 1, j - 1), more_than(i, j)]
                yield [-more_than(i - 1, j), more_than(i, j)]
        yield [-x, -more_than(i - 1, limit - 1)]


@dataclass(frozen=True)
class LWE:
    """Samples b = A s + e mod q: A (m, n), entries of e from `error[0]` to `error[1]`, plus a Gaussian of standard
    deviation `noise`; entries of s from `secret[0]` to `secret[1]`, all residues if None, `weight` of them not 0.

    >>> LWE(np.zeros((3, 2), np.int64), np.zeros(3, np.int64), 97, (-24, 24), (-24, 24)).estimator()
    "LWE.Parameters(n=2, q=97, Xs=ND.Uniform(-24, 24), Xe=ND.Uniform(-24, 24), m=3, tag='rounding in normal form')"
    """

    A: Integers
    b: Integers
    q: int
    secret: tuple[int, int] | None
    error: tuple[int, int]
    noise: float = 0.0
    weight: int | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """What is public of it, by name."""
        m, n = self.A.shape
        return {
            "n": n,
            "m": m,
            "q": self.q,
            "secret": self.secret,
            "error": self.error,
            "noise": self.noise,
            "weight": self.weight,
        }

    def field(self) -> tuple[Any, Any]:
        """A (m, n) and b (m,) as elements of Z_q, arrays of `galois`. Raises `InputError` as `modular.field` does.

        >>> A, b = LWE(np.eye(2, dtype=np.int64), np.array([-1, 5]), 97, None, (0, 0)).field()
        >>> np.linalg.solve(A, b)
        GF([96,  5], order=97)
        """
        return modular.field(self.A, self.q), modular.field(self.b, self.q)

    def estimator(self) -> str:
        """The line that describes it, in normal form, to the lattice estimator."""
        m, n = self.A.shape
        spread, error = (f"ND.Uniform({low}, {high})" for low, high in (self.secret or (0, 0), self.error))
        if self.noise:
            spread = error = f"ND.DiscreteGaussian({self.sd:.4g})"
        return f"LWE.Parameters(n={n}, q={self.q}, Xs={spread}, Xe={error}, m={m}, tag='rounding in normal form')"

    def challenge(self) -> str:
        """The text that solvers of LWE challenges read: n, m, q, α = standard deviation/q, b, and the rows of A."""
        rows = "\n".join(f"[{' '.join(map(str, row))}]" for row in self.A.tolist())
        m, n = self.A.shape
        return (
            f"{n}\n{m}\n{self.q}\n{self.sd / self.q:.6f}\n[{' '.join(map(str, self.b.tolist()))}]\n[{rows}]\n"
        )

    @property
    def sd(self) -> float:
        """Standard deviation of an error."""
        return sqrt(((self.error[1] - self.error[0] + 1) ** 2 - 1) / 12 + self.noise**2)


def normal_form(examples: Examples, public: Public) -> LWE:
    """Rounded inner products as LWE in normal form: A uniform, and the secret made of rounding errors.

    A label tells t = ⟨u, w⟩ mod q up to a rounding error, t = y + e. Of n rows U₀ that are invertible mod q the errors
    e₀ become the secret: with A = U U₀⁻¹ and b = y − A y₀ it holds that b = A e₀ − e mod q. So what is short here, the
    public vectors, and what is dense, w, are gone. Labels that the heads do not reach have larger errors. Raises
    `InputError` unless the family is rounding, q is prime and enough rows are there.

    >>> import hardness
    >>> instance = hardness.Instance.generate(hardness.Rounding(dim=9, modulus=97, levels=4), seed=0)
    >>> lwe = normal_form(instance.examples(80, seed=1), instance.public(1))
    >>> lwe.A.shape[1], lwe.secret
    (8, (-12, 12))
    """
    known = _substitution(examples, public)
    q, U, y, first = known.equations.q, known.equations.a.astype(np.int64), known.y, known.first
    rest = np.setdiff1d(np.arange(len(U)), first)
    A = U[rest] @ known.back % q
    low, high = -((known.width - 1) // 2), known.width // 2
    noise = known.equations.noise * q / known.equations.p
    return LWE(A, (y[rest] - A @ y[first]) % q, q, (low, high), (-high, -low), noise)


def rounding_secret(examples: Examples, public: Public, s: ArrayLike) -> dict[str, list[int]]:
    """The secret of a rounding instance, as attacks name it, from the secret s (n,) of `normal_form` of its examples.

    s holds the errors of the n independent rows, U₀ w = y₀ + s mod q, so w = U₀⁻¹ (y₀ + s). Neighbours of
    w give errors nearly as small, as A = U U₀⁻¹ and U is short, and an s that is found may be of one: where labels have
    no noise, coordinates of w are moved by one as long as that reproduces more of them. Raises `InputError` as
    `normal_form` does, and for an s that is not n integers, or whose w the labels contradict.

    >>> import hardness
    >>> instance = hardness.Instance.generate(hardness.Rounding(dim=4, modulus=7, levels=7), seed=0)
    >>> examples, public = instance.examples(60, seed=1), instance.public(1)
    >>> normal_form(examples, public).secret  # every residue is a level: no label errs
    (0, 0)
    >>> rounding_secret(examples, public, [0, 0, 0])["w"] == instance.secret["w"].tolist()
    True
    """
    known = _substitution(examples, public)
    equations, errors = known.equations, np.asarray(s)
    if errors.shape != (equations.n,) or errors.dtype.kind not in "iu":
        raise InputError(
            f"s must hold {equations.n} integers, got shape {errors.shape} of type {errors.dtype}: take the secret of "
            "the normal form of these examples"
        )
    w = known.back @ ((known.y[known.first] + errors.astype(np.int64)) % equations.q)
    w = centred(w % equations.q, equations.q)
    if equations.noise == 0:
        w = centred(polish(equations.rows(trusted(equations, w)), w), equations.q)
    if not accepts(equations, w):
        raise InputError(
            "the labels contradict the w that follows from s: give the secret of the normal form of these examples"
        )
    return equations.secret(w)


@dataclass(frozen=True)
class Substitution:
    """Of rounding examples: `equations`, their residues up to an error `y` (N,), the `width` of the widest level, the
    `first` n independent rows, and the inverse `back` (n, n) of those mod q."""

    equations: Equations
    y: Integers
    width: int
    first: Integers
    back: Integers


def _substitution(examples: Examples, public: Public) -> Substitution:
    equations = extract(examples.X, examples.Y, public)
    q = equations.q
    if equations.are_parities or not is_prime(q):
        raise InputError("normal form needs examples of the family rounding with a prime modulus")
    centre, width = preimages(q, equations.p)
    U = equations.a.astype(np.int64) % q
    first, back = independent(U, q)
    if len(first) < equations.n or len(U) == equations.n:
        raise InputError(
            f"{len(U)} informative rows hold no {equations.n} independent ones and one more; sample more"
        )
    y = np.floor(centre[equations.level]).astype(np.int64)
    return Substitution(equations, y, int(width.max()), first, back)


def independent(U: Integers, q: int) -> tuple[Integers, Integers]:
    """The first rows of U (N, n) that are independent modulo a prime q, and, if they are n, the inverse of those."""
    from hardness.kernels.gf2 import rref_local

    n = U.shape[1]
    first = rref_local(U.T.copy(), q, q, len(U))
    system = np.hstack([U[first], np.eye(len(first), dtype=np.int64)])
    rref_local(system, q, q, n)
    return first, system[:, n:]


def write(form: str, examples: Examples, public: Public, out: Path) -> str:
    """Write examples in a form of `hardness export`; returns in one sentence what the file is and what it is not."""
    if form == "xor-dimacs":
        text = xor_dimacs(examples, public)
        write_text(out, text)
        return "XOR clauses whose solution of the right weight is the hidden set; plain DIMACS readers know no x lines"
    lwe = normal_form(examples, public)
    if form == "lwe":
        out.mkdir(parents=True, exist_ok=True)
        for name, array in (("A.npy", lwe.A), ("b.npy", lwe.b)):
            with replacing(out / name) as temporary, temporary.open("wb") as file:
                np.save(file, array, allow_pickle=False)
        write_text(out / "lwe.json", json.dumps(lwe.parameters, indent=1) + "\n")
        return "LWE in normal form; its secret is rounding errors and not w, which follows from it"
    write_text(out, lwe.challenge() if form == "lwe-challenge" else lwe.estimator() + "\n")
    if form == "lwe-challenge":
        return "LWE in normal form as the text of the LWE challenges; errors are uniform there, not Gaussian"
    return "one line for the lattice estimator; it prices attacks on uniform A and knows no label noise but Gaussian"
