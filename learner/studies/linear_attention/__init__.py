"""The study `linear-attention`: what Yau et al. (arXiv 2410.10101) claim of linear attention by regression."""
