"""Examples as XOR clauses and as LWE: read back by code of its own, and held against the secret."""

import json
import re
import subprocess
import sys
from itertools import product
from math import ceil, sqrt
from pathlib import Path

import flint
import numpy as np
import pytest
from tutorial import blocks

from hardness.attacks import lwe as attacks
from hardness.attacks.lwe import LWE
from hardness.cli import run
from hardness.errors import InputError
from hardness.exchange.bridges import SLACK, at_most, normal_form, read, write, xor_dimacs
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
    solved = [one for one in sets if all(holds(clause, one) for clause in xors)]
    assert solved == [set(instance.secret["support"].tolist())]


def test_with_noise_the_hidden_set_and_the_wrong_labels_solve_them():
    instance = Instance.generate(Parity(12, 3, flip=0.1), 5)
    examples, public = instance.examples(400, 2), instance.public(2)
    variables, xors, counter = parsed(xor_dimacs(examples, public))
    hidden = set(instance.secret["support"].tolist())
    wrong = [i for i, clause in enumerate(xors) if not holds(clause[:-1] if len(clause) > 1 else clause, hidden)]
    assert 0 < len(wrong) < 0.2 * len(xors)
    count, n = len(xors), 11
    most = ceil(0.1 * count + SLACK * sqrt(count * 0.1 * 0.9))
    assert len(wrong) <= most
    true = hidden | {n + 1 + i for i in wrong}
    for literals, bound, used in (
        (range(n + 1, n + count + 1), most, n + count),
        (range(1, n + 1), len(hidden), n + count + (count - 1) * most),
    ):  # what the counters' variables mean: among the first i + 1 literals more than j are true
        seen = np.cumsum([x in true for x in literals])
        true |= {used + 1 + i * bound + j for i in range(len(literals) - 1) for j in range(bound) if seen[i] > j}
    assert max(true) <= variables
    assert all(holds(clause, true) for clause in xors)
    assert all(any((abs(x) in true) == (x > 0) for x in clause) for clause in counter)


def test_the_counter_allows_so_many_and_no_more():
    """Every choice of up to five literals, and of the counter's own variables: satisfiable iff few enough are true."""
    for count, most in product(range(1, 6), range(3)):
        clauses = list(at_most(range(1, count + 1), most, count))
        own = max([count, *(abs(x) for clause in clauses for x in clause)]) - count
        all_values = np.array(list(product((False, True), repeat=count + own)), dtype=bool)
        good = np.ones(len(all_values), dtype=bool)
        for clause in clauses:
            good &= np.any([all_values[:, abs(x) - 1] == (x > 0) for x in clause], axis=0)
        for bits in product((False, True), repeat=count):
            satisfiable = good[(all_values[:, :count] == bits).all(axis=1)].any()
            assert satisfiable == (sum(bits) <= most)


@pytest.mark.parametrize(("q", "p", "gadget"), [(97, 2, "diag"), (97, 48, "diag"), (17, 17, "dot"), (257, 128, "diag")])
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
    found = []
    for row in range(len(a)):  # the rows of normal_form: the first that are independent
        trial = [*found, row]
        if len(found) < 16 and flint.nmod_mat(len(trial), 16, a[trial].ravel().tolist(), q).rank() == len(trial):
            found = trial
    rest = [row for row in range(len(a)) if row not in found]
    assert ((lwe.A @ error[found] - error[rest] - lwe.b) % q == 0).all()
    assert len(np.unique(lwe.A)) > 0.9 * q


