"""Every number of the headline, the sentences and the ranks of reports/stress, again from its rows: csv alone."""

import csv
from collections import Counter, defaultdict
from math import exp, log

import pytest
from committed import ROOT, Row, headline, page, plain, summary, tables
from committed import rows as committed_rows

WORDS = {
    "solved": "solved",
    "budget": "stopped at a budget",
    "unfitted": "never fitted",
    "timeout": "timed out",
    "error": "crashed",
    "killed": "crashed",
    "refused": "refused",
    "wrong": "wrong",
}
TIERS = ("easy", "frontier", "open")
CURRENCIES = ("cost", "detail.gradient_examples", "detail.multiply_adds", "reference_seconds")


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return committed_rows("stress")


def ending(row: Row) -> str:
    """How a run ended, in words: a budget of multiply-adds below one fit ended it before it began."""
    idle = row["status"] == "budget" and row["cost"] == "0" and row["detail.limit"] == "multiply-adds"
    return WORDS["unfitted" if idle else row["status"]]


def ends(rows: list[Row], **more: str) -> str:
    """How runs ended, as sentences count it, with `more` after a word of `WORDS`."""
    counts = Counter(map(ending, rows))
    words = [
        word
        for word in dict.fromkeys(WORDS.values())
        if counts[word] or word not in ("never fitted", "wrong")
    ]
    parts = [f"{counts[word]} {more.get(word.split()[0], word)}" for word in words if word != "wrong"]
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
    alone = [
        len({row["params.instance"] for row in learners if row["status"] == "solved" and unaided(row, tier)})
        for tier in TIERS
    ]
    digits = f"{work / 1e9:g}·10⁹"
    assert headline("stress") == (
        f"Within {cap:,} examples and {digits} multiply-adds learners solve {shares[0]}, {shares[1]} and {shares[2]} "
        f"instances; without those given structure or tuned for parities, {alone[0]}, {alone[1]} and {alone[2]}; "
        f"attacks, within their own budgets, {attacks[0]}, {attacks[1]} and {attacks[2]} structured ones. “Open” means "
        "unsolved when named."
    )
    least, most = (
        f(int(r["budget.samples"]) for r in learners if r["params.tier"] == "open") for f in (min, max)
    )
    text = plain(page("stress"))
    assert f"({least:,} to {most:,} on open instances)" in text
    stopped = "were stopped at a budget after they had learned from examples"
    idle = "were never fitted, as the first fit would have exceeded the budget"
    assert f"Of {len(learners)} learner runs {ends(learners, stopped=stopped, never=idle)}." in text


def unaided(row: Row, tier: str) -> bool:
    """A run in that tier of a learner that was given no structure of the labels, and not tuned on parities."""
    return (
        row["params.tier"] == tier
        and row["solver.learner"] not in ("diagonal", "sgd")
        and not row["solver.setting"]
    )


def test_runs_that_never_fitted_are_no_failure_to_learn(rows: list[Row]) -> None:
    """Once 90 of 515 runs "stopped at a budget" had been shown no example."""
    idle = [row for row in rows if row["solver.kind"] == "learner" and ending(row) == "never fitted"]
    assert all(not float(row["cost"]) and not row["detail.multiply_adds"] for row in idle)
    assert idle == [row for row in rows if row["status"] == "budget" and row["cost"] == "0"]


def test_the_sentences_on_what_attacks_count(rows: list[Row]) -> None:
    """Once "examples used" stood over four different counts."""
    solved = [row for row in rows if row["solver.kind"] == "attack" and row["status"] == "solved"]
    read, handed = [], []
    for row in solved:
        exact = row["solver.attack"] == "gaussian" and not row["params.flip"]
        if row["solver.attack"] != "batch-gradient":
            (read if exact else handed).append(int(row["cost"]))
        else:
            assert (int(row["cost"]) - 40) % 64 == 0
            assert abs(int(row["cost"]) / int(row["budget.samples"]) - 0.5) < 0.02
        if exact:  # one system, and the rows that check it
            assert int(row["cost"]) == int(row["params.dim"]) - 1 + 10 + 200
    assert all(abs(count / int(solved[0]["budget.samples"]) - 0.5) < 0.01 for count in handed)
    text = plain(page("stress"))
    assert f"count all of these, {min(handed):,} to {max(handed):,}, and batch-gradient" in text
    assert f"the rows that check it, {min(read):,} to {max(read):,}." in text


