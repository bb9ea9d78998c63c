"""DeepONet of Lu et al. (2021, arXiv:1910.03193)."""
