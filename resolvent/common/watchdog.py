"""A job that makes no progress for long is hung: it ends, with the stacks of its threads in the log."""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_watched: dict[str, object] = {}


@contextmanager
def watched(seconds: float, log: TextIO) -> Iterator[None]:
    """Within, the process ends with status 1 when `alive` was not called for `seconds`.

    It is a thread without Python that looks, so that a hang within a library is seen too.
    """
    _watched.update(timeout=seconds, file=log)
    alive()
    try:
        yield
    finally:
        _watched.clear()
        faulthandler.cancel_dump_traceback_later()


def watch() -> tuple[float, str] | None:
    """Seconds and log of the watch over this process, for its helpers; None: it is not watched."""
    return (_watched["timeout"], os.path.abspath(_watched["file"].name)) if _watched else None


def alive() -> None:
    """Something was done: wait anew. Without effect where nothing is watched."""
    if _watched:
        faulthandler.dump_traceback_later(**_watched, exit=True)
