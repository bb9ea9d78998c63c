"""Exports open in the packages that they are for (`make test-all` installs them: the extra `clients`)."""

import shutil

import numpy as np
import pytest
import xarray

from resolvent.datasets.exports import call_of_the_well
from resolvent.datasets.loading import load_samples, read_card
from resolvent.planning.export import export

pytestmark = pytest.mark.slow
FEW = {"train": 3, "validation": 2, "test": 2}


@pytest.mark.parametrize(("name", "times"), [("burgers", [0, 1 / (2 * np.pi)]), ("darcy", [0])])
def test_the_printed_call_opens_the_layout_of_the_well(name, times, card_of, tmp_path):
    WellDataset = pytest.importorskip("the_well.data").WellDataset
    card = card_of(name, samples=FEW)
    files = export(card, "well", tmp_path / "well")
    call = call_of_the_well(files)
    assert ("n_steps_output=0" in call) == (name == "darcy")  # the defaults are enough for an evolution
    data = eval(call, {"WellDataset": WellDataset})
    assert len(data) == FEW["train"]
    stored = load_samples(card, max(group["grid"]["points"] for group in read_card(card)["groups"].values()),
                          "train", FEW["train"])  # fmt: skip
    for index in range(len(data)):
        item = data[index]
        np.testing.assert_allclose(item["input_time_grid"], times[:1], atol=1e-12)
        np.testing.assert_allclose(item.get("output_time_grid", []), times[1:], atol=1e-12)
        answer = item["output_fields"] if name == "burgers" else item["input_fields"]
        given = item["input_fields"][0] if name == "burgers" else item["constant_fields"]
        np.testing.assert_array_equal(given[..., 0], stored.inputs[index].T)
        np.testing.assert_array_equal(answer[0, ..., 0], stored.targets[index].T)


@pytest.mark.parametrize("engine", ["h5netcdf", "netcdf4"])
@pytest.mark.parametrize("name", ["burgers", "darcy", "lorenz63"])
def test_both_libraries_of_netcdf_read_the_same(name, engine, card_of, tmp_path):
    if engine == "netcdf4":
        pytest.importorskip("netCDF4")
    card = card_of(name, samples=FEW)
    (path,) = export(card, "netcdf", tmp_path / "a.nc")
    facts = read_card(card)
    with xarray.open_dataset(path, engine=engine) as data:
        assert list(data.split.values) == [split for split, size in FEW.items() for _ in range(size)]
        group = next(
            name
            for name in facts["groups"]
            if set(facts["inputs"]) <= set(facts["groups"][name]["variables"])
        )
        if "points" in facts["groups"][group]["grid"]:
            group = f"n{data.sizes['x']}"
        (store,) = [card.with_suffix(".zarr")]
        with xarray.open_dataset(store, group=group, engine="zarr", consolidated=False) as stored:
            for variable in (*facts["inputs"], *facts["targets"], *data.indexes):
                np.testing.assert_array_equal(data[variable], stored[variable])


@pytest.mark.parametrize("name", ["burgers", "darcy", "lorenz63"])
def test_datasets_loads_a_downloaded_folder(name, card_of, tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    card = card_of(name, samples=FEW)
    export(card, "huggingface", tmp_path / "shared")
    folder = shutil.move(tmp_path / "shared", tmp_path / "downloaded")
    loaded = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
    assert {split: len(table) for split, table in loaded.items()} == dict.fromkeys(FEW, 2)
    variable = read_card(card)["inputs"][0]
    for split, table in loaded.items():
        assert table["split"][:] == [split] * 2
        assert np.isfinite(np.array([row.split() for row in table[variable]], dtype=float)).all()
