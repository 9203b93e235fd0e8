"""The exact value of a small class as data that can be checked: a strategy, and why no strategy does better."""

from hardness.sq.exact import exact_floor
from hardness.sq.small_games import Ask, Refutation, SmallGames

Concepts = tuple[int, ...]


def winning(games: SmallGames, concepts: Concepts) -> dict[Concepts, Ask]:
    """First queries of a best strategy on all that answers may leave of a class, smaller sets first.

    >>> {len(live) for live in winning(SmallGames(0.2), (3, 5, 6))}
    {2, 3}
    """
    known: dict[Concepts, Ask] = {}
    _win(games, concepts, known)
    return known


def refutations(games: SmallGames, concepts: Concepts, least: int) -> dict[Concepts, tuple[int, Refutation]]:
    """Proofs that sets of concepts take so many queries, each after those it rests on, the last about the class.

    Theorem B's floor needs no entry, and a larger set rests on the entry of a smaller one.

    >>> plane = (0, 1, 2, 3)
    >>> [(live, height) for live, (height, _) in refutations(SmallGames(0.15), plane, 3).items()][-1]
    ((0, 1, 2, 3), 3)
    """
    known: dict[Concepts, tuple[int, Refutation]] = {}
    _refute(games, concepts, least, known)
    return known


def _win(games: SmallGames, live: Concepts, known: dict[Concepts, Ask]) -> None:
    """The first query of a best strategy on each set of concepts that an answer may leave, smaller sets first."""
    if len(live) == 1 or live in known:
        return
    ask = games.decide(live, games.value(live))
    assert isinstance(ask, Ask)
    means = dict(zip(live, ask.means, strict=True))
    for low in sorted(set(ask.means)):
        _win(games, tuple(m for m in live if low <= means[m] <= low + 2 * games.tau), known)
    known[live] = ask


def _refute(games: SmallGames, live: Concepts, height: int, known: dict[Concepts, tuple[int, Refutation]]) -> None:
    """Prove V(live) >= height: by theorem B, by a smaller set, or by a refutation after those that it rests on."""
    if exact_floor(len(live), games.tau) >= height or (live in known and known[live][0] >= height):
        return
    fewer = [live[:i] + live[i + 1 :] for i in range(len(live))]
    hard = next((some for some in fewer if games.value(some) >= height), None)
    if hard:
        _refute(games, hard, height, known)
        return
    proof = games.decide(live, height - 1)
    assert isinstance(proof, Refutation)
    for leaf in proof.leaves:
        for a, b in leaf.pairs:
            since = leaf.beginning[leaf.beginning.index(a) :]
            kept = since[: since.index(b) + 1] if b in since else (*since, b)
            _refute(games, tuple(sorted(kept)), height - 1, known)
    known[live] = height, proof
