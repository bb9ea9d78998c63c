"""Several processes for one task, on one node or on several: torch's launcher starts and looks after them.

The launcher of torch (torchrun's) has an agent on each node; the agents meet at the first one. An agent
computes nothing. It hands on a request to end, and ends all of its processes when one has failed. What a
process has to say is left in a folder that all nodes see, and is reported here in one line.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from resolvent.common.errors import Words
from resolvent.common.progress import unwatched, watch
from resolvent.training.errors import ENDED, TrainingError
from resolvent.training.interruption import SIGNALS

VISIBLE = "CUDA_VISIBLE_DEVICES"
LAUNCHER = "RESOLVENT_LAUNCHER"  # the variable that names this process to those that it starts
LOOPBACK = "localhost"
CONNECTING = timedelta(seconds=60)  # that a connection to the place where they meet may take
MEETING_SECONDS = 600  # that the nodes wait for each other
OTHERS_ENDING_SECONDS = 60  # that the other launchers have to end by themselves after the first one
ENDING_SECONDS = 3600  # that processes have for their step, once they are asked to end


def visible_devices() -> list[str]:
    """Return the GPUs that this process was given, as CUDA_VISIBLE_DEVICES names them."""
    return [name for name in os.environ.get(VISIBLE, "").split(",") if name]


def launch(
    task: str, size: int, devices: list[str], arguments: dict, nodes: int = 1, shared: Path | None = None
) -> None:
    """Call `task`, "module:function", in `size` processes on each node, and wait until all have ended.

    It is called with the `Group` of them and the `arguments`, which JSON can hold. Each process sees one
    of its node's GPUs where there are `devices`, and none otherwise. SIGTERM and SIGINT are handed on.
    Several `nodes` are those of a SLURM job of which this is the first; `shared` is a folder that all see.

    Raises `TrainingError` when one of them failed: its rank, and in one line what it reported.
    """
    from torch.distributed import TCPStore
    from torch.distributed.elastic.multiprocessing import SignalException

    others = Others()
    host = LOOPBACK if nodes == 1 else socket.gethostname()
    try:
        # Not an agent's, which may end first: the others could not say then how their processes ended.
        meeting = TCPStore(host, 0, is_master=True, wait_for_workers=False, timeout=CONNECTING)
    except RuntimeError as error:
        reason = str(error).partition("\n")[0]
        raise TrainingError(f"the processes cannot meet at {host} ({reason})") from error
    with TemporaryDirectory(prefix="resolvent-", dir=shared if nodes > 1 else None) as name:
        order = {
            "task": task, "arguments": arguments, "size": size, "nodes": nodes, "host": host,
            "port": meeting.port, "watch": watch(),
        }  # fmt: skip
        path = Path(name) / "order.json"
        path.write_text(json.dumps(order))
        try:
            with _surroundings(host), on_other_nodes(nodes, path, len(devices[:size]), others):
                fault = _agent(path, bool(devices))
        except SignalException as error:
            fault = _unfinished(path, error.sigval)
        general = [others.fault, fault] if others.ended_first else [fault, others.fault]
        if any(general):
            raise TrainingError(_reported(path.parent, size * nodes) or general[0] or general[1])


@dataclass
class Others:
    """What is known here of a launcher on another node that failed, and whether that came first."""

    fault: str = ""
    ended_first: bool = False


def nodes_given(wanted: int) -> int:
    """Return how many of the `wanted` nodes this SLURM job has; 1 outside of one.

    A step within the job knows their number. The executor plugin of Snakemake hides it from a script that
    starts steps of its own, as one on several nodes does; that has what it asked for.
    """
    if "SLURM_JOB_ID" not in os.environ:
        return 1
    return min(wanted, int(os.environ.get("SLURM_JOB_NUM_NODES", wanted)))


@contextmanager
def on_other_nodes(nodes: int, order: Path, gpus: int, others: Others) -> Iterator[None]:
    """Run a launcher for the file `order` on each node but this one, with `gpus` each, while the body runs.

    When one of them fails, `others` says so, and this process is sent SIGTERM, for the body waits for them.
    """
    if nodes == 1:
        yield
        return
    # Once on each node after the first.
    command = ["srun", f"--nodes={nodes - 1}", f"--ntasks={nodes - 1}", "--ntasks-per-node=1", "--relative=1"]
    command += ["--overlap", "--mem=0", "--cpu-bind=none", *[f"--gpus-per-node={gpus}"] * bool(gpus)]
    command += [sys.executable, "-m", "resolvent.training.distributed.launch", str(order)]
    started = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    ended = threading.Event()

    def look() -> None:
        if started.wait():
            fault: Words = f"the launchers on the other nodes ended with status {started.returncode}"
            others.fault = fault
            others.ended_first = not ended.is_set()
            if others.ended_first:
                os.kill(os.getpid(), signal.SIGTERM)

    looking = threading.Thread(target=look, daemon=True)
    try:
        looking.start()
        yield
    finally:
        ended.set()
        try:
            started.wait(OTHERS_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            started.terminate()
        looking.join()


def _agent(path: Path, devices: bool) -> str:
    """Do what the launcher of one node does: return nothing, or what went wrong in general.

    What its processes had to say is in the folder of the order in `path`: torch's error files, and a file for
    each process that ended without one. Asked to end, it hands that on, waits until all have ended, and
    raises torch's `SignalException`.
    """
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.elastic.rendezvous import RendezvousError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    order = json.loads(path.read_text())
    endpoint = f"{order['host']}:{order['port']}"
    configuration = LaunchConfig(
        min_nodes=order["nodes"],
        max_nodes=order["nodes"],
        nproc_per_node=order["size"],
        run_id=path.parent.name,
        rdzv_backend="c10d",
        rdzv_endpoint=endpoint,
        rdzv_configs={"is_host": False, "join_timeout": MEETING_SECONDS},
        local_addr=LOOPBACK if order["host"] == LOOPBACK else None,
        max_restarts=0,
        logs_specs=DefaultLogsSpecs(log_dir=str(path.parent)),
        signals_to_handle=",".join(one.name for one in SIGNALS),
        virtual_local_rank=devices,
        shutdown_timeout=ENDING_SECONDS,
    )
    command = ["-m", "resolvent.training.distributed.worker", str(path)]
    try:
        with unwatched():  # the processes are watched where they are
            elastic_launch(configuration, sys.executable)(*command)
    except ChildFailedError as error:
        for rank, failure in error.failures.items():
            if failure.error_file_data.get("rank") != rank and failure.exitcode != -signal.SIGTERM:
                (path.parent / f"ended{rank}").write_text(_ending(failure.exitcode))
        return ENDED
    except RendezvousError as error:
        unmet: Words = f"the {order['nodes']} nodes did not meet at {endpoint} ({error})"
        return unmet
    return ""


def _unfinished(path: Path, asked: signal.Signals) -> Words:
    """Return nothing where all processes had done their task when they were asked to end."""
    order = json.loads(path.read_text())
    done = len(list(path.parent.glob("done*"))) == order["size"] * order["nodes"]
    return "" if done else f"{asked.name} asked to end before there was anything to save"


@contextmanager
def _surroundings(host: str) -> Iterator[None]:
    """Set what the processes inherit and how this one ends, and then all as it was.

    They find the modules of this one. Those that meet at this host alone listen on the loopback interface
    alone. A request to end is an exception, also before torch's launcher has set its own handlers. Its log
    is silent: what it would say is reported in one line.
    """
    environment, handlers = dict(os.environ), {number: signal.getsignal(number) for number in SIGNALS}
    loopback = {"GLOO_SOCKET_IFNAME": "lo" if sys.platform == "linux" else "lo0"} if host == LOOPBACK else {}
    found = {"PYTHONPATH": os.pathsep.join(sys.path), LAUNCHER: str(os.getpid())}
    os.environ.update(loopback | environment | found)
    logging.disable(logging.CRITICAL)
    for number in SIGNALS:
        signal.signal(number, _end)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
        os.environ.clear()
        os.environ.update(environment)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _end(number: int, frame: object) -> None:
    """End as torch's launcher does."""
    from torch.distributed.elastic.multiprocessing import SignalException

    raise SignalException("asked to end", signal.Signals(number))


