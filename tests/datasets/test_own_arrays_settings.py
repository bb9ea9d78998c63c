"""Own arrays: what the settings stand for, which row and time each sample is, and what is remarked on."""

import itertools
import re

import numpy as np
import pytest
from array_files import arrays, write_npz

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.arrays_checks import findings_of, grid_warnings, seam, warnings_of
from resolvent.datasets.imported.series import parsed
from resolvent.datasets.imported.sources import FORMS, pools_of
from resolvent.datasets.tasks.registry import settings_of

POINTS = 8
ALL = ("train", "validation", "test")


PAIR = {"input": "a", "target": "u"}
BROKEN = {
    "source: []; accepted: ": [],
    "source: ['a', ['b'], 'c']; accepted: ": ["a", ["b"], "c"],
    "source has the keys none; accepted: ": {},
    "source has the keys train, input; accepted: ": {"train": "a", "input": "b"},
    "source: ['a', 3]; accepted: ": {"train": ["a", 3]},
    "source: {'input': 'a', 'target': []}; accepted: ": {"train": {"input": "a", "target": []}},
}


@pytest.mark.parametrize("words", BROKEN)
def test_other_sources_are_refused(words):
    with pytest.raises(ValueError, match=f"^{re.escape(words + FORMS)}$"):
        pools_of(BROKEN[words])


REFUSED_ENTRIES = [
    ("", ["x"], "the name of a variable is empty; accepted: name, group/name, name[0]"),
    ("u", {"a": ["x"], "b": ["x"]}, "axes has no entry for 'u'; found: a, b; add one, such as u: [samp"),
    ("u", {}, "axes has no entry for 'u'; found: none; add one"),
    ("u", ["sample", "w"], "axes of 'u', sample, w: unknown axis 'w'; accepted: sample, time, channel, z"),
    ("u", ["x", "x"], "axes of 'u', x, x: an axis is named twice"),
    ("u", ["sample", "y"], "axes of 'u', sample, y: accepted axes of space: x, or y and x, or z, y and x"),
    ("u", ["z", "x"], "axes of 'u', z, x: accepted axes of space"),
    ("u", ["sample", "channel", "x"], "'u' does not fit its axes sample, channel, x; choose a channel, such"),
    ("u[0]", ["sample", "x"], "'u[0]' does not fit its axes sample, x; remove the brackets"),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "axes", "words"), REFUSED_ENTRIES)
