"""What goes wrong with result files, in one line a user can act on."""


class ResultError(ValueError):
    """A result file is missing, empty or broken, or results do not belong together."""
