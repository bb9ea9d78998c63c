"""Start the processes of one training by torch's elastic agents (torchrun), and report a failure in one line.

The agent of a node starts its processes, forwards signals, and ends all if one fails. The first node's agent
is in the calling process; srun starts those of the other nodes.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from contextlib import nullcontext
from datetime import timedelta
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
MODULE = "resolvent.training.distributed.launch"
MEETING = timedelta(seconds=600)  # timeout of nodes waiting for each other
ENDING_SECONDS = 300  # time for processes to finish their step and save after a signal
FOLLOWING_SECONDS = 60  # time for the other nodes to end after this one


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
    `devices`, those of CUDA_VISIBLE_DEVICES, each process sees one of its node. SIGTERM and SIGINT are
    forwarded. Several `nodes` must belong to one SLURM job, with this as its first node; `shared` is a folder
    that all nodes see. Raises `TrainingError` with rank and line of the first cause if a process failed.
    """
    host = "localhost" if nodes == 1 else socket.gethostname()
    try:  # the agent shares this store, so no other program takes its port in between
        store = distributed.TCPStore(
            host, 0, is_master=True, wait_for_workers=False, timeout=MEETING, multi_tenant=True
        )
    except RuntimeError as error:
        reason = str(error).partition("\n")[0]
        raise TrainingError(f"the processes cannot connect to {host} ({reason})") from error
    with TemporaryDirectory(prefix="resolvent-", dir=shared if nodes > 1 else None) as name, unwatched():
        folder, others = Path(name), None
        order = {
            "task": task, "arguments": arguments, "size": size, "nodes": nodes, "gpus": bool(devices),
            "host": host, "port": store.port, "watch": watch(),
        }  # fmt: skip
        (folder / "order.json").write_text(json.dumps(order))
        if nodes > 1:
            command = ["srun", f"--nodes={nodes - 1}", f"--ntasks={nodes - 1}", "--ntasks-per-node=1"]
            command += ["--relative=1", "--overlap", "--mem=0", "--cpu-bind=none"]
            command += [f"--gpus-per-node={size}"] * bool(devices)
            environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
            others = subprocess.Popen(
                [*command, sys.executable, "-m", MODULE, name], env=environment, stdin=subprocess.DEVNULL
            )
        if fault := run_node(folder, 0, others):
            raise TrainingError(_first_cause(folder, size * nodes) or fault)


def _first_cause(folder: Path, processes: int) -> str:
    """Return the report of the lowest rank that failed by itself, else of one that followed others; or ""."""
    for kind in ("cause", "silent", "follows"):
        reports = {int(file.stem): file.read_text() for file in folder.glob(f"*.{kind}")}
        if kind == "cause" and len(reports) == processes and len(set(reports.values())) == 1:
            return reports[0]
        if reports:
            return f"rank {min(reports)} of {processes}: {reports[min(reports)]}"
    return ""


