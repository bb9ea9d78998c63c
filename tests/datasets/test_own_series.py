"""Which row, window and time each sample of own arrays is: against choosing them by hand."""

import itertools

import numpy as np
import pytest
from array_files import write_npz

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.tasks.registry import settings_of

POINTS = 8


def settings(folder, series, times, **changes):
    """Return settings of a dataset of `series` series (none: no axis of samples) of `times`."""
    shape = (times, POINTS) if series is None else (series, times, POINTS)
    path = write_npz(folder / "data.npz", {"u": np.zeros(shape)})
    given = {
        "equation": "arrays", "source": str(path), "input": "u", "target": "u", "finest": POINTS,
        "axes": ["time", "x"] if series is None else ["sample", "time", "x"], "grid": "periodic",
        "input_times": [0], "target_times": [2],
    }  # fmt: skip
    return settings_of(given | changes)


def places(given) -> dict[str, list[tuple[int, int]]]:
    """Return the row and the first time of every sample, by split."""
    series = given.series()
    return {
        split: [(one.row, one.start) for one in (series.place(split, index) for index in range(size))]
        for split, size in given.samples.model_dump().items()
    }


@pytest.mark.parametrize("every", [1, 2, 3])
@pytest.mark.parametrize(
    "sizes", [{"train": 8, "validation": 2, "test": 2}, {"train": 3, "validation": 0, "test": 5}], ids=str
)
def test_several_series_are_cut_into_windows_and_no_series_is_in_two_splits(every, sizes, tmp_path):
    series, times = 9, 7
    found = places(settings(tmp_path, series, times, window_every=every, samples=sizes))
    starts = list(range(0, times - 2, every))
    needed = {split: -(-size // len(starts)) for split, size in sizes.items()}
    first = {
        "train": 0,
        "validation": series - needed["test"] - needed["validation"],
        "test": series - needed["test"],
    }
    for split, size in sizes.items():
        rows = range(first[split], first[split] + needed[split])
        assert found[split] == list(itertools.product(rows, starts))[:size]


@pytest.mark.parametrize("series", [None, 1])
@pytest.mark.parametrize("every", [1, 2, 3])
@pytest.mark.parametrize(
    "sizes", [{"train": 5, "validation": 2, "test": 3}, {"train": 4, "validation": 0, "test": 6}], ids=str
)
def test_windows_of_one_series_are_apart_by_what_they_reach_over(series, every, sizes, tmp_path):
    times = 60
    found = places(settings(tmp_path, series, times, window_every=every, samples=sizes))
    count = (times - 3) // every + 1
    gap = -(-3 // every) - 1
    test = count - sizes["test"]
    validation = test - gap - sizes["validation"]
    assert found["train"] == [(0, every * window) for window in range(sizes["train"])]
    assert found["test"] == [(0, every * window) for window in range(test, count)]
    expected = range(validation, validation + sizes["validation"])
    assert found["validation"] == [(0, every * window) for window in expected]
    touched = {
        split: {start + offset for _, start in of_split for offset in range(3)}
        for split, of_split in found.items()
    }
    for one, other in itertools.combinations(touched.values(), 2):
        assert not one & other


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


def test_single_windows_are_named_as_rows(tmp_path):
    sizes = {"train": 2, "validation": 1, "test": 1}
    one = settings(tmp_path, 4, 3, window_every=2, samples=sizes).series()
    assert one.in_words() == {
        "train": "rows 1 to 2 of data.npz",
        "validation": "rows 3 to 3 of data.npz",
        "test": "rows 4 to 4 of data.npz",
    }


def test_series_of_different_lengths_cannot_be_cut(tmp_path):
    paths = [str(write_npz(tmp_path / f"{n}.npz", {"u": np.zeros((4, n, POINTS))})) for n in (7, 9)]
    given = settings(
        tmp_path, 4, 7, window_every=1, source={"train": paths, "test": paths[0]},
        samples={"train": 5, "validation": 0, "test": 5},
    )  # fmt: skip
    with pytest.raises(DatasetError, match=rf"series are of 7 in {paths[0]}, 9 in {paths[1]} times"):
        given.series()
