"""Dry runs of Snakemake in forks of a process that has imported it, which takes longer than most plans.

Only packages are imported there: each fork reads the Snakefile and all of the project by itself.
"""

import multiprocessing
import os
import sys
from pathlib import Path
from tempfile import NamedTemporaryFile

PACKAGES = [
    "snakemake.cli",
    "snakemake.report.html_reporter",
    "snakemake.storage",
    "pandas",
    "smart_open",
    "yte",
]
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(PACKAGES)


def dry_run(folder: Path, *words: object, environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Do what `snakemake --dry-run WORDS` does in `folder`; return its status and what it printed.

    `environment` is in place of this process's.
    """
    environment = dict(os.environ if environment is None else environment)
    with NamedTemporaryFile("r") as output:
        command = ["snakemake", "--dry-run", *map(str, words)]
        fork = FORKS.Process(target=_snakemake, args=(str(folder), command, environment, output.name))
        fork.start()
        fork.join()
        return fork.exitcode, output.read()


def _snakemake(folder: str, command: list[str], environment: dict[str, str], output: str) -> None:
    file = os.open(output, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(file, stream.fileno())
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:0] = [folder, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = command
    from snakemake.cli import main

    main(command[1:])
