"""What all attacks share: planted secrets fall, what is out of reach is refused, random labels are never solved."""

import pytest
from attack_examples import centred, examples, planted, support

from hardness import registry

GADGETS = ("diag", "dot")
PARITIES = [  # attack, n, s, rows, further options
    *(
        ("gaussian", n, s, 4 * n + 200, {"gadget": gadget})
        for n, s in ((5, 2), (31, 4), (63, 6), (64, 7), (130, 20))
        for gadget in GADGETS
    ),
    ("gaussian", 31, 5, 6000, {"flip": 0.1}),
    *(
        ("search", n, s, 2000, {"gadget": gadget})
        for n, s in ((12, 1), (20, 3), (63, 6), (100, 4))
        for gadget in GADGETS
    ),
    *(("search", n, s, 8000, {"flip": flip}) for n, s, flip in ((40, 4, 0.1), (63, 5, 0.15), (90, 4, 0.2))),
]
ROUNDINGS = [  # attack, n, q, p, rows, further options
    *(("gaussian", 24, q, p, 500, {}) for q, p in ((97, 97), (12, 12), (2, 2), (97, 90), (8, 8))),
    *(("bkw", n, 97, p, 24_000, {}) for n, p in ((28, 2), (24, 4))),
    ("bkw", 16, 17, 2, 24_000, {"gadget": "dot"}),
    ("bkw", 20, 97, 8, 24_000, {"noise": 2.0}),
    *(("lattice", n, 97, p, rows, {}) for n, p, rows in ((32, 4, 40_000), (40, 8, 40_000), (16, 4, 4000))),
    ("lattice", 16, 17, 2, 40_000, {"gadget": "dot"}),
    ("lattice", 20, 97, 8, 40_000, {"noise": 2.0}),
]
REFUSED = [  # attack, n, q, p, weight, rows, further options, words of the reason
    ("gaussian", 16, 97, 4, None, 400, {}, "several residues"),
    ("gaussian", 63, 2, 2, 4, 60, {}, ""),
    ("means", 8, 17, 2, None, 300, {}, "no parities"),
    ("means", 8, 2, 2, 3, 300, {"flip": 0.4}, "are needed"),
    ("search", 32, 97, 4, None, 500, {}, "hidden sets"),
    ("search", 63, 2, 2, 20, 1000, {}, ""),
    ("bkw", 40, 97, 2, None, 3000, {}, "2^10.2 informative rows"),
    ("bkw", 20, 2, 2, 3, 400, {}, ""),
    ("lattice", 80, 17, 2, None, 3000, {}, "out of reach"),
    ("lattice", 20, 2, 2, 3, 400, {}, ""),
]


def attacked(name, *data, **options):
    if name == "lattice":
        pytest.importorskip("fpylll", reason="extra `lattice`")
    return registry.get("attack", name)(*data, **options)


@pytest.mark.parametrize(("attack", "n", "s", "rows", "options"), PARITIES)
def test_parities_fall(attack, n, s, rows, options):
    w = planted(n, 2, s)
    outcome = attacked(attack, *examples(w, 2, 2, count=rows, seed=s, **options))
    assert (outcome.status, outcome.secret) == ("solved", support(w))


@pytest.mark.parametrize(("attack", "n", "q", "p", "rows", "options"), ROUNDINGS)
def test_roundings_fall(attack, n, q, p, rows, options):
    w = planted(n, q, options.get("weight"))
    outcome = attacked(attack, *examples(w, q, p, count=rows, seed=1, parity=False, **options))
    assert outcome.status == "solved"
    assert outcome.secret == centred(w, q)


@pytest.mark.parametrize(("attack", "n", "q", "p", "weight", "rows", "options", "words"), REFUSED)
def test_refusals_come_before_the_work_with_their_reason(attack, n, q, p, weight, rows, options, words):
    outcome = attacked(attack, *examples(planted(n, q, weight), q, p, count=rows, seed=0, **options))
    assert (outcome.status, outcome.secret) == ("refused", None)
    assert words in outcome.detail["reason"]
    assert outcome.seconds < 10
    assert "trials" not in outcome.detail


@pytest.mark.parametrize(
    ("attack", "n", "q", "p", "rows", "public", "budget"),
    [
        ("gaussian", 31, 2, 2, 400, {}, None),
        ("bkw", 20, 97, 2, 20_000, {}, None),
        ("lattice", 24, 17, 4, 3000, {}, 1),
    ],
)
def test_labels_without_a_secret_are_never_solved(attack, n, q, p, rows, public, budget):
    """All noise, and the public data say that there is none."""
    X, Y, shown = examples(planted(n, q), q, p, count=rows, seed=0, noise=1e6, flip=0.5)
    outcome = attacked(attack, X, Y, shown | {"noise": 0.0, "flip": 0.0} | public, budget=budget)
    assert outcome.status in ("wrong", "budget")
    assert outcome.secret is None


@pytest.mark.parametrize(
    ("attack", "n", "q", "p", "rows"),
    [("gaussian", 31, 2, 2, 6000), ("bkw", 20, 97, 2, 10_000), ("lattice", 24, 97, 4, 10_000)],
)
def test_the_same_seed_is_the_same_attack_and_no_budget_is_no_try(attack, n, q, p, rows):
    data = examples(planted(n, q), q, p, count=rows, seed=1, flip=0.1 * (q == 2))
    assert attacked(attack, *data, seed=5).detail == attacked(attack, *data, seed=5).detail
    assert attacked(attack, *data, budget=0).status in ("budget", "refused")
