"""Every number of the headline, the sentences and the ranks of reports/stress, again from its rows: csv alone."""

import csv
import re
from collections import Counter, defaultdict
from math import ceil, comb, exp, inf, log, log2

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
HANDED, SET_ON_PARITIES = ("diagonal", "sgd"), ("diagonal", "student", "mlp")
HEADS_KNOWN = ("adam", "direct", "lbfgs", "provable")
CURRENCIES = ("cost", "detail.gradient_examples", "detail.multiply_adds", "reference_seconds")


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return committed_rows("stress")


def ending(row: Row) -> str:
    """How a run ended, in words: a budget of multiply-adds below one fit ended it before it began."""
    idle = row["status"] == "budget" and row["cost"] == "0" and row["detail.limit"] == "multiply-adds"
    return WORDS["unfitted" if idle else row["status"]]


def ends(rows: list[Row], wrong: str, **more: str) -> str:
    """How runs ended, as sentences count it, with `more` after a word of `WORDS`, and `wrong` at the end."""
    counts = Counter(map(ending, rows))
    words = [
        word
        for word in dict.fromkeys(WORDS.values())
        if counts[word] or word not in ("never fitted", "wrong")
    ]
    parts = [f"{counts[word]} {more.get(word.split()[0], word)}" for word in words if word != "wrong"]
    return f"{', '.join(parts)}, {counts['wrong']} {wrong}"


def test_every_trial_ended_and_has_a_row(rows: list[Row]) -> None:
    about = summary("stress")
    assert len(rows) == about["planned"] == sum(about["statuses"].values())
    assert about["statuses"] == dict(Counter(row["status"] for row in rows))


def listed(counts: list[str]) -> str:
    return f"{', '.join(counts[:-1])} and {counts[-1]}"


def solved_by(runs: list[Row], tier: str) -> int:
    """How many instances of the tier at least one of the runs solved."""
    return len(
        {row["params.instance"] for row in runs if row["params.tier"] == tier and row["status"] == "solved"}
    )


def met_by(runs: list[Row], tier: str) -> int:
    return len({row["params.instance"] for row in runs if row["params.tier"] == tier})


def test_the_headline(rows: list[Row]) -> None:
    learners, attacks = (
        [row for row in rows if row["solver.kind"] == kind] for kind in ("learner", "attack")
    )
    caps = [int(row["budget.samples"]) for row in learners]
    (work,) = {float(row["budget.work"]) for row in learners}
    shares = [f"{solved_by(learners, tier)} of {met_by(rows, tier)} {tier}" for tier in TIERS]
    alone = [str(solved_by([row for row in learners if unaided(row)], tier)) for tier in TIERS]
    broken = [(solved_by(attacks, tier), met_by(attacks, tier)) for tier in TIERS]
    assert headline("stress") == (
        f"Together, learners solve {listed(shares)} instances within {work / 1e9:g}·10⁹ multiply-adds and "
        f"{min(caps):,} to {max(caps):,} examples; without handed structure or rates chosen on parities, "
        f"{listed(alone)}; attacks solve {sum(won for won, _ in broken)} of {sum(met for _, met in broken)} structured "
        "ones and refuse the open ones."
    )
    assert len(headline("stress").split()) <= 50
    missed = {row["params.instance"] for row in attacks} - {
        row["params.instance"] for row in attacks if row["status"] == "solved"
    }
    assert {row["params.tier"] for row in attacks if row["params.instance"] in missed} == {"open"}
    assert {row["status"] for row in attacks if row["params.instance"] in missed} == {"refused"}
    text = plain(page("stress"))
    fewer = []
    for tier in TIERS:
        allowed = [int(row["budget.samples"]) for row in learners if row["params.tier"] == tier]
        if min(allowed) < max(caps):
            fewer.append(f"{min(allowed):,} to {max(allowed):,} on {tier} instances")
    assert f"({', '.join(fewer)})" in text
    stopped = "were stopped at a budget after they had learned from examples"
    idle = "were never fitted, as the learner's count of one fit, on 256 examples, exceeded the budget"
    unusual = "gave predictions that are not finite"
    assert f"Of {len(learners)} learner runs {ends(learners, unusual, stopped=stopped, never=idle)}." in text
    hard = [row for row in learners if row["params.tier"] == "open"]
    fitted = [row for row in hard if ending(row) not in ("never fitted", "refused")]
    assert f"On open instances {len(fitted)} of {len(hard)} runs fitted anything." in text
    raw = [row for row in learners if unaided(row) and row["solver.learner"] not in HEADS_KNOWN]
    assert f"learners solve {listed([str(solved_by(raw, tier)) for tier in TIERS])}. provable" in text
    named = [f"{won} of {met} structured {tier}" for (won, met), tier in zip(broken, TIERS, strict=True)]
    assert f"Together they solve {listed(named)} instances" in text


def unaided(row: Row) -> bool:
    """A run of a learner that was handed no structure of the labels, and has no setting chosen on parities."""
    return row["solver.learner"] not in (*HANDED, *SET_ON_PARITIES)


