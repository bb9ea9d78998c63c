"""What `resolvent inspect` says: whole texts, in `import_checks/`, and layouts of others' files.

These are rebuilt small: what is proposed, what is asked, and what is refused.
"""

from pathlib import Path

import numpy as np
import pytest
import scipy.io
import xarray
import yaml
import zarr
from array_files import write_hdf5, write_npz, write_pdebench, write_torch, write_well
from dataset_fixtures import make_dataset

from resolvent.datasets.imported.arrays_checks import FAR, SIZES, unscaled
from resolvent.datasets.imported.check import Report, check_file
from resolvent.datasets.imported.detect import LOOKED_AT
from resolvent.datasets.loading import load_samples, read_card
from resolvent.datasets.tasks.registry import settings_of
from resolvent.planning.configuration.load import check

TEXTS = Path(__file__).parent / "import_checks"


def waves(count: int, *shape: int, seed: int = 0) -> np.ndarray:
    """Return periodic functions (count, *shape), a wave along each axis."""
    rng = np.random.default_rng(seed)
    values = np.zeros((count, *shape))
    for along in np.meshgrid(*[np.arange(n) / n for n in shape], indexing="ij"):
        phase, amplitude = rng.uniform(0, 6, (count, *[1] * len(shape))), rng.normal(size=count)
        values += amplitude.reshape(phase.shape) * np.cos(2 * np.pi * along + phase)
    return values


def pair(*shape: int, seed: int = 0) -> dict[str, np.ndarray]:
    return {"a": waves(*shape, seed=seed), "u": waves(*shape, seed=seed + 1)}


def single(*shape: int, times: int) -> dict[str, np.ndarray]:
    return {"t": np.arange(float(times)), "u": waves(*shape).astype("float32")}


def square_with_numbers() -> dict[str, np.ndarray]:
    functions = pair(12, 9, 9)
    return {
        "x": np.linspace(0, 2, 9), "coeff": functions["a"], "sol": functions["u"],
        "kappa": np.arange(12.0), "amplitudes": np.ones((12, 1)), "name": np.array(["k"] * 12),
    }  # fmt: skip


SPLIT = np.array(["train"] * 5 + ["validation"] * 2 + ["test"] * 3)
FILES = {
    "line": lambda: {"line.npz": pair(40, 32)},
    "evolution": lambda: {"my data-2.h5": single(600, 9, 32, times=9)},
    "few_series": lambda: {"series.h5": single(3, 200, 32, times=200)},
    "one_series": lambda: {"series.h5": single(1, 200, 32, times=200)},
    "square_with_numbers": lambda: {"square.npz": square_with_numbers()},
    "input_and_target": lambda: {"in.npz": {"a": waves(30, 32)}, "out.npz": {"u": waves(30, 32, seed=2)}},
    "train_and_test": lambda: {"one.npz": pair(40, 20, 20), "two.npz": pair(14, 20, 20, seed=3)},
    "cube": lambda: {"cube.npz": pair(6, 8, 8, 8)},
    "splits": lambda: {"splits.npz": pair(10, 32) | {"split": SPLIT}},
    "channels": lambda: {"fields.npz": {"fields": waves(200, 3, 24)}},
}


