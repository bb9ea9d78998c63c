"""What every script does around its one call: a log, and errors that a user can act on."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from datasets.errors import DatasetError
from figures.errors import ResultError
from solvers.errors import SolverError
from training.errors import TrainingError
from workflow.gpu_devices import GpuError
from workflow.gpu_lease import lease
from workflow.provenance import record_command

KNOWN_ERRORS = (DatasetError, GpuError, ResultError, SolverError, TrainingError)
JOBS_PER_DEVICE = "RESOLVENT_GPU_JOBS_PER_DEVICE"  # no parameter of a rule: nothing runs again for it


def prepare_environment(root: Path, gpu_jobs_per_device: int) -> None:
    """Environment variables that the jobs inherit from the process that plans them."""
    record_command()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX may share a GPU with torch
    os.environ[JOBS_PER_DEVICE] = str(gpu_jobs_per_device)


@contextmanager
def job(snakemake, alone: bool = False):
    """Run a script's body: an expected fault ends the job with its one line, any other with its traceback.

    Both go to the terminal and to the rule's log, which Snakemake shows for a failed job. The body imports
    torch and JAX, and finds the GPUs that the job has leased (`workflow.gpu_lease`): `alone`, for timings,
    or beside as many others as the configuration allows.
    """
    log = Path(snakemake.log[0])
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("")

    def tell(message: str) -> None:
        with log.open("a") as file:
            file.write(message)
        sys.stderr.write(message)

    try:
        with _gpus(snakemake, alone, tell):
            yield
    except KNOWN_ERRORS as error:
        message = f"{snakemake.rule}: {error}\n"
    except Exception:
        message = traceback.format_exc()
    else:
        return
    tell(message)
    sys.exit(1)


def _gpus(snakemake, alone: bool, tell: Callable[[str], None]) -> AbstractContextManager:
    """In it the job has the GPUs of its resource `gpu`; of 0, as `--resources gpu=0` makes it, it sees none.

    A job of a rule without the resource is left as it is: the solvers compute where JAX finds a device, and
    share it; torch computes on the CPU there, see `training.devices.choose_device`.
    """
    gpus = snakemake.resources.get("gpu")
    if gpus is None:
        return nullcontext()
    jobs_per_device = 1 if alone else int(os.environ[JOBS_PER_DEVICE])
    return lease(gpus, jobs_per_device, lambda message: tell(f"{snakemake.rule}: {message}"))
