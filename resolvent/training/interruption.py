"""A request to end, as SLURM sends it before the time limit, heeded between two steps, not within one."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Interruption:
    """`signal` is the request, once one has come."""

    signal: signal.Signals | None = None


@contextmanager
def interruption() -> Iterator[Interruption]:
    """Note SIGTERM and SIGINT only; a second one ends the process as usual. For the main thread."""
    noted = Interruption()

    def note(number: int, frame: object) -> None:
        noted.signal = signal.Signals(number)
        _restore(before)

    before = {number: signal.signal(number, note) for number in SIGNALS}
    try:
        yield noted
    finally:
        _restore(before)


def _restore(handlers: dict) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
