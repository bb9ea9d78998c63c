"""Stores and arrays that hold objects: refused in one line, and nothing in them is executed."""

import json
import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

from resolvent.common.files import write_arrays
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.loading import load_samples
from resolvent.datasets.storage.store import read_array

NAME = "n64/initial_velocity"
PICKLE = {"id": "pickle", "protocol": 5}
# What a Zarr v3 array may say of itself, and what a v2 array may.
V3 = [
    {"data_type": "object"},
    {"data_type": "object", "codecs": [{"name": "numcodecs.pickle"}]},
    {"codecs": [{"name": "numcodecs.pickle", "configuration": {"protocol": 5}}]},
    {"codecs": [{"name": "bytes"}, {"name": "pickle"}]},
    {"data_type": "string", "fill_value": "", "codecs": [{"name": "vlen-utf8"}]},
]
V2 = [
    {"dtype": "|O", "filters": [PICKLE]},
    {"dtype": "<f8", "filters": [PICKLE]},
    {"dtype": "<f8", "compressor": PICKLE},
    {"dtype": "|O", "filters": [{"id": "vlen-utf8"}], "compressor": PICKLE},
]


class Command:
    """A pickle of this makes the folder `mark` when it is loaded."""

    def __init__(self, mark: Path):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def refused(dataset: Path) -> None:
    with pytest.raises(DatasetError) as raised:
        load_samples(dataset / "burgers.json", 64, "train", 2)
    assert len(str(raised.value).splitlines()) == 1
    assert not (dataset / "executed").exists()


@pytest.mark.parametrize("facts", V3)
def test_an_array_of_objects_is_refused(facts, dataset):
    array = dataset / "burgers.zarr" / NAME
    stored = json.loads((array / "zarr.json").read_text())
    (array / "zarr.json").write_text(json.dumps(stored | facts))
    for chunk in (array / "c").rglob("*"):
        if chunk.is_file():
            chunk.write_bytes(pickle.dumps(Command(dataset / "executed")))
    refused(dataset)


@pytest.mark.parametrize("facts", V2)
def test_a_store_of_the_older_format_is_refused(facts, dataset):
    """It knows a codec that unpickles, which the present format does not."""
    store = dataset / "burgers.zarr"
    attributes = json.loads((store / "zarr.json").read_text())["attributes"]
    shutil.rmtree(store)
    (store / NAME).mkdir(parents=True)
    for group in (store, store / "n64"):
        (group / ".zgroup").write_text('{"zarr_format": 2}')
    (store / ".zattrs").write_text(json.dumps(attributes))
    shape = {"zarr_format": 2, "shape": [30, 64], "chunks": [30, 64], "order": "C", "fill_value": None}
    (store / NAME / ".zarray").write_text(json.dumps({**shape, "filters": None, "compressor": None, **facts}))
    (store / NAME / "0.0").write_bytes(pickle.dumps(Command(dataset / "executed")))
    refused(dataset)


@pytest.mark.parametrize("name", ["n64", "n64/split", "n64/x"])
def test_what_is_no_array_of_samples_is_not_read(name, made):
    with pytest.raises(DatasetError, match="has no array of samples"):
        read_array(made / "burgers.zarr", name, range(2))


def test_an_array_of_objects_in_an_npz_is_not_loaded(tmp_path):
    write_arrays(tmp_path / "part.npz", {"a": np.array([Command(tmp_path / "executed")], dtype=object)})
    with np.load(tmp_path / "part.npz") as content, pytest.raises(ValueError, match="allow_pickle=False"):
        content["a"]
    assert not (tmp_path / "executed").exists()
