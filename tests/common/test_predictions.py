"""Predictions survive being written, in all dimensions, and say what they are."""

import numpy as np
import pytest
import xarray

from resolvent.common.errors import FileError
from resolvent.common.predictions import (
    Chosen,
    at_one_level,
    condition,
    functions,
    read_predictions,
    tree_of,
    write_predictions,
)

RNG = np.random.default_rng(0)
X = np.linspace(0, 1, 9)


def chosen(samples, input_shape, target_shape):
    count = len(samples)
    values = [RNG.normal(size=(count, *shape)) for shape in (input_shape, target_shape, target_shape)]
    return Chosen(np.array(samples), *values)


def level(noise, axes, target_axes, input_shape, target_shape, power=None, shown=None):
    shown = shown or chosen([1, 4, 6], input_shape, target_shape)
    mean_square = {name: RNG.uniform(size=target_shape) for name in ("target", "error")}
    extremes = chosen([2, 6, 5], input_shape, target_shape)
    return at_one_level(noise, axes, target_axes, shown, extremes, power, mean_square)


@pytest.fixture
def tree():
    """A square with noise and a coarser target, and trajectories of three components."""
    axes, coarse = {"y": X, "x": X}, {"y": X[::2], "x": X[::2]}
    shown = chosen([1, 4, 6], (9, 9), (5, 5))
    power = {name: RNG.uniform(size=4) for name in ("wavenumber", "target", "prediction", "error")}
    levels = [level(noise, axes, coarse, (9, 9), (5, 5), power, shown) for noise in (0.0, 0.01)]
    times = {"time": np.array([0.0, 0.3, 1.0])}
    return tree_of(
        {9: levels, "dt0.01": [level(0.0, times, times, (3,), (2, 3))]}, {"model": "fno", "seed": 1}
    )


def test_what_was_written_is_read_in_equal_bytes(tree, tmp_path):
    for name in ("one.nc", "two.nc"):
        write_predictions(tmp_path / name, tree)
    assert (tmp_path / "one.nc").read_bytes() == (tmp_path / "two.nc").read_bytes()
    back = read_predictions(tmp_path / "one.nc")
    xarray.testing.assert_identical(back, tree)
    assert back.attrs == {"model": "fno", "seed": 1}


def test_a_condition_is_found_by_resolution_and_noise(tree):
    there = condition(tree, 9, 0.01)
    assert functions(there["prediction"]).shape == (3, 5, 5)
    assert functions(there["input"]).shape == (3, 9, 9)
    assert there["prediction"].dims == ("sample", "channel", "y_target", "x_target")
    assert "noise" not in tree["n9"]["target"].dims
    assert there["error_mean_square"].dims == there["target_mean_square"].dims == there["target"].dims[1:]
    assert there["extreme"].values.tolist() == ["median", "worst", "best"]
    assert "noise" in tree["n9"]["extreme_target"].dims  # the worst sample differs
    assert functions(condition(tree, "dt0.01", 0)["target"]).shape == (3, 2, 3)
    assert condition(tree, "dt0.01", 0)["input"].dims == ("sample", "input_channel", "time")
    for node in tree.children.values():
        assert all(values.attrs["long_name"] for values in node.data_vars.values())
    with pytest.raises(FileError, match=r"no predictions at 17; accepted: n9, dt0.01"):
        condition(tree, 17, 0)
    with pytest.raises(FileError, match=r"no predictions with noise 0.1; accepted: 0, 0.01"):
        condition(tree, 9, 0.1)


def test_a_damaged_file_is_one_line(tree, tmp_path):
    path = tmp_path / "predictions.nc"
    with pytest.raises(FileError, match="is missing: make it"):
        read_predictions(path)
    write_predictions(path, tree)
    whole = path.read_bytes()
    for damaged in (b"", b"not HDF5", whole[: len(whole) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(FileError, match=r"is damaged .*: delete it and run snakemake"):
            read_predictions(path)