def seconds_of() -> dict[str, float]:
    with (ROOT / "reports" / "stress" / "timings.csv").open(newline="", encoding="utf-8") as file:
        return {line["identity"]: float(line["seconds"]) for line in csv.DictReader(file)}


def test_the_frontier_was_set_too_cautiously(rows: list[Row]) -> None:
    """Its instances were said to take minutes, beside a table of runs in less than a second."""
    taken, text = seconds_of(), plain(page("stress"))
    quickest: dict[str, dict[str, float]] = {"learner": {}, "attack": {}}
    for row in rows:
        if row["status"] == "solved" and row["params.tier"] == "frontier" and row["solver.kind"] in quickest:
            by_instance, name = quickest[row["solver.kind"]], row["params.instance"]
            by_instance[name] = min(taken[row["identity"]], by_instance.get(name, 1e9))
    slowest = {kind: max(by_instance.values()) for kind, by_instance in quickest.items()}
    stated = re.search(
        r"for the (\d+) of its (\d+) instances that learners solve: on each of these the quickest took at most "
        r"([\d.]+) seconds; of attacks, for (\d+), at most ([\d.]+)\.",
        text,
    )
    assert stated
    assert [int(stated[place]) for place in (1, 2, 4)] == [
        len(quickest["learner"]),
        met_by(rows, "frontier"),
        len(quickest["attack"]),
    ]
    for place, kind in ((3, "learner"), (5, "attack")):
        assert slowest[kind] <= float(stated[place]) < 1.1 * slowest[kind] + 0.001
    longest = max(
        taken[row["identity"]] for row in rows if row["solver.kind"] == "attack" and row["status"] == "solved"
    )
    limit = re.search(r"no solved run took more than ([\d.]+) seconds", text)
    assert limit
    assert longest <= float(limit[1]) < 1.1 * longest + 0.001


def test_counts_of_direct_that_its_clock_exceeds_are_named(rows: list[Row]) -> None:
    spent = times()
    longer: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        taken, counting = spent.get(row["identity"]), row["detail.counted"] == "True"
        if counting and taken and float(taken) > float(row["budget.work"]) / 1e9:
            longer[name_of(row)].append(float(taken))
    text = plain(page("stress"))
    stated = re.findall(r"(\d+) runs of (\S+) took ([\d.]+) to ([\d.]+) of these within their count\.", text)
    assert {name: int(runs) for runs, name, _, _ in stated} == {name: len(by) for name, by in longer.items()}
    for _, name, low, high in stated:
        assert 0.99 * min(longer[name]) < float(low) <= min(longer[name])
        assert max(longer[name]) <= float(high) < 1.01 * max(longer[name])


def null_of(row: Row) -> int | None:
    """The number of features of at most the label's degree, of a parity of s bits in d coordinates."""
    if row["family"] != "parity":
        return None
    d, s = int(row["params.dim"]), int(row["params.bits"] or row["params.heads"])
    if row["solver.learner"] in HANDED:
        return (1 + (row["solver.learner"] == "sgd")) * sum(comb(d - 1, j) for j in range(s + 1))
    return sum(comb(2 * d, j) for j in range(2 * s + 2))


