"""Lorenz-63 with initial values that enter in several forms: tables of docs/equations/lorenz63.md."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from resolvent.common.counts import counted
from resolvent.documentation.first_token import SAMPLES, first_token_rows
from resolvent.figures.common.results import Run, error_matrix, read_runs
from resolvent.figures.reported_vs_ours.markdown import table_lines
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.read import read_configuration
from resolvent.planning.plan import Plan

CONFIGURATION = "config/lorenz63_initial_values.yaml"
RUNS = "results/lorenz63_initial_values"
COMMAND = f"snakemake --cores 2 --resources gpu=0 --configfile {CONFIGURATION}"
ERROR = "standardised_relative_l2"
TOKENS = (
    "`first_token` seed by seed: its error; its error if the first token keeps the weight that it had in "
    "training, whatever the times; and how far the prediction moves, relative to itself and at all times but "
    f"the first, if every sample gets the initial values of another one. Medians over {SAMPLES} test samples."
)
BY_TIMES = "Median over the test samples of the relative L² error of standardised y and z"


def section(root: Path, folders: list[Path]) -> str:
    """Return what was trained, the errors at all times, and what the first token's weight does to them.

    `folders` are those of runs below `root`, where the configuration's dataset is too. A cell has the median
    over the test samples, averaged over the seeds, and its range over them where there are several. Raises
    `ResultError` as `read_runs` does, `DatasetError` where the dataset is missing.
    """
    models: dict[str, list[Run]] = {}
    for run in read_runs(folders):
        models.setdefault(run.record.model, []).append(run)
    runs = [run for made in models.values() for run in made]
    home = runs[0].resolution
    times = list(dict.fromkeys(runs[0].errors["resolution"]))
    header = tuple(f"{one}{'*' * (one == home)}" for one in times)
    medians = {name: {one: _medians(made, one) for one in times} for name, made in models.items()}
    forms = {name: made[0].record.settings["initial_values"] for name, made in models.items()}
    errors = [
        (f"`{forms[name]}`, {_seeds(models[name])}", *map(_cell, by_time.values()))
        for name, by_time in medians.items()
    ]
    card = (
        root
        / Plan(load_configuration(read_configuration([root / CONFIGURATION])))
        .datasets[runs[0].record.dataset]
        .card
    )
    tokens = [
        (f"{run.seed}: {words}", *(f"{found[one]:.2e}" for one in times))
        for run in runs
        if run.record.settings["initial_values"] == "first_token"
        for words, found in first_token_rows(run.directory, card, times)
    ]
    return "\n".join(
        [
            f"Written by `make docs` from the runs of `{COMMAND}`. {_training(runs)}",
            "",
            f"{BY_TIMES}, averaged over the seeds, with the lowest and the highest seed. Trained at {home}*.",
            "",
            *table_lines(("initial values", *header), errors),
            "",
            TOKENS,
            "",
            *table_lines(("seed", *header), tokens),
        ]
    )


def _medians(runs: list[Run], time: int | str) -> np.ndarray:
    """Return a median a seed."""
    return np.median(error_matrix([run.errors for run in runs], time, 0.0, ERROR).to_numpy(), axis=1)


def _cell(medians: np.ndarray) -> str:
    spread = f" [{medians.min():.2e}, {medians.max():.2e}]" if len(medians) > 1 else ""
    return f"{medians.mean():.2e}{spread}"


def _seeds(runs: list[Run]) -> str:
    return counted(len(runs), "seed")


def _training(runs: list[Run]) -> str:
    """Say once what all runs have in common, and on which machines they were trained."""
    settings, training = runs[0].record.settings, runs[0].record.training
    machines = sorted({f"{run.cost.device}, {run.cost.threads} thread(s) a run" for run in runs})
    return (
        f"Width {settings['width']}, {settings['num_layers']} layers, "
        f"{training['train_samples']:,} training and {training['test_samples']:,} test trajectories, "
        f"{training['epochs']} epochs in batches of {training['batch_size']}, "
        f"schedule {training['schedule']}; {'; '.join(machines)}, shared with other work."
    )
