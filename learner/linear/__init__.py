"""Linear attention learned by regression, with its certificate (Yau et al. 2024, arXiv 2410.10101)."""
