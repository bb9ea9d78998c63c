"""U-Net of Ronneberger et al. (2015, arXiv:1505.04597)."""
