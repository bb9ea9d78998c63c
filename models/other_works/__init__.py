"""Operators of other works, mostly the baselines of the papers, with their settings."""
