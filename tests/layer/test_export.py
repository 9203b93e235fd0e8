"""Examples as XOR clauses and as LWE: read back by code of its own, and held against the secret."""

import json
from itertools import product

import flint
import numpy as np
import pytest
from commands import run_command

from hardness.attacks.export import at_most, normal_form, xor_dimacs
from hardness.families.parity import Parity
from hardness.families.rounding import Rounding
from hardness.instance import Instance


def parsed(text):
    """Number of variables, XOR clauses and other clauses of a DIMACS text."""
    lines = [line.split() for line in text.splitlines() if line[0] != "c"]
    head = next(line for line in lines if line[0] == "p")
    rest = [line for line in lines if line[0] != "p"]
    assert int(head[3]) == len(rest)
    assert all(line[-1] == "0" for line in rest)
    xors = [[int(word) for word in [line[0][1:], *line[1:-1]]] for line in rest if line[0][0] == "x"]
    return int(head[2]), xors, [[int(word) for word in line[:-1]] for line in rest if line[0][0] != "x"]


def holds(clause, true):
    return sum((abs(x) in true) != (x < 0) for x in clause) % 2 == 1


@pytest.mark.parametrize("gadget", ["diag", "dot", "sharp"])
def test_of_all_sets_the_hidden_one_alone_solves_the_clauses(gadget):
    instance = Instance.generate(Parity(9, 2, gadget=gadget), 3)
    _, xors, rest = parsed(xor_dimacs(instance.examples(100, 1), instance.public(1)))
    assert rest == []
    sets = [{j + 1 for j in range(8) if bits[j]} for bits in product((0, 1), repeat=8)]
    solved = [chosen for chosen in sets if all(holds(clause, chosen) for clause in xors)]
    assert solved == [set(instance.secret["support"].tolist())]


def test_the_counter_allows_so_many_and_no_more():
    """Every choice of up to five literals, and of the counter's own variables: satisfiable iff few enough are true."""
    for count, allowed in product(range(1, 6), range(3)):
        clauses = list(at_most(range(1, count + 1), allowed, count))
        counters = max([count, *(abs(x) for clause in clauses for x in clause)]) - count
        all_values = np.array(list(product((False, True), repeat=count + counters)), dtype=bool)
        good = np.ones(len(all_values), dtype=bool)
        for clause in clauses:
            good &= np.any([all_values[:, abs(x) - 1] == (x > 0) for x in clause], axis=0)
        for bits in product((False, True), repeat=count):
            satisfiable = good[(all_values[:, :count] == bits).all(axis=1)].any()
            assert satisfiable == (sum(bits) <= allowed)


@pytest.mark.parametrize(
    ("q", "p", "gadget"), [(97, 2, "diag"), (97, 48, "diag"), (17, 17, "dot"), (257, 128, "diag")]
)
def test_normal_form_is_lwe_on_every_row(q, p, gadget):
    """The secret is the rounding error of the first independent rows, told here by w itself."""
    instance = Instance.generate(Rounding(17, q, p, gadget=gadget), 1)
    examples, public = instance.examples(400, 4), instance.public(4)
    lwe = normal_form(examples, public)
    assert lwe.A.min() >= 0
    assert lwe.A.max() < q
    informative = examples.X[:, 0, 0] != examples.X[:, 1, 0]
    x = examples.X[informative].astype(int)
    z = (x[:, 0] - x[:, 1]) // 2
    a = np.abs(z[:, 1:]) if gadget == "diag" else z[:, :1] * z[:, 1:]
    t, levels = a @ instance.secret["w"] % q, np.arange(q) * p // q
    middle = np.array([(f[0] + f[-1]) // 2 for f in (np.flatnonzero(levels == level) for level in range(p))])
    error = t - middle[levels[t]]
    assert lwe.secret == (-lwe.error[1], -lwe.error[0])
    assert error.min() >= lwe.secret[0]
    assert error.max() <= lwe.secret[1]
    assert np.isin(error, range(lwe.most[0], lwe.most[1] + 1)).mean() > 0.95
    assert lwe.sd == pytest.approx((np.arange(q) - middle[levels]).std())
    reduced, _ = flint.nmod_mat(16, len(a), a.T.ravel().tolist(), q).rref()
    independent = [next(j for j, x in enumerate(row) if int(x)) for row in reduced.tolist()]  # the first rows
    rest = np.setdiff1d(np.arange(len(a)), independent)
    assert ((lwe.A @ error[independent] - error[rest] - lwe.b) % q == 0).all()
    assert len(np.unique(lwe.A)) > 0.9 * q


@pytest.mark.parametrize(("p", "low", "high"), [(48, 0, 1), (50, 0, 1), (40, -1, 1), (90, 0, 0)])
def test_the_estimator_gets_the_errors_of_most_examples(p, low, high):
    instance = Instance.generate(Rounding(9, 97, p), 1)
    lwe = normal_form(instance.examples(100, 4), instance.public(4))
    law = f"Uniform({low}, {high}), Xe=ND.Uniform({-high}, {-low})" if high else f"Gaussian({lwe.sd:.4g})"
    assert law in lwe.estimator()
    assert not high or 0.48 <= ((high - low + 1) ** 2 - 1) / 12 / lwe.sd**2 <= 4 / 3


def test_the_command_writes_every_form_of_lwe(tmp_path):
    lwr = tmp_path / "lwr.safetensors"
    assert run_command(f"generate rounding --dim 9 --modulus 97 --levels 2 --seed 1 --out {lwr}").code == 0
    assert run_command(f"sample {lwr} --count 100 --seed 2 --out {tmp_path}/lwr.npz").code == 0
    for source in (lwr, tmp_path / "lwr.npz"):  # the same examples, whoever samples them
        for form in ("lwe", "lwe-challenge", "estimator"):
            line = (
                f"export {source} --form {form} --count 100 --seed 2 --out {tmp_path}/{source.suffix}/{form}"
            )
            assert run_command(line).code == 0
    A, b = (np.load(tmp_path / ".npz" / "lwe" / f"{name}.npy", allow_pickle=False) for name in "Ab")
    assert (np.load(tmp_path / ".safetensors" / "lwe" / "A.npy") == A).all()
    header = json.loads((tmp_path / ".npz" / "lwe" / "lwe.json").read_text())
    assert (header["m"], header["n"], header["q"]) == (*A.shape, 97)
    lines = (tmp_path / ".npz" / "lwe-challenge").read_text().splitlines()
    assert lines[:3] == [str(header["n"]), str(header["m"]), "97"]
    assert lines[3] == f"{np.r_[-24:25, -23:25].std() / 97:.6f}"
    assert [int(x) for x in lines[4][1:-1].split()] == b.tolist()
    assert [[int(x) for x in line.strip("[]").split()] for line in lines[5:]] == A.tolist()
    estimator = (tmp_path / ".npz" / "estimator").read_text()
    assert estimator.startswith("LWE.Parameters(n=8, q=97, Xs=ND.Uniform(-24, 24)")
