"""The transformer neural operators of Calvello et al. (2024)."""
