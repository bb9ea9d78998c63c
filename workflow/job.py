"""What every script does around its one call: a log, and errors that a user can act on."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

from datasets.errors import DatasetError
from datasets.files import FULL_DISK, readable_disk_errors
from datasets.watchdog import watched
from figures.errors import ResultError
from solvers.errors import SolverError
from training.errors import TrainingError
from workflow.provenance import record_command

KNOWN_ERRORS = (DatasetError, ResultError, SolverError, TrainingError)
STALL_VARIABLE = "RESOLVENT_STALL_SECONDS"


def prepare_environment(root: Path, stall_minutes: float) -> None:
    """Environment variables that the jobs inherit from the process that plans them."""
    record_command()
    os.environ.setdefault(STALL_VARIABLE, f"{60 * stall_minutes:g}")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX may share a GPU with torch


@contextmanager
def job(snakemake):
    """Run a script's body: an expected fault ends the job with its one line, any other with its traceback.

    Both go to the terminal and to the rule's log, which Snakemake shows for a failed job; so do the stacks of
    all threads of a job that makes no progress (`datasets.watchdog`).
    """
    log = Path(snakemake.log[0])
    log.parent.mkdir(parents=True, exist_ok=True)
    _bring_to_present(snakemake.input)
    try:
        with (
            readable_disk_errors(Path(snakemake.output[0]).parent, FULL_DISK),
            log.open("w") as file,
            watched(float(os.environ[STALL_VARIABLE]), file),
        ):
            yield
    except KNOWN_ERRORS as error:
        message = f"{snakemake.rule}: {error}\n"
    except Exception:
        message = traceback.format_exc()
    else:
        return
    sys.stderr.write(message)
    log.write_text(message)
    sys.exit(1)


def _bring_to_present(files: Iterable[str]) -> None:
    """Date files of a clock ahead of ours to now: Snakemake fails a job that ends older than its input."""
    for file in files:
        with suppress(OSError):  # another user's, or on a read-only file system
            if os.stat(file).st_mtime > time.time():
                os.utime(file)
