"""Operator-learning tasks by name, their Zarr stores, and how training reads them."""
