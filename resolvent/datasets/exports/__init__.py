"""Datasets of ours, written in the layouts that others read."""
