"""Operators from other publications, mostly the baselines of the papers, with their settings."""
