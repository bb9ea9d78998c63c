"""What goes wrong with a run, in one line a user can act on."""

from resolvent.common.errors import ResolventError, Words

NO_NUMBERS: Words = "it holds more than numbers and text, and is not executed"


class TrainingError(ResolventError):
    """A run cannot start or go on: unusable device, damaged checkpoint, settings that do not fit the data."""
