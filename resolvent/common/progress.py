"""Progress bars of long jobs, and a watchdog that ends jobs without progress, which are considered hung."""

from __future__ import annotations

import faulthandler
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TextIO

from tqdm import tqdm

_watches: list[tuple[float, TextIO]] = []  # seconds and log of this process's watchdog; at most one entry
_started = 0.0  # when the watchdog's timer was started


@contextmanager
def watched(seconds: float, log: TextIO) -> Iterator[None]:
    """End the process with status 1 if `alive` is not called for `seconds`, and write the stacks to `log`.

    The watchdog is a C thread, so it also detects hangs inside a library. Stacks are also written if a fault
    in a library ends the process (SIGSEGV, SIGBUS, …).
    """
    _watches.append((seconds, log))
    _start()
    faulthandler.enable(log)
    try:
        yield
    finally:
        _watches.clear()
        faulthandler.cancel_dump_traceback_later()
        faulthandler.disable()


@contextmanager
def unwatched() -> Iterator[None]:
    """Suspend the watchdog: the body waits for processes with their own watchdogs."""
    faulthandler.cancel_dump_traceback_later()
    try:
        yield
    finally:
        _start()


def watch() -> tuple[float, str] | None:
    """Return seconds and log of this process's watchdog, for its child processes, or None."""
    for seconds, log in _watches:
        return seconds, os.path.abspath(log.name)
    return None


def alive() -> None:
    """Report progress: restart the watchdog's timer, if there is a watchdog."""
    if _watches and monotonic() - _started > _watches[0][0] / 100:  # a restart takes 60 µs
        _start()


def _start() -> None:
    global _started
    _started = monotonic()
    for seconds, log in _watches:
        faulthandler.dump_traceback_later(seconds, exit=True, file=log)


class _Bar(tqdm):
    def update(self, n: float | None = 1) -> bool | None:
        alive()
        return super().update(n)


class _Log:
    """A file that shows each state of a bar as a line."""

    encoding = "utf-8"

    def write(self, text: str) -> None:
        if line := text.strip("\r\n "):
            print(line, file=sys.stderr)

    def flush(self) -> None:
        sys.stderr.flush()


def progress_bar(total: int, what: str, unit: str, done: int = 0) -> tqdm:
    """Return a bar of `total` steps, `done` of them complete; each step restarts the watchdog's timer."""
    terminal = sys.stderr.isatty()
    if done:
        print(f"{what}: resumed after {done} of {total} {unit}", file=sys.stderr)
    bar = {"total": total, "initial": done, "desc": what, "unit": f" {unit}", "leave": False}
    # A log gets at most one line a minute.
    return _Bar(**bar, mininterval=0.5 if terminal else 60, file=None if terminal else _Log())
