"""The command line: its contract, its manners, and what it does with bad input."""

import json
import os
import subprocess
import sys
from math import comb, log2
from pathlib import Path

import numpy as np
import pytest
import typer
from safetensors.numpy import load_file

from hardness import registry
from hardness.cli import app, run
from hardness.examples import unpack
from hardness.families import get
from hardness.instance import Instance, every_pair
from hardness.layer import MultiHeadAttention

HARDNESS = Path(sys.executable).parent / "hardness"


def call(capsys, line, *arguments):
    code = run([*line.split(), *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def shell(command, **options):
    return subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=60, env=ENVIRONMENT, check=False, **options
    )


ENVIRONMENT = {**os.environ, "PATH": f"{HARDNESS.parent}:{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def parity_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "parity.safetensors"
    assert run(["generate", "parity", "--dim", "7", "--heads", "2", "--seed", "0", "--out", str(path)]) == 0
    return path


def test_generate_parity_fields_and_bytes(capsys, tmp_path):
    line = "generate parity --dim 64 --heads 12 --seed 0 --json --out"
    code, out, err = call(capsys, line, tmp_path / "new" / "a")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert {"family", "dim", "tokens", "heads", "gadget", "seed", "secret", "out"} <= set(found)
    assert (found["seed"], found["heads"], len(found["secret"]["support"])) == (0, 12, 12)
    assert call(capsys, line, tmp_path / "b")[0] == 0
    assert (tmp_path / "new" / "a").read_bytes() == (tmp_path / "b").read_bytes()
    code, out, _ = call(capsys, "verify", tmp_path / "b", "--json")
    assert (code, json.loads(out)["ok"]) == (0, True)


def test_generate_rounding_prints_its_error_mass_and_dot_its_size(capsys, tmp_path):
    line = "generate rounding --dim 129 --modulus 97 --levels 2 --heads 30 --seed 0 --json --out"
    found = json.loads(call(capsys, line, tmp_path / "r")[1])
    assert 0 < found["error_mass"] < 1e-3
    assert len(found["secret"]["w"]) == 128
    line = "generate parity --dim 9 --gadget dot --heads 6 --seed 0 --json --out"
    found = json.loads(call(capsys, line, tmp_path / "d")[1])
    assert len(found["secret"]["support"]) == found["bits"] == 3


@pytest.mark.parametrize("gadget", ["sharp", "wide"])
@pytest.mark.parametrize(
    ("options", "bits"), [("", 7), (" --bits 6", 6), (" --balance", 5), (" --balance --bits 4", 4)]
)
def test_heads_of_several_sharpnesses_hide_2m_minus_1_bits(capsys, tmp_path, gadget, options, bits):
    file = tmp_path / "x"
    line = f"generate parity --dim 10 --heads 4 --gadget {gadget}{options} --seed 0 --json --out"
    found = json.loads(call(capsys, line, file)[1])
    assert (found["heads"], found["bits"], len(found["secret"]["support"])) == (4, bits, bits)
    assert (found["A"], found["C"] == 0) == (0, "balance" in options)
    assert call(capsys, "verify", file)[0] == 0
    assert call(capsys, "sample", file, "--count", "300", "--seed", "1", "--out", tmp_path / "e.npz")[0] == 0
    solved = json.loads(call(capsys, "attack gaussian", tmp_path / "e.npz", "--json")[1])
    assert solved["secret"] == found["secret"]
    assert call(capsys, "challenge", file, "--count", "300", "--toy", "--out", tmp_path / "c")[0] == 0
    (tmp_path / "a.json").write_text(json.dumps(found["secret"]))
    assert call(capsys, "judge", tmp_path / "c", tmp_path / "a.json")[0] == 0


@pytest.mark.parametrize("gadget", ["sharp", "wide"])
def test_classes_of_sharp_heads_are_counted_by_bits(capsys, tmp_path, gadget):
    line = f"sq bounds parity --dim 65 --heads 8 --gadget {gadget} --tolerance 0.1 --json"
    assert json.loads(call(capsys, line)[1])["concepts"] == comb(64, 15)
    assert json.loads(call(capsys, f"{line} --bits 9")[1])["concepts"] == comb(64, 9)
    line = f"sq play parity --dim 10 --heads 2 --gadget {gadget} --tolerance 0.1 --strategy characters --seed 0 --json"
    assert json.loads(call(capsys, line)[1])["concepts"] == comb(9, 3)
    line = f"sq value parity --dim 5 --heads 2 --gadget {gadget} --tolerance 0.2 --json"
    assert json.loads(call(capsys, line)[1])["value"] == 3
    line = f"sq certify parity --dim 17 --heads 4 --gadget {gadget} --bits 6 --tolerance 0.1 --kind bound --out"
    assert "8008 parities of 6 out of 16 bits" in call(capsys, line, tmp_path / "c")[1]
    lines = json.loads(call(capsys, f"estimate parity --dim 65 --heads 8 --gadget {gadget} --json")[1])["attacks"]
    assert lines[0]["log2_time"] == pytest.approx(log2(8 * 0.05**2 * (comb(64, 15) - 1)))


@pytest.mark.parametrize(
    "line",
    [
        "generate parity --dim 9 --heads 4 --gadget dot --flip 0.1",
        "generate rounding --dim 9 --modulus 12 --levels 3 --weight 4 --noise 0.5",
        "generate rounding --dim 6 --modulus 4 --levels 2 --exact",
        "generate nondegenerate --dim 6 --tokens 3 --heads 2 --scale 1.5",
        "generate interpolation --dim 6 --heads 2 --rho 0.25 --scale 1.5",
    ],
)
def test_the_stored_command_makes_the_same_instance_again(capsys, tmp_path, line):
    _, out, _ = call(capsys, f"{line} --json --out", tmp_path / "a")
    command = json.loads(out)["command"].removeprefix("hardness ")
    assert call(capsys, f"{command} --out", tmp_path / "b")[0] == 0
    assert call(capsys, f"{command} --out", tmp_path / "c")[0] == 0
    assert (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()
    drawn, given = (Instance.load(tmp_path / name) for name in "ab")
    assert (drawn.seed_drawn, given.seed_drawn) == (True, False)
    assert drawn.header() | {"seed_drawn": False} == given.header()
    assert all(np.array_equal(drawn.secret[name], given.secret[name]) for name in drawn.secret)


def test_a_missing_seed_is_drawn_and_recorded(capsys, tmp_path):
    seeds = set()
    for name in "ab":
        _, out, _ = call(capsys, "generate parity --dim 9 --heads 3 --json --out", tmp_path / name)
        seeds.add(json.loads(out)["seed"])
        revealed = json.loads(call(capsys, "inspect --reveal --json", tmp_path / name)[1])
        assert revealed["seed"] in seeds
    assert len(seeds) == 2


def test_inspect_keeps_the_secret_unless_revealed(capsys, parity_file):
    code, out, _ = call(capsys, "inspect --json", parity_file)
    shown = json.loads(out)
    assert code == 0
    assert not {"seed", "secret", "command"} & set(shown)
    assert {"hypothesis", "certificate", "conditions", "parameters"} <= set(shown)
    code, text, _ = call(capsys, "inspect", parity_file)
    assert code == 0
    assert "--seed" not in text
    assert "support" not in text
    revealed = json.loads(call(capsys, "inspect --reveal --json", parity_file)[1])
    assert revealed["secret"]["support"] == Instance.load(parity_file).secret["support"].tolist()
    assert "--seed 0" in revealed["command"]


def test_sample_writes_what_the_contract_says(capsys, parity_file, tmp_path):
    code, _, _ = call(capsys, f"sample {parity_file} --count 300 --seed 0 --out", tmp_path / "e.npz")
    assert code == 0
    arrays = np.load(tmp_path / "e.npz")
    public = json.loads(str(arrays["public"]))
    assert (arrays["X"].shape, arrays["X"].dtype, arrays["Y"].dtype) == ((300, 2, 7), np.int8, np.float64)
    assert {"family", "dim", "tokens", "heads", "gadget", "flip", "A", "C", "sampling_seed"} <= set(public)


def test_a_two_headed_instance_equals_its_dense_layer(capsys, parity_file, tmp_path):
    assert call(capsys, f"export {parity_file} --out", tmp_path / "layer.safetensors")[0] == 0
    layer = MultiHeadAttention(**load_file(tmp_path / "layer.safetensors"))
    words = every_pair(7)
    assert layer.heads == 2
    assert np.abs(layer(unpack(words, 7)) - Instance.load(parity_file).teacher.labels(words)).max() < 1e-12


BAD = [
    ("generate parity --dim 8 --heads 8 --out {out}", "dim - 1 = 7"),
    ("generate parity --dim 8 --heads 3 --gadget dot --out {out}", "even"),
    ("generate parity --dim 8 --heads 2 --gadget dag --out {out}", "not one of 'diag', 'dot'"),
    ("generate parity --dim 8 --heads two --out {out}", "--heads"),
    ("generate parity --dim 8 --heads 2 --seed -1 --out {out}", "--seed"),
    ("generate parity --dim 8 --heads 2", "--out"),
    ("generate rounding --out {out}", "--dim --modulus --levels"),
    ("generate json:loads --out {out}", "not a class"),
    ("generate nowhere:Family --out {out}", "cannot load"),
    ("estimate paritty --dim 9 --heads 2", "did you mean 'parity'"),
    ("estimate parity --dim 9 --heads 2 --modulus 5", "--modulus"),
    ("estimate interpolation --dim 8 --heads 2 --rho 0.5", "no hidden linear secret"),
    ("generate parrity --dim 8 --heads 2 --out {out}", "Did you mean 'parity'"),
    ("generate parity --dim 8 --haeds 2 --out {out}", "--heads"),
    ("generate rounding --dim 8 --modulus 1 --levels 2 --out {out}", "modulus"),
    ("generate rounding --dim 8 --modulus 5 --levels 6 --out {out}", "levels"),
    ("generate rounding --dim 99999 --modulus 1048576 --levels 2 --out {out}", "GiB"),
    ("generate parity --dim 8 --heads 2 --out {folder}", "not a regular file"),
    ("generate parity --dim 8 --heads 2 --out /dev/null", "not a regular file"),
    ("generate parity --dim 8 --heads 2 --out /proc/nowhere/x", "cannot write"),
    ("sample {file} --count 0 --out {out}.npz", "--count"),
    ("sample {file} --count -5 --out {out}.npz", "--count"),
    ("sample {file} --count 5 --out {out}.csv", "suffix"),
    ("verify {truncated}", "instance"),
    ("verify {text}", "instance"),
    ("verify {folder}/missing", "No such file"),
    ("inspect {text}", "instance"),
    ("export {truncated} --out {out}", "instance"),
    ("genrate", "Did you mean 'generate'"),
    ("sq play parity --dim 9 --heads 3 --tolerance 0 --strategy characters", "tolerance"),
    ("sq play parity --dim 9 --heads 3 --tolerance -1 --strategy characters", "tolerance"),
    ("sq play parity --dim 9 --heads 3 --tolerance 2 --strategy characters", "tolerance"),
    ("sq play parity --dim 9 --heads 3 --tolerance nan --strategy characters", "tolerance"),
    ("sq play parity --dim 9 --heads 9 --tolerance .1 --strategy characters", "heads"),
    ("sq play parity --dim 9 --heads 3 --gadget dot --tolerance .1 --strategy characters", "heads"),
    ("sq play parity --dim 9 --heads 3 --tolerance .1 --strategy charcters", "did you mean 'characters'"),
    ("sq bounds parity --dim 9 --heads 3 --tolerance nan", "tolerance"),
]


@pytest.mark.parametrize(("line", "words"), BAD, ids=[line for line, _ in BAD])
def test_bad_input_is_one_line_and_leaves_nothing(capsys, tmp_path, parity_file, line, words):
    (tmp_path / "cut").write_bytes(parity_file.read_bytes()[:-40])
    (tmp_path / "text").write_text("not an instance\n" * 100)
    before = sorted(tmp_path.iterdir())
    names = {"out": "new/out", "folder": ".", "truncated": "cut", "text": "text"}
    paths = {key: tmp_path / name for key, name in names.items()}
    code, out, err = call(capsys, line.format(**paths, file=parity_file))
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert words in err
    assert sorted(tmp_path.iterdir()) == before


def test_a_device_as_target_is_left_alone():
    before = os.stat("/dev/null")
    assert shell("hardness generate parity --dim 8 --heads 2 --out /dev/null").returncode == 2
    after = os.stat("/dev/null")
    assert (before.st_mode, before.st_rdev) == (after.st_mode, after.st_rdev)


def test_a_full_disk_on_stdout_is_an_error_and_no_file_stays(tmp_path):
    for command in ("families", f"generate parity --dim 8 --heads 2 --out {tmp_path}/x"):
        done = shell(f"hardness {command} > /dev/full")
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "No space left" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_would_fill_the_disk_is_refused_before_it_does(tmp_path):
    shell(f"hardness generate parity --dim 8 --heads 2 --out {tmp_path}/p")
    for command in (f"sample {tmp_path}/p --out {tmp_path}/e.npz", f"challenge {tmp_path}/p --toy --out {tmp_path}/c"):
        done = shell(f"hardness {command} --count 1{'0' * 20}")
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "GB" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["p"]


def test_numbers_beyond_the_machine_are_refused(tmp_path):
    shell(f"hardness generate parity --dim 8 --heads 2 --out {tmp_path}/p")
    huge = "9" * 21
    for command, told in (
        (f"learn direct {tmp_path}/p --count {huge}", "too large for this machine"),
        (f"generate parity --dim {huge} --heads 2 --out {tmp_path}/x", "parameter dim of parity must be below 2^"),
    ):
        done = shell(f"hardness {command}")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert done.stderr.startswith(f"error: {told}")


def test_a_closed_pipe_is_no_error():
    assert shell("hardness families | true; exit ${PIPESTATUS[0]}").returncode == 0


def test_no_escape_codes_in_a_pipe():
    for command in ("--help", "families", "generate --help", "sq play parity --help", "genrate"):
        done = shell(f"hardness {command}")
        assert "\x1b" not in done.stdout + done.stderr


def test_help_imports_no_more_than_the_family_it_is_about():
    """What makes it quick; how quick it is, benchmarks/bench_startup.py measures."""
    heavy = {"numpy", "scipy", "numba", "sklearn", "sympy", "matplotlib", "hardness.families.parity"}
    for command in ("--help", "generate --help", "estimate --help", "study run --help", "generate parrity"):
        assert not heavy & imported_by(command), command
    others = {"hardness.families.rounding", "hardness.families.nondegenerate", "hardness.families.interpolation"}
    for command in ("generate parity --help", "estimate parity --help"):
        assert not others & imported_by(command), command


def imported_by(command):
    code = "import sys; from hardness.cli import run; run(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, *command.split()], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_every_command_shows_an_example():
    def walk(command, path):
        if hasattr(command, "commands"):
            for name, child in command.commands.items():
                yield from walk(child, [*path, name])
        else:
            yield path, f"{command.help or ''}{command.epilog or ''}"

    commands = list(walk(typer.main.get_command(app), []))
    assert len(commands) > 8
    for path, text in commands:
        assert "Example: hardness" in text, path


def test_estimate_finds_its_family_anywhere_in_the_line(capsys):
    first = call(capsys, "estimate parity --dim 20 --heads 3 --tolerance 0.1 --json")
    assert first[0] == 0
    for line in (
        "--json --dim 20 parity --heads=3 --tolerance 0.1",
        "--tolerance 0.1 --json --heads 3 --dim 20 parity",
    ):
        assert call(capsys, f"estimate {line}") == first


def test_the_example_of_every_family_works(capsys, tmp_path):
    for name in registry.names("family"):
        code, out, err = call(capsys, f"generate {name} {get(name).example} --json --out", tmp_path / name)
        assert (code, err) == (0, "")
        assert json.loads(out)["family"] == name


def test_families_are_listed(capsys):
    rows = json.loads(call(capsys, "families", "--json")[1])["families"]
    assert {row["name"] for row in rows} >= {"parity", "rounding", "nondegenerate", "interpolation"}
    assert all(row["hypothesis"] and row["heads"] for row in rows)
