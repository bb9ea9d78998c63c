"""Layouts of other people's files: what is decided, what is asked, what is refused, and the values read."""

import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pandas
import pytest
import scipy.interpolate
import xarray
import yaml
from array_files import write_hdf5, write_npz
from chosen import candidates, chosen

from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.check import check_file
from resolvent.datasets.imported.layouts import LAYOUTS, fits, readings
from resolvent.datasets.tasks.registry import settings_of
from resolvent.planning.configuration.load import check


def waves(count: int, *shape: int, seed: int = 0) -> np.ndarray:
    """Return functions (count, *shape) of random waves, which are not alike along any two axes."""
    rng = np.random.default_rng(seed)
    values = np.zeros((count, *shape))
    for number, along in enumerate(np.meshgrid(*[np.arange(n) / n for n in shape], indexing="ij")):
        phase, amplitude = rng.uniform(0, 6, (count, *[1] * len(shape))), rng.normal(size=count)
        values += (1 + number) * amplitude.reshape(phase.shape) * np.cos(2 * np.pi * along + phase)
    return values


def drawn(block: dict, split: str = "train") -> np.ndarray:
    """Return the samples of a split, (samples, channels, ...space), as they are imported."""
    settings = settings_of(block).with_contents()
    return settings.task().draw([(split, index) for index in range(getattr(settings.samples, split))])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


GRID = "periodic"


def test_a_folder_with_a_file_for_each_sample_asks_what_the_rows_of_a_file_are(folder):
    u = waves(30, 32, 24)
    for name in ("a", "b"):
        (folder / name).mkdir()
        for row in range(30):
            np.save(folder / name / f"{row}.npy", u[row] * (1 if name == "a" else 2))
    report = check_file("a", "b")
    axes = [block["axes"] for block in report.configuration["datasets"].values()]
    assert axes == [["sample", "x"], ["time", "x"], ["y", "x"]]
    block = chosen(report, axes=["y", "x"], grid=GRID)
    assert block["samples"] == {"train": 21, "validation": 3, "test": 6}
    np.testing.assert_array_equal(drawn(block)[:, 0], u[:21])
    np.testing.assert_array_equal(drawn(block, "test")[:, 1], 2 * u[24:])
    rows = chosen(report, axes=["sample", "x"], grid=GRID)
    assert sum(rows["samples"].values()) == 30 * 32


def test_meshes_and_scattered_points_are_refused_and_the_remedy_works(folder):
    rng = np.random.default_rng(0)
    points = rng.uniform(size=(300, 2))
    u = np.cos(3 * points[:, 0] + rng.uniform(0, 6, (40, 1))) * points[:, 1]
    files = {
        "mesh": {"nodes": points, "elements": rng.integers(0, 300, (500, 3)), "u": u, "a": 2 * u},
        "scattered": {"x": points[:, 0], "y": points[:, 1], "u": u, "a": 2 * u},
        "points": {"pos": points, "u": u, "a": u},
        "cloud": {"xy": np.tile(points, (40, 1, 1)), "u": u, "a": u},
    }
    for name, values in files.items():
        problem = check_file(write_npz(folder / f"{name}.npz", values)).problem
        assert "has a mesh or scattered points" in problem, name
        assert "scipy.interpolate.griddata(points, u, (X, Y))" in problem
    x, y = np.linspace(0.2, 0.8, 16), np.linspace(0.1, 0.9, 12)
    X, Y = np.meshgrid(x, y)
    a, u = ([scipy.interpolate.griddata(points, one, (X, Y)) for one in many] for many in (2 * u, u))
    report = check_file(write_npz(folder / "grid.npz", {"x": x, "y": y, "a": np.array(a), "u": np.array(u)}))
    block = chosen(report, axes=["sample", "y", "x"], input="a", target="u", grid="nodes")
    assert block["finest"] == {"y": 12, "x": 16}
    assert settings_of(block).with_contents().length == pytest.approx({"y": 0.8, "x": 0.6})


def test_noise_is_refused(folder):
    noise = np.random.default_rng(0).normal(size=(60, 32))
    problem = check_file(write_npz(folder / "noise.npz", {"a": waves(60, 32), "u": noise})).problem
    assert "neighbouring values of 'u' are unrelated, as in noise or unsorted points" in problem


