"""The base of every error that ends in one line a user can act on."""

Words = str  # what is said to a person: a result does not depend on it


class ResolventError(Exception):
    """An error whose message says to a user what is wrong and what to do about it."""


class FileError(ResolventError):
    """A file is damaged, cannot be read or written, or is being written by another job."""
