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
from numpy.typing import NDArray

from hardness.attacks import Public
from hardness.attacks.equations import Equations, extract
from hardness.errors import InputError
from hardness.examples import Examples
from hardness.gadgets.modular import is_prime, preimages
from hardness.io.files import replacing, write_text
from hardness.kernels.gf2 import rref_local

Integers = NDArray[np.int64]
SLACK = 2.0  # standard deviations by which the wrong labels that are allowed exceed those expected


def xor_dimacs(examples: Examples, public: Public) -> str:
    """A parity's examples as XOR clauses for a SAT solver that reads ``x`` lines: variable j is "bit j is in the set".

    An informative example of label 1 is the clause ``x j₁ j₂ … 0`` of the bits that are set, one of label 0 has its
    first variable negated. With label noise η example i of N gets a noise variable n + i in its clause, and a
    sequential counter (Sinz 2005) lets at most ηN + 2 √(Nη(1−η)) of them be true: the formula is then satisfied by the
    hidden set unless more labels than that are wrong. Raises `InputError` for a family without parity equations.

    >>> import hardness
    >>> instance = hardness.Instance.generate(hardness.Parity(dim=8, heads=2), seed=0)
    >>> text = xor_dimacs(instance.examples(60, seed=1), instance.public(1))
    >>> [line for line in text.splitlines() if line.startswith("p")]
    ['p cnf 7 34']
    """
    equations = extract(examples.X, examples.Y, public)
    if not equations.parity:
        raise InputError(f"family {public['family']} has no parities; XOR clauses are made of parity examples")
    n, count, flip = equations.n, len(equations), equations.flip
    clauses = [f"x{' '.join(map(str, row))} 0" for row in _xors(equations)]
    variables, said = n, [f"parity of a set of {equations.sparsity} of {n} bits; variable j: bit j is in the set"]
    if flip:
        most = min(count, ceil(flip * count + SLACK * sqrt(count * flip * (1 - flip))))
        counter = list(at_most(range(n + 1, n + count + 1), most, n + count))
        clauses += [f"{' '.join(map(str, clause))} 0" for clause in counter]
        variables = max([n + count, *(abs(literal) for clause in counter for literal in clause)])
        said.append(
            f"each label is wrong with probability {flip:g}; variable {n} + i: label i is wrong; at most {most}"
        )
    return "\n".join([*(f"c {line}" for line in said), f"p cnf {variables} {len(clauses)}", *clauses]) + "\n"


def _xors(equations: Equations) -> Iterator[list[int]]:
    for i, (row, level) in enumerate(zip(equations.a, equations.level, strict=True)):
        literals = (1 + np.flatnonzero(row)).tolist() + ([equations.n + 1 + i] if equations.flip else [])
        if not literals:
            continue  # no bit is set: such a label says nothing
        yield [literals[0] if level else -literals[0], *literals[1:]]


def at_most(literals: range, most: int, used: int) -> Iterator[list[int]]:
    """Clauses that hold iff at most `most` of the literals are true, with variables beyond `used` (Sinz 2005).

    >>> list(at_most(range(1, 4), 1, 3))
    [[-1, 4], [-2, 5], [-4, 5], [-2, -4], [-3, -5]]
    """
    if most >= len(literals):
        return
    if not most:
        yield from ([-x] for x in literals)
        return

    def seen(i: int, j: int) -> int:  # among the first i + 1 literals more than j are true
        return used + 1 + i * most + j

    last = len(literals) - 1
    for i, x in enumerate(literals):
        if i == 0:
            yield [-x, seen(0, 0)]
            yield from ([-seen(0, j)] for j in range(1, most))
            continue
        if i < last:
            yield [-x, seen(i, 0)]
            yield [-seen(i - 1, 0), seen(i, 0)]
            for j in range(1, most):
                yield [-x, -seen(i - 1, j - 1), seen(i, j)]
                yield [-seen(i - 1, j), seen(i, j)]
        yield [-x, -seen(i - 1, most - 1)]


