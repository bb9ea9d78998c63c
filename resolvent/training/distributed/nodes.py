"""The other nodes of a SLURM job, each with a launcher of its own, started by srun from the first node."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from resolvent.common.errors import Words

ENDING_SECONDS = 60  # that the other launchers have to end by themselves after the first one


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
    module = ["-m", "resolvent.training.distributed.launch", str(order)]
    started = subprocess.Popen([*_srun(nodes - 1, gpus), sys.executable, *module], stdin=subprocess.DEVNULL)
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
            started.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            started.terminate()
        looking.join()


def _srun(nodes: int, gpus: int) -> list[str]:
    """Return the command that starts another one once on each of these nodes, those after the first."""
    command = ["srun", f"--nodes={nodes}", f"--ntasks={nodes}", "--ntasks-per-node=1", "--relative=1"]
    command += ["--overlap", "--mem=0", "--cpu-bind=none"]
    return command + [f"--gpus-per-node={gpus}"] * bool(gpus)
