"""Datasets given away: in the layouts of others, whole, and imported again with the same numbers."""

import json
import re
import shutil
import subprocess

import h5py
import numpy as np
import pytest
import xarray
import yaml
from chosen import chosen
from dataset_fixtures import make_dataset

from resolvent.common.files import read_json, write_json
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.exports import CARD
from resolvent.datasets.imported.check import check_file
from resolvent.datasets.loading import load_arrays, load_samples, read_card
from resolvent.datasets.tasks.registry import settings_of
from resolvent.datasets.verify import faults_of_dataset
from resolvent.figures.dataset.card import UNKNOWN_CITATION, bibtex, licence
from resolvent.planning.export import _made_again, export


@pytest.fixture
def cards(card_of):
    """Return the cards of an evolution on a circle, of another operator on a square, and of trajectories."""
    return {name: card_of(name) for name in ("burgers", "darcy", "lorenz63")}


def sizes(card) -> dict[str, int]:
    return read_card(card)["samples"]


def finest(card) -> int:
    return max(group["grid"]["points"] for group in read_card(card)["groups"].values())


def stored(card, split: str) -> np.ndarray:
    """Return the samples of a split on the finest grid, (samples, 2, ...space)."""
    samples = load_samples(card, finest(card), split, sizes(card)[split])
    return np.stack([samples.inputs, samples.targets], axis=1)


def same(settings, card) -> None:
    """Check that settings of an import read the samples of a card, to the last digit."""
    for split, size in sizes(card).items():
        drawn = settings.task().draw([(split, index) for index in range(size)])
        np.testing.assert_array_equal(drawn, stored(card, split))


@pytest.mark.parametrize("name", ["burgers", "darcy"])
def test_a_file_is_imported_again_as_the_check_says(name, cards, tmp_path):
    (path,) = export(cards[name], "netcdf", tmp_path / "a.nc")
    report = check_file(path)
    grid = next(iter(read_card(cards[name])["groups"].values()))["grid"]
    block = chosen(report, grid=grid["kind"])
    names = [read_card(cards[name])[key][0] for key in ("inputs", "targets")]
    assert [block["input"], block["target"]] == names
    settings = settings_of(block | {"samples": sizes(cards[name])}).with_contents()
    assert (settings.grid, settings.length) == (grid["kind"], grid["length"])
    same(settings, cards[name])
    experiment = next(iter(report.configuration["experiments"].values()))
    (model,) = experiment["models"]
    described = report.configuration.get("models", {}).get(model, {"architecture": model})
    assert described["architecture"].startswith({"burgers": "fno", "darcy": "fno2d"}[name])


@pytest.mark.parametrize("name", ["burgers", "darcy"])
def test_the_layout_of_the_well_has_what_its_specification_asks_for(name, cards, tmp_path):
    out = tmp_path / "well"
    files = export(cards[name], "well", out)
    assert [file.relative_to(out).as_posix() for file in files] == [
        f"data/{split}/{name}.hdf5" for split in ("train", "valid", "test")
    ]
    axes, trained = ["x", "y"][: 1 if name == "burgers" else 2], sizes(cards[name])["train"]
    field = "velocity" if name == "burgers" else "pressure"
    with h5py.File(files[0]) as file:
        assert set(file) == {
            "boundary_conditions", "dimensions", "scalars", "t0_fields", "t1_fields", "t2_fields",
        }  # fmt: skip
        assert (file.attrs["dataset_name"], file.attrs["grid_type"]) == (name, "cartesian")
        assert (file.attrs["n_spatial_dims"], file.attrs["n_trajectories"]) == (len(axes), trained)
        assert list(file["dimensions"].attrs["spatial_dims"]) == axes
        for group in ("scalars", "t0_fields", "t1_fields", "t2_fields"):
            assert set(file[group].attrs["field_names"]) == set(file[group])
        for one in (*file["t0_fields"].values(), *file["scalars"].values()):
            assert one.attrs["sample_varying"]
        assert list(file["dimensions/time"]) == ([0, 1 / (2 * np.pi)] if name == "burgers" else [0])
        assert ("long_name" in file["dimensions/time"].attrs) == (name == "darcy")
        times = len(file["dimensions/time"])
        assert file[f"t0_fields/{field}"].shape == (trained, times, *[finest(cards[name])] * len(axes))
        kinds = {one.attrs["bc_type"] for one in file["boundary_conditions"].values()}
        assert kinds == {"PERIODIC" if name == "burgers" else "OPEN"}
        for axis, one in zip(axes, file["boundary_conditions"].values(), strict=True):
            assert list(one.attrs["associated_dims"]) == [axis]
            assert np.flatnonzero(one["mask"]).tolist() == [0, finest(cards[name]) - 1]
            for attributes in (one.attrs, file[f"dimensions/{axis}"].attrs):
                assert (attributes["sample_varying"], attributes["time_varying"]) == (False, False)
        assert not file["dimensions/time"].attrs["sample_varying"]
        given = file[f"t0_fields/{field if name == 'burgers' else 'coefficient'}"].attrs
        assert given["time_varying"] == (name == "burgers")
        assert json.loads(file.attrs[CARD]) == read_card(cards[name])
    grid = next(iter(read_card(cards[name])["groups"].values()))["grid"]
    block = chosen(check_file(files[0]), grid=grid["kind"])
    paths = dict(zip(("train", "validation", "test"), map(str, files), strict=True))
    block |= {"source": paths, "samples": sizes(cards[name])}
    same(settings_of(block).with_contents(), cards[name])


