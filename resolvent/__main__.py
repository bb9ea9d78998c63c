"""Run the workflow of the installed package: `resolvent snakemake --cores 2 --configfile demo`.

`resolvent verify data results/demo` holds datasets and results against their specification (docs/formats.md).
`resolvent import --check data.h5` looks into a file of yours and prints the configuration that imports it.
`resolvent where` prints the folder of the Snakefile and the configuration. `python -m resolvent` is the same.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from resolvent.planning.places import HOME


def main() -> int:
    """Start Snakemake in the working folder; return its exit status."""
    command, *words = sys.argv[1:] or ["--help"]
    if command == "where":
        print(HOME)
    elif command == "verify":
        from resolvent.planning.verify import (
            main as verify,
        )  # pandas and zarr, which Snakemake can start without

        return verify(words)
    elif command == "import":
        from resolvent.datasets.imported.check import main as check_import

        return check_import(words)
    elif command == "snakemake":
        words = _with_own_overlays(words)
        if not any(word.startswith("--workflow-profile") for word in words):
            words += ["--workflow-profile", str(HOME / "workflow/profiles/default")]
        start = [sys.executable, "-m", "snakemake", "--snakefile", str(HOME / "Snakefile")]
        return subprocess.run([*start, *words]).returncode
    else:
        print(__doc__)
        return 0 if command in ("-h", "--help") else 2
    return 0


def _with_own_overlays(words: list[str]) -> list[str]:
    """Return the words with the path of config/NAME.yaml for a NAME after `--configfile` that is no file."""
    result, files = [], False
    for word in words:
        if word.startswith("-"):
            files = word in ("--configfile", "--configfiles")
        own = HOME / "config" / f"{word}.yaml"
        result.append(str(own) if files and not Path(word).exists() and own.exists() else word)
    return result


if __name__ == "__main__":
    sys.exit(main())
