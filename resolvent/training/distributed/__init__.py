"""Distributed data-parallel training of one run."""
