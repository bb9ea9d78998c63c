"""Readers of third-party files, one for each format, with the common interface `ArraysFile`."""
