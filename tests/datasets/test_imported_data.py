"""Public files become datasets of ours, and their cards say what a check of them finds."""

import re

import numpy as np
import pytest
from dataset_fixtures import make_dataset
from public_files import burgers_variables, darcy_variables, write_mat

from resolvent.datasets.loading import load_samples, read_card
from resolvent.datasets.tasks.registry import build_task, settings_of
from resolvent.solvers.common.grid import Grid

BURGERS, DARCY = 120, 40  # samples in a file
POINTS, SIDE = 128, 33


@pytest.fixture(scope="module")
def burgers():
    return burgers_variables(BURGERS, POINTS)


@pytest.fixture(scope="module")
def darcy():
    return [darcy_variables(DARCY, SIDE, split) for split in ("train", "test")]


def burgers_settings(path, **changes):
    given = {
        "equation": "burgers", "source": str(path), "finest": POINTS, "resolutions": [64, POINTS],
        "samples": {"train": 90, "validation": 10, "test": 8}, "samples_per_shard": 40,
    }  # fmt: skip
    return settings_of(given | changes).with_contents()


def darcy_settings(paths, **changes):
    given = {
        "equation": "darcy", "source": list(map(str, paths)), "finest": SIDE, "resolutions": [SIDE, 9],
        "samples": {"train": DARCY, "validation": 4, "test": 8}, "samples_per_shard": 20,
    }  # fmt: skip
    return settings_of(given | changes).with_contents()


def checked_burgers(folder, variables, **changes):
    """The card of a dataset made from a file with these variables."""
    folder.mkdir(exist_ok=True)
    path = write_mat(folder / "burgers.mat", variables)
    return read_card(make_dataset(folder / "made", burgers_settings(path, **changes)))


def checked_darcy(folder, variables, **changes):
    paths = [write_mat(folder / f"smooth{n}.mat", one) for n, one in enumerate(variables, 1)]
    return read_card(make_dataset(folder / "made", darcy_settings(paths, **changes)))


@pytest.fixture(scope="module")
def good(burgers, darcy, tmp_path_factory):
    """Return the cards of datasets of good files, of Burgers' in version 5, of Darcy's in version 7.3."""
    folder = tmp_path_factory.mktemp("good")
    path = write_mat(folder / "burgers_data_R10.mat", burgers)
    paths = [write_mat(folder / f"smooth{n}.mat", one, "MAT 7.3") for n, one in enumerate(darcy, 1)]
    of_burgers = make_dataset(folder / "burgers", burgers_settings(path))
    return of_burgers, make_dataset(folder / "darcy", darcy_settings(paths))


