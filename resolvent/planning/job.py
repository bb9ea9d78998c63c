"""Context manager shared by all scripts: logging, GPU leases, error reporting."""

from __future__ import annotations

import atexit
import gc
import hashlib
import os
import platform
import sys
import time
import traceback
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from resolvent.common.errors import ResolventError
from resolvent.common.files import FULL_DISK, readable_disk_errors
from resolvent.common.machine import SAMPLES_GB
from resolvent.common.progress import watched
from resolvent.planning.gpus import lease
from resolvent.planning.places import PACKAGE, search_working_folder
from resolvent.planning.provenance import record_command
from resolvent.solvers.common.errors import SolverError

if TYPE_CHECKING:  # importing pydantic takes longer than many jobs
    from resolvent.planning.configuration.settings import Configuration

KNOWN_ERRORS = (ResolventError, SolverError)
# Environment variables rather than parameters of rules, so that a change reruns nothing.
STALL_VARIABLE = "RESOLVENT_STALL_SECONDS"
JOBS_PER_DEVICE = "RESOLVENT_GPU_JOBS_PER_DEVICE"
NO_GPU = "RESOLVENT_NO_GPU"
COMPILED = Path(".snakemake/compiled")
COMPILE_SECONDS = 0.1  # JAX caches functions that take longer to compile
COMPILED_BYTES = 2**30  # size of the cache; least recently used entries are evicted


def prepare_environment(configuration: Configuration) -> None:
    record_command()
    os.environ.setdefault(STALL_VARIABLE, f"{60 * configuration.stall_minutes:g}")
    if configuration.samples_gb is not None:
        os.environ.setdefault(SAMPLES_GB, f"{configuration.samples_gb:g}")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX may share a GPU with torch
    os.environ[JOBS_PER_DEVICE] = str(configuration.gpu_jobs_per_device)


def hand_down_no_gpu(limits, to_jobs: bool) -> None:
    """Pass `gpu=0` from the submitting process (`to_jobs`) to jobs on a cluster: Snakemake does not."""
    if not to_jobs:
        if NO_GPU in os.environ:
            limits["gpu"] = 0
    elif limits.get("gpu").value == 0:
        os.environ[NO_GPU] = "1"
    else:
        os.environ.pop(NO_GPU, None)


@contextmanager
def job(snakemake, alone: bool = False):
    """Run a script's body; end the job with one line for a known error, with a traceback for any other.

    Both go to the terminal and to the rule's log, which Snakemake shows for a failed job. The stacks of all
    threads go to the log if the job makes no progress (`resolvent.common.progress`). The body imports torch
    and JAX, and sees only the GPUs that the job has leased (`resolvent.planning.gpus`): exclusively if
    `alone` (for timings), otherwise shared with as many jobs as the configuration allows.
    """
    # Imports create many objects and little garbage: collecting less often saves a fifth of their time.
    # Skipping the collection at exit, over all objects of torch, saves a second.
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)
    search_working_folder()
    log = Path(snakemake.log[0])
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("")
    # Snakemake fails a job whose output is older than its input. Set times in the future, which come from a
    # file server whose clock is ahead, to now.
    for file in snakemake.input:
        with suppress(OSError):  # a file of another user, or on a read-only file system
            if os.stat(file).st_mtime > time.time():
                os.utime(file)
    keep_compiled()

    def report(message: str) -> None:
        with log.open("a") as file:
            file.write(message)
        sys.stderr.write(message)

    # Without the resource `gpu` nothing is leased: solvers share the device that JAX finds, and torch runs on
    # the CPU (`resolvent.training.devices.choose_device`). With 0 (`--resources gpu=0`) all GPUs are hidden.
    gpus = snakemake.resources.get("gpu")
    leased: AbstractContextManager = nullcontext()
    if gpus is not None:
        jobs_per_device = 1 if alone else int(os.environ[JOBS_PER_DEVICE])
        leased = lease(gpus, jobs_per_device, lambda message: report(f"{snakemake.rule}: {message}"))
    try:
        with (
            readable_disk_errors(Path([*snakemake.output, log][0]).parent, FULL_DISK),
            leased,
            log.open("a") as file,
            watched(float(os.environ[STALL_VARIABLE]), file),
        ):
            yield
    except KeyboardInterrupt:
        message = f"{snakemake.rule}: interrupted\n"
    except KNOWN_ERRORS as error:
        message = f"{snakemake.rule}: {error}\n"
    except Exception:
        message = traceback.format_exc()
    else:
        return
    report(message)
    sys.exit(1)


def keep_compiled() -> None:
    """Enable JAX's persistent compilation cache, unless its variables are set. Call before importing JAX."""
    # One folder for each kind of processor: nodes of a cluster may differ and share the file system.
    known = [platform.machine(), platform.processor()]
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")[0].splitlines():
            key, _, value = line.partition(":")
            if key.strip() in ("model name", "flags", "Features"):
                known.append(value)
    kind = hashlib.sha256("\n".join(known).encode()).hexdigest()[:12]
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str((COMPILED / kind).absolute()))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", str(COMPILE_SECONDS))
    # With a size limit JAX also locks the folder, so that no job reads a partial file.
    os.environ.setdefault("JAX_COMPILATION_CACHE_MAX_SIZE", str(COMPILED_BYTES))
