"""The studies of learners, as the entry point `hardness.studies` offers them."""

from learner.studies import (
    anatomy,
    associative_memory,
    automata,
    learner_scaling,
    linear_attention,
    random_features,
    rarity,
    universal_machine,
)

ROOMS = (
    rarity,
    learner_scaling,
    anatomy,
    random_features,
    linear_attention,
    associative_memory,
    automata,
    universal_machine,
)
STUDIES = {room.STUDY.name: room.STUDY for room in ROOMS}
