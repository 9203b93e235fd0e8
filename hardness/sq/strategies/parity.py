"""The strategies on parities, by name."""

from hardness.sq.strategies.adaptive import adaptive
from hardness.sq.strategies.base import Strategy
from hardness.sq.strategies.bent import bent
from hardness.sq.strategies.characters import characters, low_degree, random_order
from hardness.sq.strategies.flat import flat
from hardness.sq.strategies.gradients import attention_gradient, gradient, mlp_gradient
from hardness.sq.strategies.sign_batch import sign_batch
from hardness.sq.strategies.tables import dependent, spread

STRATEGIES: dict[str, Strategy] = {
    "characters": characters,
    "random": random_order,
    "low-degree": low_degree,
    "sign-batch": sign_batch,
    "bent": bent,
    "adaptive": adaptive,
    "flat": flat,
    "spread": spread,
    "dependent": dependent,
    "gradient": gradient,
    "mlp-gradient": mlp_gradient,
    "attention-gradient": attention_gradient,
}
