"""Where the data of a configuration lie: in a folder, or in an object store with a folder beside."""

import copy
from pathlib import Path

import pytest
from merged_configuration import DEFAULT

from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.plan import DatasetPlan, Plan


def burgers_of(root: str) -> DatasetPlan:
    return Plan(load_configuration(copy.deepcopy(DEFAULT) | {"data_root": root})).datasets["burgers"]


@pytest.mark.parametrize(("root", "folder"), [("data", "data"), ("/large/data", "/large/data")])
def test_in_a_folder_everything_lies_there(root, folder):
    dataset = burgers_of(root)
    assert dataset.address is None
    assert Path(dataset.store).parent == Path(folder, "burgers")


@pytest.mark.parametrize("end", ["", "/"])
def test_in_an_object_store_lies_the_store_and_the_rest_in_a_folder(end):
    dataset = burgers_of(f"s3://bucket/some/data{end}")
    assert dataset.address == f"s3://bucket/some/data/burgers/{dataset.base.name}.zarr"
    for file in (dataset.store, dataset.card, dataset.preview):
        assert Path(file).parent == Path("data/s3/bucket/some/data/burgers")
