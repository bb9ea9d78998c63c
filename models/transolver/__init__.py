"""Transolver of Wu et al. (2024, arXiv:2402.02366)."""
