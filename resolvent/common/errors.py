"""Base class of errors shown to the user as one line with a remedy."""


def printable(text: str) -> str:
    """Return a line with control characters and line breaks escaped.

    Names in foreign files may have them: a terminal would obey them, and a comment would end at them.
    """
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


class ResolventError(Exception):
    """An error with a message for the user: the fault and the remedy.

    A `remedy` given apart can be left out where something else has to be mended first.
    """

    def __init__(self, *fault: object, remedy: str = ""):
        super().__init__(*fault)
        self.remedy = remedy

    def __str__(self) -> str:
        fault = super().__str__()
        return printable(f"{fault}: {self.remedy}" if self.remedy else fault)


class FileError(ResolventError):
    """A file is damaged, cannot be read or written, or is being written by another job."""


class EvaluationError(ResolventError):
    """A user's own metric or baseline cannot be used, or returns an invalid result."""
