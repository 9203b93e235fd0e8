"""Every number of the headline, the sentences and the ranks of reports/stress, again from its rows: csv alone."""

import csv
import json
import re
from collections import Counter, defaultdict
from html import unescape
from math import exp, log
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "reports" / "stress"
WORDS = {"solved": "solved", "budget": "gave up within budget", "timeout": "timed out", "error": "crashed",
         "killed": "crashed", "refused": "refused", "wrong": "wrong"}  # fmt: skip
TIERS = ("easy", "frontier", "open")
CURRENCIES = ("cost", "detail.gradient_examples", "detail.multiply_adds")
Row = dict[str, str]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    with (FOLDER / "rows.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def page() -> str:
    return (FOLDER / "index.html").read_text(encoding="utf-8")


def plain(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", html))).strip()


def ends(rows: list[Row]) -> str:
    """How runs ended, as sentences count it."""
    found = Counter(WORDS[row["status"]] for row in rows)
    said = [f"{found[word]} {word}" for word in ("solved", "gave up within budget", "timed out", "crashed", "refused")]
    return f"{', '.join(said)}, {found['wrong']} were wrong"


def test_every_trial_ended_and_has_a_row(rows: list[Row]) -> None:
    summary = json.loads((FOLDER / "summary.json").read_text(encoding="utf-8"))
    assert len(rows) == summary["planned"] == sum(summary["statuses"].values())
    assert summary["statuses"] == dict(Counter(row["status"] for row in rows))


def test_the_headline(rows: list[Row]) -> None:
    verdict = json.loads((FOLDER / "summary.json").read_text(encoding="utf-8"))["verdict"]
    learners = [row for row in rows if row["solver.kind"] == "learner"]
    most = max(int(row["budget.samples"]) for row in learners)
    (work,) = {float(row["budget.work"]) for row in learners}
    solved: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        for kind in ("any", row["solver.kind"]) if row["status"] == "solved" else ("any",):
            solved[kind, row["params.tier"]].add(row["params.instance"])
    shares = [f"{len(solved['learner', tier])} of {len(solved['any', tier])} {tier}" for tier in TIERS]
    attacks = [str(len(solved["attack", tier])) for tier in TIERS]
    digits = f"{work / 1e9:g}·10⁹"
    assert verdict == (
        f"Within {most:,} examples and {digits} multiply-adds learners solve {shares[0]}, {shares[1]} and {shares[2]} "
        f"instances, attacks {attacks[0]}, {attacks[1]} and {attacks[2]} structured ones. "
        f"Of {len(learners)} learner runs {ends(learners)}."
    )
    assert sum(bool(re.search(r"\w", word)) for word in verdict.split()) <= 50


def test_the_sentences_on_attacks_and_games(rows: list[Row]) -> None:
    numbers = json.loads((FOLDER / "summary.json").read_text(encoding="utf-8"))["numbers"]
    attacks = [row for row in rows if row["solver.kind"] == "attack"]
    games = [row for row in rows if row["solver.kind"] == "game"]
    counts = Counter(WORDS[row["status"]] for row in attacks)
    assert numbers["attacks_ended"] == {word: counts[word] for word in WORDS.values()}
    assert (numbers["attacks"], numbers["games"]) == (len(attacks), len(games))
    assert {row["budget.samples"] for row in attacks} == {str(numbers["attacked"])}
    assert {row["solver.passes"] for row in rows} == {"", str(numbers["passes"])}
    assert {(row["solver.tolerance"], row["solver.oracle"]) for row in games} == {
        (str(numbers["tau"]), numbers["oracle"])
    }


def name_of(row: Row) -> str:
    name = row["solver.learner"] + " (products)" * (row["solver.learner"] == "sgd")
    return name + ", tuned" * bool(row["solver.setting"]) + ", pool" * bool(row["solver.passes"])


def test_the_ranks(rows: list[Row], page: str) -> None:
    """A better rank: more instances solved, or as many at a smaller geometric mean."""
    table = re.search(r"<caption><span>Learners by tier.*?<tbody>(.*?)</tbody>", page, flags=re.S)
    assert table
    said = [[plain(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", line, flags=re.S)]
            for line in re.findall(r"<tr>(.*?)</tr>", table[1], flags=re.S)]  # fmt: skip
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row["solver.kind"] == "learner":
            groups[row["params.tier"], name_of(row)].append(row)
    assert {(line[0], line[1]) for line in said} == set(groups)
    means: dict[str, dict[tuple[str, str], tuple[int, float]]] = {currency: {} for currency in CURRENCIES}
    for key, own in groups.items():
        won = [row for row in own if row["status"] == "solved"]
        for currency in CURRENCIES:
            if won and all(row[currency] for row in won):
                costs = [float(row[currency]) for row in won]
                means[currency][key] = -len(won), exp(sum(map(log, costs)) / len(costs))
    for tier, learner, runs, *cells in said:
        own = groups[tier, learner]
        counts = Counter(WORDS[row["status"]] for row in own)
        assert [int(runs), *map(int, cells[:6])] == [
            len(own),
            *(counts[word] for word in dict.fromkeys(WORDS.values())),
        ]
        for currency, place, mean in zip(CURRENCIES, cells[6::2], cells[7::2], strict=True):
            known = {key: value for key, value in means[currency].items() if key[0] == tier}
            if (tier, learner) not in known:
                assert place == mean == ""
                continue
            own_mean = known[tier, learner]
            assert int(place) == 1 + sum(other < own_mean for other in known.values())
            if "·10" in mean:
                digits, _, power = mean.partition("·10")
                value = float(digits) * 10 ** int(power.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")))
                assert value == pytest.approx(own_mean[1], rel=0.051)
            else:
                assert float(mean.replace(",", "")) == pytest.approx(own_mean[1], rel=0.006)


def test_nothing_in_the_open_tier_is_solved(rows: list[Row]) -> None:
    assert {row["status"] for row in rows if row["params.tier"] == "open"}.isdisjoint({"solved"})
