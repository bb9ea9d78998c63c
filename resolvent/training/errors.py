"""What goes wrong with a run, in one line a user can act on."""

from resolvent.common.errors import ResolventError


class TrainingError(ResolventError):
    """A run cannot start or go on: unusable device, damaged checkpoint, settings that do not fit the data."""
