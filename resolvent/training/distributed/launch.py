"""Several processes for one task, on one node or on several: started, looked after, reported of in one line.

A launcher computes nothing. It starts the processes of its node and, where it is the first, by srun another
launcher on every other one. All processes meet at the first launcher, and what they have to say is left in a
folder that all nodes see.
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

from resolvent.common.errors import ResolventError, Words
from resolvent.common.progress import unwatched, watch, watched
from resolvent.training.distributed.group import Group, LostProcesses
from resolvent.training.errors import TrainingError
from resolvent.training.interruption import SIGNALS, interruption

VISIBLE = "CUDA_VISIBLE_DEVICES"
LOOPBACK = "localhost"
MODULE = "resolvent.training.distributed.launch"
CONNECTING = timedelta(seconds=60)  # that a connection to the place where they meet may take
MEETING_SECONDS = 600  # that the nodes wait for each other
ENDING_SECONDS = 3600  # that processes have for their step, once they are asked to end
FOLLOWING_SECONDS = 10  # that they have to end by themselves when another has failed, and then on SIGTERM
LOOK = 0.1  # seconds between two looks at the processes
KINDS = ("cause", "silent", "follows")  # of reports; what followed from another's end counts last


def visible_devices() -> list[str]:
    """Return the GPUs that this process was given, as CUDA_VISIBLE_DEVICES names them."""
    return [name for name in os.environ.get(VISIBLE, "").split(",") if name]


def nodes_given(wanted: int) -> int:
    """Return how many of the `wanted` nodes this SLURM job has; 1 outside of one.

    A step within the job knows their number. The executor plugin of Snakemake hides it from a script that
    starts steps of its own, as one on several nodes does; that has what it asked for.
    """
    if "SLURM_JOB_ID" not in os.environ:
        return 1
    return min(wanted, int(os.environ.get("SLURM_JOB_NUM_NODES", wanted)))


def launch(
    task: str, size: int, devices: list[str], arguments: dict, nodes: int = 1, shared: Path | None = None
) -> None:
    """Call `task`, "module:function", in `size` processes on each node, and wait until all have ended.

    It is called with the `Group` of them and the `arguments`, which JSON can hold. Each process sees one
    of its node's GPUs where there are `devices`. SIGTERM and SIGINT are handed on. Several `nodes` are those
    of a SLURM job of which this is the first; `shared` is a folder that all see.

    Raises `TrainingError` when one of them failed: its rank, and in one line what it reported.
    """
    host = LOOPBACK if nodes == 1 else socket.gethostname()
    try:
        meeting = distributed.TCPStore(host, 0, is_master=True, wait_for_workers=False, timeout=CONNECTING)
    except RuntimeError as error:
        reason = str(error).partition("\n")[0]
        raise TrainingError(f"the processes cannot meet at {host} ({reason})") from error
    with TemporaryDirectory(prefix="resolvent-", dir=shared if nodes > 1 else None) as name:
        path, others = Path(name) / "order.json", list[str]()
        order = {
            "task": task, "arguments": arguments, "size": size, "nodes": nodes, "host": host,
            "port": meeting.port, "meeting_seconds": MEETING_SECONDS, "watch": watch(),
        }  # fmt: skip
        path.write_text(json.dumps(order))
        if nodes > 1:  # once on each node after the first
            others = ["srun", f"--nodes={nodes - 1}", f"--ntasks={nodes - 1}", "--ntasks-per-node=1"]
            others += ["--relative=1", "--overlap", "--mem=0", "--cpu-bind=none"]
            others += [f"--gpus-per-node={len(devices[:size])}"] * bool(devices)
            others += [sys.executable, "-m", MODULE, str(path)]
        with unwatched():  # the processes are watched where they are
            fault = _attend(path, 0, devices, others)
        if fault:
            raise TrainingError(_reported(path.parent, size * nodes) or fault)


def _environment(host: str) -> dict[str, str]:
    """Return what the processes inherit: they find this one's modules, and alone listen on the loopback."""
    loopback = {"GLOO_SOCKET_IFNAME": "lo" if sys.platform == "linux" else "lo0"} if host == LOOPBACK else {}
    return loopback | os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}


def _attend(path: Path, node: int, devices: list[str], others: list[str]) -> Words:
    """Run this node's processes of the order in `path`, and the command `others`, until all have ended.

    Return nothing where all ended well, or what can be said without their reports. A request to end is
    handed on, and they have time for their step. When one has failed, those that do not end by themselves are
    ended. Of a process that ended for itself and left no report, one is left here.
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
            if asked:  # while it was started
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
            process.kill()  # does nothing to one that has ended
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
        return f"{asked[0].name} asked to end before there was anything to save"
    if others and (status := everyone[-1].returncode):
        return f"the launchers on the other nodes ended with status {status}"
    return "the processes have ended"


def _report(path: Path, rank: int) -> Path:
    return path.with_name(f"rank{rank}.json")


def _ending(code: int) -> Words:
    """Say how a process ended that left no report."""
    if code > 0:
        return f"ended with status {code}"
    killed = signal.Signals(-code)
    want = ", perhaps for want of memory" if killed == signal.SIGKILL else ""
    return f"was ended by {killed.name}{want}"


def _reported(folder: Path, size: int) -> Words:
    """Return what went wrong, in one line: the first cause, not what followed; nothing if none is known."""
    found: dict[str, dict[int, str]] = {kind: {} for kind in KINDS}
    for rank in range(size):
        with suppress(OSError, ValueError):  # there is none, or its process was killed as it wrote
            report = json.loads(_report(folder / "order.json", rank).read_text())
            found[report["kind"]][rank] = report["message"]
    causes = found["cause"]
    if len(causes) == size and len(set(causes.values())) == 1:
        return causes[0]  # all of them agree
    for of_kind in filter(None, found.values()):
        rank = min(of_kind)
        return f"rank {rank} of {size}: {of_kind[rank]}"
    return ""


def _work(path: Path, rank: int, launcher: int) -> None:
    """Do the part of one process, which ends when its launcher does, however that ended."""
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
        os._exit(1)  # an orderly end would wait for the others
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # torch's threads may still hold Python's objects, which an interpreter that ends aborts for


def _serve(order: dict, rank: int) -> None:
    """Join the others and do the task.

    Until they have met a request to end is obeyed at once. Then the first one is noted, and heeded in
    training; others, which follow where SLURM sends it to all processes and the launcher hands it on, are
    ignored.
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
        raise TrainingError(f"the {order['nodes']} nodes did not meet at {place} ({reason})") from error
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