def test_branch_and_trunk_of_deeponet_are_functions_and_their_points(folder):
    x = np.linspace(0, 1, 40)
    branch, target = waves(60, 40), waves(60, 40, seed=1)
    X = np.empty(2, dtype=object)
    X[:] = [branch, x[:, None]]
    np.savez("pickled.npz", X_train=X, y_train=target)
    problem = check_file("pickled.npz").problem
    remedy = "np.savez('data.npz', branch=X[0], trunk=X[1], target=y)"
    assert remedy in problem
    with np.load("pickled.npz", allow_pickle=True) as file:
        exec(remedy, {"np": np, "X": file["X_train"], "y": file["y_train"]})  # as a user types it
    block = chosen(
        check_file("data.npz"), input="branch", target="target", axes=["sample", "x"], grid="nodes"
    )
    assert block["coordinates"] == {"x": "trunk"}
    np.testing.assert_array_equal(drawn(block), np.stack([branch, target], axis=1)[:42])
    for points, words in (
        (np.random.default_rng(0).uniform(size=(40, 2)), "scattered"),
        (x[:30], "differ in grid"),
    ):
        values = {"branch": branch, "trunk": points, "target": target[:, : len(points)]}
        assert words in check_file(write_npz(folder / "other.npz", values)).problem


def test_unaligned_data_of_deeponet_are_refused(folder):
    points = np.random.default_rng(0).uniform(size=(150, 1))
    values = {"X_train0": waves(150, 100), "X_train1": points, "y_train": points**2}
    problem = check_file(write_npz(folder / "unaligned.npz", values)).problem
    assert "one value for each sample, at a point of its own (X_train1, y_train)" in problem


def test_the_time_may_be_the_last_axis_of_the_target_alone(folder):
    """The layout of the public Navier-Stokes files of Li et al. 2021, NavierStokes_V1e-5_N1200_T20.mat."""
    u = waves(40, 16, 16, 12)
    values = {"a": waves(40, 16, 16, seed=1), "u": u, "t": np.arange(1.0, 13.0)[:, None]}
    report = check_file(write_npz(folder / "ns.npz", values))
    block = chosen(
        report, axes={"a": ["sample", "y", "x"], "u": ["sample", "y", "x", "time"]}, grid="periodic"
    )
    assert (block["input"], block["target"], block["target_times"]) == ("a", "u", [11])
    np.testing.assert_array_equal(drawn(block), np.stack([values["a"], u[..., 11]], axis=1)[:28])
    del values["t"]
    problem = check_file(write_npz(folder / "no_times.npz", values)).problem
    assert "if the last axis of 'u' (40 × 16 × 16 × 12) is time, add the times as t" in problem


def test_an_axis_of_length_one_before_the_samples_is_refused_with_a_remedy(folder):
    problem = check_file(write_npz(folder / "one.npz", {"tensor": waves(1, 10, 11, 64)})).problem
    assert "the first axis of 'tensor' (1 × 10 × 11 × 64) has length 1: save np.squeeze(tensor, 0)" in problem


def test_a_missing_sample_is_remarked(folder):
    with h5py.File("groups.hdf5", "w") as file:
        for number in (0, 1, 2, 3, 4, 5, 6, 8, 9, 10):
            file[f"sims/sim{number}"] = waves(5, 16, 16, seed=number)
    report = check_file("groups.hdf5")
    assert "In groups.hdf5 'sims/sim7' is missing between sims/sim0 and sims/sim10." in report.warnings


@pytest.mark.parametrize(
    ("shape", "asked"), [((31, 31), True), ((961,), False), ((32, 32), True), ((256,), False)]
)
def test_a_flattened_grid_is_remarked(shape, asked, folder):
    flat = {name: waves(60, *shape, seed=seed).reshape(60, -1) for seed, name in enumerate("au")}
    warnings = check_file(write_npz(folder / "flat.npz", flat)).warnings
    side = f"{shape[0]} × {shape[0]}"
    assert any(f"as in a field of {side} points" in words for words in warnings) == asked


