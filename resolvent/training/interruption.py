"""Handle SIGTERM (as SLURM sends before the time limit) and SIGINT: finish the step, then stop."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Interruption:
    """`signal` is the request, once one has come."""

    signal: signal.Signals | None = None


_noted: list[Interruption] = []  # in this process: one, or none


@contextmanager
def interruption() -> Iterator[Interruption]:
    """Note SIGTERM and SIGINT only; a second one ends the process as usual. For the main thread.

    Within another one it is that one.
    """
    if _noted:
        yield _noted[0]
        return
    noted = Interruption()

    def note(number: int, frame: object) -> None:
        noted.signal = signal.Signals(number)
        _restore(before)

    before = {number: signal.signal(number, note) for number in SIGNALS}
    _noted.append(noted)
    try:
        yield noted
    finally:
        _noted.clear()
        _restore(before)


def _restore(handlers: dict) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
