"""Handle SIGTERM (as SLURM sends before the time limit) and SIGINT: finish the step, then stop."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Interruption:
    """Holds the first `signal` received, or None."""

    signal: signal.Signals | None = None


_noted: list[Interruption] = []  # at most one per process


@contextmanager
def interruption() -> Iterator[Interruption]:
    """Record SIGTERM or SIGINT instead of ending the process; a second signal ends it as usual.

    Only in the main thread. A nested context yields the outer one's `Interruption`.
    """
    if _noted:
        yield _noted[0]
        return
    noted = Interruption()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def note(number: int, frame: object) -> None:
        noted.signal = signal.Signals(number)
        restore()

    before = {number: signal.signal(number, note) for number in SIGNALS}
    _noted.append(noted)
    try:
        yield noted
    finally:
        _noted.clear()
        restore()
