"""Sizes that no threshold was chosen on: the layers that phase 6b certifies, and what local search needs for them.

``python -m learner.studies.nice_layers.held_out [HEADS,TOKENS,DIM,EXAMPLES ...]`` prints the lines of the table in
docs/learner.md, section 2; without sizes it prints all of them, in about ten minutes of one processor.
"""

import sys
from collections.abc import Iterable
from time import process_time
from typing import Any

from hardness.evaluation.learning import recovery
from hardness.evaluation.limits import threads_limited
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
COLUMNS = (
    *("(m, k, d)", "examples", "phases 1 to 6 alone", "after phase 6b", "worst error of a head", "certified"),
    *("from the phases' end", "s", "local search: examples", "worst error", "s"),
)


def found(heads: int, tokens: int, dim: int, examples: int, number: int) -> dict[str, Any]:
    """Return what phases 1 to 6b and local search find of the layer of that number, in processor seconds."""
    instance = Instance.generate(Nondegenerate(dim, tokens, heads), INSTANCE + number)
    data = instance.examples(examples, EXAMPLES + number)
    began = process_time()
    learner = Provable(heads, polish=False, random_state=number).fit(data.X, data.Y)
    seconds = process_time() - began
    phases = {phase.name: phase.diagnostics for phase in learner.report_.phases}
    match = learner.layer_ and recovery(learner.layer_, instance.layer(), tokens)
    shown = rows_wanted(heads, tokens, dim)
    began = process_time()
    search = Direct(heads, random_state=number).fit(data.X[:shown], data.Y[:shown])
    search_seconds = process_time() - began
    judged = fresh(instance, JUDGED, FRESH + number)
    return {
        "phases": phases.get("net", {}).get("relative_error", float("inf")),
        "error": learner.report_.certified_error if match else float("inf"),
        "worst": match["worst"] if match else float("inf"),
        "certified": learner.report_.certified,
        "from_phases": phases["every head"]["start"] == PHASES,
        "seconds": seconds,
        "shown": search.report_.examples,
        "searched": relative_error(search.predict(judged.X), judged.Y),
        "search_seconds": search_seconds,
    }


def line(heads: int, tokens: int, dim: int, examples: int) -> tuple[str, ...]:
    """Return the cells of a size: least and largest values over its layers, and mean seconds."""
    layers = [found(heads, tokens, dim, examples, number) for number in range(LAYERS)]
    columns = {name: [layer[name] for layer in layers] for name in layers[0]}
    spans = {name: f"{min(values):.2g} to {max(values):.2g}" for name, values in columns.items()}
    return (
        f"({heads},{tokens},{dim})",
        f"{examples:,}",
        *(spans[name] for name in ("phases", "error", "worst")),
        f"{sum(columns['certified'])} of {LAYERS}",
        f"{sum(columns['from_phases'])}",
        f"{sum(columns['seconds']) / LAYERS:.2g}",
        f"{columns['shown'][0]:,}",
        f"{max(columns['searched']):.1g}",
        f"{sum(columns['search_seconds']) / LAYERS:.1g}",
    )


def main(sizes: Iterable[str]) -> None:
    """Print the lines of the sizes named, of all if there are none."""
    chosen = [map(int, size.split(",")) for size in sizes] or SIZES
    for cells in (COLUMNS, ["---"] * len(COLUMNS)):
        print(f"| {' | '.join(cells)} |")
    with threads_limited(1):  # of which the time is that of one processor
        for heads, tokens, dim, examples in chosen:
            print(f"| {' | '.join(line(heads, tokens, dim, examples))} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
