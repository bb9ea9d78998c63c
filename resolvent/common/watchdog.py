"""A job that makes no progress for long is hung: it ends, with the stacks of its threads in the log."""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO


@dataclass(frozen=True)
class _Watch:
    seconds: float
    log: TextIO


_watches: list[_Watch] = []  # over this process: one, or none


@contextmanager
def watched(seconds: float, log: TextIO) -> Iterator[None]:
    """End the process with status 1 when `alive` was not called for `seconds`, and write the stacks to `log`.

    A thread without Python watches, so that a hang within a library is seen too.
    """
    _watches.append(_Watch(seconds, log))
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
    """Give the seconds and the log of the watch over this process, for its helpers; None: there is none."""
    return (_watches[-1].seconds, os.path.abspath(_watches[-1].log.name)) if _watches else None


def alive() -> None:
    """Say that something was done, and wait anew. Without effect where nothing is watched."""
    if _watches:
        faulthandler.dump_traceback_later(_watches[-1].seconds, exit=True, file=_watches[-1].log)
