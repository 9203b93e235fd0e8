"""The studies of learners, as the entry point `hardness.studies` offers them; one is imported when it is asked for."""

ROOMS = ("exponential-in-m", "stress", "nice-layers", "switches", "random-features", "linear-attention")
STUDIES = {name: f"learner.studies.{name.replace('-', '_')}:STUDY" for name in ROOMS}
