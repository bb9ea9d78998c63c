"""The exception of solvers that cannot return a reliable answer."""

CHECK = "check where it comes from"


class SolverError(RuntimeError):
    """A run diverged or was under-resolved. Its arguments are the finding and, if known, the remedy."""

    @property
    def finding(self) -> str:
        """Return the problem and the samples, without the remedy."""
        return str(self.args[0])

    def __str__(self) -> str:
        return "; ".join(map(str, self.args))