def run_node(folder: Path, node: int, others: subprocess.Popen | None = None) -> str:
    """Run the node's processes, and wait for the `others`; return "" or, if none reports it, what failed."""
    from torch.distributed.elastic.multiprocessing.api import DefaultLogsSpecs, SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    order = json.loads((folder / "order.json").read_text())
    config = LaunchConfig(
        min_nodes=order["nodes"], max_nodes=order["nodes"], nproc_per_node=order["size"], max_restarts=0,
        run_id="training", rdzv_backend="static", rdzv_endpoint=f"{order['host']}:{order['port']}",
        rdzv_configs={"rank": node, "timeout": int(MEETING.total_seconds())},
        virtual_local_rank=order["gpus"], logs_specs=DefaultLogsSpecs(str(folder / f"node{node}")),
        signals_to_handle="SIGTERM,SIGINT", shutdown_timeout=ENDING_SECONDS,
    )  # fmt: skip
    config.numa_options = None  # processes keep the cores that they were given
    environment = [f"PYTHONPATH={os.pathsep.join(sys.path)}"]
    if order["host"] == "localhost" and "GLOO_SOCKET_IFNAME" not in os.environ:
        environment.append(f"GLOO_SOCKET_IFNAME={'lo' if sys.platform == 'linux' else 'lo0'}")
    log = logging.getLogger("torch.distributed.elastic")  # of every signal and failure
    log.addHandler(logging.NullHandler())
    log.propagate = False
    # Until there are processes, a signal ends the agent: torch's wait for the other nodes heeds none.
    before = {number: signal.signal(number, signal.SIG_DFL) for number in SIGNALS}
    over = threading.Event()
    waiting = threading.Thread(target=_end_with, args=(others, over), daemon=True)
    waiting.start()
    try:
        elastic_launch(config, "env")(*environment, sys.executable, "-m", MODULE, folder, os.getpid())
        return ""
    except ChildFailedError as error:
        for rank, failure in error.failures.items():
            if -failure.exitcode in SIGNALS or list(folder.glob(f"{rank}.*")):
                continue
            ending = f"ended with status {failure.exitcode}"
            if failure.exitcode < 0:
                ending = f"was killed by {signal.Signals(-failure.exitcode).name}"
                ending += ", perhaps out of memory" if -failure.exitcode == signal.SIGKILL else ""
            (folder / f"{rank}.silent").write_text(ending)
        return "the processes have ended"
    except SignalException as stopped:
        if len(list(folder.glob("*.done"))) == order["size"] * order["nodes"]:
            return ""
        if others and others.poll():
            return f"the processes of the other nodes ended with status {others.returncode}"
        return f"stopped by {stopped.sigval.name} before there was anything to save"
    except RuntimeError as error:
        reason = str(error).partition("\n")[0]
        return f"the {order['nodes']} nodes could not all connect to {config.rdzv_endpoint} ({reason})"
    finally:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        over.set()
        waiting.join(FOLLOWING_SECONDS)
        if others and others.poll() is None:
            others.terminate()
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_with(others: subprocess.Popen | None, over: threading.Event) -> None:
    """End the agent and its processes if those of the other nodes fail before it is `over`."""
    if others and (status := others.wait()) and not over.is_set():
        print(f"the processes of the other nodes ended with status {status}", file=sys.stderr)
        os.kill(os.getpid(), signal.SIGTERM)


def work(folder: Path, agent: int) -> None:
    """Run one process of the task, which also ends when its agent ends for any reason."""
    order, rank = json.loads((folder / "order.json").read_text()), int(os.environ["RANK"])
    log = open(order["watch"][1], "a") if order["watch"] else sys.stderr  # noqa: SIM115 - open until the end

    def end_with_agent() -> None:
        while os.getppid() == agent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=end_with_agent, daemon=True).start()
    kind, message = "done", ""
    try:
        with watched(order["watch"][0], log) if order["watch"] else nullcontext():
            _serve(order, rank)
    except Exception as error:
        kind, message = "follows" if isinstance(error, LostProcesses) else "cause", str(error)
        if not isinstance(error, ResolventError):
            log.write(f"rank {rank}: {traceback.format_exc()}")
            log.flush()
            message = " ".join(f"{type(error).__name__}: {error}".split())
    (folder / f"{rank}.{kind}").write_text(message)
    sys.stdout.flush()
    sys.stderr.flush()
    # A normal exit would wait for lost processes, or abort, since torch's threads hold Python objects.
    os._exit(kind != "done")


def _serve(order: dict, rank: int) -> None:
    """Connect to the other processes and run the task.

    Until all are connected, signals end the process at once. After that the first signal is noted and handled
    by the training; further signals are ignored, since SLURM and the agent may both send the same one.
    """
    distributed.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    with interruption():
        module, _, function = order["task"].partition(":")
        group = Group(rank, order["size"] * order["nodes"])
        getattr(importlib.import_module(module), function)(group, **order["arguments"])
    distributed.destroy_process_group()


if __name__ == "__main__":
    _folder, *_agent = sys.argv[1:]
    if _agent:
        work(Path(_folder), int(_agent[0]))
    sys.exit(bool(run_node(Path(_folder), int(os.environ.get("SLURM_PROCID", 0)) + 1)))