def test_times_are_kept_and_what_a_layout_cannot_have_is_one_line(cards, tmp_path):
    (path,) = export(cards["lorenz63"], "netcdf", tmp_path / "lorenz.nc")
    data = xarray.open_dataset(path, engine="h5netcdf")
    inputs = read_card(cards["lorenz63"])["inputs"]
    group = next(iter(read_card(cards["lorenz63"])["groups"]))
    loaded = load_samples(cards["lorenz63"], group, "test", 2)
    np.testing.assert_array_equal(data[inputs[0]][data.split == "test"], loaded.inputs[:, 0])
    with pytest.raises(DatasetError, match="has no functions of time; accepted: netcdf, huggingface"):
        export(cards["lorenz63"], "well", tmp_path / "well")
    assert not (tmp_path / "well").exists()
    with pytest.raises(DatasetError, match="unknown layout 'npz'; accepted: well, netcdf, huggingface"):
        export(cards["burgers"], "npz", tmp_path / "a.npz")
    with pytest.raises(DatasetError, match="no data at resolution 5; accepted: 64, 128"):
        export(cards["burgers"], "netcdf", tmp_path / "a.nc", 5)
    with pytest.raises(DatasetError, match="exists; choose"):
        export(cards["burgers"], "netcdf", path)


@pytest.mark.parametrize("name", ["burgers", "darcy", "lorenz63"])
def test_a_loader_of_croissant_reads_the_first_samples_of_a_folder_for_the_hub(name, cards, tmp_path):
    import mlcroissant

    export(cards[name], "huggingface", tmp_path / "shared")
    dataset = mlcroissant.Dataset(jsonld=tmp_path / "shared/croissant.json")
    assert not dataset.metadata.ctx.issues.errors
    assert not dataset.metadata.ctx.issues.warnings
    facts = read_card(cards[name])
    for split in facts["samples"]:
        table = f"first-samples-{split}"
        (described,) = (one.description for one in dataset.metadata.record_sets if one.name == table)
        group = re.search(r" in (\S+);", described)[1]
        count = min(2, facts["samples"][split])
        stored = load_arrays(cards[name], group, split, count)
        assert {*facts["inputs"], *facts["targets"]} <= set(stored)
        records = list(dataset.records(table))
        assert [record[f"{table}/split"].decode() for record in records] == [split] * count
        for index, record in enumerate(records):
            for variable, values in stored.items():
                np.testing.assert_array_equal(record[f"{table}/{variable}"], values[index].ravel())


