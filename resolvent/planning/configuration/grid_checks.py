"""Models that could not take a grid they would be trained or tested on, reported before any training."""

from __future__ import annotations

from collections.abc import Iterator

from resolvent.models.registry import settings_class
from resolvent.planning.configuration.settings import Experiment, Model, Resolution, model_settings


def grid_problems(experiment: Experiment, dataset, tested: list, models: dict[str, Model]) -> Iterator[str]:
    """Yield a line for each model that a grid is not for.

    `dataset` are the settings of the training data, `tested` the resolutions of the test samples, `models`
    have no problems of their own. What is reported elsewhere is left out: architectures of another dimension,
    grids that are not stored, and coarse grids that are not reached.
    """
    for key, model in models.items():
        architecture = settings_class(model.architecture)
        if architecture.dimension != dataset.dimension:
            continue
        for resolution in experiment.resolutions:
            if resolution not in dataset.resolutions:
                continue
            try:
                settings = model_settings(model, resolution, dataset)
                if architecture.coarse_output:
                    continue
                on_training_grid = dataset.inverse or architecture.one_grid
                for grid in [resolution] if on_training_grid else [resolution, *tested]:
                    points = _points(model, dataset, grid)
                    if isinstance(points, int):  # and no set of times
                        settings.check_grid(points)
            except ValueError as error:
                yield f"models.{key}: for experiments with dataset '{experiment.dataset}': {error}"
                break


def _points(model: Model, dataset, resolution: Resolution) -> Resolution:
    """Return the points along each axis of the grid that the model is given."""
    if dataset.inverse and model.grids == "coarse":
        return dataset.coarse_of(resolution)
    return resolution
