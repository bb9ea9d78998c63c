"""The progress of a job: a bar for every long one, and an end for one that makes none.

A job that makes no progress for long is hung. It ends, with the stacks of its threads in the log.
"""

from __future__ import annotations

import faulthandler
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from tqdm import tqdm

_watches: list[tuple[float, TextIO]] = []  # seconds and log of the watch over this process: one, or none


@contextmanager
def watched(seconds: float, log: TextIO) -> Iterator[None]:
    """End the process with status 1 when `alive` was not called for `seconds`, and write the stacks to `log`.

    A thread without Python watches, so that a hang within a library is seen too.
    """
    _watches.append((seconds, log))
    alive()
    try:
        yield
    finally:
        _watches.clear()
        faulthandler.cancel_dump_traceback_later()


@contextmanager
def unwatched() -> Iterator[None]:
    """Let the body, which waits for processes that are watched themselves, take any time."""
    faulthandler.cancel_dump_traceback_later()
    try:
        yield
    finally:
        alive()


def watch() -> tuple[float, str] | None:
    """Return seconds and log of the watch over this process, for its helpers; None where there is none."""
    for seconds, log in _watches:
        return seconds, os.path.abspath(log.name)
    return None


def alive() -> None:
    """Say that something was done, and wait anew. Without effect where nothing is watched."""
    for seconds, log in _watches:
        faulthandler.dump_traceback_later(seconds, exit=True, file=log)


class _Bar(tqdm):
    def update(self, n: float | None = 1) -> bool | None:
        alive()
        return super().update(n)


class _Log:
    """A file in which each state of a bar is a line."""

    encoding = "utf-8"

    def write(self, text: str) -> None:
        if line := text.strip("\r\n "):
            print(line, file=sys.stderr)

    def flush(self) -> None:
        sys.stderr.flush()


def progress_bar(total: int, what: str, unit: str, done: int = 0) -> tqdm:
    """Return a bar of `total` steps, `done` of them already complete; each shows that the job is alive."""
    terminal = sys.stderr.isatty()
    bar = {"total": total, "initial": done, "desc": what, "unit": f" {unit}", "leave": False}
    # A log gets a line now and then.
    return _Bar(**bar, mininterval=0.5 if terminal else 60, file=None if terminal else _Log())
