"""Linear attention learned by regression: features, certificate, heads, and the estimator."""


def __getattr__(name: str) -> object:
    if name != "LinearAttention":
        raise AttributeError(f"module 'learner.linear' has no attribute '{name}'")
    from learner.linear.regressor import LinearAttention  # late: grids count features without the estimator

    return LinearAttention