@pytest.mark.parametrize("names", ["{}_{}", "{1}/{0}", "{1}_{0}"])
def test_train_and_test_as_variables_are_the_splits(names, folder):
    x, y = waves(100, 32), waves(100, 32, seed=1)
    rows = {"train": slice(0, 70), "valid": slice(70, 80), "test": slice(80, 100)}
    values = {
        names.format(name, split): one[part]
        for name, one in (("x", x), ("y", y))
        for split, part in rows.items()
    }
    path = write_hdf5(folder / "splits.h5", values)
    block = chosen(check_file(path), input="x", target="y", axes=["sample", "x"], grid=GRID)
    assert block["samples"] == {"train": 70, "validation": 10, "test": 20}
    np.testing.assert_array_equal(drawn(block, "test"), np.stack([x, y], axis=1)[80:])
    without = {name: one for name, one in values.items() if "valid" not in name}
    block = chosen(check_file(write_npz(folder / "two.npz", without)), axes=["sample", "x"], grid=GRID)
    assert block["groups"] == {"variable": "split", "train": ["train"], "test": ["test"]}
    assert block["samples"] == {"train": 63, "validation": 7, "test": 20}
    np.testing.assert_array_equal(drawn(block, "validation")[:, 1], y[63:70])
    np.testing.assert_array_equal(drawn(block, "test")[:, 0], x[80:])


def test_tables_of_csv_are_pairs(folder):
    a, u = waves(40, 16), waves(40, 16, seed=1)
    for name, one in (("a", a), ("u", u)):
        np.savetxt(f"{name}.csv", one, delimiter=",")
    block = chosen(check_file("a.csv", "u.csv"), axes=["sample", "x"], grid=GRID)
    np.testing.assert_allclose(drawn(block), np.stack([a, u], axis=1)[:28], rtol=1e-14)
    both = pandas.DataFrame(
        {f"{name}{point}": one[:, point] for name, one in (("a", a), ("u", u)) for point in range(16)}
    )
    both.to_csv("both.csv", index=False)
    block = chosen(check_file("both.csv"), input="a", target="u", axes=["sample", "x"], grid=GRID)
    np.testing.assert_allclose(drawn(block), np.stack([a, u], axis=1)[:28], rtol=1e-14)
    long = pandas.DataFrame(
        {"sample": np.repeat(range(40), 16), "x": np.tile(range(16), 40), "a": a.ravel(), "u": u.ravel()}
    )
    long.to_csv("long.csv", index=False)
    assert "df.pivot(index='sample', columns='x', values='u')" in check_file("long.csv").problem
    pandas.testing.assert_frame_equal(
        long.pivot(index="sample", columns="x", values="u"), pandas.DataFrame(u), check_names=False
    )
    long.assign(name="k").to_csv("text.csv", index=False)
    assert "columns name of the CSV table are not numbers; delete them" in check_file("text.csv").problem


def test_a_file_that_another_program_writes_is_not_called_damaged(folder):
    path = write_hdf5(folder / "data.h5", {"a": waves(9, 16)})
    code = f"import h5py, sys; f = h5py.File({str(path)!r}, 'a'); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout.readline().strip() == b"open"
        problem = check_file(path).problem
        other.stdin.close()
    assert "data.h5: is open for writing in another program; close it there" in problem


def test_times_and_units_are_those_of_the_file(folder):
    values = waves(80, 12, 16)
    coordinates = {
        "time": ("time", 6.0 * np.arange(80), {"units": "hours since 2020-01-01", "calendar": "standard"}),
        "latitude": ("latitude", np.linspace(50, 39, 12), {"units": "degrees_north"}),
        "longitude": ("longitude", np.linspace(0, 15, 16), {"units": "degrees_east"}),
    }
    data = xarray.Dataset({"t2m": (("time", "latitude", "longitude"), values, {"units": "K"})}, coordinates)
    data.to_netcdf("region.nc", engine="h5netcdf")
    report = check_file("region.nc")
    block = chosen(report, axes=["time", "y", "x"], input="t2m", target="t2m", grid="nodes")
    assert block["units"] == {"t2m": "K", "x": "degrees_east", "y": "degrees_north"}
    assert "the names of its dimensions" in report.text()
    settings = settings_of(block | {"target_times": [3]}).with_contents()
    assert settings.quantities == ("t2m at the start [K]", "t2m 18 hours later [K]")
    (group,) = settings.task().groups()
    assert [variable.units for variable in group.variables] == ["K", "K"]