def test_a_lower_bound_stands_where_most_runs_were_stopped(rows: list[Row]) -> None:
    """Five refusals, one of them when the CPU time was over, once stood as "> 0, CPU time"."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row["solver.kind"] == "learner":
            groups[row["params.instance"].rpartition("-")[0], name_of(row)].append(row)
    shown = next(lines for caption, lines in tables("stress").items() if caption.startswith("Every learner"))
    assert len(shown) == len(groups)
    for line in shown:
        ways = [ending(row) for row in groups[line[0], line[1]]]
        assert [int(cell) for cell in line[3:10]] == [
            ways.count(word) for word in dict.fromkeys(WORDS.values())
        ]
        assert line[10].startswith("> ") == (2 * ways.count("stopped at a budget") > len(ways))
        met = {row["detail.limit"] for row in groups[line[0], line[1]] if row["status"] == "budget"}
        assert line[11] == ", ".join(sorted(met))


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
    text, queries = plain(page("stress")), [int(game["budget.queries"]) for game in games]
    for sentence in (
        f"Of {len(attacks)} runs of attacks {ends(attacks)}.",
        f"gets at most {int(cap):,} examples",
        f"Each of {len(games)} games is played once",
        f"at tolerance {tolerance}, and stopped after {min(queries):,} to {max(queries):,} queries.",
        f"The oracle is {oracle},",
        f"“pool” makes {passes} passes",
    ):
        assert sentence in text


def name_of(row: Row) -> str:
    name = row["solver.learner"] + " (products)" * (row["solver.learner"] == "sgd")
    return name + ", tuned" * bool(row["solver.setting"]) + ", pool" * bool(row["solver.passes"])


def counts(cell_runs: list[Row]) -> str:
    """Whether a learner counts its work, as its rows say; those of older versions show it where they were judged."""
    stated = {row["detail.counted"] for row in cell_runs if row.get("detail.counted")}
    for row in (row for row in cell_runs if not row.get("detail.counted")):
        if row["detail.multiply_adds"] or row["detail.limit"] == "multiply-adds":
            stated.add("True")
        elif row["detail.open_error"] or row["detail.explained"]:
            stated.add("False")
    return "no" if "False" in stated else "yes" if stated else "not recorded"


def times() -> dict[str, str]:
    """Reference seconds by identity, where the page has a table of times beside it."""
    path = ROOT / "reports" / "stress" / "timings.csv"
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {line["identity"]: line.get("reference_seconds", "") for line in csv.DictReader(file)}


def value_of(text: str) -> float:
    """A number as the page prints it."""
    digits, _, power = text.replace(",", "").partition("·10")
    return float(digits) * 10 ** int((power or "0").translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")))


Standing = dict[tuple[str, str], tuple[int, bool, float]]  # of a currency: missed, uncounted, mean


def standings(groups: dict[tuple[str, str], list[Row]]) -> dict[str, Standing]:
    """By currency what ranks a learner within its tier."""
    spent = times()
    by_currency: dict[str, Standing] = {currency: {} for currency in CURRENCIES}
    for key, cell_runs in groups.items():
        won = [{**row, "reference_seconds": spent.get(row["identity"], "")} for row in cell_runs]
        won = [row for row in won if row["status"] == "solved"]
        for currency in CURRENCIES:
            costs = [float(row[currency]) for row in won if row[currency]]
            if won and len(costs) == len(won) and all(costs):
                mean = exp(sum(map(log, costs)) / len(costs))
                by_currency[currency][key] = -len(won), counts(cell_runs) == "no", mean
    return by_currency


def place_of(key: tuple[str, str], standing: Standing) -> int:
    """A better place: more instances solved, or as many by a learner that counts, or at a smaller mean. One that does
    not count takes no place of those that do, and is never first."""
    cell = standing[key]
    ahead = [other for (tier, _), other in standing.items() if tier == key[0] and other < cell]
    return max(2, 1 + len(ahead)) if cell[1] else 1 + sum(not apart for _, apart, _ in ahead)


def shown_place(key: tuple[str, str], standing: Standing) -> str:
    """Learners of one table that share a place are marked; once three of them stood at rank 4 without a word."""
    place = place_of(key, standing)
    same = [
        other
        for other in standing
        if other[0] == key[0]
        and standing[other][1] == standing[key][1]
        and place_of(other, standing) == place
    ]
    return f"{place}{'=' * (len(same) > 1)}"


def test_the_ranks(rows: list[Row]) -> None:
    shown = [
        line
        for caption, lines in tables("stress").items()
        if caption.startswith(("Learners by tier", "Learners that do not count"))
        for line in lines
    ]
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row["solver.kind"] == "learner":
            groups[row["params.tier"], name_of(row)].append(row)
    assert {(line[0], line[1]) for line in shown} == set(groups)
    assert len(shown) == len(groups)
    standing = standings(groups)
    for tier, learner, given, runs, *cells in shown:
        cell_runs = groups[tier, learner]
        aid = ("form of the gadget", "products of the tokens", "form of the layer, tuned on parities")
        assert (given in aid) == (not unaided(cell_runs[0], tier))
        ways = Counter(map(ending, cell_runs))
        assert [int(runs), *map(int, cells[:7])] == [
            len(cell_runs),
            *(ways[word] for word in dict.fromkeys(WORDS.values())),
        ]
        assert cells[-1] == counts(cell_runs)
        for currency, place, mean in zip(CURRENCIES, cells[7:-1:2], cells[8:-1:2], strict=True):
            if (tier, learner) not in standing[currency]:
                assert place == mean == ""
                continue
            assert place == shown_place((tier, learner), standing[currency])
            exact = standing[currency][tier, learner][2]
            assert value_of(mean) == pytest.approx(exact, rel=0.051 if "·10" in mean else 0.006, abs=0.0051)


def test_nothing_in_the_open_tier_is_solved(rows: list[Row]) -> None:
    assert {row["status"] for row in rows if row["params.tier"] == "open"}.isdisjoint({"solved"})
