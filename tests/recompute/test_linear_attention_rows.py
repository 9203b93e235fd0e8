"""Numbers and tables of linear-attention, recomputed from rows.csv: csv, scipy, nothing of the lab."""

from collections import defaultdict
from statistics import fmean

from committed import Row, rows, summary


def of(family: str, **wanted: str) -> list[Row]:
    return rows("linear-attention", family=family, **wanted)


def test_a_head_is_recovered_at_full_rank_and_never_below():
    printed = summary("linear-attention")["numbers"]
    counts = {"True": [0, 0], "False": [0, 0]}
    for row in of("linear-attention"):
        d = int(row["params.dim"])
        full = row["detail.rank"] == str(d * d * (d + 1) // 2)
        assert row["detail.identifiable"] == str(full)
        counts[str(full)][0] += 1
        counts[str(full)][1] += float(row["detail.error"]) <= 1e-12
    assert [printed[name] for name in ("full", "short")] == [
        {"runs": runs, "exact": exact} for runs, exact in counts.values()
    ]
    assert counts == {"True": [162, 162], "False": [64, 0]}


def test_certified_steps_of_automata_are_right():
    printed, sure, right = summary("linear-attention")["numbers"]["automata"], 0, 0
    shares: dict[float, dict[int, list[float]]] = {times: defaultdict(list) for times in (1.0, 2.0, 3.0)}
    for row in of("automata"):
        share, good, steps = (
            float(row[f"detail.{name}"] or 0) for name in ("certified", "certified_right", "steps")
        )
        sure += round(share * steps)
        right += round(share * steps * good)
        pairs = (states := int(row["params.states"])) * int(row["params.letters"])
        rank = pairs * (pairs * (states - 1) + 1)
        shares.get(int(row["budget.samples"]) / rank, defaultdict(list))[rank].append(share)
    at_rank, *later = ([fmean(runs) for runs in sizes.values()] for sizes in shares.values())
    assert printed["certified"] == [round(100 * share) for share in (min(at_rank), max(at_rank))]
    assert printed["later"] == [int(100 * min(shares)) for shares in later]
    assert sure == right == printed["sure"] == printed["right"] == 2115194
