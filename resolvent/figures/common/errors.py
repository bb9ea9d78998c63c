"""Errors in result files, as one line with a remedy."""

from resolvent.common.errors import ResolventError


class ResultError(ResolventError):
    """A result file is missing, empty or broken, or results do not belong together."""
