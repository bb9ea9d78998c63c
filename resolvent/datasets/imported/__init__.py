"""Datasets whose samples are read from files of others.

`readers` gives the variables of a file. `sources` and `series` find which part of which file each sample is,
`axes` what its axes are. `arrays` has the settings and the task of any arrays, with the remarks of
`arrays_checks`. `labels` solves those of an equation again, and fits its parameters: `burgers` and `darcy`.
`detect` and `check` propose a configuration for a file.
"""
