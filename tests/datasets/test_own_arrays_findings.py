"""What is found and remarked on in own arrays, in numbers and in words."""

import numpy as np
import pytest

from resolvent.datasets.imported.arrays_checks import findings_of, grid_warnings, seam, warnings_of
from resolvent.datasets.tasks.registry import settings_of

POINTS = 8


def task(**changes):
    given = {
        "equation": "arrays", "source": "data.npz", "input": "a", "target": "u", "axes": ["sample", "x"],
        "finest": POINTS, "grid": "nodes", "samples": {"train": 8, "validation": 2, "test": 3},
    }  # fmt: skip
    return settings_of(given | changes).task()


def test_the_ends_of_functions_are_measured_along_each_axis():
    # The three functions jump by 4, 0 and 6 at the seam, and by 2, 1 and 3 at most inside.
    values = np.array([[1.0, 3, 4, 5], [2, 3, 3, 2], [-8, -5, -4, -2]])
    found = seam(values, 1)
    assert found["seam"] == 2.0
    assert found["both_ends"] == 6 / 8
    assert found["at_ends"] == 1.0
    outside = [1.5 * 1 - 0.5 * 3, 1.5 * 5 - 0.5 * 4, 1.5 * 2 - 0.5 * 3, 1.5 * -8 + 0.5 * 5, -1.0]
    assert found["half_cell"] == max(map(abs, outside)) / 8
    along_x = np.tile([0.0, 1, 2, 1], (1, 4, 1))
    along_y = np.swapaxes(along_x, 1, 2) * np.array([1, 1, 1, 3])
    one = seam(along_x, 2)
    assert (one["seam"], one["both_ends"], one["at_ends"]) == (1.0, 0.5, 1.0)
    other = seam(along_y, 2)
    assert other["seam"] == 4 / 4  # along x from 1 to 3, times 2; inside by 4
    assert other["both_ends"] == 4 / 6
    assert seam(np.zeros((2, 4)), 1) == {"seam": 0.0, "both_ends": 0.0, "at_ends": 0.0, "half_cell": 0.0}
    found = seam(np.array([[3.0, 3, 3, 3], [0.0, 1, 2, 2]]), 1)
    assert found["seam"] == 2.0


def test_samples_are_counted_that_are_odd():
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=(6, 2, POINTS))
    drawn[1, 0] = drawn[0, 0]  # the same input twice in one split is nothing
    drawn[4, 0] = drawn[0, 0]
    drawn[5, 0] = drawn[2, 0]
    drawn[3, 1] = drawn[3, 0]
    drawn[2, 1] = 7.0
    names = [("train", 0), ("train", 1), ("train", 2), ("validation", 0), ("validation", 1), ("test", 0)]
    found = findings_of(task().channels, 1, [(names[:4], drawn[:4]), (names[4:], drawn[4:])])
    assert found["inputs_in_two_splits"] == {
        "train and validation": 1, "train and test": 1, "validation and test": 0,
    }  # fmt: skip
    assert found["targets_equal_to_their_input"] == 1
    assert found["constant_samples"] == {"a": 0, "u": 1}
    assert found["samples_looked_at"] == 6
    assert found["range"] == {
        "a": f"{drawn[:, 0].min():.6g} to {drawn[:, 0].max():.6g}", "u": f"{drawn[:, 1].min():.6g} to 7",
    }  # fmt: skip
    parts = [seam(part[:, 0], 1) for part in (drawn[:4], drawn[4:])]
    assert found["at_the_ends"]["a"]["seam"] == pytest.approx(
        np.mean([one["seam"] for one in parts]), rel=5e-3
    )
    largest = max(one["at_ends"] for one in parts)
    assert found["at_the_ends"]["a"]["at_ends"] == pytest.approx(largest, rel=5e-3)
    said = warnings_of(found, "nodes")
    assert said[:4] == [
        "'u' is constant in 1 of 6 samples.",
        "1 input is in train and validation alike: errors on the latter say less than they seem.",
        "1 input is in train and test alike: errors on the latter say less than they seem.",
        "The target is its input in 1 sample.",
    ]


