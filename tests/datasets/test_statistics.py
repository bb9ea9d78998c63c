"""Statistics of a store are the same numbers wherever they are computed."""

import dask
import numpy as np
import pytest
import xarray
from distributed import LocalCluster

from resolvent.datasets import card as module
from resolvent.datasets.card import statistics
from resolvent.datasets.errors import DatasetError


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store of 40 samples, of which a block of the tests has six."""
    rng = np.random.default_rng(3)
    values = {"u": (("sample", "x"), 1e3 + rng.normal(size=(40, 8))), "v": ("sample", rng.normal(size=40))}
    path = tmp_path_factory.mktemp("statistics") / "some.zarr"
    tree = xarray.DataTree.from_dict({"/n8": xarray.Dataset(values)})
    tree.to_zarr(path, zarr_format=3, consolidated=False)
    return path, {name: found[1] for name, found in values.items()}


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(module, "BLOCK_BYTES", 6 * 8 * 8)


def test_statistics_are_those_of_all_samples(store, small_blocks):
    path, values = store
    found = statistics(path)
    assert set(found) == {"n8/u", "n8/v"}
    for name, numbers in values.items():
        expected = {"mean": numbers.mean(), "std": numbers.std(), "min": numbers.min(), "max": numbers.max()}
        assert found[f"n8/{name}"] == pytest.approx(expected, abs=1e-5 * np.abs(numbers).max())


@pytest.mark.parametrize(("mean", "deviation"), [(0, 1.0), (300, 1e-3), (101325, 1e-2), (1e8, 1.0), (7, 0.0)])
def test_statistics_keep_the_digits_of_a_small_variation(mean, deviation, tmp_path):
    values = mean + deviation * np.random.default_rng(3).normal(size=(40, 8))
    tree = xarray.DataTree.from_dict({"/n8": xarray.Dataset({"u": (("sample", "x"), values)})})
    tree.to_zarr(tmp_path / "u.zarr", zarr_format=3, consolidated=False)
    found = statistics(tmp_path / "u.zarr")["n8/u"]
    expected = {"mean": values.mean(), "std": values.std(), "min": values.min(), "max": values.max()}
    assert found == pytest.approx(expected, rel=0, abs=2e-5 * max(deviation, 1e-12 * mean))


def test_a_cluster_finds_the_same_numbers(store, small_blocks, monkeypatch):
    here = statistics(store[0])
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        monkeypatch.setenv("RESOLVENT_DASK_SCHEDULER", cluster.scheduler_address)
        assert statistics(store[0]) == here
        done = sum(len(events) for events in cluster.scheduler.transition_log)
    assert done > 2 * 7  # every block of either array


def test_an_address_where_nobody_answers_is_refused(store, monkeypatch):
    monkeypatch.setenv("RESOLVENT_DASK_SCHEDULER", "nowhere")
    with pytest.raises(DatasetError, match="RESOLVENT_DASK_SCHEDULER: no scheduler answers at 'nowhere'"):
        statistics(store[0])
    assert dask.base.get_scheduler() is None  # nor does anybody else of this process wait for it
