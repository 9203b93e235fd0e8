"""Files of the lab: whole or not at all, no pickle, checked against their schemas."""
