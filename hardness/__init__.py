"""The hardness lab: instances of attention layers that are provably hard to learn, and what it costs to learn them.

>>> from hardness.families.parity import Parity
>>> from hardness.instance import Instance
>>> instance = Instance.generate(Parity(dim=8, heads=2), seed=0)   # a two-head layer that hides a parity
>>> examples = instance.examples(1000, seed=1)                     # X (1000, 2, 8) of ±1, Y (1000, 2, 8)
>>> layer = instance.layer()                                       # the same function as softmax attention
>>> bool(abs(layer(examples.X) - examples.Y).max() < 1e-9)
True
"""
