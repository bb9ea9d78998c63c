"""The base of every error that ends in one line a user can act on."""

Words = str  # what is said to a person: a result does not depend on it


def printable(text: str) -> Words:
    """Return a line in which control characters and line breaks, as foreign names have them, are written out.

    A terminal would obey them, and a comment end at them.
    """
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


class ResolventError(Exception):
    """An error whose message says to a user what is wrong and what to do about it."""

    def __str__(self) -> Words:
        return printable(super().__str__())


class FileError(ResolventError):
    """A file is damaged, cannot be read or written, or is being written by another job."""


class EvaluationError(ResolventError):
    """A metric or baseline of a user's own cannot be used, or returns what it must not."""
