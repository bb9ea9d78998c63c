"""Datasets found by name or hash, and as torch, JAX and NumPy read them."""

import json
import pickle
import shutil

import numpy as np
import pytest
import torch
import xarray
from torch.utils.data import DataLoader

import resolvent
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.loading import load_samples


@pytest.mark.parametrize("name", ["burgers", "burgers/burg", "data/burgers/burgers.json"])
def test_a_dataset_is_found_by_its_name(here, name):
    assert set(resolvent.open_dataset(name).children) == {"n64", "n128"}


def test_what_is_written_from_a_dataset_says_what_it_is(here, tmp_path):
    chosen = resolvent.open_dataset("burgers", "test", 64)
    chosen.to_netcdf(tmp_path / "mine.nc")
    with xarray.open_dataset(tmp_path / "mine.nc") as again:
        card = json.loads((here / "data/burgers/burgers.json").read_text())
        assert json.loads(again.attrs["card"])["content_hash"] == card["content_hash"]
        assert again.attrs["split"] == "test"
        assert again.attrs["in_words"] == card["equation"]["in_words"]


def test_a_hash_is_enough_and_two_of_a_name_are_listed(here, tmp_path):
    for stem in ("0123456789ab", "0123ffffffff"):
        (tmp_path / "burgers").mkdir(exist_ok=True)
        shutil.copy(here / "data/burgers/burgers.json", tmp_path / f"burgers/{stem}.json")
        shutil.copytree(here / "data/burgers/burgers.zarr", tmp_path / f"burgers/{stem}.zarr")
    for name in ("0123456789ab", "burgers/01234"):
        assert "n64" in resolvent.open_dataset(name, data=tmp_path).children
    with pytest.raises(
        DatasetError, match=r"2 datasets called 'burgers': open one of burgers/0123456789ab, b"
    ):
        resolvent.open_dataset("burgers", data=tmp_path)
    with pytest.raises(DatasetError, match=r"no finished dataset 'heat'; .*; finished: burgers"):
        resolvent.open_dataset("heat")


def test_arrays_are_those_that_training_reads(here):
    data = resolvent.open_dataset("burgers")
    inputs, targets = data.numpy("validation", n=64)
    expected = load_samples("data/burgers/burgers.json", 64, "validation", 4)
    np.testing.assert_array_equal(inputs, expected.inputs)
    np.testing.assert_array_equal(targets, expected.targets)
    np.testing.assert_array_equal(data.jax("validation", n=64)[1], targets.astype(np.float32))


def samples_of(loader):
    """Return all inputs of one epoch, as bytes, in their order."""
    return [u.numpy().tobytes() for batch, _ in loader for u in batch]


def test_a_stream_has_every_sample_once_in_a_new_order_in_each_epoch(here):
    data = resolvent.open_dataset("burgers")
    whole = {u.numpy().tobytes() for u, _ in data.torch("train", n=64)}
    stream = pickle.loads(pickle.dumps(data.torch("train", n=64, streaming=True)))
    loader = DataLoader(stream, batch_size=3)
    torch.manual_seed(1)
    first, second = samples_of(loader), samples_of(loader)
    assert len(first) == len(second) == len(whole) == len(stream) == 20
    assert set(first) == set(second) == whole
    assert first != second
    torch.manual_seed(1)
    assert samples_of(loader) == first


def test_persistent_workers_take_a_new_order_in_each_epoch(here):
    stream = resolvent.open_dataset("burgers").torch("train", n=64, streaming=True)
    loader = DataLoader(stream, batch_size=2, num_workers=2, persistent_workers=True)
    torch.manual_seed(1)
    first, second = samples_of(loader), samples_of(loader)
    assert sorted(first) == sorted(second)
    assert len(set(first)) == len(first) == 20
    assert first != second


def test_what_there_is_not_is_one_line(here):
    data = resolvent.open_dataset("burgers")
    with pytest.raises(DatasetError, match="burgers is stored at 64, 128: choose one, n=64"):
        data.torch("train")
    with pytest.raises(DatasetError, match="burgers is not stored at 65; it has 64, 128"):
        data.torch("train", n=65)
    for ask in (lambda: data.torch("val", n=64), lambda: resolvent.open_dataset("burgers", "val")):
        with pytest.raises(DatasetError, match="has no split 'val'; it has train, validation, test"):
            ask()
    with pytest.raises(DatasetError, match="has no resolution 65; accepted: n"):
        resolvent.open_dataset("burgers", "test", 65)
    with pytest.raises(DatasetError, match="the dataset is not finished"):
        resolvent.open_dataset("data/burgers/none.json")
    empty = resolvent.open_dataset("burgers")
    empty.attrs["samples"] = empty.attrs["samples"] | {"validation": 0}
    with pytest.raises(DatasetError, match="burgers has no validation samples"):
        empty.numpy("validation", 64)
    with pytest.raises(DatasetError, match="a selection cannot return arrays"):
        resolvent.open_dataset("burgers").isel(sample=slice(3)).torch("train", n=64)


def test_a_shard_or_coordinates_of_another_place_are_refused(here, tmp_path):
    shutil.copytree(here / "data/burgers", tmp_path / "burgers")
    store = tmp_path / "burgers/burgers.zarr"
    (shard,) = (store / "n64/initial_velocity/c/0").iterdir()
    whole = shard.read_bytes()
    shutil.copy(store / "n64/final_velocity/c/0" / shard.name, shard)
    with pytest.raises(DatasetError, match=r"shard 0 of 'n64/initial_velocity' is not what was written"):
        resolvent.open_dataset("burgers", data=tmp_path).numpy("train", 64)
    shard.write_bytes(whole)
    for path in ("n64/x/c/0", "n64/x/zarr.json"):
        place = store / path
        whole = place.read_bytes()
        place.write_bytes((store / path.replace("n64", "n128")).read_bytes())
        with pytest.raises(DatasetError, match=r"burgers\.zarr is damaged in n64: .*; regenerate it with"):
            resolvent.open_dataset("burgers", data=tmp_path)
        place.write_bytes(whole)
    resolvent.open_dataset("burgers", data=tmp_path)
