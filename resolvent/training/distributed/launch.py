"""Launch several processes for one task on one or more nodes, supervise them, and report one error line.

A launcher starts the processes of its node; the first launcher also starts, by srun, a launcher on every
other node. All processes connect to the first launcher, and write their errors to a shared folder.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from contextlib import ExitStack, suppress
from datetime import timedelta
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import distributed

from resolvent.common.errors import ResolventError
from resolvent.common.progress import unwatched, watch, watched
from resolvent.training.distributed.group import Group, LostProcesses
from resolvent.training.errors import TrainingError
from resolvent.training.interruption import SIGNALS, interruption

VISIBLE = "CUDA_VISIBLE_DEVICES"
LOOPBACK = "localhost"
MODULE = "resolvent.training.distributed.launch"
CONNECTING = timedelta(seconds=60)  # timeout of connections to the first launcher
MEETING_SECONDS = 600  # timeout of nodes waiting for each other
ENDING_SECONDS = 3600  # time for processes to finish their step after a signal
FOLLOWING_SECONDS = 10  # time for processes to end after another has failed, and again after SIGTERM
LOOK = 0.1  # seconds between polls of the processes
KINDS = ("cause", "silent", "follows")  # of reports, by priority; "follows" is caused by another process


def visible_devices() -> list[str]:
    """Return the GPUs in CUDA_VISIBLE_DEVICES."""
    return [name for name in os.environ.get(VISIBLE, "").split(",") if name]


def nodes_given(wanted: int) -> int:
    """Return how many of the `wanted` nodes this SLURM job has; 1 outside SLURM."""
    if "SLURM_JOB_ID" not in os.environ:
        return 1
    # Snakemake's plugin unsets the number for jobs on several nodes, so that they can start steps; these have
    # all nodes that they requested.
    return min(wanted, int(os.environ.get("SLURM_JOB_NUM_NODES", wanted)))


def launch(
    task: str, size: int, devices: list[str], arguments: dict, nodes: int = 1, shared: Path | None = None
) -> None:
    """Call `task` ("module:function") in `size` processes on each node, and wait until all have ended.

    The task is called with the processes' `Group` and the JSON-serialisable `arguments`. If there are
    `devices`, each process sees one GPU of its node. SIGTERM and SIGINT are forwarded. Several `nodes` must
    belong to one SLURM job, with this as its first node; `shared` is a folder that all nodes see.

    Raises `TrainingError` with rank and error line of the first cause if a process failed.
    """
    host = LOOPBACK if nodes == 1 else socket.gethostname()
    try:
        meeting = distributed.TCPStore(host, 0, is_master=True, wait_for_workers=False, timeout=CONNECTING)
    except RuntimeError as error:
        reason = str(error).partition("\n")[0]
        raise TrainingError(f"the processes cannot connect to {host} ({reason})") from error
    with TemporaryDirectory(prefix="resolvent-", dir=shared if nodes > 1 else None) as name:
        path, others = Path(name) / "order.json", list[str]()
        order = {
            "task": task, "arguments": arguments, "size": size, "nodes": nodes, "host": host,
            "port": meeting.port, "meeting_seconds": MEETING_SECONDS, "watch": watch(),
        }  # fmt: skip
        path.write_text(json.dumps(order))
        if nodes > 1:  # one launcher on each further node
            others = ["srun", f"--nodes={nodes - 1}", f"--ntasks={nodes - 1}", "--ntasks-per-node=1"]
            others += ["--relative=1", "--overlap", "--mem=0", "--cpu-bind=none"]
            others += [f"--gpus-per-node={len(devices[:size])}"] * bool(devices)
            others += [sys.executable, "-m", MODULE, str(path)]
        with unwatched():  # each process watches its own progress
            fault = _attend(path, 0, devices, others)
        if fault:
            raise TrainingError(_reported(path.parent, size * nodes) or fault)


def _environment(host: str) -> dict[str, str]:
    """Return the environment of the processes: this one's modules, and on one node only the loopback."""
    loopback = {"GLOO_SOCKET_IFNAME": "lo" if sys.platform == "linux" else "lo0"} if host == LOOPBACK else {}
    return loopback | os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}