def test_an_entry_that_does_not_fit_its_axes_is_refused(entry, axes, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        parsed(entry, axes)


GIVEN = {
    "equation": "arrays", "source": "data.npz", "input": "a", "target": "u", "axes": ["sample", "x"],
    "finest": 16, "grid": "periodic", "samples": {"train": 8, "validation": 2, "test": 3},
}  # fmt: skip
SERIES = {"input": "u", "target": "u", "axes": ["sample", "time", "x"]}
STORED = {
    "plain": ({}, "a u"),
    "letters": ({"input": "g/a b", "target": "2u[3]", "axes": {"g/a b": ["sample", "x"], "2u": ["channel",
        "sample", "x"]}}, "g_a_b target_2u_3"),
    "reserved": ({"input": "x", "target": "split"}, "input_x target_split"),
    "signs alone": ({"input": "+", "target": "-"}, "input target"),
    "two files": ({"source": PAIR, "input": "f", "target": "f"}, "input_f target_f"),
    "first to last": (SERIES, "u_at_0 u_at_last"),
    "times": (SERIES | {"input_times": [0, 1], "target_times": [3, -1, -3]},
        "u_at_0 u_at_1 u_at_3 u_at_last u_at_last_but_2"),
    "a number": ({"input": ["a", "nu"], "axes": {"a": ["sample", "x"], "u": ["sample", "x"],
        "nu": ["sample"]}}, "a nu u"),
}  # fmt: skip


@pytest.mark.parametrize("case", STORED)
def test_functions_have_their_names_in_the_store(case):
    changes, names = STORED[case]
    settings = settings_of(GIVEN | changes)
    assert " ".join(one.stored for one in settings.channels) == names
    numbers = sum(not one.space for one in settings.channels)
    inputs = sum(one.role == "input" for one in settings.channels)
    assert (settings.in_channels, settings.initial_channels) == (inputs, numbers)
    assert settings.out_channels == len(settings.channels) - inputs


NUMBER = {"a": ["sample", "x"], "u": ["sample", "x"], "nu": ["sample"]}
REFUSED = {
    "no input is a function of space": {"input": "nu", "axes": NUMBER},
    "input: scalars .one number per sample. must come after": {"input": ["nu", "a"], "axes": NUMBER},
    "the target 'nu' is not a function of space": {"target": "nu", "axes": NUMBER},
    "targets have different axes of space": {"axes": {"a": ["sample", "x"], "u": ["sample", "y", "x"]}},
    "'a' is the same function twice; choose another variable or time": {"target": "a"},
    "some variables have a sample axis, and others do not": {"axes": {"a": ["sample", "x"],
        "u": ["x"]}},
    "window_every requires a time axis for every function": {"axes": {"a": ["sample", "x"],
        "u": ["sample", "time", "x"]}, "window_every": 1},
    "input_times are set, but no input has a time axis": {"input_times": [0]},
    "target_times are set, but no target has a time axis": {"target_times": [0]},
}  # fmt: skip


@pytest.mark.parametrize("words", REFUSED)
def test_names_axes_and_times_that_do_not_fit_each_other_are_refused(words):
    with pytest.raises(ValueError, match=words):
        settings_of(GIVEN | REFUSED[words])


def settings(folder, series, times, **changes):
    """Return settings of a dataset of `series` series (none: no axis of samples) of `times`."""
    shape = (times, POINTS) if series is None else (series, times, POINTS)
    path = write_npz(folder / "data.npz", {"u": np.zeros(shape)})
    axes = ["time", "x"] if series is None else ["sample", "time", "x"]
    given = {"source": str(path), "input": "u", "target": "u", "finest": POINTS, "axes": axes}
    given |= {"input_times": [0], "target_times": [2]}
    return settings_of(GIVEN | given | changes)


def places(given) -> dict[str, list[tuple[int, int]]]:
    """Return the row and the first time of every sample, by split."""
    series = given.series()
    return {
        split: [(one.row, one.start) for one in (series.place(split, index) for index in range(size))]
        for split, size in given.samples.model_dump().items()
    }


@pytest.mark.parametrize("every", [1, 2, 3])
@pytest.mark.parametrize("sizes", [(8, 2, 2), (3, 0, 5)], ids=str)
def test_several_series_are_cut_into_windows_and_no_series_is_in_two_splits(every, sizes, tmp_path):
    series, times = 9, 7
    found = places(
        settings(tmp_path, series, times, window_every=every, samples=dict(zip(ALL, sizes, strict=True)))
    )
    starts = list(range(0, times - 2, every))
    _, validation, test = (-(-size // len(starts)) for size in sizes)
    for split, size, first in zip(ALL, sizes, (0, series - test - validation, series - test), strict=True):
        assert found[split] == list(itertools.product(range(first, series), starts))[:size]


@pytest.mark.parametrize("series", [None, 1])
@pytest.mark.parametrize("every", [1, 2, 3])
@pytest.mark.parametrize("sizes", [(5, 2, 3), (4, 0, 6)], ids=str)
def test_windows_of_one_series_are_apart_by_what_they_reach_over(series, every, sizes, tmp_path):
    found = places(
        settings(tmp_path, series, 60, window_every=every, samples=dict(zip(ALL, sizes, strict=True)))
    )
    test = (60 - 3) // every + 1 - sizes[2]
    validation = test - (-(-3 // every) - 1) - sizes[1]
    for split, size, first in zip(ALL, sizes, (0, validation, test), strict=True):
        assert found[split] == [(0, every * window) for window in range(first, first + size)]
    touched = [{start + offset for _, start in of for offset in range(3)} for of in found.values()]
    assert len(set.union(*touched)) == sum(map(len, touched))


@pytest.mark.parametrize(
    ("series", "changes", "words"),
    [
        (4, {}, "has 4 samples; samples asks for 5 (train, validation and test)"),
        (4, {"window_every": 2}, "has 4 series; samples asks for 5 (train, validation and test)"),
        (None, {"window_every": 2}, "has 3 windows; samples asks for 5 (train, validation and test)"),
    ],
)
def test_what_there_is_too_little_of_is_named(series, changes, words, tmp_path):
    per = 3 if series and changes else 1
    sizes = {"train": 3 * per, "validation": per, "test": per}
    with pytest.raises(DatasetError) as error:
        settings(tmp_path, series, 7, **changes, samples=sizes).series()
    assert str(error.value).endswith(f"data.npz: {words}")


def test_series_of_different_lengths_cannot_be_cut(tmp_path):
    paths = [str(write_npz(tmp_path / f"{n}.npz", {"u": np.zeros((4, n, POINTS))})) for n in (7, 9)]
    given = settings(
        tmp_path, 4, 7, window_every=1, source={"train": paths, "test": paths[0]},
        samples={"train": 5, "validation": 0, "test": 5},
    )  # fmt: skip
    with pytest.raises(DatasetError, match=rf"7 times of 'u' in {paths[0]}, 9 times of 'u' in {paths[1]}"):
        given.series()


def task(**changes):
    return settings_of(GIVEN | {"finest": POINTS, "grid": "nodes"} | changes).task()


def test_samples_are_counted_that_are_odd():
    drawn = np.random.default_rng(0).normal(size=(6, 2, POINTS))
    drawn[[1, 4]] = drawn[0]  # the same sample twice in one split is nothing
    drawn[5, 0], drawn[3, 1], drawn[2, 1] = drawn[2, 0], drawn[3, 0], 7.0
    names = [("train", 0), ("train", 1), ("train", 2), ("validation", 0), ("validation", 1), ("test", 0)]
    found = findings_of(task().channels, {"x": "nodes"}, [(names[:4], drawn[:4]), (names[4:], drawn[4:])])
    pairs = {"train and validation": 1, "train and test": 0, "validation and test": 0}
    assert found["inputs_with_two_targets"] == 1
    assert found["inputs_in_two_splits"] == pairs
    assert (found["targets_equal_to_their_input"], found["samples_looked_at"]) == (1, 6)
    assert found["constant_samples"] == {"a": 0, "u": 1}
    moments = [[float(f"{of.mean():.6g}"), float(f"{of.std():.6g}")] for of in (drawn[:, 0], drawn[:, 1])]
    assert list(found["mean_and_standard_deviation"].values()) == moments
    one, other = (seam(part[:, 0], [1]) for part in (drawn[:4], drawn[4:]))
    ends = found["at_the_ends"]["a"]
    assert ends["seam"] == pytest.approx((one["seam"] + other["seam"]) / 2, rel=5e-3)
    assert ends["at_ends"] == pytest.approx(max(one["at_ends"], other["at_ends"]), rel=5e-3)
    assert warnings_of(found, {"x": "nodes"})[:4] == [
        "'u' is constant in 1 of 6 samples.",
        "1 input is in both train and validation: errors on the latter are too optimistic.",
        "1 input has different targets in different samples: no function of the input gives both. Add the "
        "input that distinguishes them.",
        "Input and target are equal in 1 sample.",
    ]


@pytest.mark.parametrize(
    ("mean", "dtype", "few"), [(300, "f4", False), (1e5, "f4", True), (1e5, "f8", False)]
)
def test_numbers_too_far_apart_for_their_variation_are_a_warning(mean, dtype, few):
    drawn = np.random.default_rng(0).normal(mean, 0.01 if mean > 300 else 1, size=(6, 2, POINTS))
    stored = drawn.astype(dtype).astype(np.float64)
    found = findings_of(task().channels, {"x": "nodes"}, [([("train", 0)] * 6, stored)])
    remarks = [words for words in warnings_of(found, {"x": "nodes"}) if "too few digits" in words]
    assert len(remarks) == (2 if few else 0)
    if few:
        assert "numbers near 1e+05 are 0.0078 apart" in remarks[0]


def test_the_card_describes_the_data_as_they_are_described(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_npz(tmp_path / "data.npz", arrays(points=POINTS))
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
    assert [(one.name, one.units) for one in group.variables] == [("a", "K"), ("u", "")]
    assert [(one.name, one.units) for one in group.axes] == [("x", "m")]


SMOOTH = {"seam": 0.9, "both_ends": 1.0, "at_ends": 1.0, "half_cell": 1.0}
REMARKS = {
    "a jump of four steps": ("periodic", {"seam": 4.0}, ""),
    "a larger one": ("periodic", {"seam": 4.1}, "jumps at the seam of the grid, 4.1 times"),
    "both ends": ("periodic", {"both_ends": 1e-7}, "the last value repeats the first one"),
    "nearly both ends": ("periodic", {"both_ends": 2e-7}, ""),
    "both ends with a kink": ("periodic", {"both_ends": 0.0, "seam": 1.0}, ""),
    "zero half a cell beyond": ("nodes", {"half_cell": 0.09}, "looks like grid: cell_centres"),
    "smaller there": ("nodes", {"half_cell": 0.1}, ""),
    "zero at the ends and beyond": ("nodes", {"at_ends": 1e-3, "half_cell": 0.0}, ""),
    "zero at the ends": ("cell_centres", {"at_ends": 1e-7}, "looks like grid: nodes"),
    "nearly zero at the ends": ("cell_centres", {"at_ends": 2e-7}, ""),
    "zero everywhere near the ends": ("cell_centres", {"at_ends": 0.0, "half_cell": 0.0}, ""),
}


@pytest.mark.parametrize("case", REMARKS)
def test_ends_that_are_not_those_of_the_grid_are_remarked_on(case):
    kind, ends, words = REMARKS[case]
    found = grid_warnings("u", SMOOTH | ends, kind)
    assert len(found) == bool(words)
    assert words in "".join(found)