def _reported(folder: Path, size: int) -> Words:
    """Return what went wrong, in one line: the first cause, not what followed; nothing if none is known."""
    causes: dict[int, str] = {}
    followers: dict[int, str] = {}
    for file in folder.glob("*/attempt_0/*/error.json"):
        with suppress(ValueError):  # its process was killed as it wrote
            report = json.loads(file.read_text())
            (followers if report["follows"] else causes)[report["rank"]] = report["message"]
    if len(causes) == size and len(set(causes.values())) == 1:
        return causes[0]  # all of them agree
    silent = {int(file.name.removeprefix("ended")): file.read_text() for file in folder.glob("ended*")}
    for found in (causes, silent, followers):
        if found:
            return f"rank {min(found)} of {size}: {found[min(found)]}"
    return ""


def _ending(code: int) -> Words:
    """Say how a process ended that left no report."""
    if code > 0:
        return f"ended with status {code}"
    killed = signal.Signals(-code)
    want = ", perhaps for want of memory" if killed == signal.SIGKILL else ""
    return f"was ended by {killed.name}{want}"


def _on_another_node() -> None:
    """Do what `launch` does on the other nodes, with the order's file."""
    from torch.distributed.elastic.multiprocessing import SignalException

    path = Path(sys.argv[1])
    try:
        with _surroundings(json.loads(path.read_text())["host"]):
            fault = _agent(path, bool(visible_devices()))
    except SignalException as error:
        fault = _unfinished(path, error.sigval)
    sys.exit(bool(fault))


if __name__ == "__main__":
    _on_another_node()
