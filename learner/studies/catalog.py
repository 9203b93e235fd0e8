"""The studies of learners, as the entry point `hardness.studies` offers them."""

from learner.studies import linear_attention, nice_layers, switches
from learner.studies.random_features import tasks as random_features

ROOMS = (nice_layers, switches, random_features, linear_attention)
STUDIES = {room.STUDY.name: room.STUDY for room in ROOMS}
