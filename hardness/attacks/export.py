"""Examples of hidden equations in the forms that other people's solvers read: XOR-DIMACS and LWE.

Everything here is made of examples and public parameters alone, as an attack sees them.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hardness.attacks import Public
from hardness.attacks.equations import extract
from hardness.errors import InputError
from hardness.examples import Examples
from hardness.gadgets.modular import is_prime, preimages
from hardness.io.files import replacing, write_text

Integers = NDArray[np.int64]
SLACK = 2.0  # standard deviations by which the wrong labels that are allowed exceed those expected


def write(form: str, examples: Examples, public: Public, out: Path) -> str:
    """Write what `form` asks for (xor-dimacs, estimator, lwe-challenge; lwe: a folder) to `out`; return a sentence."""
    if form == "xor-dimacs":
        write_text(out, xor_dimacs(examples, public))
        return "XOR clauses whose solution of the right weight is the hidden set; plain DIMACS readers know no x lines"
    lwe = normal_form(examples, public)
    if form == "lwe":
        out.mkdir(parents=True, exist_ok=True)
        for name, array in (("A.npy", lwe.A), ("b.npy", lwe.b)):
            with replacing(out / name) as temporary, temporary.open("wb") as file:
                np.save(file, array, allow_pickle=False)
        m, n = lwe.A.shape
        header = {"n": n, "m": m, "q": lwe.q, "secret": lwe.secret, "error": lwe.error, "noise": lwe.noise}
        header |= {"weight": None, "secret_of_most": lwe.most}
        write_text(out / "lwe.json", json.dumps(header, indent=1) + "\n")
        return "LWE in normal form; its secret is rounding errors and not w, which follows from it"
    write_text(out, lwe.challenge() if form == "lwe-challenge" else lwe.estimator() + "\n")
    if form == "lwe-challenge":
        return (
            "LWE in normal form as the text of the LWE challenges; errors of rounding, which are not Gaussian"
        )
    return "one line for the lattice estimator, with errors of most examples; it prices attacks on uniform A"


def xor_dimacs(examples: Examples, public: Public) -> str:
    """Return a parity's examples as XOR clauses for a SAT solver: variable j is "bit j is in the set".

    An example whose tokens differ in coordinate 0, and in an odd number of hidden bits (the lower label), is the clause
    ``x j₁ j₂ … 0`` of the bits in which they differ; for an even number the first variable is negated. If labels flip
    with probability η, the i-th of N such examples has a variable n + i, "label i is wrong", in its clause; further
    clauses let at most ηN + 2 √(Nη(1−η)) of these be true, and as many bits as the set has. Raises `InputError` for a
    family without parity equations.
    """
    equations = extract(examples.X, examples.Y, public)
    if not equations.are_parities:
        raise InputError(f"family {public['family']} has no parities, of which XOR clauses are made")
    n, count, eta = equations.n, len(equations), equations.flip
    comments = [f"parity of a set of {equations.sparsity} of {n} bits; variable j: bit j is in the set"]
    clauses, variables = list[str](), n
    for i, (row, level) in enumerate(zip(equations.a, equations.level, strict=True)):
        literals = [*(np.flatnonzero(row) + 1).tolist(), *([n + 1 + i] if eta else [])]
        if literals:  # where no bit is set, a label says nothing
            sign = "" if level else "-"
            clauses.append(f"x{sign}{' '.join(map(str, literals))} 0")
    if eta:
        limit = min(count, ceil(eta * count + SLACK * sqrt(count * eta * (1 - eta))))
        variables = n + count
        comments.append(
            f"each label is wrong with probability {eta:g}; variable {n} + i: label i is wrong; at most {limit}"
        )
        for some, most in ((range(n + 1, variables + 1), limit), (range(1, n + 1), equations.sparsity)):
            counter = list(at_most(some, most or n, variables))
            variables = max([variables, *(abs(literal) for clause in counter for literal in clause)])
            clauses += [f"{' '.join(map(str, clause))} 0" for clause in counter]
    header = [*(f"c {line}" for line in comments), f"p cnf {variables} {len(clauses)}"]
    return "\n".join([*header, *clauses]) + "\n"


def at_most(literals: range, limit: int, used: int) -> Iterator[list[int]]:
    """Yield CNF clauses that hold iff at most `limit` of `literals` are true; new variables start at `used` + 1."""
    if limit >= len(literals):
        return

    def more_than(i: int, j: int) -> int:  # among the first i + 1 literals more than j are true
        return used + 1 + i * limit + j

    for i, x in enumerate(literals):
        for j in range(min(i + 1, limit)):
            yield [-x, more_than(i, 0)] if j == 0 else [-x, -more_than(i - 1, j - 1), more_than(i, j)]
            if j < i:
                yield [-more_than(i - 1, j), more_than(i, j)]
        if i >= limit:
            yield [-x, -more_than(i - 1, limit - 1)] if limit else [-x]


@dataclass(frozen=True)
class LWE:
    """LWE samples b = A s + e mod q, A (m, n), made of rounded products; `sd` is the standard deviation of e.

    Entries of s lie from `secret[0]` to `secret[1]`, those of e from `error[0]` to `error[1]`, plus a Gaussian of
    standard deviation `noise`. Levels have ⌊q/p⌋ or ⌈q/p⌉ residues; the number that most examples have makes s entries
    uniform from `most[0]` to `most[1]`.
    """

    A: Integers
    b: Integers
    q: int
    secret: tuple[int, int]
    error: tuple[int, int]
    most: tuple[int, int]
    sd: float
    noise: float

    def estimator(self) -> str:
        """Return a line for the lattice estimator: errors uniform as in most examples, or Gaussian of width `sd`."""
        (m, n), (low, high) = self.A.shape, self.most
        spread, error = f"ND.Uniform({low}, {high})", f"ND.Uniform({-high}, {-low})"
        if self.noise or (self.sd and low == high):
            spread = error = f"ND.DiscreteGaussian({self.sd:.4g})"
        return f"LWE.Parameters(n={n}, q={self.q}, Xs={spread}, Xe={error}, m={m}, tag='rounding in normal form')"

    def challenge(self) -> str:
        """Return the text that solvers of LWE challenges read: n, m, q, α (errors' deviation over q), b, rows of A."""
        b, *rows = (f"[{' '.join(map(str, row))}]" for row in [self.b.tolist(), *self.A.tolist()])
        (m, n), A = self.A.shape, "\n".join(rows)
        return f"{n}\n{m}\n{self.q}\n{self.sd / self.q:.6f}\n{b}\n[{A}]\n"


def normal_form(examples: Examples, public: Public) -> LWE:
    """Return rounded inner products as LWE in normal form: A uniform, and the secret made of rounding errors.

    A label tells t = ⟨u, w⟩ mod q up to a rounding error, t = y + e. Of n rows U₀ that are invertible mod q the errors
    e₀ become the secret: with A = U U₀⁻¹ and b = y − A y₀ it holds that b = A e₀ − e mod q. The short public vectors u
    and the dense w are gone. Labels that too few heads get wrong have larger errors. Raises `InputError` unless the
    family is rounding, q is prime and enough rows are there.
    """
    from hardness.kernels.gf2 import rref_local

    equations = extract(examples.X, examples.Y, public)
    q, n = equations.q, equations.n
    if equations.are_parities or not is_prime(q):
        raise InputError("normal form needs examples of the family rounding with a prime modulus")
    U = equations.a.astype(np.int64) % q
    first = rref_local(U.T.copy(), q, q, len(U))  # the first rows that are independent mod q
    if len(first) < n or len(U) == n:
        raise InputError(f"{len(U)} informative rows hold no {n} independent ones and one more; sample more")
    system = np.hstack([U[first], np.eye(n, dtype=np.int64)])
    rref_local(system, q, q, n)
    rest = np.setdiff1d(np.arange(len(U)), first)
    A = equations.a[rest].astype(np.int64) @ system[:, n:] % q
    centre, width = preimages(q, equations.p)
    shown = np.floor(centre).astype(np.int64)
    y, off = shown[equations.level], np.arange(q) - shown.repeat(width)  # off: of each residue, as likely
    low, high, usual = int(off.min()), int(off.max()), int(np.median(width.repeat(width)))
    most, noise = (-((usual - 1) // 2), usual // 2), equations.noise * q / equations.p
    sd = sqrt(off.var() + noise**2)
    return LWE(A, (y[rest] - A @ y[first]) % q, q, (low, high), (-high, -low), most, sd, noise)
