"""What goes wrong in an evaluation, in one line a user can act on."""

from resolvent.common.errors import ResolventError


class EvaluationError(ResolventError):
    """A metric or baseline of a user's own cannot be used, or returns what it must not."""