def _attend(path: Path, node: int, devices: list[str], others: list[str]) -> str:
    """Run this node's processes, as described in the file `path`, and the command `others`, until all end.

    Returns "" on success, else a message for the case that no process left a report. Forwards signals. If a
    process fails, ends the others after a while. Writes a report for a process that ended without one.
    """
    order = json.loads(path.read_text())
    own: dict[int, subprocess.Popen] = {}
    asked: list[signal.Signals] = []

    def hand_on(number: int, frame: object) -> None:
        asked.append(signal.Signals(number))
        for process in own.values():
            process.send_signal(number)

    before = {number: signal.signal(number, hand_on) for number in SIGNALS}
    try:
        for place in range(order["size"]):
            rank = node * order["size"] + place
            environment = _environment(order["host"])
            if devices:
                environment[VISIBLE] = devices[place]
            command = [sys.executable, "-m", MODULE, str(path), str(rank), str(os.getpid())]
            own[rank] = subprocess.Popen(command, env=environment)
            if asked:  # the signal came while the process was being started
                own[rank].send_signal(asked[0])
        everyone, ended, deadline = list(own.values()), set[int](), inf
        if others:
            environment = _environment(order["host"])
            everyone.append(subprocess.Popen(others, env=environment, stdin=subprocess.DEVNULL))
        while running := [process for process in everyone if process.poll() is None]:
            failed = any(process.returncode for process in everyone)
            if failed or asked:
                patience = FOLLOWING_SECONDS if failed or ended else ENDING_SECONDS
                deadline = min(deadline, time.monotonic() + patience)
            if time.monotonic() > deadline:
                for process in running:
                    process.send_signal(signal.SIGKILL if process.pid in ended else signal.SIGTERM)
                    ended.add(process.pid)
                deadline = inf
            time.sleep(LOOK)
    finally:
        for process in own.values():
            process.kill()  # has no effect on processes that have ended
        for number, handler in before.items():
            signal.signal(number, handler)
    for rank, process in own.items():
        handed_on = asked and -process.returncode in SIGNALS
        if process.returncode and process.pid not in ended and not handed_on:
            report = _report(path, rank)
            if not report.exists():
                report.write_text(json.dumps({"kind": "silent", "message": _ending(process.returncode)}))
    if not any(process.returncode for process in everyone):
        return ""
    if asked:
        return f"stopped by {asked[0].name} before there was anything to save"
    if others and (status := everyone[-1].returncode):
        return f"the launchers on the other nodes ended with status {status}"
    return "the processes have ended"


def _report(path: Path, rank: int) -> Path:
    return path.with_name(f"rank{rank}.json")


def _ending(code: int) -> str:
    """Return a message for a process that ended without a report, with exit status `code`."""
    if code > 0:
        return f"ended with status {code}"
    killed = signal.Signals(-code)
    want = ", perhaps out of memory" if killed == signal.SIGKILL else ""
    return f"was killed by {killed.name}{want}"


def _reported(folder: Path, size: int) -> str:
    """Return one line for the first cause of a failure, not for its consequences; "" if unknown."""
    found: dict[str, dict[int, str]] = {kind: {} for kind in KINDS}
    for rank in range(size):
        with suppress(OSError, ValueError):  # no report, or its process was killed while writing
            report = json.loads(_report(folder / "order.json", rank).read_text())
            found[report["kind"]][rank] = report["message"]
    causes = found["cause"]
    if len(causes) == size and len(set(causes.values())) == 1:
        return causes[0]  # all processes report the same
    for of_kind in filter(None, found.values()):
        rank = min(of_kind)
        return f"rank {rank} of {size}: {of_kind[rank]}"
    return ""


def _work(path: Path, rank: int, launcher: int) -> None:
    """Run one process of the task, which also ends when its launcher ends for any reason."""
    order = json.loads(path.read_text())
    log = open(order["watch"][1], "a") if order["watch"] else sys.stderr  # noqa: SIM115 - open until the end

    def end_with_launcher() -> None:
        while os.getppid() == launcher:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=end_with_launcher, daemon=True).start()
    try:
        with ExitStack() as stack:
            if order["watch"]:
                stack.enter_context(watched(order["watch"][0], log))
            _serve(order, rank)
    except Exception as error:
        text = str(error)
        if not isinstance(error, ResolventError):
            log.write(f"rank {rank}: {traceback.format_exc()}")
            log.flush()
            text = " ".join(f"{type(error).__name__}: {error}".split())
        kind = "follows" if isinstance(error, LostProcesses) else "cause"
        _report(path, rank).write_text(json.dumps({"kind": kind, "message": text}))
        os._exit(1)  # a normal exit would wait for the other processes
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # a normal exit may abort, since torch's threads still hold Python objects


def _serve(order: dict, rank: int) -> None:
    """Connect to the other processes and run the task.

    Until all are connected, signals end the process at once. After that the first signal is noted and handled
    by the training; further signals are ignored, since SLURM and the launcher may both send the same one.
    """
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    total = order["size"] * order["nodes"]
    try:
        store = distributed.TCPStore(order["host"], order["port"], is_master=False, timeout=CONNECTING)
        store.set(str(rank), "")
        store.wait([str(other) for other in range(total)], timedelta(seconds=order["meeting_seconds"]))
        backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
        distributed.init_process_group(backend, store=store, rank=rank, world_size=total)
    except RuntimeError as error:
        reason = str(error).partition("\n")[0]
        place = f"{order['host']}:{order['port']}"
        raise TrainingError(
            f"the {order['nodes']} nodes could not all connect to {place} ({reason})"
        ) from error
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    with interruption():
        module, _, function = order["task"].partition(":")
        getattr(importlib.import_module(module), function)(Group(rank, total), **order["arguments"])
    distributed.destroy_process_group()


if __name__ == "__main__":
    _order, *_own = sys.argv[1:]
    if _own:
        _work(Path(_order), *map(int, _own))
    _node = int(os.environ.get("SLURM_PROCID", 0)) + 1
    sys.exit(bool(_attend(Path(_order), _node, visible_devices(), [])))
