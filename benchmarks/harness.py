"""Races in processor time on one thread, and the rows that they make.

Other processes slow a machine down for seconds at a time, so a time is never compared with a time of another minute. A
round runs ours and every peer one after the other; what is reported is the median over rounds of the ratios within a
round, with their quartiles. Processor time counts all threads of the process, and not what other processes take.
"""

import csv
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

Call = Callable[[], Any]
LEAST = 2e-3  # seconds that a measurement lasts at least: a shorter call is repeated
# How a race is kept to one thread; read by libraries when they are loaded.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


@dataclass(frozen=True)
class Row:
    """A line of rows.csv: seconds for one `unit` of ours and of a peer, and their ratio, theirs over ours.

    `low` and `high` are the quartiles of the ratio over `rounds`, and `load` is the machine's mean number of running
    processes during the last minute. Without a peer, `peer` and `version` are empty and all that is theirs is None.
    """

    topic: str
    case: str
    unit: str
    ours: float
    peer: str = ""
    version: str = ""
    theirs: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    rounds: int = 1
    load: float = 0.0

    @property
    def verdict(self) -> str:
        """Return "ahead" or "behind" if the quartiles lie on one side of 1, else "level"."""
        assert self.low is not None
        assert self.high is not None
        return "ahead" if self.low > 1 else "behind" if self.high < 1 else "level"


def race(
    entrants: Mapping[str, Call], seconds: float = 1.0, minimum: int = 7, clock: Call = process_time
) -> dict[str, np.ndarray]:
    """Return the seconds a call of every entrant in every round, (rounds,) each.

    There are at least `minimum` rounds, and as many more as begin within `seconds`. Every entrant is called before, so
    that nothing is compiled in a round.
    """
    repeats = {}
    for name, call in entrants.items():
        call()
        repeats[name] = max(1, round(LEAST / max(_time(call, 1, clock), 1e-9)))
    rounds: list[list[float]] = []
    end = clock() + seconds
    while len(rounds) < minimum or clock() < end:
        rounds.append([_time(call, repeats[name], clock) for name, call in entrants.items()])
    return dict(zip(entrants, np.array(rounds).T, strict=True))


def _time(call: Call, repeats: int, clock: Call) -> float:
    start = clock()
    for _ in range(repeats):
        call()
    return float(clock() - start) / repeats


def compared(
    topic: str,
    case: str,
    unit: str,
    entrants: Mapping[str, Call],
    units: Mapping[str, float],
    seconds: float = 1.0,
    minimum: int = 7,
) -> Iterator[Row]:
    """Race "ours" with its peers, and yield a row for each peer; a call of an entrant does `units` of it.

    A peer is named "package: formulation".
    """
    times = {name: each / units[name] for name, each in race(entrants, seconds, minimum).items()}
    ours = float(np.median(times["ours"]))
    for name in [name for name in times if name != "ours"]:
        low, middle, high = np.quantile(times[name] / times["ours"], [0.25, 0.5, 0.75]).tolist()
        theirs, package = float(np.median(times[name])), name.partition(":")[0]
        ratios = {"theirs": theirs, "ratio": middle, "low": low, "high": high}
        counted = {"rounds": len(times[name]), "load": os.getloadavg()[0]}
        yield Row(topic, case, unit, ours, name, version_of(package), **ratios, **counted)


def version_of(package: str) -> str:
    """Return the version of a package, or of the one library that is none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "20200125" if package == "libm4ri" else "absent"


def optional(name: str) -> Any:
    """Return a module that may be absent, or None."""
    try:
        return import_module(name)
    except ImportError:
        return None


def write_rows(rows: list[Row], path: Path) -> None:
    """Write rows as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file of `write_rows`."""
    texts = ("topic", "case", "unit", "peer", "version")
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    return [
        Row(
            **{name: text for name, text in line.items() if name in texts},
            **{
                name: (int(text) if name == "rounds" else float(text)) if text else None
                for name, text in line.items()
                if name not in texts
            },
        )
        for line in lines
    ]
