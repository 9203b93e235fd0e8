"""Sweeps: grids of a user's own, any family with any solver, as studies that resume."""
