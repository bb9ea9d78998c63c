"""A machine with invented GPUs, and processes that lease them. The processes import the leases alone."""

import csv
import itertools
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A job: says its devices, and holds them until its standard input ends.
HOLDER = """
import os, subprocess, sys, time
from resolvent.planning.gpus import lease
with lease(int(sys.argv[1]), int(sys.argv[2]), lambda message: print(message, end="", flush=True)):
    print(os.environ["CUDA_VISIBLE_DEVICES"], flush=True)
    {inside}
    sys.stdin.read()
"""
# Leases again and again, appends who had which device when, and may be killed while it holds the last one.
SHORT_JOB = """
import os, signal, sys, time
from resolvent.planning.gpus import lease
for turn in range(5):
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    with lease(int(sys.argv[1]), int(sys.argv[2]), lambda message: None):
        start = time.monotonic_ns()
        time.sleep(0.005)
        devices, end = os.environ["CUDA_VISIBLE_DEVICES"].split(","), time.monotonic_ns()
        lines = [f"{os.getpid()},{turn},{device},{start},{end}\\n" for device in devices]
        descriptor = os.open(sys.argv[3], os.O_WRONLY | os.O_APPEND)
        os.write(descriptor, "".join(lines).encode())
        os.close(descriptor)
        if turn == 4 and sys.argv[4] == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
"""
# Like a Snakemake: starts jobs, four at once.
PARENT = """
import subprocess, sys
job, table, *requests = sys.argv[1:]
running, codes = [], []
for request in requests:
    gpus, jobs_per_device, fate = request.split(":")
    words = [gpus, jobs_per_device, table, fate]
    running.append(subprocess.Popen([sys.executable, "-c", job, *words]))
    if len(running) == 4:
        codes.append(running.pop(0).wait())
print(*codes, *(process.wait() for process in running))
"""
Intervals = dict[str, list[tuple[int, int]]]


class Host:
    """Invented GPUs, and a folder for the leases. `close` ends its processes and theirs."""

    def __init__(self, folder: Path, gpus: str):
        self.environment = {**os.environ, "RESOLVENT_LEASES": str(folder / "leases"), "RESOLVENT_GPUS": gpus}
        for name in ("CUDA_VISIBLE_DEVICES", "SLURM_JOB_ID"):
            self.environment.pop(name, None)
        self.table = folder / "table.csv"
        self.processes: list[subprocess.Popen] = []

    def start(self, program: str, *words: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, "-c", program, *words],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def job(self, gpus: int, jobs_per_device: int = 1, inside: str = "pass") -> subprocess.Popen:
        """A job that prints a message if it waits, its devices, what `inside` prints, and ends with `end`."""
        return self.start(HOLDER.format(inside=inside), str(gpus), str(jobs_per_device))

    def intervals(self, *parents: list[str]) -> Intervals:
        """Run the requests "GPUS:JOBS_PER_DEVICE" of each parent; returns (start, end) in ns by device.

        Every seventh job is killed as it holds its devices.
        """
        self.table.write_text("")
        requests = [
            [f"{r}:{'killed' if i % 7 == 3 else ''}" for i, r in enumerate(words)] for words in parents
        ]
        for parent in [self.start(PARENT, SHORT_JOB, str(self.table), *words) for words in requests]:
            codes = [int(code) for code in parent.communicate()[0].split()]
            killed = [request.endswith("killed") for request in requests.pop(0)]
            assert sorted(codes) == sorted(-signal.SIGKILL * kill for kill in killed)
        rows = list(csv.reader(self.table.open()))
        assert len(rows) == sum(5 * int(request[0]) for words in parents for request in words)
        assert len({tuple(row[:3]) for row in rows}) == len(rows)
        found: Intervals = {}
        for *_, device, start, end in rows:
            found.setdefault(device, []).append((int(start), int(end)))
        return found

    def close(self) -> None:
        for process in self.processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def end(job: subprocess.Popen) -> None:
    """Let a job end by itself."""
    job.communicate("")
    assert job.returncode == 0


def most_at_once(intervals: list[tuple[int, int]]) -> int:
    """The largest number of intervals that have a moment in common."""
    changes = sorted(change for start, end in intervals for change in ((start, 1), (end, -1)))
    return max(itertools.accumulate(change for _, change in changes))
