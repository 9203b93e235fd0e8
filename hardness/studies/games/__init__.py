"""The study `games`: strategies against the greedy window, on parities and on rounded inner products."""
