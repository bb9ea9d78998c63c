"""Readers of files that others have made: one for each format, all behind `ArraysFile`."""
