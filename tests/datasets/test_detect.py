"""What is guessed of a file that says little of itself: axes by shape, the grid by coordinates or by ends."""

import numpy as np
import pytest
import zarr
from array_files import write_npz

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.check import check_file
from resolvent.datasets.imported.coordinates import FoundGrid, found_grid
from resolvent.datasets.imported.detect import axes_by_shape, detect
from resolvent.datasets.imported.readers.source import open_source

AXES = {
    (20, 64): "sample x",
    (20, 64, 64): "sample y x",
    (20, 64, 8): "sample x channel",
    (20, 8, 64): "sample channel x",
    (20, 9, 64): "sample time x",
    (20, 64, 9): "sample time x",
    (20, 64, 64, 64): "sample z y x",
    (20, 4, 64, 64): "sample channel y x",
    (20, 5, 64, 64): "sample time y x",
    (20, 64, 64, 8): "sample y x channel",
    (20, 64, 64, 9): "sample y x time",
    (20, 11, 64, 8): "sample time x channel",
    (20, 11, 64, 9): None,
    (20, 11, 64, 64, 8): "sample time y x channel",
    (20, 8, 64, 64, 64): "sample channel z y x",
    (20, 9, 64, 64, 64): "sample time z y x",
    (20, 64, 64, 64, 3): "sample z y x channel",
    (20, 64, 64, 64, 9): "sample z y x channel",
    (20, 64, 32, 64, 3): None,
    (20, 3, 3, 3, 3, 3): None,
}


@pytest.mark.parametrize("shape", AXES, ids=str)
def test_axes_are_guessed_by_their_lengths(shape):
    expected = AXES[shape]
    assert axes_by_shape(shape, set()) == (expected and tuple(expected.split()))


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((20, 64, 64), "sample time x"),
        ((20, 5, 64), "sample time x"),
        ((20, 3, 64, 64), "sample time y x"),
        ((20, 64, 64, 5), "sample y x time"),
        ((20, 5, 64, 64, 64), "sample time z y x"),
    ],
    ids=str,
)
def test_a_length_of_times_makes_an_axis_of_time(shape, axes):
    times = {shape[-1] if axes.endswith("time") else shape[1]}
    assert axes_by_shape(shape, times) == tuple(axes.split())


GRIDS = {
    "periodic, as functions are": (np.arange(16) / 16, True, FoundGrid("periodic", 1.0, 0.0)),
    "periodic, as far as is known": (np.arange(16) / 16, None, FoundGrid("periodic", 1.0, 0.0)),
    "nodes": (np.linspace(0, 1, 17), None, FoundGrid("nodes", 1.0, 0.0)),
    "nodes, of an odd number": (1.3 + np.arange(17) * 0.3, None, FoundGrid("nodes", 4.8, 1.3)),
    "nodes, as functions have an end": (0.1 + np.arange(16) / 16, False, FoundGrid("nodes", 0.9375, 0.1)),
    "cells": ((np.arange(16) + 0.5) / 16, None, FoundGrid("cell_centres", 1.0, 0.0)),
    "cells of an odd length": ((np.arange(16) + 0.5) * 0.7, None, FoundGrid("cell_centres", 11.2, 0.0)),
    "cells that begin elsewhere": (
        1 + (np.arange(16) + 0.5) * 3 / 16,
        None,
        FoundGrid("cell_centres", 3.0, 1.0),
    ),
    "cells of a quarter of a circle": (
        np.pi / 2 * (1 + (np.arange(16) + 0.5) / 16),
        None,
        FoundGrid("cell_centres", np.pi / 2, np.pi / 2),
    ),
}


@pytest.mark.parametrize("case", GRIDS)
def test_a_grid_is_found_by_its_coordinates(case):
    coordinates, periodic, expected = GRIDS[case]
    found = found_grid(coordinates, periodic)
    assert (found.kind, found.origin) == (expected.kind, pytest.approx(expected.origin))
    assert found.length == pytest.approx(expected.length, rel=1e-12)


X, CELLS = ((np.arange(points) + 0.5) / points for points in (32, 33))
PHASES = np.random.default_rng(0).uniform(0.5, 1.5, size=(12, 1))
ENDS = {
    "waves": (np.cos(4 * np.pi * (X + PHASES)), "periodic"),
    "waves of which the first value is the last one again": (
        np.cos(4 * np.pi * (np.linspace(0, 1, 32) + PHASES)),
        "nodes",
    ),
    "curves that end anywhere": (np.exp(PHASES * X), "nodes"),
    "zero half a cell beyond an odd number": (PHASES * CELLS * (1 - CELLS), "cell_centres"),
    "nearly zero half a cell beyond": (PHASES * (CELLS * (1 - CELLS) + 0.003), "nodes"),
    "waves on an odd number of points": (np.cos(4 * np.pi * (np.arange(33) / 33 + PHASES)), "nodes"),
}


