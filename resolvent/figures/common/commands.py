"""Code and commands on pages, to load or remake results, and sizes of files."""

import shlex
from pathlib import Path

from resolvent.figures.common.numbers import in_bytes
from resolvent.figures.common.results import Run


def loading(run: Run, card: dict, card_file: str) -> str:
    """Return Python that loads the run in `run.directory` and predicts test samples of the dataset.

    For several input functions or a diverged run, the code loads the stored predictions instead.
    """
    named = f'"{run.directory.as_posix()}"'
    if run.diverged or len(card["inputs"]) > 1:
        lines = [f"run = resolvent.load_run({named})", "print(run.cost.status, run.predictions)"]
    else:
        if ":" in run.record.architecture:  # the authors' code, in the folder of the study
            named = f'resolvent.load_run({named}, allow=["."])'
        lines = [
            f'test = resolvent.open_dataset("{card_file}", "test", {run.home!r})',
            f'prediction = resolvent.predict({named}, test["{card["inputs"][0]}"])',
        ]
    return "\n".join(["import resolvent", *lines])


def making(command: str, target: str = "") -> str:
    """Return the command that remakes the file `target`, by default the whole study.

    It has the configuration of `command`, without the targets and options of one invocation, such as `-R`.
    """
    begun = ["resolvent", "snakemake"] if command.startswith("resolvent ") else ["snakemake"]
    targets = [target] if target else []
    return shlex.join([*begun, "--cores", "2", *targets, *configuration_of(command)])


def configuration_of(command: str) -> list[str]:
    """Return the arguments of a command that set the configuration: files and single keys."""
    kept, option = [], ""
    for word in shlex.split(command):
        option = word.partition("=")[0] if word.startswith("-") else option
        kept += [word] if option in ("--configfile", "--configfiles", "--config", "-C") else []
    return kept


def size_of(store: str | Path) -> str | None:
    """Return the size of a store on this machine, such as "3.2 MB"; None if it is elsewhere."""
    files = [file for file in Path(store).rglob("*") if file.is_file()] if Path(store).is_dir() else None
    return None if files is None else in_bytes(sum(file.stat().st_size for file in files))
