"""The error that a solver raises instead of returning an answer that it cannot stand behind."""


class SolverError(RuntimeError):
    """A run diverged or was under-resolved. The message names the samples, the symptom and the remedy."""
