"""Small paired samples and a small operator, to train in a second."""

from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

import numpy as np
import torch
from model_variants import SMALL
from run_files import COST, IDENTITY

from resolvent.common.records import write_record
from resolvent.common.runs import PLACE
from resolvent.common.settings import settings_hash
from resolvent.datasets.loading import Samples, read_card
from resolvent.evaluation.evaluate import evaluate_run
from resolvent.models.build import build
from resolvent.models.registry import resolve, settings_class
from resolvent.solvers.common.grid import Grid, product
from resolvent.training import checkpoints
from resolvent.training.distributed.group import ALONE
from resolvent.training.fit import Trainer
from resolvent.training.normalisation import in_physical_units
from resolvent.training.settings import TrainingSettings
from resolvent.training.train import train_run

RUN = "results/tiny/burgers/fno/n64/seed3"  # folder of the run in the study of tests/public
COUNTS = {"train": 16, "validation": 4, "test": 6}
SMALL_FNO = {"width": 8, "num_layers": 2, "modes": 6, "projection_width": 16}
SMALL_FNO_2D = {"width": 6, "num_layers": 2, "modes": 4, "projection_width": 8}
SMALL_TRANSFORMER_2D = {
    "width": 12,
    "num_layers": 1,
    "num_heads": 2,
    "feedforward_width": 12,
    "downsampling_factor": 0.8,
    "decoder_width": 4,
    "decoder_layers": 1,
    "modes": 4,
    "projection_width": 8,
    "residual_dropout": 0.1,
}
DARCY_LIKE = {
    "gradient_weight": 0.5,
    "gradient_coefficient": "input",
    "normalisation": "pointwise",
    "boundary": "zero",
}

CODE = {"small": 1}  # versions of what trains
# With fewer training samples some node has seen one material only: its deviation is 1e-5.
SQUARE_COUNTS = {"train": 32, "validation": 2, "test": 3}


SQUARE_RUN = {
    "architecture": "fno2d",
    "settings": SMALL_FNO_2D,
    "grids": "stored",
    "noise": 0.0,
    "noise_samples": SQUARE_COUNTS["train"],
    "training": TrainingSettings(epochs=2, batch_size=8, **DARCY_LIKE).model_dump(mode="json"),
    "samples": {split: SQUARE_COUNTS[split] for split in ("train", "validation")},
}


def save_checkpoint(folder, checkpoint: dict) -> None:
    """Write a checkpoint, and a cost.json of the same run."""
    checkpoints.save(IDENTITY | checkpoint, folder / "checkpoint.pt")
    write_record(folder / "cost.json", COST)


def smooth_samples(count: int, points: int = 64, seed: int = 0) -> Samples:
    """Inputs of a few waves, targets that are their damped shift: easy to learn, not trivial."""
    grid = Grid("periodic", points)
    rng = np.random.default_rng(seed)
    k = np.arange(1, 4)
    amplitude, phase = rng.normal(size=(count, 1, 3)), rng.uniform(0, 2 * np.pi, size=(count, 1, 3))
    angle = 2 * np.pi * k * grid.coordinates[:, None]
    inputs = np.sum(amplitude * np.cos(angle + phase), -1)
    targets = np.sum(amplitude / k * np.cos(angle + phase - 0.3 * k), -1)
    return Samples(grid, inputs, targets)


def rough_samples(count: int, points: int = 13, seed: int = 0) -> Samples:
    """Darcy-like: coefficients of two values, and smooth functions that vanish on the boundary."""
    grid = Grid("nodes", points, dimension=2)
    x, y = grid.coordinates[None, :], grid.coordinates[:, None]
    rng = np.random.default_rng(seed)
    levels, shifts = rng.uniform(0.2, 0.8, size=(2, count, 1, 1))
    inputs = np.where(x + 0.5 * np.sin(3 * y) > levels + 0.3 * shifts, 12.0, 3.0)
    targets = np.sin(np.pi * x) * np.sin(np.pi * y) * (levels + shifts * x * y)
    targets[:, [0, -1]] = targets[:, :, [0, -1]] = 0
    return Samples(grid, inputs, targets)


def box_samples(count: int, seed: int = 0) -> Samples:
    """Waves in x between walls in y and z, on axes of unlike kinds and lengths, and their halves."""
    grid = product([Grid("nodes", 8), Grid("cell_centres", 9, 2.0), Grid("periodic", 10, 3.0)])
    z, y, x = np.meshgrid(*(axis.coordinates for axis in grid.axes), indexing="ij")
    phases = np.random.default_rng(seed).uniform(0, 6, size=(count, 1, 1, 1))
    inputs = np.cos(2 * np.pi * x / 3 + phases) * np.cos(np.pi * y / 2) * np.cos(np.pi * z)
    return Samples(grid, inputs, 0.5 * inputs)


