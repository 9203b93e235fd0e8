"""The commands of the attacks room, as a script would use them (docs/cli.md)."""

import json

import numpy as np
import pytest

from hardness.cli import run


@pytest.fixture
def room(tmp_path, capsys):
    """Runs a command in which {} stands for the test's folder; returns code, stdout and stderr."""

    def command(line):
        code = run([part.replace("{}", str(tmp_path)) for part in line.split()])
        out = capsys.readouterr()
        return code, out.out, out.err

    return command


def test_generate_sample_attack_challenge_judge(room, tmp_path):
    assert room("generate parity --dim 40 --heads 5 --out {}/p")[0] == 0
    assert room("sample {}/p --count 400 --out {}/p.npz")[0] == 0
    code, out, _ = room("attack gaussian {}/p.npz --json")
    result = json.loads(out)
    assert code == 0
    assert result["status"] == "solved"
    assert set(result) >= {"status", "secret", "samples_used", "seconds"}
    code, out, err = room("challenge {}/p --count 100 --out {}/c")
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "one of 2^19.1" in err  # C(39, 5) = 575757
    assert "say --toy" in err
    code, out, _ = room("challenge {}/p --count 100 --toy --out {}/c --json")
    assert (code, json.loads(out)["log2_secrets"]) == (0, pytest.approx(19.1351, abs=1e-4))
    assert "the secret is one of 2^19.1\n" in room("challenge {}/p --count 100 --toy --out {}/c --force")[1]
    (tmp_path / "right.json").write_text(json.dumps(result["secret"]))
    (tmp_path / "wrong.json").write_text('{"support": [1, 2, 3, 4, 5, 6]}')
    (tmp_path / "broken.json").write_text("{")
    assert room("judge {}/c {}/right.json")[0] == 0
    code, out, _ = room("judge {}/c {}/wrong.json --json")
    assert (code, json.loads(out)["ok"]) == (1, False)
    code, out, err = room("judge {}/c {}/broken.json")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert len(err.splitlines()) == 1


def test_an_attack_that_does_not_apply_is_reported_and_exits_0(room):
    room("generate parity --dim 10 --heads 2 --out {}/p")
    room("sample {}/p --count 200 --out {}/p.npz")
    code, out, _ = room("attack lattice {}/p.npz --json")
    assert (code, json.loads(out)["status"]) == (0, "refused")


def test_head_limited_labels_fall_to_the_lattice_all_the_same(room):
    room("generate rounding --dim 17 --modulus 97 --levels 8 --heads 26 --seed 3 --out {}/r")
    room("sample {}/r --count 20000 --seed 1 --out {}/r.npz")
    code, out, _ = room("attack lattice {}/r.npz --json")
    assert (code, json.loads(out)["status"]) == (0, "solved")
    assert json.loads(room("inspect {}/r --reveal --json")[1])["secret"] == json.loads(out)["secret"]


def test_bkw_prints_its_plan_before_it_works_and_the_judge_takes_its_answer(room, tmp_path):
    room("generate rounding --dim 25 --modulus 97 --levels 2 --heads 6 --seed 4 --out {}/r")
    room("sample {}/r --count 20000 --seed 1 --out {}/r.npz")
    code, out, err = room("attack bkw {}/r.npz --json")
    assert (code, json.loads(out)["status"]) == (0, "solved")
    assert err.startswith("plan: ")
    assert json.loads(room("inspect {}/r --reveal --json")[1])["secret"] == json.loads(out)["secret"]
    assert room("challenge {}/r --count 10 --toy --out {}/c")[0] == 0
    (tmp_path / "answer.json").write_text(json.dumps(json.loads(out)["secret"]))
    assert room("judge {}/c {}/answer.json")[0] == 0


def test_attacks_lists_the_registered_ones(room):
    code, out, _ = room("attacks --json")
    assert code == 0
    assert {row["name"] for row in json.loads(out)["attacks"]} >= {"bkw", "gaussian", "lattice", "search"}


def test_estimate_takes_an_instance_or_a_family(room):
    room("generate rounding --dim 33 --modulus 97 --levels 4 --out {}/r")
    of_file = json.loads(room("estimate {}/r --json")[1])
    of_family = json.loads(room("estimate rounding --dim 33 --modulus 97 --levels 4 --json")[1])
    assert of_file == of_family
    assert {"name", "log2_time", "log2_memory", "samples", "status", "source"} <= of_file["attacks"][0].keys()
    assert "about 5 dimensions" in of_file["guarantee"]
    assert of_file["cheapest"]["log2_time"] == min(
        row["log2_time"] for row in of_file["attacks"] if row["name"] in ("bkw", "lattice", "meet in the middle")
    )
    assert of_file["parameters"]["modulus"] == 97
    assert of_file["version"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("attack gausian {}/none.npz", "did you mean 'gaussian'"),
        ("attack gaussian {}/none.npz", "cannot read"),
        ("estimate rounding --dim 33", "--modulus --levels"),
        ("estimate parity --dim 33 --heads 99", "heads"),
        ("estimate {}/none", "cannot read"),
        ("judge {}/none {}/none.json", "cannot read"),
        ("challenge {}/toy --count 10 --out {}/c", "--toy"),
        ("attack gaussian {}/nice.npz", "no hidden linear equations"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(room, line, says):
    room("generate parity --dim 10 --heads 2 --seed 0 --out {}/toy")
    room("generate nondegenerate --dim 6 --tokens 2 --heads 2 --out {}/nice")
    room("sample {}/nice --count 10 --out {}/nice.npz")
    code, out, err = room(line)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert says in err
    assert len(err.splitlines()) == 1


def test_what_an_attack_finds_is_what_the_family_drew():
    from hardness import registry
    from hardness.families.rounding import Rounding
    from hardness.instance import Instance

    instance = Instance.generate(Rounding(dim=25, modulus=97, levels=97), seed=5)
    examples = instance.examples(600, seed=1)
    outcome = registry.get("attack", "gaussian")(examples.X, examples.Y, instance.public(1))
    assert outcome.status == "solved"
    assert np.array_equal(outcome.secret["w"], instance.secret["w"])
