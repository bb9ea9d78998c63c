"""Start Snakemake for the command `resolvent`, with the package's Snakefile, profile and configurations."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import psutil

from resolvent.common.errors import FileError
from resolvent.planning.places import HOME, check_folder

MOST_TRAININGS = 500  # without `--yes`
SLURM = "snakemake_executor_plugin_slurm"


def start_snakemake(words: list[str], confirmed: bool = True) -> int:
    """Run Snakemake in the working folder; return its exit status.

    A run that is not `confirmed` may be refused (`check_study`).

    Raises `FileError` if SLURM is requested without its plugin, or a configuration is given as a target.
    Raises `ConfigurationError` if a file of `--configfile` cannot be read or has values that YAML 1.1
    misreads: Snakemake would execute expressions in it, or end in a traceback.
    """
    # Imported here so that help and completion stay fast.
    from resolvent.planning.configuration.errors import ConfigurationError
    from resolvent.planning.configuration.likeness import placed
    from resolvent.planning.configuration.read import read_overlays

    check_folder()
    # Without the plugin Snakemake would only print its usage.
    if any(word.rstrip("/").endswith("slurm") for word in words) and not find_spec(SLURM):
        raise FileError("SLURM needs a Snakemake plugin: pip install 'resolvent[slurm]'")
    typed = shlex.join(["resolvent", "snakemake", *words])
    words, files = _with_own_overlays(words)
    for before, word in pairwise(["--", *words]):
        is_target = word[:1] != "-" and word not in files and (before == "--" or before[:1] != "-")
        of_package = not files and word != "datasets" and own_overlay(word) != word
        if is_target and (of_package or word.endswith((".yaml", ".yml"))):
            raise FileError(f"{word} is a configuration, not a rule or a result: write --configfile {word}")
    if (overlay := read_overlays(files)).problems:
        raise placed(ConfigurationError(overlay.problems), overlay)
    if not confirmed:
        check_study(overlay, words)
    if not any(word.startswith("--workflow-profile") for word in words):
        # First, because everything after `--` is a target.
        words = ["--workflow-profile", str(HOME / "workflow/profiles/default"), *words]
    start = [sys.executable, "-m", "snakemake", "--snakefile", str(HOME / "Snakefile")]
    environment = os.environ | {"RESOLVENT_COMMAND": typed}  # for the pages
    process, stopped = subprocess.Popen([*start, *words], env=environment), False

    def end_all(*_: object) -> None:
        """Forward SIGTERM, which reaches this process alone, to Snakemake and its jobs: trainings save."""
        nonlocal stopped
        stopped = True
        snakemake = psutil.Process(process.pid)
        for member in (snakemake, *snakemake.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                member.terminate()

    signal.signal(signal.SIGTERM, end_all)
    while True:
        try:
            status = process.wait()
        except KeyboardInterrupt:  # Snakemake receives the signal too, and ends its jobs
            stopped = True
            continue
        if stopped and status:
            print("stopped; the same command resumes", file=sys.stderr)
        return status


def _with_own_overlays(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the arguments, and the files of `--configfile`; NAME stands for config/NAME.yaml."""
    result, files, named = [], [], False
    for word in words:
        option, equals, value = word.partition("=")
        if word.startswith("-"):
            named = option in ("--configfile", "--configfiles")
        if named and (equals or not word.startswith("-")):
            files.append(own_overlay(value if word.startswith("-") else word))
            word = f"{option}={files[-1]}" if word.startswith("-") else files[-1]
        result.append(word)
    return result, files


def study_folder(files: Iterable[str]) -> Path:
    from resolvent.planning.configuration.read import read_configuration

    content = read_configuration([own_overlay(file) for file in files])
    return Path(content["results_root"], content["name"])


def check_study(overlay: Mapping, words: list[str]) -> None:
    """Raise `FileError` if `resolvent run` with this configuration and arguments `words` needs `--yes`.

    It does if no configuration has a `name`, since the results would go to the default study, unless that
    has begun in the working folder; and with more than `MOST_TRAININGS` trainings left. A configuration that
    is not valid is left to Snakemake.
    """
    from resolvent.planning.configuration.errors import ConfigurationError
    from resolvent.planning.configuration.load import load_configuration
    from resolvent.planning.configuration.read import with_defaults
    from resolvent.planning.plan import Plan
    from resolvent.planning.prediction.forecast import trainings_left, usable_gpus
    from resolvent.planning.prediction.needs import Needs

    content = with_defaults(overlay)
    folder = Path(str(content["results_root"]), str(content["name"]))
    named = "name" in overlay or any(word.startswith("name=") for word in words)
    try:
        configuration = load_configuration(content)
    except ConfigurationError:
        return
    if not named and not folder.exists():
        raise FileError(
            f"no configuration has a `name`, so the results would go to {folder}: name one by "
            "--configfile (demo, mine.yaml), or add --yes"
        )
    if configuration.number_of_trainings <= MOST_TRAININGS:
        return
    number, hours = trainings_left(Needs(Plan(configuration), gpu=usable_gpus(1) > 0))
    if number > MOST_TRAININGS:
        raise FileError(
            f"the study has {number:,} trainings left, about {hours:,.0f} hours one after another; nothing "
            "was started; add --yes to run it"
        )


def own_overlay(word: str) -> str:
    """Return the path of config/NAME.yaml if `word` is NAME and no file has this name here."""
    own = HOME / "config" / f"{word}.yaml"
    return str(own) if not Path(word).is_file() and own.exists() else word