@pytest.mark.parametrize("case", FILES)
def test_the_whole_text_of_a_check(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = FILES[case]()
    for name, values in files.items():
        (write_npz if name.endswith(".npz") else write_hdf5)(Path(name), values)
    report = check_file(*files)
    assert (report.problem is None) == (case != "channels")
    assert report.text() == (TEXTS / f"{case}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("count", "test"), [(10, 2), (100, 20), (119, 23), (120, 30), (150, 30), (200, 30), (400, 40)]
)
def test_thirty_test_samples_are_taken_from_a_quarter_of_the_samples(count, test, tmp_path):
    report = checked(tmp_path, **pair(count, 32))
    assert block_of(report)["samples"]["test"] == test
    assert sum(block_of(report)["samples"].values()) == count
    assert any("test samples: of fewer" in words for words in report.warnings) == (test < 30)


def test_windows_of_one_series_have_thirty_test_samples_too(tmp_path):
    report = checked(tmp_path, u=waves(1, 800, 32), t=np.arange(800.0))
    assert block_of(report)["samples"] == {"train": 146, "validation": 19, "test": 30}  # and 4 left out


def test_variables_are_listed_below_their_file(tmp_path):
    for seed, name in enumerate(("a", "u")):
        np.save(tmp_path / f"{name}.npy", waves(40, 32, seed=seed))
    lines = check_file(tmp_path / "a.npy", tmp_path / "u.npy").text().splitlines()
    shape = "#   array: 40 × 32, double precision"
    given, wanted = (f"# {tmp_path / name}: NumPy .npy" for name in ("a.npy", "u.npy"))
    assert lines[:4] == [given, shape, wanted, shape]


def test_too_few_samples_and_unequal_sides_are_problems(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_npz(Path("few.npz"), pair(2, 32))
    assert check_file("few.npz").problem == "few.npz: has 2 samples; expected: at least 3, one for each split"
    np.savez("numbers.npz", name=np.array("k"))
    found = "no variable is an array of functions; found: name ()"
    assert check_file("numbers.npz").problem.endswith(found)
    zarr.create_group("empty.zarr")
    assert check_file("empty.zarr").problem.endswith("found: nothing")
    root = zarr.create_group("unequal.zarr")
    for name, values in pair(3, 20, 10).items():
        root.create_array(name, data=values, dimension_names=["sample", "y", "x"])
    report = check_file("unequal.zarr")
    assert block_of(report)["finest"] == {"y": 20, "x": 10}
    assert "#   a: 3 × 20 × 10, double precision (sample, y, x)\n" in report.text()


TIMES, X = np.linspace(0, 1, 11), np.arange(64) / 64


def block_of(report: Report) -> dict:
    assert report.problem is None
    (block,) = report.configuration["datasets"].values()
    return block


def checked(path: Path, **values) -> Report:
    return check_file(write_npz(path / "data.npz", values))


@pytest.mark.parametrize("sides", [(32, 128), (32, 48)])
def test_a_rectangle_is_no_evolution_without_a_word(sides, tmp_path):
    report = checked(tmp_path, T=waves(60, *sides))
    assert "state the axes of 'T'" in report.problem
    assert "    # axes: [sample, time, x]\n    # finest" in report.text()
    assert report.problem.endswith("[sample, time, x] or [sample, x, time] or [sample, y, x]")
    assert "    # axes: [sample, x, time]\n" in report.text()
    assert yaml.safe_load(report.text())["datasets"]["own_data"]["equation"] == "arrays"


def test_coordinates_of_each_sample_that_are_alike_are_coordinates(tmp_path):
    x, times = np.tile(np.arange(64) / 2, (50, 1)), np.tile(np.arange(21) * 0.2, (50, 1))
    path = write_hdf5(tmp_path / "ks.h5", {"train/u": waves(50, 21, 64), "train/x": x, "train/t": times})
    block = block_of(check_file(path))
    assert (block["axes"], block["length"]) == (["sample", "time", "x"], 32.0)
    assert block["coordinates"] == {"x": "train/x"}
    settings_of(block).with_contents()


def test_meshes_are_coordinates(tmp_path):
    x, y = np.meshgrid(np.linspace(0, 2, 9), np.linspace(0, 2, 9))
    report = checked(tmp_path, a=waves(40, 9, 9), u=waves(40, 9, 9, seed=1), X=x, Y=y)
    assert (block_of(report)["length"], block_of(report)["coordinates"]) == (2.0, {"x": "X"})


def test_one_evolution_with_vectors_of_matlab_is_cut_into_windows(tmp_path):
    values = {
        "usol": waves(100, 64).T,
        "x": np.linspace(-1, 1, 64)[:, None],
        "t": TIMES[-1] * np.arange(100.0),
    }
    scipy.io.savemat(tmp_path / "shock.mat", values)
    block = block_of(check_file(tmp_path / "shock.mat"))
    assert (block["axes"], block["finest"], block["length"]) == (["x", "time"], 64, 2.0)
    assert block["window_every"] == 2


def test_points_are_those_of_the_other_function(tmp_path):
    """The Burgers file of the package neuraloperator 0.3: no times, 17 of them beside 16 points."""
    path = write_torch(tmp_path / "burgers.pt", {"input": waves(60, 16), "output": waves(60, 17, 16)})
    block = block_of(check_file(path))
    assert block["axes"] == {"input": ["sample", "x"], "output": ["sample", "time", "x"]}
    assert block["target_times"] == [16]


def test_pressures_show_that_two_valued_coefficients_are_not_periodic(tmp_path):
    """The Darcy files of neuraloperator 0.3 have every 26th of 421 nodes, the first on the boundary."""
    nodes = np.linspace(0, 1, 17)[:-1]
    bump = np.sin(np.pi * nodes)[:, None] * np.sin(np.pi * nodes)
    pressure = bump * np.random.default_rng(0).uniform(0.5, 1.5, (40, 1, 1))
    coefficient = np.where(waves(40, 16, 16) > 0, 12.0, 3.0)
    report = checked(tmp_path, x=coefficient, y=pressure)
    assert block_of(report)["grid"] == "nodes"
    assert "grid: nodes  # guess: not periodic, since 'y' is zero with a kink at an end" in report.text()
    report = checked(tmp_path, x=coefficient, y=np.where(waves(40, 16, 16, seed=5) > 0, 1.0, 0.0))
    assert "grid: nodes  # guess: functions with few values do not show whether" in report.text()


def test_pressures_on_cell_centres_are_not_periodic(tmp_path):
    cells = np.sin(np.pi * (np.arange(32) + 0.5) / 32)
    pressure = cells[:, None] * cells * np.random.default_rng(0).uniform(0.5, 1.5, (40, 1, 1))
    nu = np.where(waves(40, 32, 32) > 0, 1.0, 0.1)
    path = write_pdebench(tmp_path / "darcy.hdf5", pressure[:, None], nu=nu)
    assert block_of(check_file(path))["grid"] == "cell_centres"


def test_vector_fields_are_proposed_whole(tmp_path):
    velocity = waves(60, 5, 16, 16)[..., None] * [1.0, 2.0]
    path = write_well(tmp_path / "flow.hdf5", {"p": waves(60, 5, 16, 16)}, {"velocity": velocity})
    report = check_file(path)
    assert block_of(report)["input"] == "t0_fields/p"
    assert "left out: t1_fields/velocity; add them to input or target if needed" in report.found
    report = checked(tmp_path, velocity=velocity, t=np.arange(5.0))
    assert block_of(report)["input"] == ["velocity[0]", "velocity[1]"]
    assert block_of(report)["target"] == ["velocity[0]", "velocity[1]"]


def test_falling_coordinates_flip_the_axis(tmp_path):
    root, values = zarr.create_group(tmp_path / "falling.zarr"), waves(40, 64)
    for name, one in {"a": values, "u": 2 * values, "x": 1 - X}.items():
        root.create_array(name, data=one)
    report = check_file(tmp_path / "falling.zarr")
    assert "In falling.zarr 'x' decreases from 1 to 0.015625: values are flipped along x." in report.warnings
    given = settings_of(block_of(report) | {"samples_per_shard": 40}).with_contents()
    card = make_dataset(tmp_path / "made", given, name="mine")
    np.testing.assert_array_equal(load_samples(card, 64, "train", 28).inputs, values[:28, ::-1])
    assert "values are flipped along x" in "".join(read_card(card)["imported"]["warnings"])


def test_latitudes_fall_and_begin_elsewhere(tmp_path):
    coordinates = {
        "latitude": np.linspace(55, 43.25, 48),
        "longitude": np.arange(48) / 4,
        "time": np.arange(60),
    }
    data = xarray.Dataset({"t2m": (("time", "latitude", "longitude"), waves(60, 48, 48))}, coordinates)
    data.to_netcdf(tmp_path / "region.nc", engine="h5netcdf")
    report = check_file(tmp_path / "region.nc")
    assert block_of(report)["axes"] == ["time", "y", "x"]
    assert block_of(report)["coordinates"] == {"x": "longitude"}
    assert any("values are flipped along y" in words for words in report.warnings)


@pytest.mark.parametrize(
    "scale", [(101325.0, 10.0), (0.0, 1e-12), (0.0, 1e5), (0.0, 0.07), (0.0, 30.0)], ids=str
)
def test_data_far_from_mean_0_and_size_1_are_normalised_by_the_proposal(scale, tmp_path):
    mean, deviation = scale
    report = checked(tmp_path, before=waves(300, 64), after=3 + waves(300, 64, seed=1), x=X)
    assert "normalisation" not in report.text()
    report = checked(tmp_path, before=mean + deviation * waves(300, 64), after=waves(300, 64, seed=1), x=X)
    assert report.configuration["experiments"]["own_data"]["training"]["normalisation"] == "scalar"
    line = next(line for line in report.text().splitlines() if line.startswith("    training: "))
    assert "# 'before' has the mean" in line
    (words,) = [one for one in report.warnings if "train with normalisation: scalar" in one]
    assert words.startswith("'before' has the mean")


@pytest.mark.parametrize(
    ("mean", "deviation", "why"),
    [(0, 1, None), (0, 0.31, None), (0, 0.29, "diverge"), (0, 3.2, None), (0, 3.4, "diverge"), (0, 0, None),
     (-9, 1, None), (-11, 1, "learned nothing")],
)  # fmt: skip
def test_advice_on_normalisation_is_symmetrical_in_the_size_of_values(mean, deviation, why):
    found = unscaled({"u": (mean, deviation)})
    assert len(found) == (why is not None)
    assert all(why in words and "train with normalisation: scalar" in words for words in found)


def test_the_tutorial_states_what_is_looked_at_and_when_values_are_normalised():
    page = (Path(__file__).parents[2] / "docs/tutorials/own-data.md").read_text(encoding="utf-8")
    words = " ".join(page.split())
    assert f"checks the first {LOOKED_AT} samples of each split" in words
    assert f"below {SIZES[0]:.2g} or above {SIZES[1]:.2g}, or a mean is more than ten standard" in words
    assert FAR == 10


def test_where_only_a_person_knows_there_is_a_block_to_fill_in(tmp_path):
    path = write_npz(tmp_path / "fields.npz", {"T": waves(20, 24), "p": waves(20, 24), "q": waves(20, 24)})
    report = check_file(path)
    assert report.problem.startswith(
        f"{path}: state input and target, which the file does not determine: 'T' (20"
    )
    (block,) = yaml.safe_load(report.text())["datasets"].values()
    keys = ["equation", "source", "input", "target", "axes", "finest", "grid", "length", "samples"]
    assert list(block) == keys
    assert "    input:  # one of T: 20 × 24, double precision; p: 20 × 24" in report.text()
    filled = {"input": "T", "target": "p", "axes": ["sample", "x"], "finest": 24, "grid": "periodic"}
    settings_of(block | filled | {"samples": {"train": 15, "validation": 2, "test": 3}}).with_contents()


def uncommented(text: str, choice: int) -> dict:
    """Return a configuration with one of its alternatives in every section, as a user leaves it."""
    lines, chosen = [], None
    for line in text.splitlines():
        if line.lstrip().startswith(("# either, ", "# or:")):
            chosen = 0 if "# either, " in line else chosen + 1
        elif line.startswith("    # ") and chosen is not None:
            lines += [line.replace("# ", "", 1)] if chosen == choice else []
        else:
            lines, chosen = [*lines, line], None
    return yaml.safe_load("\n".join(lines))


@pytest.mark.parametrize("choice", [0, 1])
def test_an_alternative_without_its_comments_is_a_whole_configuration(choice, tmp_path, capsys):
    report = checked(tmp_path, T=0.01 * waves(60, 64), q=waves(60, 64, seed=1))
    assert report.text().splitlines()[3] == f"# incomplete: {report.problem}"
    content = uncommented(report.text(), choice)
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(content))
    assert check([str(tmp_path / "mine.yaml")]) == 0
    assert "is valid; experiments: own_data" in capsys.readouterr().out
    (block,), (experiment,) = content["datasets"].values(), content["experiments"].values()
    assert (block["input"], block["target"]) == (("T", "q"), ("q", "T"))[choice]
    assert experiment["training"]["normalisation"] == "scalar"


@pytest.mark.parametrize("choice", [0, 1])
def test_an_alternative_of_axes_has_its_own_model(choice, tmp_path, capsys):
    report = checked(tmp_path, T=waves(60, 12, 48))
    content = uncommented(report.text(), choice)
    (block,), (experiment,) = content["datasets"].values(), content["experiments"].values()
    assert block["axes"] == ["sample", *(("time", "x"), ("x", "time"))[choice]]
    assert experiment["resolutions"] == [(48, 12)[choice]]
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(content))
    assert check([str(tmp_path / "mine.yaml")]) == 0


