"""Datasets: operator-learning tasks, their Zarr stores, and reading for training and evaluation."""
