"""What `import resolvent` offers: datasets as xarray sees them, and trained runs that predict."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
import xarray

from resolvent.common.records import check_same_run, identity_of
from resolvent.common.runs import Run, read_run


def open_dataset(
    path: Path | str, split: str | None = None, resolution: int | str | None = None
) -> xarray.DataTree | xarray.Dataset:
    """Open a finished dataset lazily.

    Parameters
    ----------
    path
        The dataset card, `data/<name>/<hash>.json`, or the store beside it, `<hash>.zarr`.
    split
        "train", "validation" or "test"; none: all samples, whose coordinate `split` says which they are of.
    resolution
        Points along each axis, or the name of a set of times: one Dataset. None: the DataTree of all.

    Raises
    ------
    DatasetError
        When the dataset is not finished or damaged, or has no such split or resolution.
    """
    from resolvent.datasets.errors import DatasetError
    from resolvent.datasets.loading import read_card
    from resolvent.datasets.storage.addresses import located
    from resolvent.datasets.storage.layout import group_name
    from resolvent.datasets.storage.object_store import opened

    path = Path(path)
    card = read_card(path.with_suffix(".json"))
    place = opened(located(path.with_suffix(".zarr")))
    tree = xarray.open_datatree(place, engine="zarr", chunks=None, consolidated=False, zarr_format=3)
    if split is not None:
        if split not in card["samples"]:
            raise DatasetError(f"{path} has no split '{split}'; it has {', '.join(card['samples'])}")
        names = list(card["samples"])
        start = sum(card["samples"][name] for name in names[: names.index(split)])
        members = slice(start, start + card["samples"][split])
        tree = tree.map_over_datasets(
            lambda group: group.isel(sample=members) if "sample" in group.dims else group
        )
    if resolution is None:
        return tree
    if group_name(resolution) not in tree.children:
        raise DatasetError(f"{path} has nothing at {resolution!r}; it has {', '.join(tree.children)}")
    return tree[group_name(resolution)].to_dataset()


def load_run(folder: Path | str) -> TrainedRun:
    """Load the run in `folder`, such as `results/demo/burgers/fno/n512/seed1127802`.

    Raises
    ------
    FileError
        When its records are missing, damaged or of another run.
    """
    return read_run(folder, TrainedRun)


def predict(
    run: TrainedRun | Path | str, inputs: np.ndarray | xarray.DataArray
) -> np.ndarray | xarray.DataArray:
    """Return what a run, or the run in a folder, predicts for `inputs`: see `TrainedRun.predict`."""
    return (run if isinstance(run, Run) else load_run(run)).predict(inputs)


class TrainedRun(Run):
    """A trained model: `record`, `cost`, `errors`, `history`, `predictions`, and `predict`."""

    def predict(
        self, inputs: np.ndarray | xarray.DataArray, device: str = "cpu"
    ) -> np.ndarray | xarray.DataArray:
        """Return the predictions in physical units, in float64.

        Parameters
        ----------
        inputs
            In physical units: (samples, ...space), or (samples, channels, ...space) of several functions, on
            a grid of the kind that the run was trained on, with any number of points that the architecture
            accepts. On a square, space is (y, x). A DataArray (sample, ...space) has its coordinates
            checked and gives a DataArray; those of times may be others than in training.
        device
            Where torch computes.

        Raises
        ------
        TrainingError
            When the run has diverged, or the inputs do not fit it.
        """
        import torch

        from resolvent.datasets.loading import Samples
        from resolvent.evaluation.conditions import predict as predicted

        operator = self._operator.to(device)
        grid = self._grid_of(inputs)
        values = np.asarray(inputs)
        result = predicted(operator, Samples(grid, values, values), torch.device(device))
        if not isinstance(inputs, xarray.DataArray):
            return result
        return _labelled(result, inputs, grid)

    @cached_property
    def _operator(self):
        from resolvent.training import checkpoints
        from resolvent.training.errors import TrainingError
        from resolvent.training.trained import trained_operator

        path = self.directory / "checkpoint.pt"
        checkpoint = checkpoints.load(path)
        check_same_run(path, checkpoints.run_of(checkpoint), identity_of(self.record))
        if checkpoint["operator"] is None:
            raise TrainingError(
                f"{self.directory} diverged in epoch {self.cost.diverged_epoch} and has no operator to "
                "predict with: choose another run, or train it with a smaller learning_rate"
            )
        return trained_operator(checkpoint)

    def _grid_of(self, inputs: np.ndarray | xarray.DataArray):
        """Return the grid that `inputs` are on."""
        from resolvent.datasets.storage.layout import grid_from_facts
        from resolvent.solvers.common.grid import Grid, Nodes
        from resolvent.training.errors import TrainingError

        trained, shape = grid_from_facts(self.record.grid), np.shape(inputs)
        space = shape[-trained.dimension :]
        channels = 1 if len(shape) == 1 + trained.dimension else shape[1] if len(shape) > 1 else 0
        expected = self._input_channels
        if len(shape) - trained.dimension not in (1, 2) or len(set(space)) > 1 or channels != expected:
            wanted = ["samples", *([str(expected)] if expected > 1 else []), *["n"] * trained.dimension]
            raise TrainingError(
                f"inputs of shape {shape} do not fit {self.record.model}: give ({', '.join(wanted)})"
            )
        if isinstance(trained, Nodes):
            times = inputs["time"].values if _has(inputs, "time") else np.array(trained.positions)
            if len(times) != space[0]:
                raise TrainingError(
                    f"inputs at {space[0]} times, but {self.record.model} was trained at {len(times)}: give "
                    "a DataArray with the coordinate time"
                )
            return Nodes(tuple(map(float, times)))
        grid = Grid(trained.kind, space[0], trained.length, trained.dimension)
        for name in ("x", "y")[: trained.dimension]:
            if _has(inputs, name) and not np.allclose(inputs[name], grid.coordinates, rtol=1e-6):
                raise TrainingError(
                    f"the coordinate {name} of the inputs is not that of {grid.points} {grid.kind} points on "
                    f"a side of length {grid.length:g}, as in training"
                )
        return grid

    @cached_property
    def _input_channels(self) -> int:
        node = next(iter(self.predictions.children.values()))
        return node.sizes["input_channel"]


def _has(inputs: np.ndarray | xarray.DataArray, name: str) -> bool:
    return isinstance(inputs, xarray.DataArray) and name in inputs.coords


def _labelled(values: np.ndarray, inputs: xarray.DataArray, grid) -> xarray.DataArray:
    """Return the predictions with the dimensions and coordinates of their inputs, where they are the same."""
    space = inputs.dims[-grid.dimension :]
    if values.shape[-1] != grid.points:
        space = tuple(f"{name}_target" for name in space)
    dims = (inputs.dims[0], *(["channel"] if values.ndim > 1 + grid.dimension else []), *space)
    kept = {
        name: one for name, one in inputs.coords.items() if one.dims and set(one.dims) <= {dims[0], *space}
    }
    return xarray.DataArray(
        values, dims=dims, coords=kept, name="prediction", attrs={"long_name": "prediction"}
    )
