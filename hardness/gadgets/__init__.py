"""Heads that compute a function of a level (theory 1)."""
