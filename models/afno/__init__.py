"""The adaptive Fourier neural operator of Guibas et al. (2022)."""
