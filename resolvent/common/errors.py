"""Base class of errors shown to the user as one line with a remedy."""

Words = str  # text for people: no result depends on it


def printable(text: str) -> Words:
    """Return a line with control characters and line breaks escaped.

    Names in foreign files may have them: a terminal would obey them, and a comment would end at them.
    """
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


class ResolventError(Exception):
    """An error with a message for the user: the fault and the remedy."""

    def __str__(self) -> Words:
        return printable(super().__str__())


class FileError(ResolventError):
    """A file is damaged, cannot be read or written, or is being written by another job."""


class EvaluationError(ResolventError):
    """A user's own metric or baseline cannot be used, or returns an invalid result."""
