"""Errors of trainings, with one-line messages that a user can act on."""

from resolvent.common.errors import ResolventError

NO_NUMBERS = "it holds more than numbers and text, and is not executed"


class TrainingError(ResolventError):
    """A run cannot start or continue: unusable device, damaged checkpoint, or settings unfit for the data."""