@dataclass(frozen=True)
class LWE:
    """Samples b = A s + e mod q: A (m, n) uniform, entries of s and of e from `low` to `high`.

    `noise` is the standard deviation of what label noise adds to both, 0 without any.
    """

    A: Integers
    b: Integers
    q: int
    low: int
    high: int
    noise: float = 0.0

    @property
    def parameters(self) -> dict[str, Any]:
        """What is public of it, by name."""
        m, n = self.A.shape
        return {"n": n, "m": m, "q": self.q, "secret": [self.low, self.high], "error": [-self.high, -self.low],
                "noise": self.noise}  # fmt: skip

    def estimator(self) -> str:
        """The line that describes it to the lattice estimator.

        >>> LWE(np.zeros((3, 2), np.int64), np.zeros(3, np.int64), 97, -24, 24).estimator()
        "LWE.Parameters(n=2, q=97, Xs=ND.Uniform(-24, 24), Xe=ND.Uniform(-24, 24), m=3, tag='rounding in normal form')"
        """
        m, n = self.A.shape
        spread = f"ND.Uniform({self.low}, {self.high})"
        error = f"ND.Uniform({-self.high}, {-self.low})"
        if self.noise:
            wide = sqrt(((self.high - self.low + 1) ** 2 - 1) / 12 + self.noise**2)
            spread = error = f"ND.DiscreteGaussian({wide:.4g})"
        return f"LWE.Parameters(n={n}, q={self.q}, Xs={spread}, Xe={error}, m={m}, tag='rounding in normal form')"

    def challenge(self) -> str:
        """The text that solvers of LWE challenges read: n, m, q, α = standard deviation/q, b, and the rows of A."""
        width = self.high - self.low + 1
        alpha = sqrt((width**2 - 1) / 12 + self.noise**2) / self.q
        rows = "\n".join(f"[{' '.join(map(str, row))}]" for row in self.A.tolist())
        m, n = self.A.shape
        return f"{n}\n{m}\n{self.q}\n{alpha:.6f}\n[{' '.join(map(str, self.b.tolist()))}]\n[{rows}]\n"


def normal_form(examples: Examples, public: Public) -> LWE:
    """Rounded inner products as LWE in normal form: A uniform, and the secret made of rounding errors.

    A label tells t = ⟨u, w⟩ mod q up to a rounding error, t = y + e. Of n rows U₀ that are invertible mod q the errors
    e₀ become the secret: with A = U U₀⁻¹ and b = y − A y₀ it holds that b = A e₀ − e mod q. So what is short here, the
    public vectors, and what is dense, w, are gone. Raises `InputError` unless the family is rounding, q is prime and
    enough rows are there.

    >>> import hardness
    >>> instance = hardness.Instance.generate(hardness.Rounding(dim=9, modulus=97, levels=4), seed=0)
    >>> lwe = normal_form(instance.examples(80, seed=1), instance.public(1))
    >>> lwe.A.shape[1], lwe.low, lwe.high
    (8, -12, 12)
    """
    equations = extract(examples.X, examples.Y, public)
    q = equations.q
    if equations.parity or not is_prime(q):
        raise InputError("normal form needs examples of the family rounding with a prime modulus")
    U = equations.a.astype(np.int64) % q
    first = rref_local(U.T.copy(), q, q, len(U))  # the first rows of U that are independent
    if len(first) < equations.n or len(U) == equations.n:
        raise InputError(f"{len(U)} informative rows hold no {equations.n} independent ones and one more; sample more")
    system = np.hstack([U[first], np.eye(equations.n, dtype=np.int64)])
    rref_local(system, q, q, equations.n)
    rest = np.setdiff1d(np.arange(len(U)), first)
    centre, width = preimages(q, equations.p)
    y = np.floor(centre[equations.level]).astype(np.int64)
    A = U[rest] @ system[:, equations.n :] % q
    widest = int(width.max()) - 1
    return LWE(A, (y[rest] - A @ y[first]) % q, q, -(widest // 2), -(-widest // 2), equations.noise * q / equations.p)


def write(form: str, examples: Examples, public: Public, out: Path) -> str:
    """Write examples in one of `FORMS`; returns in one sentence what the file is and what it is not."""
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


FORMS = ("xor-dimacs", "lwe", "lwe-challenge", "estimator")
