"""A small dataset of the Burgers equation: made once a module, and a copy to damage."""

import shutil

import pytest
from dataset_fixtures import make_dataset, small_settings


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "burgers"
    make_dataset(folder, small_settings())
    return folder


@pytest.fixture
def dataset(made, tmp_path):
    return shutil.copytree(made, tmp_path / "burgers")
