"""Datasets whose samples are read from third-party files.

`readers` open files and list their variables. `sources` and `series` locate each sample in the files, `axes`
identifies axes and grids. `files` has the base classes, `arrays` settings and task of arbitrary arrays, with
the sanity checks of `arrays_checks`. For known equations, `labels` solves the labels again, also
under other named conventions (`burgers`, `darcy`). `layouts` and `check` propose a configuration for a file.
"""
