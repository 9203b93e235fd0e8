"""How long a whole game of statistical queries on parities of s of n coordinates takes, against the window oracle at
tolerance τ = 0.05. The proved bound is that on queries against this oracle, 8τ²(N−1) for N concepts (theory 2.5).

The strategy characters takes a query for every concept but the last, so that it stands at 1/(8τ²) times the bound
whatever n and s are: 50x at this τ. That number is arithmetic, no measurement. Sign-batch asks of many concepts at
once. A game is played once, after one small game of each strategy. The goals of seconds are set for the larger games of
characters, and the largest of sign-batch is to be solved.
"""

from collections.abc import Iterator
from time import perf_counter

from benchmarks.harness import Row, threads
from hardness.families.concepts import ParityConcepts
from hardness.sq.game import play

TOPIC = "3 SQ games"
# (n, s, strategy, seconds allowed or None)
GAMES = [
    (63, 4, "characters", None),
    (63, 6, "characters", 2.0),
    (63, 8, "characters", 100.0),
    (20, 5, "sign-batch", None),
    (22, 5, "sign-batch", None),
    (24, 5, "sign-batch", None),
]


def rows() -> Iterator[Row]:
    play(ParityConcepts(16, 3), "characters", "window", 0.05)  # compilation
    play(ParityConcepts(16, 3), "sign-batch", "window", 0.05)
    with threads(1):
        for n, s, strategy, allowed in GAMES:
            start = perf_counter()
            result = play(ParityConcepts(n, s), strategy, "window", 0.05)
            seconds = perf_counter() - start
            goals = {} if allowed is None else {f"<= {allowed:g} s": seconds <= allowed}
            if n == 24:
                goals["solved at n = 24"] = result.status == "solved"
            note = f"{result.concepts:.3g} concepts, {result.queries:.3g} queries, {result.ratio:.3g}x the proved bound"
            yield Row(TOPIC, f"{strategy} n={n} s={s}", 1, "game", seconds, note=note).judged(
                goals, miss=f"{note}: {seconds / result.queries * 1e9:.0f} ns a query"
            )
