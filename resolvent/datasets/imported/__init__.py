"""Datasets whose samples are read from files of others.

`readers` gives the variables of a file. `sources`, `axes`, `channels` and `series` find which part of which
file each sample is, and `files` has the settings and the task that all share. `arrays` takes any arrays, with
the remarks of `arrays_checks`. `labels` solves those of an equation again: `burgers` with `spectrum`, `darcy`
with `darcy_checks`, both with `fits`. `detect` and `check` propose a configuration for a file.
"""
