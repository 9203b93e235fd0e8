"""Instances: what they are, how they are written, and how files that may come from anybody are read."""

from hardness.instance.instance import Check as Check
from hardness.instance.instance import Instance as Instance
from hardness.instance.instance import every_pair as every_pair
from hardness.instance.instance import generate as generate
from hardness.instance.instance import load as load
