"""`resolvent verify`: a dataset as it is made has no fault, and a damaged copy has a line that names it."""

import json
import shutil

import numpy as np
import pytest
import zarr
from dataset_fixtures import made_once, make_dataset, small_settings

from resolvent.common.files import OWN_DIGEST, read_json, write_json
from resolvent.datasets.verify import faults_of_dataset, verify

CARD, STORE = "data/burgers/burgers.json", "data/burgers/burgers.zarr"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    settings = small_settings(resolutions=[64, 128], samples={"train": 16, "validation": 4, "test": 6})
    make_dataset(folder / "data/burgers", settings)
    return folder


@pytest.fixture
def copy(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "copy")


@pytest.mark.parametrize("equation", ["darcy", "darcy_inverse", "lorenz63", "controlled_ode", "kolmogorov"])
def test_a_dataset_of_every_equation_is_as_specified(equation, tmp_path_factory):
    assert faults_of_dataset(made_once(tmp_path_factory, equation)) == []


def edit(path, **changes):
    content = json.loads(path.read_text()) | changes
    content.pop(OWN_DIGEST, None)
    path.write_text(json.dumps(content))


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def of_card(**changes):
    def damage(folder):
        edit(folder / CARD, **changes)
        root = zarr.open_group(folder / STORE, mode="r+")
        root.attrs.put(json.loads((folder / CARD).read_text()))

    return damage


def without_split(folder):
    card = read_json(folder / CARD, "the card")
    del card["samples"]
    write_json(folder / CARD, card)


def one_number(folder):
    array = zarr.open_group(folder / STORE, mode="r+")["n64/final_velocity"]
    values = array[:]
    values[3, 5] += 1e-12
    array[:] = values


def swapped_splits(folder):
    array = zarr.open_group(folder / STORE, mode="r+")["n64/split"]
    array[:] = array[:][::-1]


def moved_points(folder):
    array = zarr.open_group(folder / STORE, mode="r+")["n128/x"]
    array[:] = np.linspace(0, 1, 128)


def other_units(folder):
    zarr.open_group(folder / STORE, mode="r+")["n128/final_velocity"].attrs["units"] = "m/s"


def other_dimensions(folder):
    path = folder / STORE / "n128/final_velocity/zarr.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"dimension_names": ["sample", "time"]}))


def whole_numbers(folder):
    path = folder / STORE / "n128/final_velocity/zarr.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"data_type": "int64", "fill_value": 0}))


BUDGET = {"against_refined_run": {"samples": 26, "of": 26, "median_relative_l2": 1, "largest_relative_l2": 2}}
DAMAGES = {
    "a number of the store": (one_number, "is not what was written (sample 3)"),
    "the order of the splits": (swapped_splits, "'split' is not 16 train, 4 validation, 6 test"),
    "coordinates": (moved_points, "the coordinates 'x' differ from the grid on the card"),
    "units": (other_units, "'final_velocity' has units 'm/s', the card says '1'"),
    "dimensions": (other_dimensions, "'final_velocity' has the dimensions"),
    "the type of numbers": (whole_numbers, "'final_velocity' is int64, the card says: "),
    "a shard": (lambda f: shutil.rmtree(f / STORE / "n64/final_velocity/c"), "lacks shard 0"),
    "an array": (lambda f: shutil.rmtree(f / STORE / "n64/final_velocity"), "'final_velocity' is missing"),
    "a group": (lambda f: shutil.rmtree(f / STORE / "n64"), "the group is missing"),
    "metadata": (lambda f: (f / STORE / "zarr.json").write_text("null"), "burgers.zarr"),
    "a card cut off": (lambda f: cut(f / CARD), "is damaged"),
    "no card": (lambda f: (f / CARD).unlink(), "is missing: the dataset is not finished"),
    "a key of the card": (without_split, "'samples': Field required"),
    "the type of a key": (of_card(seed="7"), "'seed': Input should be a valid integer"),
    "a card that is not the store's": (lambda f: edit(f / CARD, seed=8), "attributes differ from the card"),
    "the accuracy missed": (of_card(error_budget=BUDGET), "the largest error 2 is above the stated"),
    "nothing checked": (of_card(error_budget={}), "nothing was checked"),
    "other settings": (of_card(identity={}), "'settings_hash' is"),
    "a receipt": (
        lambda f: edit(f / "data/burgers/burgers.shards/0.json", code_versions={"burgers": 2}),
        "is of another version than the card",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_copy_has_a_line_that_names_the_fault(name, copy):
    damage, words = DAMAGES[name]
    damage(copy)
    faults = faults_of_dataset(copy / CARD)
    assert any(words in line for line in faults), faults
    assert all("\n" not in line and str(copy) in line for line in faults), faults


def test_the_command_ends_with_the_number_of_datasets_and_faults(copy, tmp_path, capsys):
    for paths in ([copy], [copy / "data", copy / CARD, copy / STORE]):
        assert verify(paths) == 0
        said = capsys.readouterr()
        assert not said.out
        assert said.err.endswith(": 1 dataset, as specified\n")
    one_number(copy)
    assert verify([copy / STORE]) == 1
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == int(said.err.split(", ")[1].split()[0]) > 0
    (copy / CARD).unlink()
    assert verify([copy]) == 1
    assert "burgers.json: is missing: the dataset is not finished" in capsys.readouterr().out
    (tmp_path / "empty").mkdir()
    for place in ("empty", "nothing"):
        assert verify([tmp_path / place]) == 1
        assert "no dataset; check a study by `sha256sum" in capsys.readouterr().err


def test_linked_folders_are_verified_once(copy, tmp_path, capsys):
    (copy / "data/burgers").rename(tmp_path / "scratch")
    (copy / "data/burgers").symlink_to(tmp_path / "scratch")
    (tmp_path / "scratch/again").symlink_to(copy / "data")
    assert verify([copy / "data"]) == 0
    shutil.rmtree(tmp_path / "scratch/burgers.zarr/n64/final_velocity/c")
    assert verify([copy / "data"]) == 1
    assert capsys.readouterr().out.count("lacks shard 0") == 1
