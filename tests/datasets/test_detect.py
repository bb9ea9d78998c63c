"""What is guessed of a file that says little of itself: axes by shape, the grid by coordinates or by ends."""

import numpy as np
import pytest
import zarr
from array_files import write_npz

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.axes import FoundGrid, found_grid, readings
from resolvent.datasets.imported.check import check_file
from resolvent.datasets.imported.detect import Undecided, detect
from resolvent.datasets.imported.readers.source import open_source

AXES = {
    (20, 64): "sample x",
    (20, 64, 64): "sample y x",
    (20, 64, 8): "sample x channel",
    (20, 8, 64): "sample channel x",
    (20, 9, 64): "sample time x, sample x time, sample y x",
    (20, 64, 9): "sample time x, sample x time, sample y x",
    (20, 32, 128): "sample time x, sample x time, sample y x",
    (20, 64, 64, 64): "sample z y x",
    (20, 4, 64, 64): "sample channel y x",
    (20, 5, 64, 64): "sample time y x",
    (20, 64, 64, 8): "sample y x channel",
    (20, 64, 64, 9): "sample y x time",
    (20, 11, 64, 8): "sample time x channel, sample x time channel, sample y x channel",
    (20, 11, 64, 9): "",
    (20, 11, 64, 64, 8): "sample time y x channel",
    (20, 8, 64, 64, 64): "sample channel z y x",
    (20, 9, 64, 64, 64): "sample time z y x",
    (20, 64, 64, 64, 3): "sample z y x channel",
    (20, 64, 64, 64, 9): "sample z y x time",
    (20, 64, 32, 64, 3): "",
    (20, 3, 3, 3, 3, 3): "",
}


def read(shape, **known) -> str:
    return ", ".join(" ".join(one.axes) for one in readings(shape, **known))


@pytest.mark.parametrize("shape", AXES, ids=str)
def test_axes_are_guessed_by_their_lengths(shape):
    assert read(shape) == AXES[shape]
    assert not any(one.certain for one in readings(shape))


LENGTHS = {
    "times last": ((40, 64, 11), {"time": 11, "x": 64}, "sample x time"),
    "times first": ((11, 40, 64), {"time": 11, "x": 64}, "time sample x"),
    "times between": ((40, 11, 64), {"time": 11, "x": 64}, "sample time x"),
    "points first": ((64, 11, 40), {"time": 11, "x": 64}, "x time sample"),
    "points first, times last": ((64, 40, 11), {"time": 11, "x": 64}, "x sample time"),
    "times first, samples last": ((11, 64, 40), {"time": 11, "x": 64}, "time x sample"),
    "samples last": ((64, 200), {"x": 64}, "x sample"),
    "one series": ((256, 100), {"x": 256, "time": 100}, "x time"),
    "one series of squares": ((11, 64, 64), {"time": 11, "x": 64, "y": 64}, "time y x"),
    "times and points alike": (
        (60, 100, 100),
        {"time": 100, "x": 100},
        "sample time x, sample x time",
    ),
    "times alone": ((20, 5, 64), {"time": 5}, "sample time x"),
    "as many times as points": ((20, 64, 64), {"time": 64}, "sample time x, sample x time"),
    "times of squares": ((20, 3, 64, 64), {"time": 3}, "sample time y x"),
    "times behind squares": ((20, 64, 64, 5), {"time": 5}, "sample y x time"),
    "times of cubes": ((20, 5, 64, 64, 64), {"time": 5}, "sample time z y x"),
    "functions of time, or one series": ((20, 100), {"time": 100}, "sample x, x time"),
    "a side that is known": ((20, 64, 64), {"x": 64}, "sample y x"),
    "a rectangle": ((20, 32, 48), {"y": 32, "x": 48}, "sample y x"),
    "another grid": ((20, 64), {"x": 50}, ""),
    "edges": ((20, 64), {"x": 65}, "sample x"),
}


@pytest.mark.parametrize("case", LENGTHS)
def test_lengths_of_coordinates_decide_before_order_does(case):
    shape, lengths, expected = LENGTHS[case]
    assert read(shape, lengths={axis: {size} for axis, size in lengths.items()}) == expected


def test_an_axis_that_the_file_says_is_certain_and_a_usual_one_is_not():
    (one,) = readings((40, 64, 11), lengths={"time": {11}, "x": {64}})
    assert one.certain
    (one,) = readings((64, 64), lengths={"x": {64}})
    assert (one.axes, one.certain) == (("sample", "x"), False)
    (one,) = readings((40, 64), dims=("sample", "x"))
    assert (one.certain, one.asks) == (True, False)
    (one,) = readings((40, 64), dims=("time", "station"))
    assert (one.certain, one.asks) == (False, True)


