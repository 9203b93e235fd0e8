"""Sizes that no threshold was chosen on: the layers that phase 6b certifies, and what local search needs for them.

``python -m learner.studies.nice_layers.held_out [HEADS,TOKENS,DIM,EXAMPLES ...]`` prints the lines of the table in
docs/learner.md, section 2; without sizes it prints all of them, in about ten minutes of one processor.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from time import process_time

from hardness.errors import InputError
from hardness.evaluation.learning import recovery
from hardness.families.nondegenerate import Nondegenerate
from hardness.instance import Instance
from hardness.scores import fresh, relative_error
from learner.direct import Direct
from learner.provable.heads import rows_wanted
from learner.provable.pipeline import PHASES, Provable

LAYERS = 3  # of a size
JUDGED = 2000  # fresh examples of local search
INSTANCE, EXAMPLES, FRESH = 900, 1900, 2900  # seeds of the first layer; the next ones have the next seeds
SIZES = (  # heads, tokens, dim, examples
    (4, 2, 14, 20_000),
    (3, 3, 14, 30_000),
    (2, 4, 14, 20_000),
    (5, 2, 18, 40_000),
    (6, 2, 22, 60_000),
    (4, 3, 18, 60_000),
    (3, 4, 18, 60_000),
    (8, 2, 22, 60_000),
    (5, 3, 22, 60_000),
)
HEADER = (
    "| (m, k, d) | examples | phases 1 to 6 alone | after phase 6b | worst error of a head | certified "
    "| from the phases' end | s | local search: worst error | examples | s |"
)


@dataclass(frozen=True)
class Found:
    """Errors of one layer: of phases 1 to 6 (None if they refuse), after phase 6b, of its worst head; and seconds.

    `searched` is the error of local search on fresh examples, of which it was given `shown`.
    """

    phases: float | None
    certified_error: float
    worst: float
    from_phases: bool
    seconds: float
    searched: float
    shown: int
    search_seconds: float


def found(heads: int, tokens: int, dim: int, examples: int, number: int) -> Found:
    """Return what phases 1 to 6b and local search find of the layer of that number; times are processor seconds.

    >>> layer = found(1, 2, 8, 2000, 0)
    >>> layer.certified_error < 1e-8, layer.worst < 1e-7, layer.searched < 1e-12
    (True, True, True)
    """
    instance = Instance.generate(Nondegenerate(dim, tokens, heads), INSTANCE + number)
    data = instance.examples(examples, EXAMPLES + number)
    began = process_time()
    learner = Provable(heads, polish=False, random_state=number).fit(data.X, data.Y)
    seconds = process_time() - began
    phases = {phase.name: phase.diagnostics for phase in learner.report_.phases}
    match = None if learner.layer_ is None else recovery(learner.layer_, instance.layer(), tokens)
    count = rows_wanted(heads, tokens, dim)
    began = process_time()
    search = Direct(heads, random_state=number).fit(data.X[:count], data.Y[:count])
    search_seconds = process_time() - began
    judged = fresh(instance, JUDGED, FRESH + number)
    return Found(
        phases.get("net", {}).get("relative_error"),
        float("inf") if match is None else float(learner.report_.certified_error or 0.0),
        float("inf") if match is None else match["worst"],
        phases["every head"]["start"] == PHASES,
        seconds,
        relative_error(search.predict(judged.X), judged.Y),
        search.report_.examples,
        search_seconds,
    )


def line(heads: int, tokens: int, dim: int, examples: int) -> str:
    """Return the line of a size: least and largest values over its layers, and mean seconds."""
    layers = [found(heads, tokens, dim, examples, number) for number in range(LAYERS)]
    cells = (
        f"({heads},{tokens},{dim})",
        f"{examples:,}",
        _range([layer.phases for layer in layers if layer.phases is not None]),
        _range([layer.certified_error for layer in layers]),
        _range([layer.worst for layer in layers]),
        f"{sum(layer.certified_error <= 0.1 for layer in layers)} of {LAYERS}",
        f"{sum(layer.from_phases for layer in layers)}",
        f"{sum(layer.seconds for layer in layers) / LAYERS:.2g}",
        f"{max(layer.searched for layer in layers):.1g}",
        f"{layers[0].shown:,}",
        f"{sum(layer.search_seconds for layer in layers) / LAYERS:.1g}",
    )
    return f"| {' | '.join(cells)} |"


def _range(values: Sequence[float]) -> str:
    """Return the least and the largest value with two digits."""
    return f"{min(values):.2g} to {max(values):.2g}" if values else "–"


def main(sizes: Sequence[str]) -> None:
    """Print the lines of the sizes named, of all if there are none."""
    try:
        chosen = [tuple(map(int, size.split(","))) for size in sizes] or list(SIZES)
        if any(len(size) != 4 for size in chosen):
            raise ValueError
    except ValueError as error:
        raise InputError("a size is HEADS,TOKENS,DIM,EXAMPLES, for example 4,2,14,20000") from error
    print(HEADER)
    print("|" + "---|" * (HEADER.count("|") - 1))
    for heads, tokens, dim, examples in chosen:
        print(line(heads, tokens, dim, examples), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