@pytest.mark.parametrize("case", ENDS)
def test_without_coordinates_a_grid_is_found_by_its_ends_and_has_the_length_1(case, tmp_path):
    values, kind = ENDS[case]
    file = open_source(write_npz(tmp_path / "data.npz", {"a": values, "u": 2 * values}))
    found = detect({"input": file, "target": file})
    assert found.grid == FoundGrid(kind, 1.0, 0.0)
    assert "no coordinates: the length 1 is a guess" in found.remarks


ROWS, CHANNELS, TIMES = (12, 32), (12, 3, 32), (12, 9, 32)
CHOICES = {
    "by their names": ({"b": ROWS, "sol": ROWS, "nu": ROWS}, "nu", "sol", "by their names"),
    "by the first part of a name": ({"b": ROWS, "initial_u": ROWS, "u": ROWS}, "initial_u", "u", "by their"),
    "the rest where one has a known name": ({"b": ROWS, "nu": ROWS}, "nu", "b", "a guess"),
    "the rest before a known target": ({"sol": ROWS, "b": ROWS}, "b", "sol", "a guess"),
    "no names that are known": ({"b": ROWS, "c": ROWS}, "b", "c", "a guess"),
    "an evolution": ({"b": (12, 33), "c": TIMES}, "c", "c", "input at its first, target at its last"),
    "channels": ({"b": CHANNELS}, "b[0]", "b[1]", "the first two channels of 'b'"),
}


@pytest.mark.parametrize("case", CHOICES)
def test_input_and_target_are_chosen(case, tmp_path):
    shapes, given, wanted, why = CHOICES[case]
    values = {name: np.random.default_rng(0).normal(size=shape) for name, shape in shapes.items()}
    file = open_source(write_npz(tmp_path / "data.npz", values))
    found = detect({"input": file, "target": file})
    assert (found.inputs, found.targets) == ([given], [wanted])
    assert why in found.remarks[0]


def test_functions_of_two_grids_are_no_pair(tmp_path):
    values = {"a": np.ones(ROWS), "u": np.ones((12, 31))}
    file = open_source(write_npz(tmp_path / "data.npz", values))
    with pytest.raises(DatasetError, match=r"one function alone, 'a' \(12, 32\)"):
        detect({"input": file, "target": file})


@pytest.mark.parametrize("axes", [("time", "x"), ("sample", "time", "x")], ids=" ".join)
def test_the_windows_of_one_evolution_are_split_with_two_left_out_between(axes, tmp_path):
    root = zarr.create_group(tmp_path / "data.zarr", zarr_format=3)
    values = np.random.default_rng(0).normal(size=(61, 32)).reshape((1,) * (len(axes) - 2) + (61, 32))
    root.create_array("u", data=values, dimension_names=axes)
    (block,) = check_file(tmp_path / "data.zarr").configuration["datasets"].values()
    assert (block["target_times"], block["window_every"]) == ([1], 1)  # 60 windows
    assert block["samples"] == {"train": 60 - 2 * 6 - 4, "validation": 6, "test": 6}


@pytest.mark.parametrize(("given", "wanted"), [((20, 16), (20, 16, 2)), ((20, 16, 2), (20, 16))])
def test_two_arrays_without_names_have_the_same_axes(given, wanted, tmp_path):
    np.save(tmp_path / "a.npy", np.random.default_rng(0).normal(size=given))
    np.save(tmp_path / "u.npy", np.random.default_rng(1).normal(size=wanted))
    first, second = tmp_path / "a.npy", tmp_path / "u.npy"
    problem = check_file(first, second).problem
    shapes = f"{first} has the shape {given}, {second} the shape {wanted}; expected: the same axes"
    assert problem.startswith(shapes)


def test_the_target_is_in_the_second_of_two_files(tmp_path):
    values = np.random.default_rng(0).normal(size=(2, 20, 16))
    np.save(tmp_path / "a.npy", values[0])
    np.savez(tmp_path / "u.npz", pressure=values[1])
    report = check_file(tmp_path / "a.npy", tmp_path / "u.npz")
    (block,) = report.configuration["datasets"].values()
    assert block["source"] == {"input": str(tmp_path / "a.npy"), "target": str(tmp_path / "u.npz")}
    assert (block["input"], block["target"]) == ("array", "pressure")


@pytest.mark.parametrize(
    ("points", "periodic", "expected"),
    [
        (16, None, FoundGrid("periodic", 16.0, 0.0)),
        (16, False, FoundGrid("nodes", 15.0, 0.0)),
        (17, None, FoundGrid("nodes", 16.0, 0.0)),
    ],
)
def test_coordinates_in_steps_of_one_are_numbers_of_points(points, periodic, expected):
    assert found_grid(np.arange(float(points)), periodic) == expected