def test_a_block_to_fill_in_has_an_experiment(tmp_path, capsys):
    report = checked(tmp_path, T=waves(60, 24), p=waves(60, 24), q=waves(60, 24))
    content = yaml.safe_load(report.text())
    assert content["build"] == {"experiments": ["own_data"]}
    filled = {"input": "T", "target": "p", "axes": ["sample", "x"], "finest": 24, "grid": "periodic"}
    content["datasets"]["own_data"] |= filled | {"samples": {"train": 25, "validation": 5, "test": 30}}
    content["experiments"]["own_data"] |= {"models": ["tno"], "resolutions": [24]}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(content))
    assert check([str(tmp_path / "mine.yaml")]) == 0
    assert "is valid; experiments: own_data" in capsys.readouterr().out
    lines = report.text().splitlines()
    first, *_, last = report.open_lines()
    assert (lines[first - 1][:10], lines[last - 1][:16]) == ("    input:", "    resolutions:")
    said = report.to_do("mine.yaml")
    assert said.startswith(f"mine.yaml is incomplete: {report.problem}")
    assert said.endswith("in lines 14 to 18, 20, 25 to 26, then run: resolvent check mine.yaml")


@pytest.mark.parametrize("shape", [(16, 16), (8, 8, 8)])
def test_several_targets_are_proposed_with_a_training_that_accepts_them(shape, tmp_path, capsys):
    axes = ("z", "y", "x")[-len(shape) :]
    velocity = np.stack([waves(60 * 2, *shape, seed=one).reshape(60, 2, *shape) for one in range(2)], axis=2)
    fields = {"velocity": (("sample", "time", "channel", *axes), velocity)}
    xarray.Dataset(fields).to_netcdf(tmp_path / "own.nc", engine="h5netcdf")
    report = check_file(tmp_path / "own.nc")
    assert settings_of(block_of(report)).out_channels == 2
    (tmp_path / "mine.yaml").write_text(report.text())
    assert check([str(tmp_path / "mine.yaml")]) == 0
    assert "is valid; experiments: " in capsys.readouterr().out


