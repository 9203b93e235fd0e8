"""Lower bounds on statistical queries: each statement with its source, a proof sketch and its number."""
