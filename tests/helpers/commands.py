"""Commands as users type them, each a process of its own that is waited for."""

import subprocess
import sys
from pathlib import Path


def snakemake(folder: Path, *words: object, environment: dict[str, str] | None = None) -> tuple[int, str]:
    """Run `snakemake WORDS` in `folder`; return its status and what it printed.

    `environment` is in place of this process's.
    """
    return _run(folder, ["-m", "snakemake", *words], environment)


def python(
    folder: Path, code: str, *words: object, environment: dict[str, str] | None = None
) -> tuple[int, str]:
    """Run `python -c CODE WORDS` in `folder`; return its status and what it printed."""
    return _run(folder, ["-c", code, *words], environment)


def _run(folder: Path, words: list, environment: dict[str, str] | None) -> tuple[int, str]:
    command = [sys.executable, *map(str, words)]
    process = subprocess.run(
        command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return process.returncode, process.stdout
