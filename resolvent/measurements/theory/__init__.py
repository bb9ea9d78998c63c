"""Measurements of the theorems of Cao (2021) and Calvello et al. (2024) on attention, as tables."""
