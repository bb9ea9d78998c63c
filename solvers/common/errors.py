"""The error that a solver raises instead of returning an answer that it cannot stand behind."""

Words = str  # what is said to a person: a result does not depend on it
CHECK: Words = "check where it comes from"


class SolverError(RuntimeError):
    """A run diverged or was under-resolved. Its arguments are the finding and, where known, the remedy."""

    @property
    def finding(self) -> str:
        """Return what is wrong with which samples, without the remedy."""
        return str(self.args[0])

    def __str__(self) -> str:
        return "; ".join(map(str, self.args))
