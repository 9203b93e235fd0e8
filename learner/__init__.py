"""Learners of a multi-head attention layer: the provable one and those it is compared with."""
