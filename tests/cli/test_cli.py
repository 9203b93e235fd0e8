"""The command line: its contract and its manners."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from math import comb, log2

import numpy as np
import pytest
from commands import HARDNESS, answer, run_command
from safetensors.numpy import load_file

from hardness import registry
from hardness.families import get
from hardness.instance import Instance


@pytest.fixture(scope="module")
def parity_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "parity.safetensors"
    assert run_command("generate parity --dim 7 --heads 2 --seed 0 --out", path).code == 0
    return path


def test_generate_says_what_the_contract_says(tmp_path):
    fields = answer("generate parity --dim 64 --heads 12 --seed 0 --out", tmp_path / "new" / "a")
    assert {"family", "dim", "tokens", "heads", "gadget", "seed", "secret", "out"} <= set(fields)
    assert (fields["seed"], fields["heads"], len(fields["secret"]["support"])) == (0, 12, 12)
    fields = answer(
        "generate rounding --dim 129 --modulus 97 --levels 2 --heads 30 --seed 0 --out", tmp_path / "r"
    )
    assert 0 < fields["error_mass"] < 1e-3
    assert len(fields["secret"]["w"]) == 128
    fields = answer("generate parity --dim 9 --gadget dot --heads 6 --seed 0 --out", tmp_path / "d")
    assert len(fields["secret"]["support"]) == fields["bits"] == 3


@pytest.mark.parametrize("gadget", ["sharp", "wide"])
@pytest.mark.parametrize(("options", "bits"), [("", 7), (" --balance --bits 4", 4)])
def test_heads_of_several_sharpnesses_hide_2m_minus_1_bits(tmp_path, gadget, options, bits):
    file = tmp_path / "x"
    fields = answer(f"generate parity --dim 10 --heads 4 --gadget {gadget}{options} --seed 0 --out", file)
    assert (fields["heads"], fields["bits"], len(fields["secret"]["support"])) == (4, bits, bits)
    assert (fields["A"], fields["C"] == 0) == (0, "balance" in options)
    assert run_command("verify", file).code == 0
    assert run_command("sample", file, "--count", "300", "--seed", "1", "--out", tmp_path / "e.npz").code == 0
    assert answer("attack gaussian", tmp_path / "e.npz")["secret"] == fields["secret"]
    assert run_command("challenge", file, "--count", "300", "--toy", "--out", tmp_path / "c").code == 0
    (tmp_path / "a.json").write_text(json.dumps(fields["secret"]))
    assert run_command("judge", tmp_path / "c", tmp_path / "a.json").code == 0


@pytest.mark.parametrize("gadget", ["wide"])
def test_classes_of_sharp_heads_are_counted_by_bits(tmp_path, gadget):
    line = f"sq bounds parity --dim 65 --heads 8 --gadget {gadget} --tolerance 0.1"
    assert answer(line)["concepts"] == comb(64, 15)
    assert answer(f"{line} --bits 9")["concepts"] == comb(64, 9)
    lines = answer(f"estimate parity --dim 65 --heads 8 --gadget {gadget}")["attacks"]
    assert lines[0]["log2_time"] == pytest.approx(log2(8 * 0.05**2 * (comb(64, 15) - 1)))


@pytest.mark.parametrize(
    "line",
    [
        "generate parity --dim 9 --heads 4 --gadget dot --flip 0.1",
        "generate rounding --dim 9 --modulus 12 --levels 3 --weight 4 --noise 0.5",
        "generate rounding --dim 6 --modulus 4 --levels 2 --exact",
    ],
)
def test_the_stored_command_makes_the_same_instance_again(tmp_path, line):
    """Of a seed that was drawn, which is another one each time."""
    fields = answer(f"{line} --out", tmp_path / "a")
    assert answer(f"{line} --out", tmp_path / "other")["seed"] != fields["seed"]
    assert run_command(f"{fields['command'].removeprefix('hardness ')} --out", tmp_path / "b").code == 0
    drawn, repeated = (Instance.load(tmp_path / name) for name in "ab")
    assert (drawn.seed_drawn, repeated.seed_drawn) == (True, False)
    assert drawn.header() | {"seed_drawn": False} == repeated.header()
    assert all(np.array_equal(drawn.secret[name], repeated.secret[name]) for name in drawn.secret)


def test_inspect_keeps_the_secret_unless_revealed(parity_file):
    shown = answer("inspect", parity_file)
    assert not {"seed", "secret", "command"} & set(shown)
    assert {"hypothesis", "certificate", "conditions", "parameters"} <= set(shown)
    code, text, _ = run_command("inspect", parity_file)
    assert code == 0
    assert "--seed" not in text
    assert "support" not in text
    revealed = answer("inspect --reveal", parity_file)
    assert revealed["secret"]["support"] == Instance.load(parity_file).secret["support"].tolist()
    assert "--seed 0" in revealed["command"]


def test_export_writes_the_dense_layer(parity_file, tmp_path):
    assert run_command(f"export {parity_file} --out", tmp_path / "layer.safetensors").code == 0
    tensors, layer = load_file(tmp_path / "layer.safetensors"), Instance.load(parity_file).layer()
    assert np.array_equal(tensors["theta"], layer.theta)
    assert np.array_equal(tensors["w"], layer.w)


def test_help_imports_no_more_than_the_family_it_is_about():
    """What makes it quick; how quick it is, benchmarks/bench_commands.py measures."""
    heavy = {"numpy", "scipy", "numba", "sklearn", "sympy", "matplotlib", "pandas", "galois"}
    heavy |= {"hardness.families.parity"}
    commands = ("--help", "generate --help", "estimate --help", "study run --help", "generate parrity")
    assert not heavy & imported_by(*commands)
    others = {"hardness.families.rounding", "hardness.families.nondegenerate", "hardness.families.controls"}
    assert not others & imported_by("generate parity --help", "estimate parity --help")


def imported_by(*commands):
    code = "import sys; from hardness.cli import run; [run(line.split()) for line in sys.argv[1:]]; "
    code += "print(*sys.modules, file=sys.stderr)"
    completed = subprocess.run(
        [sys.executable, "-c", code, *commands], capture_output=True, text=True, check=True
    )
    return set(completed.stderr.split())


def test_families_are_listed_and_the_example_of_each_works(tmp_path):
    rows = {row["name"]: row for row in answer("families")["families"]}
    assert set(rows) >= {"parity", "rounding", "nondegenerate", *registry.names("family")}
    assert all(row["hypothesis"] and row["heads"] for row in rows.values())
    for name in registry.names("family"):
        assert answer(f"generate {name} {get(name).example} --out", tmp_path / name)["family"] == name


@pytest.mark.parametrize("line", ["generate parity", "sq play", "study"])
def test_what_needs_more_prints_its_help(line):
    helped = run_command(f"{line} --help")
    assert run_command(line) == helped
    assert (helped.code, helped.err) == (0, "")
    assert "Example: hardness" in " ".join(helped.out.split())


def test_version_and_citation():
    assert run_command("--version") == (0, version("attention-hardness") + "\n", "")
    text = run_command("cite").out
    assert re.findall(r"(?m)^@(\w+)\{", text) == ["software", "inproceedings"]
    assert answer("cite")["bibtex"] + "\n" == text


def test_nothing_is_overwritten_without_force(tmp_path):
    line = f"generate parity --dim 8 --heads 2 --out {tmp_path}/p"
    publish = f"challenge {tmp_path}/p --count 50 --toy --out {tmp_path}/c"
    for command, file in ((line, tmp_path / "p"), (publish, tmp_path / "c" / "challenge.json")):
        assert run_command(command).code == 0
        before = file.read_bytes()
        refused = run_command(command)
        assert (refused.code, "exist" in refused.err, file.read_bytes()) == (2, True, before)
        assert run_command(f"{command} --force").code == 0
        assert file.read_bytes() != before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "p"]
    (tmp_path / "c" / "mine").write_text("x")  # some folder of the user's own is nobody's to replace
    assert run_command(f"{publish} --force").code == 2


@pytest.mark.parametrize(
    "line",
    [
        "suite show",
        "study run games --dry-run --strategy",
        "board --dry-run --learner",
        "study run",
        "attack",
        "learn --check",
        "study run games --dry-run --family",
        "study run games --only",
    ],
)
def test_an_unknown_name_is_one_short_line(line):
    printed = run_command(line, "x:" + "y" * 100_000, *(["file"] if line == "attack" else []))
    assert (printed.code, printed.out, printed.err.count("\n")) == (2, "", 1)
    assert len(printed.err) < 600


def test_the_shell_completes_commands():
    request = {"_HARDNESS_COMPLETE": "complete_bash", "COMP_WORDS": "hardness gen", "COMP_CWORD": "1"}
    completed = subprocess.run(
        [HARDNESS], env={**os.environ, **request}, capture_output=True, text=True, check=True
    )
    assert completed.stdout.split() == ["generate"]
