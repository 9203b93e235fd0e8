"""Linear attention learned by regression: the estimator and what surrounds it, in one place (see `learner.linear`)."""

from learner.linear.certificate import Certificate, certificate
from learner.linear.features import attention, feature_count, features, kernel, lift, parameters
from learner.linear.heads import fit_heads, gauge_heads, parameter_distance, svd_heads
from learner.linear.regressor import LinearAttention

__all__ = [
    "Certificate",
    "LinearAttention",
    "attention",
    "certificate",
    "feature_count",
    "features",
    "fit_heads",
    "gauge_heads",
    "kernel",
    "lift",
    "parameter_distance",
    "parameters",
    "svd_heads",
]
