"""The commands of the attacks room, as a script would use them (docs/cli.md)."""

import json
import sys

import pytest
from commands import answer, check_refused, run_command


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_generate_sample_attack_challenge_judge(tmp_path):
    assert run_command("generate parity --dim 40 --heads 5 --out p").code == 0
    assert run_command("sample p --count 400 --out p.npz").code == 0
    result = answer("attack gaussian p.npz")
    assert result["status"] == "solved"
    assert set(result) >= {"status", "secret", "samples_used", "seconds"}
    refused = run_command("challenge p --count 100 --out c")
    check_refused(refused, "one of 2^19.1")  # C(39, 5) = 575757
    assert "say --toy" in refused.err
    assert answer("challenge p --count 100 --toy --out c")["log2_secrets"] == pytest.approx(19.1351, abs=1e-4)
    lines = run_command("challenge p --count 100 --toy --out c --force").out.splitlines()
    assert lines[:2] == [
        "the secret is one of 2^19.1",
        "the cheapest attack priced here is gaussian, about 2^16.2 operations",
    ]
    (tmp_path / "right.json").write_text(json.dumps(result["secret"]))
    (tmp_path / "wrong.json").write_text('{"support": [1, 2, 3, 4, 5, 6]}')
    assert run_command("judge c right.json").code == 0
    assert answer("judge c wrong.json", code=1)["ok"] is False


def test_an_attack_that_does_not_apply_is_reported_and_exits_0():
    run_command("generate parity --dim 10 --heads 2 --out p")
    run_command("sample p --count 200 --out p.npz")
    assert answer("attack lattice p.npz")["status"] == "refused"


def test_lattice_without_fpylll_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "fpylll", None)
    run_command("generate rounding --dim 21 --modulus 97 --levels 2 --seed 1 --out r")
    run_command("sample r --count 4000 --seed 2 --out r.npz")
    refused = run_command("attack lattice r.npz")
    check_refused(refused, "needs fpylll: pip install 'attention-hardness[lattice]'")
    assert "plan" not in refused.err


def test_estimate_takes_an_instance_or_a_family():
    run_command("generate rounding --dim 33 --modulus 97 --levels 4 --out r")
    of_file = answer("estimate r")
    assert of_file == answer("estimate rounding --dim 33 --modulus 97 --levels 4")
    assert {"name", "log2_time", "log2_memory", "samples", "status", "source"} <= of_file["attacks"][0].keys()
    assert of_file["cheapest"]["log2_time"] == min(
        row["log2_time"]
        for row in of_file["attacks"]
        if row["name"] in ("bkw", "lattice", "meet in the middle")
    )
    assert of_file["parameters"]["modulus"] == 97
    assert of_file["version"]


@pytest.mark.parametrize("dim", [9, 65])
def test_two_head_rounding_has_no_query_bound_in_any_command(dim):
    """Theory 2.6: no error mass below 1/2 is proved of two heads, so nothing is at any tolerance that identifies."""
    assert run_command(f"generate rounding --dim {dim} --heads 2 --out r").code == 0
    shown = answer("inspect r")["right_labels"]
    assert (shown["pi"], shown["eps"]) == (None, None)
    assert shown["reason"] in run_command("inspect r").out
    bounds = answer(f"sq bounds rounding --dim {dim} --heads 2 --tolerance 0.1")
    assert (bounds["window"], bounds["null"]) == (None, None)
    assert bounds["reason"] in run_command(f"sq bounds rounding --dim {dim} --heads 2 --tolerance 0.1").out
    line = next(line for line in answer("estimate r")["attacks"] if line["name"] == "sq bound")
    assert line["log2_time"] is None
    assert line["source"] == bounds["reason"]
