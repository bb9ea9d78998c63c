"""Losses, metrics, fitting, evaluation and yardsticks: everything between a store and its result files."""