def test_a_folder_for_the_hub_can_be_verified_and_made_again(cards, tmp_path):
    out = tmp_path / "shared"
    export(cards["burgers"], "huggingface", out)
    files = {"README.md", "LICENSE", "SHA256SUMS", "croissant.json", "samples", "dataset.yaml", "burgers"}
    assert {path.name for path in out.iterdir()} == files
    _, front, page = (out / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    assert yaml.safe_load(front)["license"] == "mit"
    assert "resolvent verify ." in page
    assert "installed, regenerate the same samples by\n\n    resolvent run finalise_burgers" in page
    facts = read_card(cards["burgers"])
    theirs = {**facts, "settings": facts["settings"] | {"equation": "my_lab.heat:HeatDataset"}}
    assert "`my_lab.heat:HeatDataset`, which is not in this folder" in _made_again(theirs)
    again = yaml.safe_load((out / "dataset.yaml").read_text())
    assert settings_of(again["datasets"]["burgers"]) == settings_of(read_card(cards["burgers"])["settings"])
    moved = shutil.move(out, tmp_path / "downloaded")
    (card,) = moved.glob("burgers/*.json")
    assert faults_of_dataset(card) == []
    check = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    whole = subprocess.run(check, cwd=moved, capture_output=True, text=True, check=True).stdout
    assert whole.count(": OK\n") == sum(path.is_file() for path in moved.rglob("*")) - 1
    write_json(card, read_json(card, "the card") | {"seed": 5})
    (moved / "LICENSE").unlink()
    damaged = subprocess.run(check, cwd=moved, capture_output=True, text=True, check=False)
    assert damaged.returncode == 1
    assert f"{card.relative_to(moved)}: FAILED" in damaged.stdout
    assert "LICENSE: FAILED open or read" in damaged.stdout
    assert any("its attributes differ from the card" in fault for fault in faults_of_dataset(card))


@pytest.fixture(scope="module")
def weather(tmp_path_factory):
    """Return the card of an imported NetCDF file with units, dates and coordinates that do not begin at 0."""
    folder = tmp_path_factory.mktemp("weather")
    x, y = np.arange(10.0, 90.0, 20.0), np.arange(-87.5, 90.0, 35.0)
    data = xarray.Dataset(coords={"lat": ("lat", y, {"units": "degrees_north"}), "lon": x})
    data["time"] = ("time", np.arange("2020-01-01", "2020-01-02", 6, dtype="datetime64[h]").astype("M8[ns]"))
    values = 280 + np.random.default_rng(0).random((9, 4, len(y), len(x)))
    data["t2m"] = (("sample", "time", "lat", "lon"), values, {"units": "K"})
    encoding = {"time": {"units": "hours since 2020-01-01", "dtype": "float64"}}
    data.to_netcdf(folder / "era.nc", engine="h5netcdf", encoding=encoding)
    sizes = {"finest": {"y": len(y), "x": len(x)}, "resolutions": [len(x)]}
    entry = {
        "equation": "arrays", "source": str(folder / "era.nc"), "input": "t2m", "target": "t2m",
        "grid": "nodes", "axes": ["sample", "time", "y", "x"], **sizes,
        "samples": {"train": 5, "validation": 2, "test": 2}, "coordinates": {"y": "lat", "x": "lon"},
    }  # fmt: skip
    return make_dataset(folder / "era", settings_of(entry).with_contents())


def test_units_dates_and_the_origin_of_imported_files_are_in_store_and_exports(weather, tmp_path):
    latitudes, times = np.arange(-87.5, 90.0, 35.0), [0.0, 18.0]
    assert faults_of_dataset(weather) == []
    (path,) = export(weather, "netcdf", tmp_path / "era.nc")
    exported = xarray.open_dataset(path, engine="h5netcdf")
    export(weather, "huggingface", tmp_path / "shared")
    (copied,) = tmp_path.glob("shared/*/*.zarr")
    for data in (exported, xarray.open_dataset(copied, group="n4", engine="zarr", consolidated=False)):
        np.testing.assert_array_equal(data.y, latitudes)
        np.testing.assert_array_equal(data.x, [10, 30, 50, 70])
        assert data.y.attrs["units"] == "degrees_north"
        assert not data.x.attrs.get("units")  # the file has none
        functions = [data["t2m_at_0"], data["t2m_at_last"]]
        for function, time in zip(functions, times, strict=True):
            assert (function.attrs["units"], function.attrs["time"]) == ("K", time)
            assert function.attrs["time_units"] == "hours since 2020-01-01"
        assert functions[1].attrs["long_name"] == "t2m at 2020-01-01 18:00"
    assert "units" not in exported.x.attrs
    with h5py.File(export(weather, "well", tmp_path / "well")[0]) as file:
        np.testing.assert_array_equal(file["dimensions/y"], latitudes)
        assert (list(file["dimensions/time"]), file["dimensions/time"].attrs["units"]) == (
            times, "hours since 2020-01-01",
        )  # fmt: skip
        assert file["dimensions/y"].attrs["units"] == "degrees_north"
        assert file["t0_fields/t2m"].attrs["units"] == "K"


def test_third_party_data_are_cited_as_their_user_states_and_never_as_ours(weather, tmp_path):
    facts = read_card(weather)
    export(weather, "huggingface", tmp_path / "shared")
    page = (tmp_path / "shared/README.md").read_text(encoding="utf-8")
    assert yaml.safe_load(page.split("---\n")[1])["license"] == "unknown"
    texts = [page, json.loads((tmp_path / "shared/croissant.json").read_text())["citeAs"]]
    for text in texts:
        assert UNKNOWN_CITATION in text
        assert "@software" not in text
    assert "about, licence" in page
    facts["imported"] |= {"source": "Li et al. (arXiv:2010.08895)"}
    assert bibtex(facts).count("@") == 1
    assert "2010.08895" in bibtex(facts)
    facts["imported"] |= {"citation": "A. Author, 2020", "licence": "CC0"}
    assert (bibtex(facts), licence(facts)[0]) == ("A. Author, 2020", "CC0")