def test_the_command_writes_every_form(tmp_path, capsys):
    hard, lwr = tmp_path / "hard.safetensors", tmp_path / "lwr.safetensors"
    assert run(["generate", "parity", "--dim", "10", "--heads", "2", "--seed", "1", "--out", str(hard)]) == 0
    assert run(f"generate rounding --dim 9 --modulus 97 --levels 2 --seed 1 --out {lwr}".split()) == 0
    more = ["--count", "100", "--seed", "2", "--json", "--out"]
    capsys.readouterr()
    assert run(["export", str(hard), "--form", "xor-dimacs", *more, str(tmp_path / "a.xnf")]) == 0
    assert json.loads(capsys.readouterr().out)["form"] == "xor-dimacs"
    assert parsed((tmp_path / "a.xnf").read_text())[0] == 9
    assert run(["sample", str(lwr), "--count", "100", "--seed", "2", "--out", str(tmp_path / "lwr.npz")]) == 0
    for source in (lwr, tmp_path / "lwr.npz"):  # the same examples, whoever samples them
        for form in ("lwe", "lwe-challenge", "estimator"):
            assert run(["export", str(source), "--form", form, *more, str(tmp_path / source.suffix / form)]) == 0
    A, b = (np.load(tmp_path / ".npz" / "lwe" / f"{name}.npy", allow_pickle=False) for name in "Ab")
    assert (np.load(tmp_path / ".safetensors" / "lwe" / "A.npy") == A).all()
    told = json.loads((tmp_path / ".npz" / "lwe" / "lwe.json").read_text())
    assert (told["m"], told["n"], told["q"]) == (*A.shape, 97)
    lines = (tmp_path / ".npz" / "lwe-challenge").read_text().splitlines()
    assert lines[:3] == [str(told["n"]), str(told["m"]), "97"]
    assert [int(x) for x in lines[4][1:-1].split()] == b.tolist()
    assert (tmp_path / ".npz" / "estimator").read_text().startswith("LWE.Parameters(n=8, q=97, Xs=ND.Uniform(-24, 24)")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--form", "xor-dimacs"], "how many examples"),
        (["--form", "lwe", "--count", "50"], "family rounding with a prime modulus"),
        (["--form", "xnf", "--count", "50"], "unknown form 'xnf'"),
    ],
)
def test_what_cannot_be_written_is_one_line(tmp_path, capsys, words, told):
    hard = tmp_path / "hard.safetensors"
    assert run(["generate", "parity", "--dim", "10", "--heads", "2", "--seed", "1", "--out", str(hard)]) == 0
    assert run(["export", str(hard), *words, "--out", str(tmp_path / "out")]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_other_families_and_too_few_rows_are_refused():
    nested = Instance.generate(Rounding(9, 91, 4), 0)
    with pytest.raises(InputError, match="prime modulus"):
        normal_form(nested.examples(60, 1), nested.public(1))
    few = Instance.generate(Rounding(33, 97, 4), 0)
    with pytest.raises(InputError, match="sample more"):
        normal_form(few.examples(20, 1), few.public(1))
    with pytest.raises(InputError, match="no parities"):
        xor_dimacs(few.examples(20, 1), few.public(1))


def made(secret, error, n=12, m=120, q=97, noise=0.0, weight=None, seed=0):
    """Samples of somebody else's, and the secret."""
    rng = np.random.default_rng(seed)
    s = rng.integers(secret[0], secret[1] + 1, n) if weight is None else np.zeros(n, dtype=np.int64)
    if weight is not None:
        values = [v for v in range(secret[0], secret[1] + 1) if v]
        s[rng.choice(n, weight, replace=False)] = rng.choice(values, weight)
    A = rng.integers(0, q, (m, n))
    e = rng.integers(error[0], error[1] + 1, m) + np.rint(rng.normal(0, noise, m)).astype(int)
    return LWE(A, (A @ s + e) % q, q, secret, error, noise, weight), s


@pytest.mark.parametrize(
    ("name", "secret", "error", "options"),
    [
        ("lattice", (0, 1), (0, 0), {"q": 3329, "n": 24, "noise": 3.0}),
        ("lattice", (-2, 2), (-2, 2), {"n": 20}),
        ("lattice", (-1, 1), (-4, 4), {"n": 16, "weight": 5, "q": 256}),
        ("search", (-1, 1), (-1, 1), {"n": 40, "weight": 4, "m": 200}),
        ("search", (0, 1), (0, 0), {"n": 26, "noise": 1.5, "q": 128}),
    ],
)
def test_attacks_find_small_secrets_of_others(name, secret, error, options):
    lwe, s = made(secret, error, **options)
    found = attacks.attack(lwe, name)
    assert (found.status, found.secret) == ("solved", {"s": s.tolist()}), found.detail


@pytest.mark.parametrize(
    ("name", "lwe", "reason"),
    [
        ("lattice", made((-1, 1), (-1, 1), m=8)[0], "8 samples do not tell one secret from all others"),
        (
            "lattice",
            made((-1, 1), (0, 0), n=300, m=600, q=3329, noise=3.0)[0],
            "more are needed|out of reach|no lattice",
        ),
        ("lattice", made((-40, 40), (-1, 1), q=96)[0], "modulus 96 not prime"),
        ("search", made((-20, 20), (-1, 1), n=30, m=300)[0], "half secrets, more than"),
    ],
)
def test_what_is_out_of_reach_is_refused_in_one_line(name, lwe, reason):
    found = attacks.attack(lwe, name)
    assert (found.status, found.secret) == ("refused", None)
    assert re.search(reason, found.detail["reason"])
    with pytest.raises(InputError, match="lattice and search do"):
        attacks.attack(lwe, "gaussian")


def test_random_samples_have_no_secret():
    rng = np.random.default_rng(1)
    lwe = LWE(rng.integers(0, 97, (120, 6)), rng.integers(0, 97, 120), 97, (-1, 1), (-1, 1))
    assert {attacks.attack(lwe, name).status for name in ("lattice", "search")} == {"budget"}


def test_an_own_normal_form_is_read_back_and_solved(tmp_path, capsys):
    """Written in both forms, read without the instance; what is found is the rounding errors, and w follows."""
    instance = Instance.generate(Rounding(17, 97, 48), 3)
    examples, public = instance.examples(600, 4), instance.public(4)
    lwe = normal_form(examples, public)
    for form, path in (("lwe", tmp_path / "lwr"), ("lwe-challenge", tmp_path / "lwr.txt")):
        write(form, examples, public, path)
        again = read(path)
        assert ((again.A == lwe.A).all(), (again.b == lwe.b).all(), again.q) == (True, True, 97)
        assert again.sd == pytest.approx(lwe.sd, rel=1e-4)
        assert run(["attack", "lattice", str(path), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["status"] == "solved", found
        assert np.abs(lwe.errors(np.array(found["secret"]["s"]))).max() <= 1
    assert again.secret is None
    assert read(tmp_path / "lwr").secret == lwe.secret


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not enough values"),
        ("2\n2\n97\n0.1\n[1 2]\n[[1 2]\n[3]]\n", "cannot reshape"),
        ("2\n2\n97\n0.1\n[1 2]\n[[1 2]\n[3 __import__('os')]]\n", "invalid literal"),
        ("2\n2\n97\n0\n[1 2]\n[[1 2]\n[3 4]]\n", "errors must not be all 0"),
        ("2\n2\n99999999999\n0.1\n[1 2]\n[[1 2]\n[3 4]]\n", "q from 2 to"),
        ("2\n2\n97\nnan\n[1 2]\n[[1 2]\n[3 4]]\n", "errors must not be"),
        ("1\n1\n97\n0.1\n[99999999999999999999]\n[[1]]\n", "OverflowError|ValueError"),
    ],
)
def test_what_is_no_lwe_text_is_one_line(tmp_path, capsys, text, told):
    (tmp_path / "a.txt").write_text(text)
    assert run(["attack", "lattice", str(tmp_path / "a.txt")]) == 2
    said = capsys.readouterr().err
    assert re.search(told, said)
    assert (said.count("\n"), said.startswith("error: ")) == (1, True)


@pytest.mark.parametrize(
    ("said", "A", "told"),
    [
        ({"q": 97, "error": [-1, 1]}, np.zeros((3, 2)), "must be integers"),
        ({"error": [-1, 1]}, np.zeros((3, 2), int), "'q'"),
        ({"q": 97, "error": [1, -1]}, np.zeros((3, 2), int), "lowest <= highest"),
        ({"q": 97, "error": [-1, 1], "weight": 3}, np.zeros((3, 2), int), "weight is at most n"),
        ({"q": 97, "error": "ab"}, np.zeros((3, 2), int), "invalid literal"),
        ({"q": 97, "error": [-1, 1]}, np.zeros((4, 2), int), "needed are A"),
        ({"q": 97, "error": [-1, 1]}, None, "A.npy"),
        ([1], np.zeros((3, 2), int), "no attribute"),
    ],
)
def test_what_is_no_lwe_folder_is_one_line(tmp_path, capsys, said, A, told):
    (tmp_path / "lwe.json").write_text(json.dumps(said))
    np.save(tmp_path / "b.npy", np.zeros(3, int))
    if A is not None:
        np.save(tmp_path / "A.npy", A)
    assert run(["attack", "search", str(tmp_path)]) == 2
    line = capsys.readouterr().err
    assert told in line
    assert (line.count("\n"), line.startswith("error: ")) == (1, True)


@pytest.mark.parametrize(("heads", "flip", "count"), [(4, 0.0, 200), (16, 0.0, 200), (4, 0.125, 160)])
def test_pycryptosat_finds_the_hidden_set(tmp_path, heads, flip, count):
    """By the script of the tutorial, in d = 32: a hundredth of a second, under a second with noise."""
    pytest.importorskip("pycryptosat", reason="extra `sat` is not installed")
    page = (Path(__file__).parents[2] / "docs" / "tutorials" / "own-tools.md").read_text()
    (script,) = (block.text for block in blocks(page) if block.file == "sat.py")
    instance = Instance.generate(Parity(32, heads, flip=flip), 0)
    (tmp_path / "a.xnf").write_text(xor_dimacs(instance.examples(count, 1), instance.public(1)))
    (tmp_path / "sat.py").write_text(script)
    done = subprocess.run([sys.executable, "sat.py", "a.xnf"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == sorted(instance.secret["support"].tolist())
