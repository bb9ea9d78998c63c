"""Snakemake in forks of a process that has imported it, which takes longer than most plans.

Only packages are imported there: each fork reads the Snakefile and all of the project by itself.
"""

import atexit
import multiprocessing
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

import job_forks

PACKAGES = [
    "snakemake.cli",
    "snakemake.report.html_reporter",
    "snakemake.storage",
    "pandas",
    "smart_open",
    "yte",
]
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([*PACKAGES, *job_forks.PACKAGES])


def dry_run(folder: Path, *words: object, environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Do what `snakemake --dry-run WORDS` does in `folder`; return its status and what it printed.

    `environment` is in place of this process's.
    """
    return _in_a_fork(folder, ["--dry-run", *map(str, words)], environment, sys.executable)


def build(folder: Path, *words: object) -> tuple[int, str]:
    """Do what `snakemake WORDS` does in `folder`, with jobs that are forks, too (`job_forks`)."""
    return _in_a_fork(folder, list(map(str, words)), None, _python_of_forks())


def _in_a_fork(
    folder: Path, words: list[str], environment: dict[str, str] | None, python: str
) -> tuple[int, str]:
    environment = dict(os.environ if environment is None else environment)
    with tempfile.NamedTemporaryFile("r") as output:
        command = ["snakemake", *words]
        fork = FORKS.Process(target=_snakemake, args=(str(folder), command, environment, output.name, python))
        fork.start()
        fork.join()
        return fork.exitcode, output.read()


@cache
def _python_of_forks() -> str:
    """Start what runs the jobs; return the program that stands for Python."""
    folder = Path(tempfile.mkdtemp(prefix="resolvent-forks-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    address, client, ready = str(folder / "socket"), folder / "python", FORKS.Event()
    job_forks.write_client(client, address)
    FORKS.Process(target=job_forks.serve, args=(address, ready), daemon=True).start()
    assert ready.wait(60)
    return str(client)


def _snakemake(
    folder: str, command: list[str], environment: dict[str, str], output: str, python: str
) -> None:
    file = os.open(output, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(file, stream.fileno())
    job_forks.enter(folder, environment, folder)
    sys.argv, sys.executable = command, python
    from snakemake.cli import main

    main(command[1:])
