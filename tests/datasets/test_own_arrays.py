"""Arrays of others become datasets of ours: what is stored is what was in the file, whatever the format."""

import functools
import http.server
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import yaml
import zarr
from array_files import (
    COUNT,
    POINTS,
    SETTINGS,
    WRITERS,
    arrays,
    write_hdf5,
    write_npz,
    write_pdebench,
    write_well,
)
from chosen import chosen
from dataset_fixtures import make_dataset
from serving import serving

import resolvent
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.imported.check import check_file
from resolvent.datasets.imported.readers.source import open_source
from resolvent.datasets.loading import load_samples, read_card
from resolvent.datasets.tasks.registry import settings_of
from resolvent.datasets.verify import faults_of_dataset
from resolvent.judging.exported import _check_sources
from resolvent.planning.export import export
from resolvent.solvers.common.grid import Grid


def settings(source, **changes):
    return settings_of(SETTINGS | {"source": source} | changes).with_contents()


def samples(source, split: str = "train", **changes) -> np.ndarray:
    """Return the samples of a split, (samples, channels, ...space), as the task reads them."""
    given = settings(source, **changes)
    names = [(split, index) for index in range(getattr(given.samples, split))]
    return given.task().draw(names)


def test_a_dataset_is_stored_with_a_card_that_claims_no_error(tmp_path):
    values = arrays()
    path = write_npz(tmp_path / "data.npz", values)
    card = make_dataset(tmp_path / "made", settings(str(path), resolutions=[POINTS, 8]), name="mine")
    assert faults_of_dataset(card) == []
    facts = read_card(card)
    assert facts["imported"]["summary"] == "imported; error not measured"
    assert facts["imported"]["warnings"] == []
    assert not [key for key in facts["error_budget"] if key.startswith(("against_", "labels_"))]
    for points in (POINTS, 8):
        loaded = load_samples(card, points, "test", 3)
        assert loaded.grid == Grid("periodic", points)
        np.testing.assert_array_equal(loaded.targets, values["u"][11:, :: POINTS // points])
    assert settings_of(facts["settings"]) == settings(str(path), resolutions=[POINTS, 8])
    export(card, "huggingface", tmp_path / "shared")
    page = (tmp_path / "shared/README.md").read_text(encoding="utf-8")
    (file,) = facts["imported"]["files"]
    assert f"which are not in this folder:\n\n- `data.npz`, SHA-256 `{file['sha256']}`" in page
    path.unlink()
    with pytest.raises(DatasetError, match=r"data\.npz does not exist; .* read from data\.npz with the SHA"):
        _check_sources(SimpleNamespace(card=facts, directory=tmp_path), settings_of(facts["settings"]))


@pytest.mark.parametrize(("mean", "kind"), [(0.0, torch.float32), (101325.0, torch.float64)])
def test_torch_has_the_digits_of_a_small_variation_on_a_large_mean(tmp_path, mean, kind):
    values = {name: mean + 1e-2 * numbers for name, numbers in arrays().items()}
    path = write_npz(tmp_path / "data.npz", values)
    card = make_dataset(tmp_path / "made", settings(str(path)), name="mine")
    for streaming in (False, True):
        pairs = [*resolvent.open_dataset(card).torch("test", streaming=streaming)]
        targets = torch.stack([v for _, v in pairs])[..., 0]
        assert targets.dtype == kind
        expected = torch.from_numpy(values["u"][11:]) - mean
        found = (targets - mean).sort(0).values  # a stream has another order
        torch.testing.assert_close(found.double(), expected.sort(0).values, rtol=0, atol=1e-8)
    with warnings.catch_warnings(record=True) as said:
        resolvent.open_dataset(card).jax("test")
    assert ["jax_enable_x64" in str(warning.message) for warning in said] == [True] * bool(mean)


def test_input_and_target_may_be_two_files_or_channels_of_one(tmp_path):
    values = arrays()
    for name in values:
        np.save(tmp_path / f"{name}.npy", values[name])
    np.save(tmp_path / "both.npy", np.stack([values["u"], values["a"]], axis=-1))
    pair = {"input": str(tmp_path / "a.npy"), "target": str(tmp_path / "u.npy")}
    drawn = samples(pair, input="array", target="array")
    np.testing.assert_array_equal(drawn, np.stack([values["a"], values["u"]], axis=1)[:8])
    with pytest.raises(ValueError, match="the same function twice"):
        settings(str(tmp_path / "a.npy"), input="array", target="array")
    with pytest.raises(ValueError, match="choose a channel, such as"):
        settings(str(tmp_path / "both.npy"), input="array", target="u", axes=["sample", "x", "channel"])
    drawn = samples(
        str(tmp_path / "both.npy"), input="array[1]", target="array[0]", axes=["sample", "x", "channel"]
    )
    np.testing.assert_array_equal(drawn, np.stack([values["a"], values["u"]], axis=1)[:8])


@pytest.mark.parametrize("places", ["two files", "two groups"])
@pytest.mark.parametrize("of_target", ["falling", "longer", "alike", "none"])
def test_coordinates_of_the_target_are_held_to_the_grid_too(places, of_target, tmp_path):
    x = np.arange(POINTS) / POINTS
    lines = {"falling": x[::-1], "longer": 2 * x, "alike": x, "none": None}
    line, given = lines[of_target], {"input": "a", "target": "u"}
    parts = {"in": {"a": arrays()["a"], "x": x}, "out": {"u": arrays()["u"]}}
    parts["out"] |= {} if line is None else {"x": line}
    if places == "two files":
        files = {name: str(write_npz(tmp_path / f"{name}.npz", one)) for name, one in parts.items()}
        source = {"input": files["in"], "target": files["out"]}
    else:
        values = {f"{place}/{name}": one for place, part in parts.items() for name, one in part.items()}
        source, given = str(write_hdf5(tmp_path / "one.h5", values)), {"input": "in/a", "target": "out/u"}
        given["coordinates"] = {"x": "in/x"}
    if of_target in ("alike", "none"):
        np.testing.assert_array_equal(samples(source, **given)[:, 1], arrays()["u"][:8])
        return
    with pytest.raises(DatasetError, match=r"differ in direction, length .* one grid for input and target"):
        settings(source, **given)


def test_uneven_points_of_input_and_target_may_differ_by_rounding(tmp_path):
    x = np.cumsum(np.linspace(1, 2, POINTS))
    write_npz(tmp_path / "in.npz", {"a": arrays()["a"], "x": x})
    write_npz(tmp_path / "out.npz", {"u": arrays()["u"], "x": x.astype(np.float32)})
    source = {"input": str(tmp_path / "in.npz"), "target": str(tmp_path / "out.npz")}
    assert settings(source, grid="uneven").task().held.positions["x"] == tuple(x)
    write_npz(tmp_path / "out.npz", {"u": arrays()["u"], "x": x**2})
    with pytest.raises(DatasetError, match=r"uneven points .* one grid for input and target"):
        settings(source, grid="uneven")


@pytest.mark.parametrize(
    ("size", "words"),
    [(1e45, "variable 'u' is too large in row 1"), (1e200, "too large"), (1e-45, "has values up to .*e-44")],
)
def test_sizes_that_single_precision_lacks_are_refused(size, words, tmp_path):
    path = write_npz(tmp_path / "data.npz", arrays() | {"u": size * arrays()["u"]})
    with pytest.raises(DatasetError, match=f"{words}.*; expected: sizes from 1e-38 to 3e\\+38"):
        make_dataset(tmp_path / "made", settings(str(path)), name="mine")
    assert size < 1 or "expected: sizes from 1e-38" in check_file(path).problem


def test_axes_are_put_in_order(tmp_path):
    values = arrays(2)
    turned = {name: one.transpose(2, 0, 1) for name, one in values.items()}  # x, sample, y
    drawn = samples(str(write_hdf5(tmp_path / "data.h5", turned)), axes=["x", "sample", "y"])
    np.testing.assert_array_equal(drawn, np.stack([values["a"], values["u"]], axis=1)[:8])


def test_the_check_finds_numbers_of_each_sample_and_what_it_says_can_be_pasted(tmp_path):
    values = arrays(count=200) | {
        "kappa": np.linspace(1, 2, 200),
        "mu": np.ones((200, 1)),
        "x": np.arange(16) / 16,
        "split": np.repeat(["train", "val", "test"], [150, 20, 30]),
    }
    report = check_file(write_npz(tmp_path / "data.npz", values))
    block = chosen(report, axes=["sample", "x"], grid="periodic")
    assert block["samples"] == {"train": 150, "validation": 20, "test": 30}
    assert report.warnings == []
    for remark, entry in zip(report.remarks, ("kappa", "mu[0]"), strict=True):
        assert f"is a number for each sample: add {entry} to input, and write axes: {{" in remark
        added = yaml.safe_load(remark[remark.index("axes: {") :]) | {"input": ["a", entry]}
        drawn = settings_of(block | added).task().draw([("test", 29)])
        np.testing.assert_array_equal(drawn[0, 1], np.full(POINTS, 2.0 if entry == "kappa" else 1.0))
    few = check_file(write_npz(tmp_path / "few.npz", arrays(count=60)))
    assert few.remarks == []


def test_names_may_have_brackets_and_signs(tmp_path):
    both = np.stack(list(arrays(count=60).values()), axis=1)
    report = check_file(write_npz(tmp_path / "odd.npz", {"T [°C], p": both, "τ [s]": np.ones(60)}))
    answers = {"input": "T [°C], p[0]", "target": "T [°C], p[1]", "axes": ["sample", "channel", "x"]}
    block = chosen(report, **answers, grid="periodic")
    drawn = settings_of(block).task().draw([("train", 0)])
    np.testing.assert_array_equal(drawn[0], both[0])
    axes = {"T [°C], p": block["axes"], "τ [s]": ["sample"]}
    given = settings_of(block | {"input": ["T [°C], p[0]", "τ [s]"], "axes": axes})
    assert given.names() == ("T [°C], p[0], τ [s]", "T [°C], p[1]")
    assert [one.stored for one in given.channels] == ["T_C_p_0", "τ_s", "T_C_p_1"]


def test_several_functions_and_a_number_of_each_sample_are_channels(tmp_path):
    values = arrays(2)
    values |= {"nu": np.linspace(1, 2, COUNT), "b": values["a"] ** 3}
    path = write_npz(tmp_path / "data.npz", values)
    axes = {name: ["sample", "y", "x"] for name in "abu"} | {"nu": ["sample"]}
    given = settings(str(path), input=["a", "b", "nu"], target=["u", "b"][:1], axes=axes)
    assert (given.in_channels, given.initial_channels, given.out_channels, given.dimension) == (3, 1, 1, 2)
    card = make_dataset(tmp_path / "made", given, name="mine")
    loaded = load_samples(card, POINTS, "train", 8)
    assert loaded.inputs.shape == (8, 3, POINTS, POINTS)
    np.testing.assert_array_equal(loaded.inputs[:, 1], values["b"][:8])
    np.testing.assert_array_equal(loaded.inputs[:, 2, 3, 5], values["nu"][:8])
    assert faults_of_dataset(card) == []


def test_splits_are_files_or_values_of_a_variable(tmp_path):
    values = arrays() | {"part": np.array(["new"] * 4 + ["old"] * 10), "re": np.arange(COUNT) % 3}
    whole = str(write_npz(tmp_path / "data.npz", values))
    groups = {"variable": "part", "train": ["old"], "test": ["new"]}
    sizes = {"train": 10, "validation": 0, "test": 4}
    np.testing.assert_array_equal(samples(whole, "test", groups=groups, samples=sizes)[:, 1], values["u"][:4])
    groups = {"variable": "re", "train": [0, 1], "validation": [], "test": [2]}
    np.testing.assert_array_equal(
        samples(whole, "test", groups=groups, samples=sizes)[:, 1], values["u"][2::3]
    )
    groups, sizes = {"variable": "re", "train": [0, 1], "test": [2]}, {"train": 5, "validation": 3, "test": 2}
    first = values["u"][np.arange(COUNT) % 3 < 2]
    drawn = samples(whole, "validation", groups=groups, samples=sizes)  # follow the training samples
    np.testing.assert_array_equal(drawn[:, 1], first[5:8])
    drawn = [samples(whole, split, groups=groups, samples=sizes, order="random") for split in sizes]
    assert len(np.unique(np.concatenate(drawn)[:, 0, 0])) == 10
    other = str(write_hdf5(tmp_path / "test.h5", arrays(count=5)))
    files = {"train": [whole, whole], "test": other}
    sizes = {"train": 20, "validation": 4, "test": 5}
    np.testing.assert_array_equal(samples(files, "test", samples=sizes)[:, 0], arrays(count=5)["a"])
    np.testing.assert_array_equal(samples(files, "validation", samples=sizes)[:, 0], values["a"][6:10])


WINDOWS = {"axes": ["sample", "time", "x"], "input_times": [-1], "target_times": [0], "window_every": 1}
GROUPS = {"variable": "a", "train": [0], "test": [1]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rows": {"train": [0, 8]}}, "rows are not accepted any more: .* set groups: {variable: split"),
        ({"groups": GROUPS | {"validation": [1]}}, "the value 1.0 is in two splits; accepted: each value in"),
        (WINDOWS, "times count from the start of a window"),
    ],
)
def test_splits_and_windows_that_make_no_sense_are_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        settings_of(SETTINGS | {"source": "data.npz"} | changes)


TWO_SERIES = {"train": 24, "validation": 6, "test": 6}  # windows, of eight, two and two series


def test_evolutions_give_pairs_and_windows(tmp_path):
    values = np.random.default_rng(0).normal(size=(COUNT, 7, POINTS))
    path = str(write_hdf5(tmp_path / "data.h5", {"u": values}))
    evolution = {"input": "u", "target": "u", "axes": ["sample", "time", "x"]}
    np.testing.assert_array_equal(samples(path, **evolution), values[:8, [0, -1]])
    drawn = samples(path, **evolution, input_times=[0, 1], target_times=[4])
    np.testing.assert_array_equal(drawn, values[:8, [0, 1, 4]])
    windows = evolution | {"input_times": [0], "target_times": [2], "window_every": 2}  # 0-2, 2-4, 4-6
    sizes = {"train": 24, "validation": 6, "test": 3}
    drawn = samples(path, **windows, samples=sizes)
    expected = np.stack([values[:8, [0, 2]], values[:8, [2, 4]], values[:8, [4, 6]]], axis=1)
    np.testing.assert_array_equal(drawn, expected.reshape(24, 2, POINTS))
    last = np.stack([values[13, [first, first + 2]] for first in (0, 2, 4)])
    np.testing.assert_array_equal(samples(path, "test", **windows, samples=sizes), last)
    alone = str(write_hdf5(tmp_path / "alone.h5", {"u": values.reshape(-1, POINTS)}))
    one = windows | {"axes": ["time", "x"], "window_every": 1}
    sizes = {"train": 60, "validation": 10, "test": 20}
    long = values.reshape(-1, POINTS)  # 98 times, 96 windows
    np.testing.assert_array_equal(
        samples(alone, "test", **one, samples=sizes)[[0, -1]], long[[[76, 78], [95, 97]]]
    )
    said = settings_of(SETTINGS | {"source": alone, "samples": sizes} | one).series().in_words()
    assert said["test"] == "time 76 of alone.h5 to time 95 of alone.h5"
    said = settings_of(SETTINGS | {"source": path} | windows | {"samples": TWO_SERIES}).series().in_words()
    assert said["test"] == "time 0 of row 13 of data.h5 to time 4 of row 14 of data.h5"


@pytest.mark.parametrize(
    ("inputs", "targets", "answers"),
    [([0], [2], True), ([0], [1, 2], False), ([0, 1], [3, 4], False)],
)
def test_the_state_of_one_time_is_a_first_guess_of_that_of_another(inputs, targets, answers, tmp_path):
    path = str(write_hdf5(tmp_path / "data.h5", {"u": np.zeros((COUNT, 7, POINTS))}))
    evolution = {"input": "u", "target": "u", "axes": ["sample", "time", "x"]}
    task = settings(path, **evolution, input_times=inputs, target_times=targets).task()
    assert task.input_answers is answers


def test_pdebench_and_the_well_are_read_in_their_layouts(tmp_path):
    rng = np.random.default_rng(0)
    tensor = rng.normal(size=(COUNT, 5, POINTS)).astype("float32")
    path = str(write_pdebench(tmp_path / "burgers.h5", tensor))
    evolution = {"input": "tensor", "target": "tensor", "axes": ["sample", "time", "x"]}
    for grid, origin in (("cell_centres", 0.0), ("periodic", 0.5 / POINTS)):
        drawn = samples(path, **evolution, grid=grid, origin=origin)
        np.testing.assert_array_equal(drawn, tensor[:8, [0, -1]])
    with pytest.raises(DatasetError, match=r"grid: nodes, length: 1; as nodes they have length: 0\.9375"):
        samples(path, **evolution, grid="nodes", length=1.0)
    darcy = rng.normal(size=(COUNT, 1, POINTS, POINTS)).astype("float32")
    path = str(write_pdebench(tmp_path / "darcy.h5", darcy, nu=darcy[:, 0] ** 2))
    axes = {"nu": ["sample", "x", "y"], "tensor": ["sample", "channel", "x", "y"]}
    drawn = samples(path, input="nu", target="tensor[0]", axes=axes, grid="cell_centres")
    np.testing.assert_array_equal(drawn[:, 1], darcy[:8, 0].transpose(0, 2, 1))
    fields, vectors = (
        rng.normal(size=(COUNT, 4, POINTS, POINTS)),
        rng.normal(size=(COUNT, 4, POINTS, POINTS, 2)),
    )
    path = write_well(tmp_path / "flow.hdf5", {"pressure": fields}, {"velocity": vectors})
    file, names = open_source(path), ["t0_fields/pressure", "t1_fields/velocity[1]"]
    axes = {name: list(file.variables[name].dims()) for name in ("t0_fields/pressure", "t1_fields/velocity")}
    drawn = samples(str(path), input=names, target="t0_fields/pressure", axes=axes, target_times=[2])
    expected = np.stack([fields[:8, 0], vectors[:8, 0, ..., 1], fields[:8, 2]], axis=1)
    np.testing.assert_array_equal(drawn, expected.transpose(0, 1, 3, 2).astype("float32"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the address of a server of files, and its folder."""
    folder = tmp_path_factory.mktemp("site")
    with serving(functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))) as address:
        yield address, folder


@pytest.mark.parametrize("name", ["data.npz", "data.h5", "data.nc", "data.mat", "data.pt", "data.npy"])
def test_a_file_at_an_address_is_read_as_one_on_disk(name, site):
    address, folder = site
    values = arrays()
    if name == "data.npy":
        np.save(folder / name, np.stack([values["a"], values["u"]], axis=1))
        names = {"input": "array[0]", "target": "array[1]", "axes": ["sample", "channel", "x"]}
    else:
        WRITERS[name](folder / name, values)
        names = {}
    drawn = samples(f"{address}/{name}", **names)
    np.testing.assert_array_equal(drawn[:, 1], values["u"][:8])


def test_a_store_at_an_address_is_read():
    values = arrays()
    root = zarr.open_group("memory://data.zarr", mode="w")
    for name, one in values.items():
        root.create_array(name, data=one, chunks=(4, POINTS))
    first = settings("memory://data.zarr")
    np.testing.assert_array_equal(first.task().draw([("test", 0)])[0, 1], values["u"][11])
    root.create_array("more", data=values["a"])
    assert settings("memory://data.zarr").sha256 != first.sha256


def test_inputs_that_are_zero_are_stored_and_targets_refused(tmp_path):
    values = arrays() | {"nu": np.arange(COUNT) % 2, "v": arrays()["u"].copy()}
    values["a"][::3] = values["v"][[2, 12]] = 0
    path = str(write_npz(tmp_path / "data.npz", values))
    axes = {name: ["sample", "x"] for name in "auv"} | {"nu": ["sample"]}
    card = make_dataset(tmp_path / "made", settings(path, input=["a", "nu"], axes=axes), name="mine")
    assert read_card(card)["error_budget"]["stored_against_the_file"]["largest_relative_l2"] == 0
    np.testing.assert_array_equal(load_samples(card, POINTS, "train", 8).inputs[:, 0], values["a"][:8])
    assert faults_of_dataset(card) == []
    make_dataset(tmp_path / "two", settings(path, target=["u", "v"], axes=axes), name="mine")
    for split, words in (("train", "train sample 2"), ("test", "test sample 1")):
        if split == "test":
            values["v"][2] = 1
            write_npz(tmp_path / "data.npz", values)
        with pytest.raises(DatasetError, match=rf"v on n16 is zero everywhere in {words}, counted from 0"):
            make_dataset(tmp_path / split, settings(path, target="v", axes=axes), name="mine")
        assert not (tmp_path / split / "mine.json").exists()
