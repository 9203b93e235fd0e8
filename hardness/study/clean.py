"""The name under which stored tasks know the null control."""

from hardness.study.apart import Constant

__all__ = ["Constant"]
