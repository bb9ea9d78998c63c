"""The Fourier and Galerkin transformers of Cao (2021)."""
