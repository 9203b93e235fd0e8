"""Statistical queries: oracles, adversaries, strategies, games and the bounds they are held against."""
