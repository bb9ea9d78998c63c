"""What every script does around its one call: a log, and errors that a user can act on."""

from __future__ import annotations

import atexit
import gc
import hashlib
import os
import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterable
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

if TYPE_CHECKING:  # pydantic takes longer to import than many a job to do
    from resolvent.planning.configuration.settings import Configuration

KNOWN_ERRORS = (ResolventError, SolverError)
# No parameters of rules: nothing runs again for them.
STALL_VARIABLE = "RESOLVENT_STALL_SECONDS"
JOBS_PER_DEVICE = "RESOLVENT_GPU_JOBS_PER_DEVICE"
NO_GPU = "RESOLVENT_NO_GPU"
COMPILED = Path(".snakemake/compiled")
COMPILE_SECONDS = 0.1  # of compiling, from which on a function is kept
COMPILED_BYTES = 2**30  # of all that is kept; what was not used for longest goes first


def prepare_environment(configuration: Configuration) -> None:
    record_command()
    os.environ.setdefault(STALL_VARIABLE, f"{60 * configuration.stall_minutes:g}")
    if configuration.samples_gb is not None:
        os.environ.setdefault(SAMPLES_GB, f"{configuration.samples_gb:g}")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX may share a GPU with torch
    os.environ[JOBS_PER_DEVICE] = str(configuration.gpu_jobs_per_device)


def hand_down_no_gpu(limits, to_jobs: bool) -> None:
    """Let jobs on a cluster know of `--resources gpu=0`: Snakemake gives them none of its limits.

    `limits` are the workflow's; `to_jobs` says whether this process is the one that submits, or a job.
    """
    if not to_jobs:
        if NO_GPU in os.environ:
            limits["gpu"] = 0
    elif limits.get("gpu").value == 0:
        os.environ[NO_GPU] = "1"
    else:
        os.environ.pop(NO_GPU, None)


@contextmanager
def job(snakemake, alone: bool = False):
    """Run a script's body: an expected fault ends the job with its one line, any other with its traceback.

    Both go to the terminal and to the rule's log, which Snakemake shows for a failed job; so do the stacks of
    all threads of a job that makes no progress (`resolvent.common.progress`). The body imports torch and
    JAX, and finds the GPUs that the job has leased (`resolvent.planning.gpus`): `alone`, for timings,
    or beside as many others as the configuration allows.
    """
    # Imports make many objects and hardly any garbage: to look for it less often saves a fifth of their time,
    # and not to look once more at the end, through all that torch has made, a second.
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)
    search_working_folder()
    log = Path(snakemake.log[0])
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("")
    _bring_to_present(snakemake.input)
    keep_compiled()

    def report(message: str) -> None:
        with log.open("a") as file:
            file.write(message)
        sys.stderr.write(message)

    try:
        with (
            readable_disk_errors(Path([*snakemake.output, log][0]).parent, FULL_DISK),
            _gpus(snakemake, alone, report),
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


def _gpus(snakemake, alone: bool, report: Callable[[str], None]) -> AbstractContextManager:
    """Give the job the GPUs of its resource `gpu`; with 0, as `--resources gpu=0` makes it, it sees none.

    A job of a rule without the resource is left as it is: the solvers compute where JAX finds a device, and
    share it; torch computes on the CPU there, see `resolvent.training.devices.choose_device`.
    """
    gpus = snakemake.resources.get("gpu")
    if gpus is None:
        return nullcontext()
    jobs_per_device = 1 if alone else int(os.environ[JOBS_PER_DEVICE])
    return lease(gpus, jobs_per_device, lambda message: report(f"{snakemake.rule}: {message}"))


def _bring_to_present(files: Iterable[str]) -> None:
    """Date files of a clock ahead of ours to now: Snakemake fails a job that ends older than its input."""
    for file in files:
        with suppress(OSError):  # another user's, or on a read-only file system
            if os.stat(file).st_mtime > time.time():
                os.utime(file)


def keep_compiled() -> None:
    """Set the variables by which JAX keeps what it compiles, unless they are set; before JAX is imported.

    The folder is of this kind of processor: the nodes of a cluster may differ, and share their files.
    """
    known = [platform.machine(), platform.processor()]
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")[0].splitlines():
            key, _, value = line.partition(":")
            if key.strip() in ("model name", "flags", "Features"):
                known.append(value)
    kind = hashlib.sha256("\n".join(known).encode()).hexdigest()[:12]
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str((COMPILED / kind).absolute()))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", str(COMPILE_SECONDS))
    # A bound also has the folder locked, so that no job reads half of a file.
    os.environ.setdefault("JAX_COMPILATION_CACHE_MAX_SIZE", str(COMPILED_BYTES))
