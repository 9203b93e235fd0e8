"""Every number of the headline, the sentences and the ranks of reports/stress, again from its rows: csv alone."""

from collections import Counter, defaultdict
from math import exp, log

import pytest
from committed import Row, headline, page, plain, summary, tables
from committed import rows as committed_rows

WORDS = {
    "solved": "solved",
    "budget": "gave up within budget",
    "timeout": "timed out",
    "error": "crashed",
    "killed": "crashed",
    "refused": "refused",
    "wrong": "wrong",
}
TIERS = ("easy", "frontier", "open")
CURRENCIES = ("cost", "detail.gradient_examples", "detail.multiply_adds")


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return committed_rows("stress")


def ends(rows: list[Row]) -> str:
    """How runs ended, as sentences count it."""
    counts = Counter(WORDS[row["status"]] for row in rows)
    parts = [
        f"{counts[word]} {word}"
        for word in ("solved", "gave up within budget", "timed out", "crashed", "refused")
    ]
    return f"{', '.join(parts)}, {counts['wrong']} were wrong"


def test_every_trial_ended_and_has_a_row(rows: list[Row]) -> None:
    about = summary("stress")
    assert len(rows) == about["planned"] == sum(about["statuses"].values())
    assert about["statuses"] == dict(Counter(row["status"] for row in rows))


def test_the_headline(rows: list[Row]) -> None:
    learners = [row for row in rows if row["solver.kind"] == "learner"]
    cap = max(int(row["budget.samples"]) for row in learners)
    (work,) = {float(row["budget.work"]) for row in learners}
    solved: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        for kind in ("any", row["solver.kind"]) if row["status"] == "solved" else ("any",):
            solved[kind, row["params.tier"]].add(row["params.instance"])
    shares = [f"{len(solved['learner', tier])} of {len(solved['any', tier])} {tier}" for tier in TIERS]
    attacks = [str(len(solved["attack", tier])) for tier in TIERS]
    digits = f"{work / 1e9:g}·10⁹"
    assert headline("stress") == (
        f"Within {cap:,} examples and {digits} multiply-adds learners solve {shares[0]}, {shares[1]} and {shares[2]} "
        f"instances, attacks {attacks[0]}, {attacks[1]} and {attacks[2]} structured ones. "
        f"Of {len(learners)} learner runs {ends(learners)}."
    )


def test_the_sentences_on_attacks_and_games(rows: list[Row]) -> None:
    attacks = [row for row in rows if row["solver.kind"] == "attack"]
    games = [row for row in rows if row["solver.kind"] == "game"]
    ((cap, tolerance, oracle, passes),) = {
        (attack["budget.samples"], game["solver.tolerance"], game["solver.oracle"], row["solver.passes"])
        for attack in attacks
        for game in games
        for row in rows
        if row["solver.passes"]
    }
    text = plain(page("stress"))
    for sentence in (
        f"Of {len(attacks)} attacks {ends(attacks)}.",
        f"gets at most {int(cap):,} examples",
        f"Each of {len(games)} games is played once",
        f"at tolerance {tolerance}. The oracle is {oracle},",
        f"“pool” makes {passes} passes",
    ):
        assert sentence in text


def name_of(row: Row) -> str:
    name = row["solver.learner"] + " (products)" * (row["solver.learner"] == "sgd")
    return name + ", tuned" * bool(row["solver.setting"]) + ", pool" * bool(row["solver.passes"])


def test_the_ranks(rows: list[Row]) -> None:
    """A better rank: more instances solved, or as many at a smaller geometric mean."""
    (lines,) = (
        lines for caption, lines in tables("stress").items() if caption.startswith("Learners by tier")
    )
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row["solver.kind"] == "learner":
            groups[row["params.tier"], name_of(row)].append(row)
    assert {(line[0], line[1]) for line in lines} == set(groups)
    means: dict[str, dict[tuple[str, str], tuple[int, float]]] = {currency: {} for currency in CURRENCIES}
    for key, cell_runs in groups.items():
        won = [row for row in cell_runs if row["status"] == "solved"]
        for currency in CURRENCIES:
            if won and all(row[currency] for row in won):
                costs = [float(row[currency]) for row in won]
                means[currency][key] = -len(won), exp(sum(map(log, costs)) / len(costs))
    for tier, learner, runs, *cells in lines:
        cell_runs = groups[tier, learner]
        counts = Counter(WORDS[row["status"]] for row in cell_runs)
        assert [int(runs), *map(int, cells[:6])] == [
            len(cell_runs),
            *(counts[word] for word in dict.fromkeys(WORDS.values())),
        ]
        for currency, place, mean in zip(CURRENCIES, cells[6::2], cells[7::2], strict=True):
            known = {key: value for key, value in means[currency].items() if key[0] == tier}
            if (tier, learner) not in known:
                assert place == mean == ""
                continue
            cell_mean = known[tier, learner]
            assert int(place) == 1 + sum(other < cell_mean for other in known.values())
            if "·10" in mean:
                digits, _, power = mean.partition("·10")
                value = float(digits) * 10 ** int(power.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")))
                assert value == pytest.approx(cell_mean[1], rel=0.051)
            else:
                assert float(mean.replace(",", "")) == pytest.approx(cell_mean[1], rel=0.006)


def test_nothing_in_the_open_tier_is_solved(rows: list[Row]) -> None:
    assert {row["status"] for row in rows if row["params.tier"] == "open"}.isdisjoint({"solved"})
