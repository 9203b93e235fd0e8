"""The numbers of reports/index.html: its headlines, its counts of trials and its words. Nothing of the lab."""

import re
from collections import Counter
from functools import cache
from html import unescape
from itertools import product
from math import ceil, comb, log2

import numpy as np
import pytest
from committed import ROOT, headline, page, rows, summary
from theorem_b import separation

PAGE = (ROOT / "reports" / "index.html").read_text(encoding="utf-8")
STUDIES = sorted(path.parent.name for path in ROOT.glob("reports/*/index.html"))
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven")


def untagged(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", "", html)).split())


@cache
def meanings() -> dict[str, tuple[str, str]]:
    """The words of the page, by their identities: the terms and what is said of them."""
    entries = re.findall(r'(?s)<dt id="term-(.*?)">(.*?)</dt>\s*<dd>(.*?)</dd>', PAGE)
    return {identity: (untagged(term), untagged(text)) for identity, term, text in entries}


def numbers(identity: str, pattern: str) -> list[str]:
    """The groups of a pattern in what is said of a word."""
    (match,) = re.finditer(pattern, meanings()[identity][1])
    return list(match.groups())


@pytest.mark.parametrize("study", STUDIES)
def test_a_study_is_shown_with_its_headline_and_its_trials(study: str) -> None:
    """The headline is recomputed by the tests of its study, the trials are those of its rows."""
    link = f'<a href="{study}/index.html">'
    if study == "benchmarks":  # no trials
        assert untagged(PAGE.partition(f"<p>{link}")[2].partition("</p>")[0]) == f"{study}: {headline(study)}"
        return
    part = next(part for part in PAGE.split("<h3>") if part.startswith(link))
    paragraphs = [untagged(text) for text in re.findall(r"(?s)<p[^>]*>(.*?)</p>", part)]
    kinds = re.findall(r'class="kind (\w+)"', page(study).partition("</p>")[0])
    assert paragraphs[0] == " ".join([*kinds, *headline(study).split()])
    statuses = Counter(row["status"] for row in rows(study))
    ends = ", ".join(f"{statuses[status]:,} {status}" for status in sorted(statuses))
    note = f"{study}: {statuses.total():,} trials planned, {ends}. Root seed {summary(study)['seed']}."
    assert paragraphs[1] == note
    for alt in re.findall(r'<img [^>]*alt="(.*?)"', part):
        assert unescape(alt) in {figure["alt"] for figure in summary(study)["figures"]}


def test_what_is_cited_is_cited_alike() -> None:
    (exponent,) = re.findall(r"\(dk\)<sup>O\((m.)\)</sup>", PAGE)
    assert f"(dk)^O({exponent})" in (ROOT / "docs" / "references.md").read_text(encoding="utf-8")


def test_counts_of_words() -> None:
    for identity, text in (
        ("outcome", "The {} ways in which a trial can end"),
        ("kinds", "{} kinds of statements"),
        ("certified", "{} verdicts that are never mixed"),
    ):
        if identity in meanings():
            term, meaning = meanings()[identity]
            count = WORDS[len(re.split(r", | and ", term))]
            assert meaning.startswith(text.format(count if text[0] == "T" else count.capitalize()))
    (kinds,) = re.findall(r"<p>(\w+) <a [^>]*#term-kinds", PAGE)
    assert kinds == WORDS[3].capitalize()


def test_which_inputs_show_the_hidden_set() -> None:
    """By all pairs of tokens with two coordinates: where the gate is open, how likely that is, and what v is."""
    X = np.array(list(product((1, -1), repeat=4))).reshape(-1, 2, 2)
    gate, one, place, two, other, half, share = numbers(
        "gate",
        r"Coordinate (\d)\. .* z_0 = \(x_(\d)\[(\d)\] − x_(\d)\[(\d)\]\)/(\d) ≠ 0, which has probability (\d/\d),",
    )
    z = (X[:, int(one) - 1, int(place)] - X[:, int(two) - 1, int(other)]) / int(half)
    np.testing.assert_array_equal(z != 0, X[:, 0, int(gate)] != X[:, 1, int(gate)])
    assert {*np.abs(z)} == {0, 1}
    assert (z != 0).mean() == float(share[0]) / float(share[2])
    (tokens,) = numbers("k", r"its entries are signs and k = (\d)")
    assert int(tokens) == X.shape[1]
    for identity in {"gate", "gadget", "mu"} & meanings().keys():
        assert f" the {WORDS[X.shape[1]]} tokens " in meanings()[identity][1]
    for identity, pattern in (
        ("d", r"coordinate (\d) is the gate and the other d − (\d)"),
        ("n", r"^In the hard families n = d(?: − )(\d)()"),
    ):
        shown = [text for text in numbers(identity, pattern) if text]
        assert shown[-1] == "1"
        assert len(shown) == 1 or shown[0] == gate
    if "mu" in meanings():
        one, two, fair = numbers("mu", r"v_j = x_(\d)j x_(\d)j .*: (\d) for fair inputs")
        assert [one, two] == ["1", "2"]
        assert (X[:, int(one) - 1] * X[:, int(two) - 1]).mean() == int(fair)


def test_how_many_bits_heads_hide() -> None:
    """A head a bit, or half a head: tanh's of several sharpnesses; by least squares on the levels of each gadget."""
    of_dot, times, less = numbers(
        "m", r"s = m for the gadget diag, m = (\d)s for dot, s ≤ (\d)m − (\d) for sharp and wide"
    )
    again, more, half = numbers(
        "gadget", r"take s heads with diag and (\d)s with dot\. .*, \(s \+ (\d)\)/(\d):"
    )
    assert again == of_dot
    assert half == "2"
    assert "Heads of several sharpnesses take half as many, " in meanings()["gadget"][1]
    for s in range(1, 6):
        for levels in (np.arange(s + 1), np.arange(-s, s + 1)):  # of diag and of dot
            thresholds = (levels[:-1] + levels[1:]) / 2
            system = np.column_stack([np.tanh(2 * (levels[:, None] - thresholds)), np.ones(len(levels))])
            assert np.linalg.matrix_rank(system) == len(levels)  # so that as many heads as gaps will do
            assert len(thresholds) == (s if levels[0] == 0 else int(of_dot) * s)
        bits = int(times) * s - int(less)
        assert (bits + int(more)) / int(half) == s  # s heads, that many bits: a head for two levels


def test_what_a_query_may_be() -> None:
    """With values in [-1, 1] it separates two sets below τ = 1/4 alone, as half of all gates are closed."""
    for identity in ("tau", "sq"):
        ends = numbers(identity, r"values in \[−(\d), (\d)\]")
        assert [int(end) / 4 for end in ends] == [separation(1)] * 2
    if "identify" in meanings():
        (limit,) = numbers("identify", r"for τ ≥ (\d/\d) no query separates two parities")
        assert limit == str(separation(1))


def test_how_the_number_of_sets_grows() -> None:
    taken, half, base = numbers(
        "exponential",
        r"the number C\(d − (\d), m\) of parities grows until m is about d/(\d); .* it is (\d)\^Θ\(m\)",
    )
    for d in (20, 64, 256):
        counts = [comb(d - int(taken), m) for m in range(d)]
        assert abs(counts.index(max(counts)) - d / int(half)) <= 1
        assert counts[0] == counts[d - int(taken)] == 1
    assert log2(comb(4 * 200 - 1, 200)) / 200 == pytest.approx(log2(comb(4 * 400 - 1, 400)) / 400, rel=0.02)
    assert base == "2"
    if "N" in meanings():
        assert numbers("N", r"C\(d − (\d), s\) for parities, q\^n for rounding") == [taken]
    for row in rows("needs", solver_kind="frontier"):
        d, modulus = int(row["params.dim"]), row["params.modulus"]
        sets = int(modulus) ** (d - 1) if modulus else comb(d - int(taken), int(row["params.heads"]))
        assert int(row["detail.concepts"]) == sets


def test_the_errors_that_words_name() -> None:
    exact, mean = numbers(
        "relative-error", r"on fresh examples: (\d) is exact, (\d) is what predicting the mean achieves"
    )
    power, of_mean = numbers("relative-error", r"√\(Σ\|F̂ − F\|(.) / Σ\|F − mean F\|(.)\)")
    assert power == of_mean == "²"
    F = np.array([1.0, 4.0, -2.0])
    errors = [np.sqrt(np.sum((guess - F) ** 2) / np.sum((F - F.mean()) ** 2)) for guess in (F, F.mean())]
    assert errors == [int(exact), int(mean)]
    if "certified" in meanings():
        (largest,) = numbers("certified", r"has relative error at most ([\d.]+) \(")
        certified = [
            float(row["detail.certified_error"])
            for row in rows("nice-layers", detail_certified="True")
            if row["detail.certified_error"]
        ]
        assert ceil(10 * max(certified)) / 10 == float(largest)
    if "p" in meanings():
        (total,) = numbers("p", r"k positive numbers with sum (\d)")
        scores = np.exp(np.array([0.3, -1.2]))
        assert (scores / scores.sum()).sum() == pytest.approx(int(total))