def test_a_pair_of_functions_may_be_of_a_rectangle(tmp_path):
    report = checked(tmp_path, a=waves(60, 32, 48), u=waves(60, 32, 48, seed=1))
    assert "    # axes: [sample, y, x]\n    # finest: {y: 32, x: 48}\n" in report.text()


def test_a_rectangle_has_points_kind_and_length_of_each_axis(tmp_path):
    x, y = np.arange(48) / 12, np.linspace(-1, 1, 33)
    phases = np.random.default_rng(0).uniform(0, 6, (60, 1, 1))
    a = np.cos(2 * np.pi * x / 4 + phases) * np.cos(np.pi * (y[:, None] + 1) / 2)
    report = checked(tmp_path, a=a, u=a**2, y=y, x=x)
    block = block_of(report)
    assert block["finest"] == {"y": 33, "x": 48}
    assert block["grid"] == {"y": "nodes", "x": "periodic"}
    assert (block["length"], block["origin"]) == ({"y": 2.0, "x": 4.0}, {"y": -1.0, "x": 0.0})
    settings_of(block).with_contents()
    (named,) = (line for line in report.text().splitlines() if "    grid:" in line)
    assert named.startswith("    grid: {y: nodes, x: periodic}  # guess: along x, the jump at the seam")


def test_without_coordinates_the_sides_of_a_rectangle_are_as_long_as_they_have_points(tmp_path):
    fields = {name: (("run", "lat", "lon"), waves(40, 24, 48, seed=seed)) for seed, name in enumerate("au")}
    xarray.Dataset(fields).to_netcdf(tmp_path / "one.nc", engine="h5netcdf")
    report = check_file(tmp_path / "one.nc")
    block = block_of(report)
    assert (block["grid"], block["length"]) == ("periodic", {"y": 0.5, "x": 1.0})
    assert "{y: 0.5, x: 1.0}  # guess: there are no coordinates" in report.text()


