"""The study `random-features`: what the abstract of Fu, Guo, Bai and Mei (arXiv 2307.11353) claims."""
