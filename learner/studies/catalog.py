"""The studies of learners, as the entry point `hardness.studies` offers them."""

from learner.studies import linear_attention, nice_layers, stress, switches
from learner.studies.random_features import tasks as random_features

ROOMS = (stress, nice_layers, switches, random_features, linear_attention)
STUDIES = {room.STUDY.name: room.STUDY for room in ROOMS}