def test_times_of_a_series_have_the_values_of_the_file_and_unknown_units_are_empty(folder):
    values = {"u": np.cumsum(waves(40, 20, 16), axis=1), "t": np.arange(1.0, 21), "x": np.arange(16) / 16}
    block = chosen(check_file(write_npz(folder / "data.npz", values)), input="u", target="u", grid=GRID)
    settings = settings_of(block).with_contents()
    assert settings.quantities == ("u at time 1", "u at time 20")
    (group,) = settings.task().groups()
    assert {one.units for one in (*group.variables, *group.axes)} == {""}
    with pytest.raises(DatasetError, match=r"there is no variable 'time'; found: u, t, x"):
        settings_of(block | {"coordinates": {"time": "time"}}).with_contents()
    dates = {"units": "days since 1999-12-31", "long_name": "time"}
    data = xarray.Dataset(
        {"u": (("sample", "time", "x"), values["u"])},
        {"time": ("time", values["t"], dates), "x": values["x"]},
    )
    data.to_netcdf("dates.nc", engine="h5netcdf")
    block = chosen(check_file("dates.nc"), axes=["sample", "time", "x"], grid=GRID)
    assert settings_of(block).with_contents().quantities == ("u at 2000-01-01 00:00", "u at 2000-01-20 00:00")
    data["time"].attrs["units"] = "days since never"
    data.to_netcdf("never.nc", engine="h5netcdf")
    settings = settings_of(block | {"source": "never.nc"}).with_contents()
    assert settings.quantities == ("u at time 1 days since never", "u at time 20 days since never")


def test_a_series_with_uneven_times_is_not_cut_into_windows(folder):
    values = {"u": waves(60, 16), "t": np.geomspace(1, 100, 60), "x": np.arange(16) / 16}
    path = write_npz(folder / "series.npz", values)
    block = chosen(check_file(path), axes=["time", "x"], grid=GRID)
    with pytest.raises(DatasetError, match=r"the times 't' have steps from .* interpolate to equal steps"):
        settings_of(block).with_contents()


def test_samples_sorted_by_size_are_split_at_random(folder):
    a = waves(200, 32) * np.linspace(1, 3, 200)[:, None]
    size = np.argsort(np.linalg.norm(a, axis=1))
    values = {"input": a[size], "output": 2 * a[size], "x": np.arange(32) / 32}
    path = write_hdf5(folder / "sorted.h5", values)
    report = check_file(path)
    block = chosen(report, axes=["sample", "x"], input="input", target="output", grid=GRID)
    assert block["order"] == "random"
    train, test = drawn(block), drawn(block, "test")
    norms = [np.linalg.norm(part[:, 0], axis=1) for part in (train, test)]
    assert abs(norms[0].mean() - norms[1].mean()) < 0.3 * norms[0].std() + 1
    assert len(np.unique(np.concatenate([train, test, drawn(block, "validation")])[:, 0, 0])) == 200
    np.testing.assert_array_equal(drawn(block, "test"), test)


def test_equal_ends_decide_that_both_are_included(folder):
    x = np.linspace(0, 1, 33)
    a = np.cos(2 * np.pi * x + np.random.default_rng(0).uniform(0, 6, (60, 1)))
    a[:, -1] = a[:, 0]
    report = check_file(write_npz(folder / "data.npz", {"a": a, "u": 2 * a, "x": x}))
    assert chosen(report, axes=["sample", "x"])["grid"] == "nodes"
    assert "# the last values of all functions repeat the first ones: both ends are included" in report.text()
    symmetric = np.sin(np.pi * (np.arange(32) + 0.5) / 32) * np.linspace(1, 2, 60)[:, None]
    values = {"a": waves(60, 32), "u": symmetric, "x": np.arange(32) / 32}
    chosen(check_file(write_npz(folder / "cells.npz", values)), axes=["sample", "x"], grid="cell_centres")


