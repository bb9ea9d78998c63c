"""Several processes of this host for one task: they are started, looked after, and end together.

The process that launches computes nothing. It hands on a request to end, reports what went wrong in which of
the others, and leaves none behind: each ends as soon as the pipe from it closes, however it ended.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from resolvent.common.errors import ResolventError
from resolvent.common.watchdog import alive, watch, watched
from resolvent.training.distributed.group import LostProcesses, joined
from resolvent.training.errors import TrainingError
from resolvent.training.interruption import SIGNALS, Interruption, interruption

VISIBLE = "CUDA_VISIBLE_DEVICES"
GRACE = 10.0  # seconds that the others have to end by themselves, once one has failed
POLL = 0.05  # seconds between two looks at the processes


def visible_devices() -> list[str]:
    """Return the GPUs that this process was given, as CUDA_VISIBLE_DEVICES names them."""
    return [name for name in os.environ.get(VISIBLE, "").split(",") if name]


def launch(task: str, size: int, devices: list[str], arguments: dict) -> None:
    """Call `task`, "module:function", in `size` processes, and wait until all have ended.

    It is called with the `Group` of them and the `arguments`, which JSON can hold. Each process sees the one
    of the `devices` that has its rank; none, where there are no devices. The first of them is sent SIGTERM
    or SIGINT when one has come here, again and again, for it heeds it between two steps only.

    Raises
    ------
    TrainingError
        When one of them failed: its rank, and in one line what it reported. What none of them expected is
        also in the log of the watchdog (or on standard error, where there is none) as a traceback.
    """
    with TemporaryDirectory(prefix="resolvent-") as name, interruption() as asked:
        folder = Path(name)
        order = {"task": task, "size": size, "arguments": arguments, "watch": watch()}
        (folder / "order.json").write_text(json.dumps(order))
        ranks = []
        try:
            for rank in range(size):
                ranks.append(_started(folder, rank, devices[rank] if devices else ""))
            _wait(ranks, asked)
            codes = [rank.poll() for rank in ranks]
        finally:
            for rank in ranks:
                rank.kill()
                rank.wait()
                rank.stdin.close()
        if any(codes):
            raise TrainingError(_reported(folder, codes))


def _started(folder: Path, rank: int, device: str) -> subprocess.Popen:
    """Start a process with the modules of this one. Gloo listens on the loopback interface alone."""
    loopback = "lo" if sys.platform == "linux" else "lo0"
    environment = {"GLOO_SOCKET_IFNAME": loopback, **os.environ}
    environment |= {VISIBLE: device, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "resolvent.training.distributed.launch", str(folder), str(rank)]
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE)


def _wait(ranks: list[subprocess.Popen], asked: Interruption) -> None:
    """Wait until all have ended, or until one has failed and the others had their time to end, too."""
    deadline = math.inf
    while any(rank.poll() is None for rank in ranks) and time.monotonic() < deadline:
        if asked.signal:
            ranks[0].send_signal(asked.signal)
        if deadline == math.inf and any(rank.poll() for rank in ranks):
            deadline = time.monotonic() + GRACE
        alive()  # the others are watched where they are
        time.sleep(POLL)


@dataclass(frozen=True)
class _Fault:
    """What a process reported; `follows` from the end of another one."""

    text: str
    follows: bool


def _reported(folder: Path, codes: list[int | None]) -> str:
    """Return what went wrong, in one line: the first cause, not what followed. None is the code of a process
    that had not ended."""
    reports = {
        rank: _Fault(**json.loads(file.read_text()))
        for rank in range(len(codes))
        if (file := _fault_file(folder, rank)).exists()
    }
    causes = {rank: fault.text for rank, fault in reports.items() if not fault.follows}
    if len(causes) == len(codes) and len(set(causes.values())) == 1:
        return causes[0]  # all of them agree
    silent = {rank: _ending(code) for rank, code in enumerate(codes) if code and rank not in reports}
    followers = {rank: fault.text for rank, fault in reports.items()}
    rank, text = next(iter((causes or silent or followers).items()))
    return f"rank {rank} of {len(codes)}: {text}"


def _ending(code: int) -> str:
    """Say how a process ended that left no report."""
    if code > 0:
        return f"ended with status {code}"
    killed = signal.Signals(-code)
    want = ", perhaps for want of memory" if killed == signal.SIGKILL else ""
    return f"was ended by {killed.name}{want}"


def _fault_file(folder: Path, rank: int) -> Path:
    return folder / f"fault{rank}.json"


def _serve(folder: Path, rank: int) -> None:
    """Do what a process of a launch does. Signals are heeded where the task heeds them, else ignored."""
    threading.Thread(target=_end_with_launcher, daemon=True).start()
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    order = json.loads((folder / "order.json").read_text())
    log = sys.stderr
    with ExitStack() as stack:
        try:
            if order["watch"]:
                seconds, path = order["watch"]
                log = stack.enter_context(open(path, "a"))
                stack.enter_context(watched(seconds, log))
            group = stack.enter_context(joined(rank, order["size"], folder / "meeting_point"))
            module, _, function = order["task"].partition(":")
            getattr(importlib.import_module(module), function)(group, **order["arguments"])
            return
        except ResolventError as error:
            fault = _Fault(str(error), isinstance(error, LostProcesses))
        except Exception as error:
            log.write(f"rank {rank}: {traceback.format_exc()}")
            fault = _Fault(" ".join(f"{type(error).__name__}: {error}".split()), False)
        _fault_file(folder, rank).write_text(json.dumps(vars(fault)))
        log.flush()
        os._exit(1)  # an orderly end would wait for the others


def _end_with_launcher() -> None:
    """End when the launcher does: nothing is ever written to standard input, which closes with it."""
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), int(sys.argv[2]))