def described(run: dict, resolution, seed: int, counts: dict[str, int], **testing) -> dict:
    """What the plan gives the evaluation of a run that was trained by `train_run`; `testing` says on what."""
    return {
        "experiment": "small", "model": "tiny", "label": "Tiny", "architecture": run["architecture"],
        "settings": resolve(run["architecture"], run["settings"]).model_dump(mode="json"),
        "grids": run["grids"], "coarse_points": None, "resolution": resolution, "recipe": None,
        "test_resolutions": [resolution], "test_noise": [0.0], "noise_realisations": 1, "seed": seed,
        "dataset": "small", "dataset_settings": {},
        "training": {
            **run["training"],
            "noise": run["noise"],
            "noise_samples": run["noise_samples"],
            **{f"{split}_samples": count for split, count in counts.items()},
        },
        "config_hash": settings_hash(run), "code_versions": CODE, **testing,
    }  # fmt: skip


def finished_run(
    card, folder, resolution=64, tested=(64, 128), architecture="fno1d", settings=SMALL_FNO, counts=COUNTS,
    test_card=None, **training,
):  # fmt: skip
    """Train and evaluate a small run of the dataset at `card` in `folder`, and return the folder.

    With `test_card` it is evaluated on another dataset.
    """
    training = {"epochs": 2, "batch_size": 4, "gradient_weight": 0.0} | training
    run = {
        "architecture": architecture, "settings": settings, "grids": "stored", "noise": 0.0,
        "noise_samples": counts["train"],
        "training": TrainingSettings(**training).model_dump(mode="json"),
        "samples": {split: counts[split] for split in ("train", "validation")},
    }  # fmt: skip
    names, seed = {}, 3
    if place := PLACE.search(folder.as_posix()):  # in a study, whose folders say what it is of
        names, seed = dict(zip(("experiment", "model"), place.groups(), strict=False)), int(place[4][4:])
    train_run(card, folder, resolution, seed=seed, run=run, code_versions=CODE, threads=1, gpus=0)
    description = described(
        run, resolution, seed, counts, test_resolutions=list(tested), dataset=card.parent.name, **names
    )
    if test_card is not None:
        description["dataset_settings"] = read_card(card)["settings"]
    evaluate_run(test_card or card, folder, description, threads=1, gpus=0)
    return folder


WITH_DROPOUT = {
    "architecture": "transformer2d",
    "settings": SMALL_TRANSFORMER_2D,
    "samples": rough_samples,
    **DARCY_LIKE,
}


def small_trainer(
    directory,
    *,
    architecture="fno1d",
    settings=SMALL_FNO,
    identity="a",
    samples=smooth_samples,
    test=None,
    seed=7,
    equation=None,
    group=ALONE,
    device="cpu",
    recordable=False,
    **training,
) -> Trainer:
    training = {"epochs": 4, "batch_size": 4, "learning_rate": 1e-2} | training
    torch.set_num_threads(1)
    training, train = TrainingSettings.model_validate(training), samples(16)
    return Trainer(
        in_physical_units(build(architecture, settings, seed), training, train),
        train,
        samples(8, seed=1),
        training,
        seed=seed,
        device=torch.device(device),
        identity=identity,
        directory=directory,
        test=test,
        equation=equation,
        group=group,
        recordable=recordable,
    )


ON_THE_SQUARE = {"architecture": "fno2d", "settings": SMALL_FNO_2D, "samples": rough_samples, **DARCY_LIKE}


def kind_of(architecture: str) -> dict:
    """Say how to train it here: small, with dropout where it has some, on samples of its dimension."""
    chosen, settings = settings_class(architecture), dict(SMALL[architecture])
    for rate in {"residual_dropout", "dropout"} & set(chosen.model_fields):
        settings[rate] = 0.1
    if chosen.coarse_output:
        settings["downsampling_factor"] = 1.0  # the samples' targets are on the grid of their inputs
    common = {}
    if chosen.dimension == 2:  # on 12 points a side: patches divide it, and it is that of AFNO's table
        common = ON_THE_SQUARE | {"samples": partial(rough_samples, points=12)}
    elif chosen.dimension == 3:
        common = {"samples": box_samples}
    return common | {"architecture": architecture, "settings": settings}


def at_step(trainer, number, act):
    """Call `act` before the gradients of the step of this number, counted from the start of the run."""
    steps, gradients = iter(range(1, 10**6)), trainer._gradients

    def watched(batch):
        if next(steps) == number:
            act()
        return gradients(batch)

    trainer._gradients = watched
    return trainer


class Killed(BaseException):
    """What ends a training in place of SIGKILL."""


@contextmanager
def killed_after(epochs):
    """Let every training end as soon as it has saved its state after so many epochs."""
    save = Trainer._save

    def save_and_die(trainer):
        save(trainer)
        if len(trainer.progress.history) == epochs:
            raise Killed

    with patch.object(Trainer, "_save", save_and_die):
        yield


def with_memory_for(trainer, samples):
    """Let the operator fail with more samples at once in training."""

    def check(module, inputs):
        if module.training and len(inputs[0]) > samples:
            raise torch.OutOfMemoryError("out of memory")

    trainer.operator.register_forward_pre_hook(check)
    return trainer
