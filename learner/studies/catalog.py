"""The studies of learners, as the entry point `hardness.studies` offers them."""

from learner.studies import (
    anatomy,
    associative_memory,
    automata,
    critical_rho,
    learner_scaling,
    linear_attention,
    random_features,
    rarity,
    search_gap,
    switches,
    universal_machine,
)

ROOMS = (
    rarity,
    learner_scaling,
    anatomy,
    critical_rho,
    search_gap,
    switches,
    random_features,
    linear_attention,
    associative_memory,
    automata,
    universal_machine,
)
STUDIES = {room.STUDY.name: room.STUDY for room in ROOMS}
