"""Gaussian random fields, drawn as coefficients, and the coefficients of equations made from them."""
