"""Compiled loops that no formula of the theory needs by name: bits, transforms, eliminations, searches."""