def test_burgers_samples_are_the_rows_that_cao_takes(burgers, good):
    rows = {"train": slice(0, 90), "validation": slice(102, 112), "test": slice(112, 120)}
    for split, taken in rows.items():
        for points in (64, POINTS):
            count = len(range(*taken.indices(BURGERS)))
            samples = load_samples(good[0], points, split, count)
            np.testing.assert_array_equal(samples.inputs, burgers["a"][taken, :: POINTS // points])
            np.testing.assert_array_equal(samples.targets, burgers["u"][taken, :: POINTS // points])
            assert samples.grid == Grid("periodic", points)
    facts = read_card(good[0])["imported"]
    assert facts["warnings"] == []
    assert facts["files"][0]["format"] == "MAT 5"
    assert (
        facts["samples_are"]["test"] == "row 113 of burgers_data_R10.mat to row 120 of burgers_data_R10.mat"
    )


def test_darcy_trains_on_the_first_file_and_tests_on_the_second(darcy, good):
    taken = {"train": (0, slice(0, 40)), "validation": (1, slice(28, 32)), "test": (1, slice(32, 40))}
    for split, (file, rows) in taken.items():
        for points in (SIDE, 9):
            stride = (SIDE - 1) // (points - 1)
            samples = load_samples(good[1], points, split, len(range(*rows.indices(DARCY))))
            expected = [darcy[file][name][rows, ::stride, ::stride] for name in ("coeff", "sol")]
            np.testing.assert_array_equal(samples.inputs, expected[0].astype("float32"))
            np.testing.assert_array_equal(samples.targets, expected[1].astype("float32"))
    assert read_card(good[1])["imported"]["warnings"] == []


def test_the_card_of_good_data_says_so_in_numbers(good):
    card = read_card(good[0])
    found = card["error_budget"]
    assert found["labels_against_our_solver"]["samples"] == 108
    assert found["labels_against_our_solver"]["largest_relative_l2"] < 1e-10
    errors = {name: facts["median_relative_l2"] for name, facts in found["by_convention"].items()}
    assert set(errors) == {"Cao's text", "Li et al.'s text"}
    assert min(errors.values()) > 0.1
    assert found["stored_against_the_file"]["largest_relative_l2"] == 0
    assert found["observed_on"] == f"n{POINTS}"
    assert not found["both_ends_included"]
    assert card["imported"]["summary"].startswith("imported; labels checked against our solver: relative L²")
    assert card["precision"] == "read from the file, stored as float64"
    found = read_card(good[1])["error_budget"]
    assert found["labels_against_our_solver"]["largest_relative_l2"] < 1e-6
    assert found["observed_on"] == f"n{SIDE}"
    assert found["labels_against_our_solver"]["samples"] == DARCY + 12  # fewer than are checked of many


def test_burgers_data_of_another_viscosity_and_time_are_remarked_on(burgers, tmp_path):
    changes = {"viscosity": 0.03, "final_time": 0.7}
    (warning,) = checked_burgers(tmp_path, burgers, **changes)["imported"]["warnings"]
    assert "viscosity 0.03, time 0.7" in warning
    assert re.search("the public file's: [0-9.]+e-1[0-9]; Cao's text", warning), warning


def test_a_grid_with_both_ends_is_remarked_on(burgers, tmp_path):
    closed = burgers | {
        name: np.concatenate([burgers[name][:, :-1], burgers[name][:, :1]], axis=1) for name in ("a", "u")
    }
    warnings = checked_burgers(tmp_path, closed)["imported"]["warnings"]
    assert any("the last of 128 values repeats the first" in one for one in warnings)


def test_a_file_on_cell_centres_is_remarked_on_only_where_nodes_are_stated(darcy, tmp_path):
    for name, stated in {"cells": {}, "nodes": {"grid": "nodes"}}.items():
        (tmp_path / name).mkdir()
        card = checked_darcy(tmp_path / name, darcy, **stated, accuracy=1.0)
        other = [words for words in card["imported"]["warnings"] if "With other conventions" in words]
        assert len(other) == len(card["imported"]["warnings"]) == len(stated)
        assert all("cell centres, arithmetic mean: " in words for words in other)
    assert card["groups"]["n9"]["grid"] == card["groups"]["n9"]["grid"] | {"kind": "nodes", "points": 9}


def test_a_coefficient_of_zeros_and_ones_is_remarked_on(darcy, tmp_path):
    masks = [one | {"coeff": (one["coeff"] > 5).astype("uint8")} for one in darcy]
    card = checked_darcy(tmp_path, masks)
    warnings = " ".join(card["imported"]["warnings"])
    assert "The pressures could not be checked: Darcy: the coefficient is not positive" in warnings
    assert "labels not checked" in card["imported"]["summary"]


def test_the_settings_on_a_card_make_the_same_dataset_again(burgers, good, tmp_path):
    settings = settings_of(read_card(good[0])["settings"])
    assert make_dataset(tmp_path / "burgers", settings).read_bytes() == good[0].read_bytes()
    answer = build_task(settings).baselines()["coarse_solve"](burgers["a"][:3], Grid("periodic", POINTS))
    np.testing.assert_allclose(answer, burgers["u"][:3], rtol=0, atol=1e-4)
