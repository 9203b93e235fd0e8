"""Timing in interleaved rounds, rows of the table, yardsticks of the machine, growth exponents.

Other processes slow this machine down for seconds at a time, so a time is never compared with a time of another
minute: a round runs ours, every peer and the yardstick one after the other, and what is reported is the median over
rounds of the ratios within a round, with their quartiles. Every thread, ours and a peer's, has a processor of its own:
a kernel of an operating system may put two threads that have just woken up on the same one.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import cycle, islice
from time import perf_counter, sleep
from typing import Any

import numpy as np

Call = Callable[[], Any]
LEAST = 2e-3  # seconds that a measurement lasts at least: it repeats a shorter call
QUARTERED = 3  # rounds from which quartiles are stated
# Entrants that are code of the lab, not of somebody else: the page calls them references, and the others peers.
REFERENCES = frozenset(
    {"the dense student", "the step without", "plain numpy", "lbfgs", "lbfgs, few rows", "adam"}
)
PAUSE = 0.01  # seconds before each, in which threads that still wait for work fall asleep
PROCESSORS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


@dataclass(frozen=True)
class Times:
    """Seconds a call, (rounds,) of each entrant; entrants of one round ran within the same moment."""

    seconds: Mapping[str, np.ndarray]

    @property
    def rounds(self) -> int:
        return min(map(len, self.seconds.values()))

    def median(self, name: str) -> float:
        return float(np.median(self.seconds[name]))

    def ratio(self, name: str, over: str) -> tuple[float, float, float]:
        """Median and quartiles over rounds of the seconds of `name` over those of `over`."""
        low, middle, high = np.quantile(self.seconds[name] / self.seconds[over], [0.25, 0.5, 0.75])
        return float(middle), float(low), float(high)

    def scaled(self, factors: Mapping[str, float]) -> "Times":
        """The same with the seconds of some entrants times a factor: they were given less to do."""
        return Times({name: seconds * factors.get(name, 1.0) for name, seconds in self.seconds.items()})

    def fastest(self, names: Sequence[str]) -> str:
        return min(names, key=self.median)


def race(
    entrants: Mapping[str, Call], seconds: float = 1.0, minimum: int = 5, clock: Call = perf_counter
) -> Times:
    """Rounds of all entrants, at least `minimum` of them, until `seconds` are over, after a call of each."""
    repeats = {}
    for name, call in entrants.items():
        took = _time(call, 1, clock)
        if took < 5:  # the first call may have compiled something
            took = _time(call, 1, clock)
        repeats[name] = max(1, round(LEAST / max(took, 1e-9)))
    rounds: list[list[float]] = []
    end = clock() + seconds
    while len(rounds) < minimum or clock() < end:
        rounds.append([])
        for name, call in entrants.items():
            sleep(PAUSE if clock is perf_counter else 0)
            rounds[-1].append(_time(call, repeats[name], clock))
    return Times(dict(zip(entrants, np.array(rounds).T, strict=True)))


def _time(call: Call, repeats: int, clock: Call) -> float:
    start = clock()
    for _ in range(repeats):
        call()
    return (clock() - start) / repeats


@dataclass(frozen=True)
class Row:
    """A line of the table: seconds for one `unit`, ours and the fastest peer's, and their ratio (theirs over ours).

    `low` and `high` are the quartiles of that ratio over rounds, None for fewer than `QUARTERED`; `over_yardstick` is
    our time over the yardstick's. `met` and `missed` name goals; `note` gives what was measured of a miss's
    parts, or says what is special.
    """

    topic: str
    case: str
    threads: int
    unit: str = ""
    ours: float | None = None
    peer: str = ""
    theirs: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    yardstick: str = ""
    over_yardstick: float | None = None
    met: str = ""
    missed: str = ""
    note: str = ""

    def judged(self, goals: Mapping[str, bool], *, yardstick: str = "", miss: str = "") -> "Row":
        """The row with its goals and whether each is reached, the name of its yardstick, and what to say of a miss."""
        met, missed = (
            "; ".join(name for name in goals if goals[name] == reached) for reached in (True, False)
        )
        return replace(self, met=met, missed=missed, yardstick=yardstick, note=miss if missed else self.note)


def row(topic: str, case: str, count: int, times: Times, units: float = 1.0, unit: str = "call") -> Row:
    """The row of a race of "ours", any peers, and perhaps "yardstick"; a call does `units` units."""
    peers = [name for name in times.seconds if name not in ("ours", "yardstick")]
    measured = Row(topic, case, count, unit, times.median("ours") / units)
    if "yardstick" in times.seconds:
        measured = replace(measured, over_yardstick=times.ratio("ours", "yardstick")[0])
    if peers:
        peer = times.fastest(peers)
        ratio, low, high = times.ratio(peer, "ours")
        measured = replace(measured, peer=peer, theirs=times.median(peer) / units, ratio=ratio)
        if times.rounds >= QUARTERED:
            measured = replace(measured, low=low, high=high)
    return measured


@contextmanager
def threads(count: int) -> Iterator[None]:
    """`count` threads for OpenMP and torch, and one for BLAS: ours shares its work among threads itself (`shared`)."""
    from threadpoolctl import threadpool_limits

    torch = optional("torch")
    if torch:
        torch.set_num_threads(count)
    with threadpool_limits(count, "openmp"), threadpool_limits(1, "blas"):
        yield


def shared(work: Callable[[int], Any], count: int) -> Call:
    """A call of `work` with each of 0..count - 1, side by side on as many threads."""
    if count == 1:
        return lambda: work(0)
    pool = team(count)
    return lambda: list(pool.map(work, range(count)))


def team(count: int) -> ThreadPoolExecutor:
    """`count` threads, each bound to a processor of its own where the system can do that."""
    places = islice(cycle(PROCESSORS), count)
    return ThreadPoolExecutor(
        count, initializer=lambda: PROCESSORS and os.sched_setaffinity(0, {next(places)})
    )


def optional(name: str) -> Any:
    """A module that may be absent, or None."""
    try:
        return import_module(name)
    except ImportError:
        return None


def absent(topic: str, names: Mapping[str, Any]) -> Iterator[Row]:
    """A row for every peer that is not installed here."""
    for name, module in names.items():
        if module is None:
            yield Row(topic, "absent", 1, peer=name, note=f"{name} is not installed: not compared")


def blas_rate(kind: type = np.float64) -> float:
    """Floating-point operations a second of a product of 1024 x 1024 matrices of a kind, the fastest of ten."""
    a = np.random.default_rng(0).random((1024, 1024)).astype(kind)
    return 2 * 1024**3 / min(_time(lambda: a @ a, 1, perf_counter) for _ in range(10))


def memory_rate() -> float:
    """Bytes a second, read and written, of one pass in place over 256 MiB, the fastest of five."""
    a = np.ones(1 << 25)
    return 2 * a.nbytes / min(_time(lambda: np.negative(a, out=a), 1, perf_counter) for _ in range(5))


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> tuple[float, float, float]:
    """Slope of log seconds in log size by least squares, and its 95 % interval (low, high).

    >>> exponent([1, 2, 4, 8], [3, 12, 48, 192])
    (2.0, 2.0, 2.0)
    """
    from scipy.stats import linregress, t

    fit = linregress(np.log(sizes), np.log(seconds))
    half = float(t.ppf(0.975, len(sizes) - 2) * fit.stderr) if len(sizes) > 2 else float("nan")
    return tuple(round(float(x), 12) for x in (fit.slope, fit.slope - half, fit.slope + half))
