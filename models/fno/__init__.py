"""The Fourier neural operators of Li et al. (2021)."""
