"""Losses, metrics, fitting, evaluation and baselines: everything between a store and its result files."""