def test_no_stopped_field_but_those_named_is_above_its_null(rows: list[Row]) -> None:
    """The column of ratios was empty where runs were stopped, and nothing said that they show no hardness."""
    groups = by_field(rows)
    shown = next(lines for caption, lines in tables("stress").items() if caption.startswith("Every learner"))
    fields, above = 0, []
    for line in shown:
        runs = groups[line[0], line[1]]
        bound, ways = null_of(runs[0]), [ending(row) for row in runs]
        ratio = line[-2]
        if not bound:
            assert line[-3] == ratio == ""
            continue
        assert value_of(line[-3]) == pytest.approx(bound, rel=0.051)
        middle = sorted(float(row["cost"] or 0) for row in runs)[len(runs) // 2]
        if 2 * ways.count("solved") > len(runs):
            assert float(ratio) == pytest.approx(middle_of_solved(runs) / bound, rel=0.006)
        elif 2 * ways.count("stopped at a budget") > len(runs):
            assert ratio.startswith("> ")
            assert middle / bound - 0.001 <= float(ratio[2:]) <= middle / bound
            fields += 1
            above += [f"{line[1]} on {line[0]}"] * (middle > bound)
        else:
            assert ratio == ""
    assert (
        f"In {fields - len(above)} of {fields} fields of parities where most runs were stopped, they were stopped "
        f"below their null (all but {' and '.join(above)})"
    ) in plain(page("stress"))


def middle_of_solved(runs: list[Row]) -> float:
    """The upper median over all runs, those that did not solve at the far end."""
    return sorted(float(row["cost"]) if row["status"] == "solved" else inf for row in runs)[len(runs) // 2]


def by_field(rows: list[Row]) -> dict[tuple[str, str], list[Row]]:
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row["solver.kind"] == "learner":
            groups[row["params.instance"].rpartition("-")[0], name_of(row)].append(row)
    return groups


def test_what_solved_each_kind(rows: list[Row]) -> None:
    """Attacks were once ranked by counts that the page calls incomparable, and learners that tied were not named."""
    shown = next(
        lines for caption, lines in tables("stress").items() if caption.startswith("What every kind")
    )
    names = {
        "learner": name_of,
        "attack": lambda row: row["solver.attack"],
        "game": lambda row: row["solver.strategy"],
    }
    runs: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        kind = row["solver.kind"]
        runs[row["params.instance"].rpartition("-")[0], kind, names[kind](row)].append(row)
    for line in shown:
        for kind, text in zip(("learner", "attack", "game"), line[-3:], strict=True):
            costs = {
                name: (middle_of_solved(some), -sum(row["status"] == "solved" for row in some))
                for (cell, of_kind, name), some in runs.items()
                if (cell, of_kind) == (line[0], kind) and middle_of_solved(some) < inf
            }
            first = min(costs.values(), default=(inf, 0))
            best = sorted(name for name, cost in costs.items() if kind == "attack" or cost == first)
            price = f": {ceil(first[0]):,}" if best and kind != "attack" else ""
            assert text == "; ".join(best) + price


def test_what_is_proved_is_rounded_down(rows: list[Row]) -> None:
    shown = next(
        lines for caption, lines in tables("stress").items() if caption.startswith("What every kind")
    )
    games = [row for row in rows if row["solver.kind"] == "game"]
    (tau,) = {float(row["solver.tolerance"]) for row in games}
    first = {row["params.instance"].rpartition("-")[0]: row for row in rows}
    for line in shown:
        row = first[line[0]]
        d = int(row["params.dim"])
        if row["family"] == "parity":
            sets = comb(d - 1, int(row["params.bits"] or row["params.heads"]))
            exact = log2(8 * (tau / (1 - 2 * float(row["params.flip"] or 0))) ** 2 * (sets - 1))
            assert exact - 0.1 < float(line[3]) <= exact
            assert float(line[2].replace(",", "")) == pytest.approx(log2(sets), rel=0.006)
        elif row["family"] == "rounding":
            exact = log2(8 * tau**2) + d - 1
            assert exact - (0.1 if exact < 100 else 1) < float(line[3]) <= exact
        else:
            assert line[3] == ""


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
    groups = by_field(rows)
    shown = next(lines for caption, lines in tables("stress").items() if caption.startswith("Every learner"))
    words = columns_of(rows)
    assert len(shown) == len(groups)
    for line in shown:
        ways = [ending(row) for row in groups[line[0], line[1]]]
        stated, (cost, limit, *_) = line[3 : 3 + len(words)], line[3 + len(words) :]
        assert [int(cell) for cell in stated] == [ways.count(word) for word in words]
        assert cost.startswith("> ") == (2 * ways.count("stopped at a budget") > len(ways))
        met = {row["detail.limit"] for row in groups[line[0], line[1]] if row["status"] == "budget"}
        assert limit == ", ".join(sorted(met))


def columns_of(rows: list[Row]) -> list[str]:
    """The ways to end that have a column: those of at least one learner run, and solved."""
    met = {ending(row) for row in rows if row["solver.kind"] == "learner"}
    return [word for word in dict.fromkeys(WORDS.values()) if word in met or word == "solved"]


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
        f"Of {len(attacks)} runs of attacks {ends(attacks, 'named a wrong secret')}.",
        f"gets at most {int(cap):,} examples",
        f"Each of {len({game['solver.strategy'] for game in games})} strategies plays one game",
        f"{len(games)} games in all, at tolerance {tolerance} and with {min(queries):,} to {max(queries):,} queries at",
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
    standing, words = standings(groups), columns_of(rows)
    for tier, learner, given, runs, *cells in shown:
        cell_runs = groups[tier, learner]
        aid = "on parities" in given or given == "products of the tokens"
        assert aid == (not unaided(cell_runs[0]))
        assert ("number of heads" in given) == (cell_runs[0]["solver.learner"] in HEADS_KNOWN)
        ways = Counter(map(ending, cell_runs))
        assert [int(runs), *map(int, cells[: len(words)])] == [
            len(cell_runs),
            *(ways[word] for word in words),
        ]
        assert cells[-1] == counts(cell_runs)
        places = cells[len(words) : -1 : 2], cells[len(words) + 1 : -1 : 2]
        for currency, place, mean in zip(CURRENCIES, *places, strict=True):
            if (tier, learner) not in standing[currency]:
                assert place == mean == ""
                continue
            assert place == shown_place((tier, learner), standing[currency])
            exact = standing[currency][tier, learner][2]
            assert value_of(mean) == pytest.approx(exact, rel=0.051 if "·10" in mean else 0.006, abs=1e-5)


def test_nothing_in_the_open_tier_is_solved(rows: list[Row]) -> None:
    assert {row["status"] for row in rows if row["params.tier"] == "open"}.isdisjoint({"solved"})
