"""What goes wrong with result files, in one line a user can act on."""

from resolvent.common.errors import ResolventError


class ResultError(ResolventError):
    """A result file is missing, empty or broken, or results do not belong together."""
