"""Small paired samples and a small operator, to train in a second."""

import numpy as np
import torch

from datasets.loading import Samples
from models.build import build
from solvers.grid import Grid
from training.fit import Trainer
from training.settings import TrainingSettings

SMALL_FNO = {"width": 8, "num_layers": 2, "modes": 6, "projection_width": 16}
SMALL_TRANSFORMER = {
    "width": 16,
    "num_layers": 1,
    "feedforward_width": 16,
    "decoder_width": 8,
    "modes": 6,
    "feedforward_dropout": 0.1,
}


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


def small_trainer(
    directory, *, architecture="fno1d", settings=SMALL_FNO, identity="a", **training
) -> Trainer:
    training = {"epochs": 4, "batch_size": 4, "learning_rate": 1e-2} | training
    torch.set_num_threads(1)
    return Trainer(
        build(architecture, settings, seed=7),
        smooth_samples(16),
        smooth_samples(8, seed=1),
        TrainingSettings.model_validate(training),
        seed=7,
        device=torch.device("cpu"),
        identity=identity,
        directory=directory,
    )