SHAPES = {
    (20, 64): "sample x, time x",
    (20, 64, 64): "sample y x, sample time x, time y x",
    (20, 64, 8): "sample y x, sample time x, time y x, sample x channel, time x channel, x sample channel",
    (20, 3, 64): "sample time x, sample channel x, time channel x",
    (20, 64, 64, 64): "sample time y x, sample z y x, time z y x",
    (20, 3, 64, 64, 3): "sample time y x channel",
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_all_layouts_that_a_shape_allows_are_asked_for(shape):
    found = readings(shape, (), {})
    assert ", ".join(map(" ".join, found)) == SHAPES[shape]
    assert not any(found.values())


LENGTHS = {
    "times last": ((40, 64, 11), {"time": 11, "x": 64}, "sample x time", True),
    "times first": ((11, 40, 64), {"time": 11, "x": 64}, "time sample x, time y x", False),
    "times between": ((40, 11, 64), {"time": 11, "x": 64}, "sample time x", True),
    "points first": ((64, 11, 40), {"time": 11, "x": 64}, "x time sample", True),
    "one series": ((256, 100), {"x": 256, "time": 100}, "x time", True),
    "one series of squares": ((11, 64, 48), {"time": 11, "x": 48, "y": 64}, "time y x", True),
    "three samples or three channels": (
        (3, 200, 32), {"time": 200, "x": 32}, "sample time x, channel time x", False),
    "samples last": ((64, 200), {"x": 64}, "x sample, x time", False),
    "times and points alike": (
        (60, 100, 100), {"time": 100, "x": 100}, "sample time x, sample x time", False),
    "times alone": ((20, 5, 64), {"time": 5}, "sample time x", False),
    "a square": ((20, 64, 64), {"x": 64, "y": 64}, "sample y x, sample x y, time y x, time x y", False),
    "a rectangle": ((20, 32, 48), {"y": 32, "x": 48}, "sample y x, time y x", False),
    "another grid": ((20, 64), {"x": 50}, "", False),
}  # fmt: skip


@pytest.mark.parametrize("case", LENGTHS)
def test_coordinates_decide_and_what_they_leave_open_is_asked(case):
    shape, lengths, expected, decided = LENGTHS[case]
    found = readings(shape, (), {axis: {size} for axis, size in lengths.items()})
    assert ", ".join(map(" ".join, found)) == expected
    assert all(bool(why) == decided for why in found.values())


def test_names_of_dimensions_decide_and_unknown_names_are_asked():
    assert readings((40, 64), ("sample", "x"), {}) == {("sample", "x"): "the names of its dimensions"}
    assert readings((40, 64, 48), ("time", "", ""), {}) == {("time", "y", "x"): ""}
    assert fits(("sample", "x"), (40, 64), ("time", ""), {}) is None
    assert all(fits(layout, (20,) * len(layout), layout, {}) == [] for layout in LAYOUTS)


def test_a_configuration_in_utf_16_says_how_to_save_it(folder, capsys):
    Path("mine.yaml").write_text("name: mine\n", encoding="utf-16")
    assert check(["mine.yaml"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("mine.yaml: is UTF-16; save it as UTF-8: iconv")
    subprocess.run(said.partition("UTF-8: ")[2], shell=True, check=True)  # as a user types it
    assert Path("utf8.yaml").read_text(encoding="utf-8") == "name: mine\n"
    assert check(["utf8.yaml"]) == 0


def test_check_refuses_what_is_not_chosen_and_accepts_what_is(folder, capsys):
    values = {"b": waves(60, 32), "c": waves(60, 32, seed=1), "x": np.arange(32) / 32}
    report = check_file(write_npz(folder / "data.npz", values))
    text = report.text()
    Path("mine.yaml").write_text(text)
    assert "choose in line" in report.to_do("mine.yaml")
    lines = text.splitlines()
    assert check(["mine.yaml"]) == 1
    number = report.open_lines()[0]
    out = capsys.readouterr().out
    assert out == (
        f"mine.yaml, line {number}: build.experiments: not chosen yet; write one of own_data_sample_x; "
        "own_data_time_x\n"
    )
    assert candidates(report.configuration["build"]["experiments"]) == [
        "own_data_sample_x",
        "own_data_time_x",
    ]
    lines[number - 1] = "  experiments: [own_data_sample_x]"
    Path("mine.yaml").write_text("\n".join(lines))
    assert check(["mine.yaml"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[2] for line in out] == [
        "datasets.own_data_sample_x.input: not chosen yet; write one of b; c",
        "datasets.own_data_sample_x.target: not chosen yet; write one of b; c",
        "datasets.own_data_sample_x.grid: not chosen yet; write one of periodic; nodes; cell_centres",
    ]
    for key, value in {"input": "b", "target": "c", "grid": "periodic"}.items():
        place = next(n for n, line in enumerate(lines) if line.startswith(f"    {key}: choose"))
        lines[place] = f"    {key}: {value}"
    Path("mine.yaml").write_text("\n".join(lines))
    assert check(["mine.yaml"]) == 0, capsys.readouterr().out
    assert "is valid; experiments: own_data_sample_x" in capsys.readouterr().out
    assert yaml.safe_load("\n".join(lines))["datasets"]["own_data_sample_x"]["grid"] == "periodic"
