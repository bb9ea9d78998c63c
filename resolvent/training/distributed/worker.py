"""What each process of a launch does: it joins the others, and does its part of the task.

Torch's launcher (`resolvent.training.distributed.launch`) starts it as a module, with the order's file.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
import time
import traceback
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

from torch.distributed.elastic.multiprocessing.errors import ErrorHandler, record

from resolvent.common.errors import ResolventError
from resolvent.common.progress import watched
from resolvent.training.distributed.group import LostProcesses, joined
from resolvent.training.distributed.launch import LAUNCHER
from resolvent.training.interruption import SIGNALS, interruption

POLL = 0.5  # seconds between two looks at the launcher


class OneLine(ErrorHandler):
    """Leave one line where torch's launcher looks for it; tracebacks of the unexpected go to `log`."""

    log: TextIO = sys.stderr

    def initialize(self) -> None:
        """Leave the handlers of crashes as they are."""

    def record_exception(self, error: BaseException) -> None:
        rank, text = int(os.environ["RANK"]), str(error)
        if not isinstance(error, ResolventError):
            self.log.write(f"rank {rank}: {traceback.format_exc()}")
            self.log.flush()
            text = " ".join(f"{type(error).__name__}: {error}".split())
        follows = isinstance(error, LostProcesses)  # another process ended before, and has more to say
        fault = {"message": text, "timestamp": int(time.time()), "rank": rank, "follows": follows}
        Path(os.environ["TORCHELASTIC_ERROR_FILE"]).write_text(json.dumps(fault))


def _serve(path: Path, handler: OneLine) -> None:
    """Do the task of the order in `path`.

    The first request to end is noted, from the start, and heeded in training. Others follow where SLURM sends
    it to all processes, and the launcher hands it on: they are ignored.
    """
    order = json.loads(path.read_text())
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    with interruption(), ExitStack() as stack:
        if order["watch"]:
            seconds, log = order["watch"]
            handler.log = open(log, "a")  # noqa: SIM115 - open until the process ends
            stack.enter_context(watched(seconds, handler.log))
        group = stack.enter_context(joined())
        module, _, function = order["task"].partition(":")
        getattr(importlib.import_module(module), function)(group, **order["arguments"])
    (path.parent / f"done{group.rank}").touch()


def _end_with_launcher() -> None:
    """End when the launcher does, however it ended."""
    while os.getppid() == int(os.environ[LAUNCHER]):
        time.sleep(POLL)
    os._exit(1)


def _main() -> None:
    threading.Thread(target=_end_with_launcher, daemon=True).start()
    handler = OneLine()
    try:
        record(_serve, handler)(Path(sys.argv[1]), handler)
    except Exception:
        os._exit(1)  # an orderly end would wait for the others
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # torch's threads may still hold Python's objects, which an interpreter that ends aborts for


if __name__ == "__main__":
    _main()