def test_several_inputs_are_not_held_against_the_target():
    axes = {"a": ["sample", "x"], "u": ["sample", "x"], "nu": ["sample"]}
    channels = task(input=["a", "nu"], axes=axes).channels
    found = findings_of(channels, 1, [([("train", 0), ("test", 0)], np.ones((2, 3, POINTS)))])
    assert found["targets_equal_to_their_input"] == 0
    assert found["constant_samples"] == {"a": 2, "u": 2}
    assert list(found["at_the_ends"]) == ["a", "u"]
    assert list(found["range"]) == ["a", "nu", "u"]


@pytest.mark.parametrize(
    ("finest", "axes", "batch"),
    [(8, ["sample", "x"], 256), (4096, ["sample", "y", "x"], 1), (1024, ["sample", "y", "x"], 8)],
)
def test_as_many_rows_are_read_at_a_time_as_fit(finest, axes, batch):
    assert task(finest=finest, axes=axes).batch == batch


def test_costs_of_reading_grow_with_what_is_read(tmp_path):
    np.savez(tmp_path / "data.npz", a=np.zeros((13, 64)), u=np.zeros((13, 64)), other=np.zeros((13, 640)))
    whole = task(source=str(tmp_path / "data.npz"), finest=64).settings
    bytes_read = 2 * 13 * 64 * 8
    assert (whole.bytes_of_solving(), whole.bytes_of_checks()) == (bytes_read, bytes_read)
    assert whole.seconds_per_sample() == pytest.approx(1e-7 * 2 * 2 * 64 + 2e-8 * bytes_read / 13)
    np.savez(tmp_path / "u.npz", u=np.zeros((13, 64), "float32"))
    pair = {"input": str(tmp_path / "data.npz"), "target": str(tmp_path / "u.npz")}
    assert task(source=pair, finest=64).settings.bytes_of_solving() == bytes_read + 4 * 13 * 64
    np.savez(tmp_path / "a.npz", a=np.zeros((13, 64)))
    pair["input"] = str(tmp_path / "a.npz")
    assert task(source=pair, finest=64).settings.bytes_of_solving() == (8 + 4) * 13 * 64
    missing = task(finest=64).settings
    assert (missing.bytes_of_solving(), missing.seconds_per_sample()) == (0, pytest.approx(1e-7 * 4 * 64))


def test_the_card_describes_the_data_as_they_are_described():
    about = {"equation": "heat", "symbols": "u_t = u_xx", "source": "me"}
    of = task(about=about, units={"a": "K", "x": "m"})
    assert of.description() == {
        "equation": {
            "in_words": "heat", "in_symbols": "u_t = u_xx", "operator": "a ↦ u", "source": "me",
        },
        "solver": {"method": "unknown: the samples are the files'"},
    }  # fmt: skip
    assert task(about={"operator": "A"}).description()["equation"]["operator"] == "A"
    (group,) = of.groups()
    assert [(one.name, one.units) for one in group.variables] == [("a", "K"), ("u", "1")]
    assert [(one.name, one.units) for one in group.axes] == [("x", "m")]


SMOOTH = {"seam": 0.9, "both_ends": 1.0, "at_ends": 1.0, "half_cell": 1.0}
REMARKS = {
    "a jump of four steps": ("periodic", {"seam": 4.0}, ""),
    "a larger one": ("periodic", {"seam": 4.1}, "jumps at the seam of the periodic grid, 4.1 times"),
    "both ends": ("periodic", {"both_ends": 1e-7}, "the last value repeats the first one"),
    "nearly both ends": ("periodic", {"both_ends": 2e-7}, ""),
    "both ends with a kink": ("periodic", {"both_ends": 0.0, "seam": 1.0}, ""),
    "zero half a cell beyond": ("nodes", {"half_cell": 0.09}, "looks like one on cell_centres"),
    "smaller there": ("nodes", {"half_cell": 0.1}, ""),
    "zero at the ends and beyond": ("nodes", {"at_ends": 1e-3, "half_cell": 0.0}, ""),
    "zero at the ends": ("cell_centres", {"at_ends": 1e-7}, "looks like one on nodes"),
    "nearly zero at the ends": ("cell_centres", {"at_ends": 2e-7}, ""),
    "zero everywhere near the ends": ("cell_centres", {"at_ends": 0.0, "half_cell": 0.0}, ""),
}


@pytest.mark.parametrize("case", REMARKS)
def test_ends_that_are_not_those_of_the_grid_are_remarked_on(case):
    kind, ends, words = REMARKS[case]
    found = grid_warnings("u", SMOOTH | ends, kind)
    assert len(found) == bool(words)
    assert words in "".join(found)
