"""What goes wrong with a stored dataset, in one line a user can act on."""


class DatasetError(Exception):
    """A store is missing, incomplete, damaged, or does not hold what was asked for."""
