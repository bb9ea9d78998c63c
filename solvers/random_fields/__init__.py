"""Gaussian random fields, drawn as coefficients, and the coefficient functions derived from them."""