NUMBERED = np.arange(17.0)
GRIDS = {
    "periodic, as functions are": (np.arange(16) / 16, True, ("periodic", 1.0, 0.0)),
    "periodic, as far as is known": (np.arange(16) / 16, None, ("periodic", 1.0, 0.0)),
    "nodes": (np.linspace(0, 1, 17), None, ("nodes", 1.0, 0.0)),
    "nodes, of an odd number": (1.3 + np.arange(17) * 0.3, None, ("nodes", 4.8, 1.3)),
    "nodes, as functions have an end": (0.1 + np.arange(16) / 16, False, ("nodes", 0.9375, 0.1)),
    "cells": ((np.arange(16) + 0.5) / 16, None, ("cell_centres", 1.0, 0.0)),
    "cells of an odd length": ((np.arange(16) + 0.5) * 0.7, None, ("cell_centres", 11.2, 0.0)),
    "cells that begin elsewhere": (1 + (np.arange(16) + 0.5) * 3 / 16, None, ("cell_centres", 3.0, 1.0)),
    "cells of a quarter of a circle": (
        np.pi / 2 * (1 + (np.arange(16) + 0.5) / 16), None, ("cell_centres", np.pi / 2, np.pi / 2),
    ),
    "numbers of points": (NUMBERED[:16], None, ("periodic", 16.0, 0.0)),
    "numbers of points, not periodic": (NUMBERED[:16], False, ("nodes", 15.0, 0.0)),
    "an odd number of them": (NUMBERED, None, ("nodes", 16.0, 0.0)),
} | {
    f"of length {length:.5g}, rounded": (
        (np.arange(64) * length / 64).astype("float32"), True, ("periodic", length, 0.0),
    )
    for length in (1.0, 2 * np.pi, 1.23456)
}  # fmt: skip


@pytest.mark.parametrize("case", GRIDS)
def test_a_grid_is_found_by_its_coordinates_without_their_rounding(case):
    coordinates, periodic, (kind, length, origin) = GRIDS[case]
    found = found_grid(coordinates, periodic)
    assert (found.kind, found.origin) == (kind, pytest.approx(origin))
    assert found.length == pytest.approx(length, rel=1e-12)


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
    assert found.grids == {"x": FoundGrid(kind, 1.0, 0.0)}
    assert found.guessed["length"] == "there are no coordinates"


ROWS, CHANNELS, TIMES = (12, 32), (12, 3, 32), (12, 9, 32)
CHOICES = {
    "by their names": ({"b": ROWS, "sol": ROWS, "nu": ROWS}, "nu", "sol", "by its name"),
    "by the first part of a name": (
        {"b": ROWS, "initial_u": ROWS, "u": ROWS},
        "initial_u",
        "u",
        "by its name",
    ),
    "the rest where one has a known name": ({"b": ROWS, "nu": ROWS}, "nu", "b", "by its name"),
    "the rest before a known target": ({"sol": ROWS, "b": ROWS}, "b", "sol", "the other function"),
    "u before v, as in operator learning": ({"v": ROWS, "u": ROWS}, "u", "v", "by its name"),
    "u and v in groups": ({"data/v": ROWS, "data/u": ROWS}, "data/u", "data/v", "by its name"),
    "a known name before u and v": ({"a": ROWS, "u": ROWS, "v": ROWS}, "a", "u", "by its name"),
    "u and v that evolve": ({"v": TIMES, "u": TIMES, "t": (9,)}, "v", "v", "at the first time"),
    "an evolution": ({"b": (12, 33), "c": TIMES, "t": (9,)}, "c", "c", "at the first time"),
}


def written(path, shapes):
    rng = np.random.default_rng(0)
    values = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    return open_source(write_npz(path, values | {"t": np.arange(9.0)} if "t" in shapes else values))


@pytest.mark.parametrize("case", CHOICES)
def test_input_and_target_are_chosen(case, tmp_path):
    shapes, given, wanted, why = CHOICES[case]
    file = written(tmp_path / "data.npz", shapes)
    found = detect({"input": file, "target": file})
    assert (found.inputs, found.targets) == ([given], [wanted])
    assert found.guessed["input"] == why


def test_u_and_v_with_channels_are_no_pair_by_name(tmp_path):
    file = written(tmp_path / "data.npz", {"u": CHANNELS, "v": CHANNELS})
    found = detect({"input": file, "target": file})
    assert (found.inputs[0], found.targets[0]) == ("v[0]", "u[0]")


OPEN = {
    "two names that are not known": (
        {"b": ROWS, "c": ROWS},
        "state input and target, which the file does not determine: 'b' (12 × 32) and 'c' (12 × 32)",
        2,
    ),
    "velocities and another function": (
        {"u": ROWS, "v": ROWS, "w": ROWS},
        "state input and target, which the file does not determine: 'u' (12 × 32), 'v'",
        0,
    ),
    "three": (
        {"b": ROWS, "c": ROWS, "d": ROWS},
        "which the file does not determine: 'b' (12 × 32), 'c' (12 × 32), 'd' (12 × 32)",
        0,
    ),
    "channels": ({"b": CHANNELS}, "channels of 'b' (12 × 3 × 32); or give a second file with the targets", 2),
    "one function": (
        {"b": ROWS},
        "a second file with the targets, or state which axis is time: the file has only one function, 'b'",
        0,
    ),
    "axes in either order": (
        {"a": (60, 32, 128), "u": (60, 32, 128)},
        "state the axes of 'a' (60 × 32 × 128), which the file does not determine: [sample, time, x] or "
        "[sample, x, time] or [sample, y, x]",
        3,
    ),
}


@pytest.mark.parametrize("case", OPEN)
def test_what_cannot_be_known_is_asked_for_in_the_first_line(case, tmp_path):
    shapes, words, choices = OPEN[case]
    file = written(tmp_path / "data.npz", shapes)
    with pytest.raises(Undecided) as caught:
        detect({"input": file, "target": file})
    assert str(caught.value).removeprefix(f"{file.path}: ").startswith(("state", "give"))
    assert words in str(caught.value)
    assert len(caught.value.choices) == choices


def test_functions_of_two_grids_are_no_pair(tmp_path):
    file = written(tmp_path / "data.npz", {"a": ROWS, "u": (12, 31)})
    with pytest.raises(
        DatasetError, match=r"differ in grid or number of samples, 'a' \(12 × 32\) and 'u' \(12 × 31"
    ):
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
