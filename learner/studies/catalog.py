"""The studies of learners, as the entry point `hardness.studies` offers them."""

from learner.studies import (
    associative_memory,
    automata,
    linear_attention,
    nice_layers,
    random_features,
    switches,
    universal_machine,
)

ROOMS = (
    nice_layers,
    switches,
    random_features,
    linear_attention,
    associative_memory,
    automata,
    universal_machine,
)
STUDIES = {room.STUDY.name: room.STUDY for room in ROOMS}
