"""The studies of learners, as the entry point `hardness.studies` offers them."""

from learner.studies import exponential_in_m, linear_attention, nice_layers, random_features, stress, switches

ROOMS = (exponential_in_m, stress, nice_layers, switches, random_features, linear_attention)
STUDIES = {room.STUDY.name: room.STUDY for room in ROOMS}
