"""The measured numbers of README and docs/answer.md are those of summary.json, and README is short."""

import re

from committed import ROOT, summary

README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
ANSWER = " ".join((ROOT / "docs" / "answer.md").read_text(encoding="utf-8").split())


def test_what_a_further_head_multiplies_examples_by():
    factor = summary("exponential-in-m")["numbers"]["factor"]
    for text in (README, ANSWER):
        assert re.findall(r"(\d+\.\d+) to (\d+\.\d)\b", text)[0] == (
            f"{factor['hidden']}",
            f"{factor['most']}",
        )
        assert str(factor["control"]) in text


def test_heads_times_examples_over_n_and_the_exponents():
    numbers = summary("exponential-in-m")["numbers"]
    (times,) = {*re.findall(r"about (\d+) N", f"{README} {ANSWER}")}
    assert int(times) == round(numbers["sparse"]["mean"])
    narrow, wide = (numbers["exponent"]["tuned"][width]["value"] for width in ("16", "256"))
    assert re.findall(r"the \.(\d\d)", ANSWER) == [f"{round(100 * value)}" for value in (narrow, wide)]
    assert numbers["slower"]["rays"] == 0


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 700
    assert len((ROOT / "docs" / "answer.md").read_text(encoding="utf-8").split()) <= 1500