def test_uneven_points_are_found_and_trained_on_by_what_takes_them(tmp_path):
    y = (1 - np.cos(np.linspace(0, np.pi, 17))) / 2
    report = checked(tmp_path, a=waves(60, 17, 24), u=waves(60, 17, 24, seed=1), y=y, x=np.arange(24) / 24)
    block = block_of(report)
    assert block["grid"] == {"y": "uneven", "x": "periodic"}
    assert block["coordinates"] == {"y": "y", "x": "x"}
    settings_of(block).with_contents()
    (experiment,) = report.configuration["experiments"].values()
    assert experiment["models"] == ["deeponet2d"]
    assert experiment["training"]["gradient_weight"] == 0
    report = checked(tmp_path, a=waves(60, 24), u=waves(60, 24, seed=1), x=np.linspace(1, 3, 24) ** 2)
    assert (block_of(report)["grid"], "length" in block_of(report)) == ("uneven", False)
    (experiment,) = report.configuration["experiments"].values()
    assert experiment["models"] == ["tno"]


@pytest.mark.parametrize("kind", ["text", "bytes", "MAT"])
def test_the_splits_of_a_file_are_taken_whatever_their_type_and_their_short_names(kind, tmp_path):
    words = np.array(["test"] * 3 + ["Training"] * 5 + ["val"] * 2)
    values = pair(10, 32) | {"split": words.astype("S") if kind == "bytes" else words}
    if kind == "MAT":
        scipy.io.savemat(path := tmp_path / "data.mat", values)
    else:
        np.savez(path := tmp_path / "data.npz", **values)
    block = block_of(check_file(path))
    own = {"train": ["Training"], "validation": ["val"], "test": ["test"]}
    assert block["groups"] == {"variable": "split"} | own
    assert block["samples"] == {"train": 5, "validation": 2, "test": 3}
    drawn = settings_of(block).with_contents().task().draw([("test", 0), ("train", 0)])
    np.testing.assert_array_equal(drawn[:, 0], values["a"][[0, 3]])


def test_splits_of_a_file_that_are_not_taken_are_named(tmp_path):
    report = checked(tmp_path, **pair(10, 32), split=np.array(["test"] * 3 + ["train"] * 7))
    assert "groups" not in block_of(report)
    (words,) = (one for one in report.found if "is not used" in one)
    assert "the variable 'split' is not used: it has the values test, train, not train, validation" in words


def test_names_of_axes_that_are_not_known_are_asked_for(tmp_path):
    data = xarray.Dataset({"fice": (("time", "hlat", "hlon"), waves(30, 24, 40))})
    data.to_netcdf(tmp_path / "ice.nc", engine="h5netcdf")
    problem = check_file(tmp_path / "ice.nc").problem
    assert "state the axes of 'fice' (30 × 24 × 40): the file names them time, hlat, hlon" in problem
