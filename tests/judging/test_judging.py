"""A task is given away, a model is made elsewhere, and what it predicts is judged."""

import json
import re
import shutil

import h5py
import numpy as np
import pandas as pd
import pytest
import torch
import xarray
import yaml
import zarr
from browser import PHONE, Reader, chromium
from dataset_fixtures import computed_arrays, small
from judged_tasks import write_task

from resolvent.common.errors import EvaluationError, FileError
from resolvent.common.files import read_json
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.loading import Samples
from resolvent.datasets.tasks.registry import build_task
from resolvent.judging import judge as judging
from resolvent.judging import tasks
from resolvent.judging.give import ROUNDING, give, rounded
from resolvent.judging.judge import judge
from resolvent.judging.models import in_batches, loaded
from resolvent.judging.predictions import predictor
from resolvent.judging.report import in_words, page_of, table_of
from resolvent.solvers.common.grid import Grid

CLOSED = "classical solver, closed form (Cole-Hopf)"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Make a folder of tasks with two small ones, whose labels are here already."""
    folder = tmp_path_factory.mktemp("tasks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tasks, "FOLDER", folder)
        patch.setattr("resolvent.evaluation.inference.SHORTEST", 1e-3)  # how exact times are is not looked at
        for name, resolution in (("burgers", 64), ("darcy", 33)):
            write_task(folder, f"{name}-v0", name, resolution)
        yield folder


@pytest.fixture(scope="module")
def data(place, tmp_path_factory):
    """Return the folder of the labels, which the first that asks for them makes there."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def given(place, tmp_path_factory):
    folder = tmp_path_factory.mktemp("given") / "burgers"
    give("burgers-v0", folder)
    return folder


class Ridge:
    """A model that nobody here has made: least squares on the training samples."""

    def load(self):
        with np.load(self.folder / "train_n64.npz") as train:
            self.matrix = np.linalg.pinv(train["inputs"], rcond=1e-3) @ train["targets"]

    def predict(self, inputs, coordinates):
        assert list(coordinates) == ["x"]
        return inputs @ self.matrix


def test_what_is_given_has_no_labels_of_the_test_and_says_how_to_be_judged(given):
    names = {f"{split}_n{points}.npz" for split in ("train", "validation", "test") for points in (64, 128)}
    assert {path.name for path in given.iterdir()} == {*names, "README.md", "task.yaml"}
    with np.load(given / "train_n64.npz") as train, np.load(given / "test_n64.npz") as test:
        assert train["inputs"].shape == train["targets"].shape == (6, 64)
        assert set(test.files) == {"inputs", "x"}
        expected = computed_arrays(small("burgers"), [("test", 4)])["n64/initial_velocity"]
        np.testing.assert_array_equal(test["inputs"][4:], expected.astype(np.float32))
    said = (given / "README.md").read_text()
    assert "resolvent evaluate predictions --task burgers-v0" in said
    assert "    predictions/n64.npz  (5, 64)\n" in said
    assert "- `train_n64.npz`, 0.0 MB\n" in said
    assert "MIT licence. Cite" in said
    assert "pip install -c constraints.txt ." in said
    assert "in physical units, as float32 numbers" in said


def test_targets_are_given_to_a_millionth(given):
    targets = computed_arrays(small("burgers"), [("train", index) for index in range(6)])[
        "n64/final_velocity"
    ]
    with np.load(given / "train_n64.npz") as train:
        errors = np.linalg.norm(train["targets"] - targets, axis=1) / np.linalg.norm(targets, axis=1)
        assert errors.max() < ROUNDING / np.sqrt(12) * 1.5
        np.testing.assert_array_equal(train["targets"], rounded(train["targets"].astype(np.float64)))


@pytest.mark.parametrize(("equation", "resolution"), [("darcy", 33), ("darcy_inverse", 13)])
def test_test_samples_are_solved_only_for_their_inputs(equation, resolution, tmp_path, monkeypatch):
    monkeypatch.setattr(tasks, "FOLDER", tmp_path)
    write_task(tmp_path, "small-v0", equation, resolution)
    settings = small(equation)
    expected = computed_arrays(settings, [("test", index) for index in range(5)])
    kind, solved = type(build_task(settings)), []
    solve = kind.solve

    def counted(task, drawn):
        solved.append(len(drawn))
        return solve(task, drawn)

    monkeypatch.setattr(kind, "solve", counted)
    give("small-v0", tmp_path / "given")
    assert sum(solved) == 1 + 8 + (5 if equation == "darcy_inverse" else 0)
    with np.load(tmp_path / f"given/test_n{resolution}.npz") as test:
        variable = "pressure" if equation == "darcy_inverse" else "coefficient"
        assert "targets" not in test.files
        np.testing.assert_array_equal(test["inputs"], expected[f"n{resolution}/{variable}"])


def test_a_task_of_ones_own_is_given_with_its_file(place, tmp_path):
    shutil.copy(place / "darcy-v0.yaml", tmp_path / "mine-v1.yaml")
    give(str(tmp_path / "mine-v1.yaml"), tmp_path / "given")
    written = (tmp_path / "given/README.md").read_text()
    assert written.startswith("# mine-v1\n")
    assert "resolvent evaluate predictions --task mine-v1.yaml" in written
    assert tasks.read_task(str(tmp_path / "given/mine-v1.yaml")) == tasks.read_task("darcy-v0")


@pytest.mark.parametrize("which", ["first", "test"])
def test_a_task_with_other_samples_is_not_given(place, which, tmp_path, monkeypatch):
    content = yaml.safe_load((place / "darcy-v0.yaml").read_text())
    array = "n33/pressure" if which == "first" else "n33/coefficient"
    content[which][array][1] += 1e-3
    (tmp_path / "darcy-v0.yaml").write_text(yaml.safe_dump(content))
    monkeypatch.setattr(tasks, "FOLDER", tmp_path)
    with pytest.raises(DatasetError, match=f"'{array}' is not the task's"):
        give("darcy-v0", tmp_path / "given")
    assert not (tmp_path / "given/README.md").exists()


@pytest.mark.parametrize("form", ["netcdf", "zarr", "huggingface"])
def test_other_formats_have_the_same_numbers(given, form, tmp_path, monkeypatch):
    def full(*_):
        raise OSError

    folder = tmp_path / "away"
    if form == "zarr":  # an export that was interrupted is resumed
        with monkeypatch.context() as patch:
            patch.setattr("resolvent.judging.give._readme", full)
            with pytest.raises(OSError):  # noqa: PT011
                give("burgers-v0", folder, form)
    give("burgers-v0", folder, form)
    assert len(list(folder.iterdir())) == 8
    with pytest.raises(FileError, match="exists and is not empty"):
        give("burgers-v0", folder, form)
    with np.load(given / "train_n64.npz") as expected:
        if form == "huggingface":
            found = np.load(folder / "train_n64.npz")
            assert (folder / "README.md").read_text().startswith("---\npretty_name: burgers-v0\n")
        else:
            kind = {"netcdf": ("nc", "h5netcdf", {}), "zarr": ("zarr", "zarr", {"consolidated": False})}[form]
            found = xarray.open_dataset(folder / f"train_n64.{kind[0]}", engine=kind[1], **kind[2])
        for name in ("inputs", "targets", "x"):
            np.testing.assert_array_equal(found[name], expected[name])


def test_stored_predictions_are_judged_beside_the_classical_solver(given, data, tmp_path):
    inputs = np.load(given / "test_n64.npz")["inputs"]
    model = Ridge()
    model.folder = given
    model.load()
    answers = model.predict(inputs, {"x": None})
    (tmp_path / "predictions").mkdir()
    np.save(tmp_path / "predictions/n64.npy", answers)
    record = judge(str(tmp_path / "predictions"), "burgers-v0", tmp_path / "out", label="Ridge", data=data)
    labels = computed_arrays(small("burgers"), [("test", index) for index in range(5)])["n64/final_velocity"]
    errors = np.linalg.norm(answers - labels, axis=1) / np.linalg.norm(labels, axis=1)
    ours, classical = (
        next(row for row in record["rows"] if row["who"] == who and row["metric"] == "relative_l2")
        for who in ("Ridge", CLOSED)
    )
    assert ours["mean"] == pytest.approx(errors.mean(), rel=1e-9)
    assert ours["low"] < ours["mean"] < ours["high"]
    assert classical["mean"] < 1e-4
    assert record["as_accurate"]["grid"] == "n64"
    assert record["kind"] == "predictions"
    assert list(record["files"]) == ["n64.npy"]
    written = json.loads((tmp_path / "out/evaluation.json").read_text())
    assert {**record, "sha256": written["sha256"]} == written
    page = (tmp_path / "out/index.html").read_text()
    assert "if labels were known" in page
    assert "Ridge" in (tmp_path / "out/row.tex").read_text()
    said = list(in_words(record))
    assert len(said) == 3
    assert said[1].startswith("A classical solver (")
    of_solvers = [row for row in record["rows"] if row["metric"] == "relative_l2" and row["who"] != "Ridge"]
    most_accurate = min(of_solvers, key=lambda row: row["mean"])["who"]
    solvers = {record["as_accurate"]["solver"], most_accurate}
    assert {row[0].text for row in table_of(record).baselines} == solvers < set(errors_of(tmp_path / "out"))
    np.savez(tmp_path / "other.npz", n64=1.1 * answers)
    with pytest.raises(FileError, match="has the results of other predictions"):
        judge(str(tmp_path / "other.npz"), "burgers-v0", tmp_path / "out", data=data)


def test_one_hard_sample_is_judged_and_its_record_is_json(given, data, tmp_path, monkeypatch):
    """A record exists before its page, and has no infinity and no NaN."""
    answers = np.load(given / "test_n64.npz")["inputs"]
    answers[2] *= 1e6
    np.save(tmp_path / "n64.npy", answers)
    monkeypatch.setattr(judging, "page_of", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        judge(str(tmp_path / "n64.npy"), "burgers-v0", tmp_path / "out", data=data)

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    written = json.loads((tmp_path / "out/evaluation.json").read_text(), parse_constant=refuse)
    for row in written["rows"]:
        assert row["low"] <= row["mean"] <= row["high"] < 20 * row["mean"]
    one_sample = {"who": ["A"], "grid": ["n64"], "sample": [0]}
    one_sample |= {metric.name: [0.1] for metric in judging.OURS}
    summary = next(iter(judging._summaries(pd.DataFrame(one_sample))))
    assert (summary["mean"], summary["low"], summary["high"]) == (0.1, None, None)


def test_predictions_on_the_first_grid_alone_are_judged_there(place, data, tmp_path, monkeypatch):
    folder = tmp_path / "tasks"
    folder.mkdir()
    monkeypatch.setattr(tasks, "FOLDER", folder)
    content = yaml.safe_load((place / "burgers-v0.yaml").read_text()) | {"tested": [64, 128]}
    (folder / "burgers-v0.yaml").write_text(yaml.safe_dump(content))
    some, every = {"n64": np.ones((5, 64))}, {"n64": np.ones((5, 64)), "n128": np.ones((5, 128))}
    for name, arrays in (("some", some), ("every", every), ("other", {"n128": every["n128"]})):
        np.savez(tmp_path / f"{name}.npz", **arrays)
    one, both = (
        judge(str(tmp_path / f"{name}.npz"), "burgers-v0", tmp_path / name, data=data)
        for name in ("some", "every")
    )
    assert (one["not_evaluated_on"], both["not_evaluated_on"]) == (["n128"], [])
    assert one["rows"][0] | {"who": ""} == both["rows"][0] | {"who": ""}
    assert "No predictions on n128." in list(in_words(one))
    assert "No predictions were given on n128." in (tmp_path / "some/index.html").read_text()
    with pytest.raises(EvaluationError, match=r"no predictions on n64; .*also accepted: n128"):
        judge(str(tmp_path / "other.npz"), "burgers-v0", tmp_path / "out", data=data)


def errors_of(out):
    return pd.read_csv(out / "errors.csv")["who"].unique()


def test_an_axis_of_one_channel_is_no_other_shape(data, tmp_path):
    torch.save({"n64": torch.ones(5, 1, 64)}, tmp_path / "mine.pt")
    record = judge(str(tmp_path / "mine.pt"), "burgers-v0", tmp_path / "out", data=data)
    np.savez(tmp_path / "mine.npz", n64=np.ones((5, 64)))
    again = judge(str(tmp_path / "mine.npz"), "burgers-v0", tmp_path / "again", data=data)
    assert record["rows"][0]["mean"] == again["rows"][0]["mean"]


def test_a_model_may_not_have_the_name_of_a_solver(place, tmp_path):
    with pytest.raises(EvaluationError, match="are reserved"):
        judge("mine.npz", "burgers-v0", tmp_path / "out", label=CLOSED)


@pytest.fixture(scope="module")
def judged(data, tmp_path_factory):
    """Judge two predictions, of which the second is better."""
    folder = tmp_path_factory.mktemp("judged")
    labels = computed_arrays(small("burgers"), [("test", index) for index in range(5)])["n64/final_velocity"]
    for name, factor in (("worse", 1.2), ("better", 1.1)):
        np.savez(folder / f"{name}.npz", n64=factor * labels)
        judge(str(folder / f"{name}.npz"), "burgers-v0", folder / name, data=data, label=f"=the {name}")
    return folder


def test_the_page_is_read_on_a_telephone(judged, tmp_path):
    record = read_json(judged / "better/evaluation.json", "")
    rows = [
        row | {"who": row["who"].replace("=the better", "Galerkin transformer")} for row in record["rows"]
    ]
    record |= {
        "rows": rows + [row | {"grid": "n2048"} for row in rows], "label": "Galerkin transformer",
        "seconds_per_sample": {"n64": 0.0574},
    }  # fmt: skip
    (tmp_path / "index.html").write_text(page_of(record, tasks.read_task("burgers-v0")))
    with chromium() as browser, Reader(browser, viewport=PHONE) as reader:
        page = reader.open(tmp_path / "index.html")
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
        cut = (
            "[...document.querySelectorAll('.wide')].filter(one => one.scrollWidth > one.clientWidth).length"
        )
        assert page.evaluate(cut) == 0
        head = page.locator("th", has_text="n64").first
        head.locator("button").click()
        assert head.get_attribute("aria-sort")
        assert not reader.faults


@pytest.fixture
def live(given, tmp_path, monkeypatch):
    (tmp_path / "elsewhere.py").write_text(
        f"import sys\nsys.path.insert(0, {str(given)!r})\n"
        "import numpy as np\nfrom pathlib import Path\n"
        "class Model:\n"
        "    def load(self):\n"
        f"        train = np.load({str(given / 'train_n64.npz')!r})\n"
        "        self.matrix = np.linalg.pinv(train['inputs'], rcond=1e-3) @ train['targets']\n"
        "    def predict(self, inputs, coordinates):\n"
        "        return inputs @ self.matrix\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    return "elsewhere:Model"


def test_a_live_model_and_a_program_are_asked(given, live, data, tmp_path):
    expected = judge(live, "burgers-v0", tmp_path / "live", data=data, certify=True)
    assert expected["kind"] == "program"
    assert expected["seconds_per_sample"]["n64"] > 0
    (solver,) = expected["without_labels"]
    assert solver["name"] == "to_solver"
    assert solver["value"] == pytest.approx(solver["error"], abs=1e-3)

    model = Ridge()
    model.folder = given
    model.load()

    class Network(torch.nn.Module):
        def forward(self, functions):
            return functions.transpose(1, 2) @ torch.tensor(model.matrix, dtype=torch.float32)

    class Turned(Network):
        def forward(self, functions):
            return super().forward(functions).transpose(1, 2)

    example = torch.zeros(2, 64, 1)
    torch.export.save(torch.export.export(Turned(), (example,)), tmp_path / "model.pt2")

    found = judge(str(tmp_path / "model.pt2"), "burgers-v0", tmp_path / "out", data=data)
    assert found["rows"][0]["mean"] == pytest.approx(expected["rows"][0]["mean"], rel=1e-5)


def test_what_a_model_from_outside_raises_is_one_line(data, tmp_path, monkeypatch):
    class Fixed(torch.nn.Module):
        def forward(self, functions):
            return functions + torch.ones(32, 1)

    torch.export.save(torch.export.export(Fixed(), (torch.zeros(2, 32, 1),)), tmp_path / "small.pt2")
    (tmp_path / "damaged.pt2").write_text("nothing")
    (tmp_path / "raises.py").write_text(
        "class Load:\n    def load(self): 1 / 0\n    def predict(self, *given): pass\n"
        "class Predict:\n    def predict(self, *given):\n        {}['mine']\n"
        "class Nothing:\n    def predict(self, *given): pass\n"
        "class Text:\n    def predict(self, *given): return 'done'\n"
        "class Ragged:\n    def predict(self, *given): return [[1], [1, 2]]\n"
        "class Explodes:\n    def predict(self, inputs, _): return 0 * inputs + 1e200\n"
        "class Masks:\n    def predict(self, inputs, _): return np.ma.masked_greater(inputs, 0)\n"
        "import numpy as np\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for source, message in (
        (str(tmp_path / "small.pt2"), r"small\.pt2 failed on n64: "),
        (str(tmp_path / "damaged.pt2"), r"damaged\.pt2 failed on opening: "),
        ("raises:Load", r"raises:Load failed on load\(\): ZeroDivisionError: .* \(raises\.py, line 2\)"),
        ("raises:Nothing", r"raises:Nothing: predict\(\) returned NoneType on n64, .* shape \(5, 64\)"),
        ("raises:Text", r"raises:Text: predict\(\) returned str on n64, no array of numbers"),
        ("raises:Ragged", r"raises:Ragged: predict\(\) returned list on n64, no array of numbers"),
        ("raises:Predict", r"raises:Predict failed on n64: KeyError: 'mine' \(raises\.py, line 6\)"),
        ("raises:Explodes", r"not finite, or larger than 3e\+38, in samples 0, 1"),  # whose squares overflow
        ("raises:Masks", "are not finite"),
    ):
        with pytest.raises(EvaluationError, match=message) as refused:
            judge(source, "burgers-v0", tmp_path / "out", data=data)
        assert "\n" not in str(refused.value)


def test_a_program_is_asked_for_as_many_samples_as_it_takes(place, tmp_path):
    class Counts(torch.nn.Module):
        def forward(self, functions):
            return functions + functions.shape[0]

    some = torch.export.Dim("samples")
    program = torch.export.export(Counts(), (torch.zeros(2, 64, 1),), dynamic_shapes=({0: some},))
    torch.export.save(program, tmp_path / "any.pt2")
    torch.export.save(torch.export.export(Counts(), (torch.zeros(2, 64, 1),)), tmp_path / "two.pt2")
    samples = Samples(Grid("periodic", 64), np.zeros((5, 64)), np.zeros((5, 64)))
    for name, count in (("any", 5), ("two", 2)):
        found, _ = in_batches(loaded(str(tmp_path / f"{name}.pt2")), name, samples, "n64")
        np.testing.assert_array_equal(found, np.full((5, 64), count))


def test_the_bound_of_darcy_flow_holds_without_a_label(data, tmp_path):
    settings = small("darcy")
    arrays = computed_arrays(settings, [("test", index) for index in range(5)])
    np.savez(tmp_path / "mine.npz", n33=1.05 * arrays["n33/pressure"])
    record = judge(str(tmp_path / "mine.npz"), "darcy-v0", tmp_path / "out", data=data, certify=True)
    bound, solver = record["without_labels"]
    assert (bound["kind"], solver["kind"]) == ("theorem", "estimate")
    assert bound["low"] < 0.05 < bound["high"] < 0.11
    assert bound["error"] == pytest.approx(0.05)
    assert solver["value"] == pytest.approx(0.05, rel=0.05)
    assert ", the distance to the answer of a cheap solver, an estimate" in "\n".join(in_words(record))


def test_a_bound_is_of_the_solution_on_the_grid_and_stands_beside_the_error_measured(place, tmp_path):
    """The labels, of a finer grid, have no error, and yet not the solution on theirs."""
    write_task(place, "coarse-v0", "darcy", 17)
    arrays = computed_arrays(small("darcy"), [("test", index) for index in range(5)])
    np.savez(tmp_path / "mine.npz", n17=arrays["n17/pressure"])
    record = judge(str(tmp_path / "mine.npz"), "coarse-v0", tmp_path / "out", data=tmp_path, certify=True)
    bound = record["without_labels"][0]
    assert bound["low"] > bound["error"] == 0.0
    assert record["without_labels"][1]["rank_correlation"] is None  # equal errors have no order
    page = (tmp_path / "out/index.html").read_text()
    assert "within, for every sample" not in page
    assert "labels of a finer grid" in page


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"n64": np.zeros((4, 64))}, r"n64 have shape \(4, 64\); expected: \(5, 64\), as the targets"),
        ({"n64": np.full((5, 64), np.nan)}, "not finite"),
        ({"other": np.zeros((5, 64))}, "has no predictions on n64; expected: a file n64.npz"),
    ],
)
def test_predictions_that_do_not_fit_are_refused_in_one_line(data, values, message, tmp_path):
    np.savez(tmp_path / "mine.npz", **values)
    with pytest.raises((EvaluationError, DatasetError), match=message):
        judge(str(tmp_path / "mine.npz"), "burgers-v0", tmp_path / "out", data=data)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nothing.npz", "nothing.npz does not exist; accepted: a file or a folder"),
        ("http://localhost/predict", "does not exist; accepted: a file or a folder"),
        ("json:dumps", r"json:dumps has no predict\(inputs, coordinates\)"),
        ("no_such_module:Model", "no_such_module"),
    ],
)
def test_what_is_no_predictor_is_refused_in_one_line(source, message):
    with pytest.raises((EvaluationError, FileError), match=message), predictor(source, ["n64"]):
        pass


def test_labels_that_are_not_those_of_the_task_are_refused(place, tmp_path, monkeypatch):
    other = tmp_path / "tasks"
    other.mkdir()
    content = yaml.safe_load((place / "burgers-v0.yaml").read_text())
    content["dataset"]["viscosity"] *= 1.001
    (other / "burgers-v0.yaml").write_text(yaml.safe_dump(content))
    monkeypatch.setattr(tasks, "FOLDER", other)
    with pytest.raises(DatasetError, match=r"'n\d+/final_velocity' is not the task's"):
        tasks.labels_of("burgers-v0", tmp_path / "data")


@pytest.fixture(scope="module")
def pressure(place):
    return computed_arrays(small("darcy"), [("test", index) for index in range(5)])["n33/pressure"]


def as_dataset(pressure, way):
    """Return the true pressures with axes, coordinates or samples in another order, which the file names."""
    axis, order = np.arange(33) / 32, [3, 1, 0, 4, 2]
    dims, values, coordinates = {
        "sample, y, x": (("sample", "y", "x"), pressure, {"x": axis, "y": axis, "sample": range(7, 12)}),
        "x before y": (("sample", "x", "y"), pressure.swapaxes(1, 2), {}),
        "samples last": (("y", "x", "member"), np.moveaxis(pressure, 0, -1), {}),
        "y downwards": (("sample", "y", "x"), pressure[:, ::-1], {"x": axis, "y": axis[::-1]}),
        "other points": (("sample", "y", "x"), pressure, {"x": axis + 1 / 64}),
        "shuffled": (("index", "y", "x"), pressure[order], {"index": order}),
        "twice": (("index", "y", "x"), pressure, {"index": [0, 2, 1, 1, 3]}),
    }[way]
    return xarray.Dataset({"n33": (dims, values.copy())}, coords=coordinates)


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("sample, y, x", ""),
        ("shuffled", ""),
        ("x before y", r"'n33' has the axes sample, x, y; expected: sample, y, x"),
        ("samples last", r"'n33' has the axes y, x, member; expected: member, y, x"),
        ("y downwards", r"coordinate 'y' goes from 1 to 0; expected: as in the task, from 0 to 1"),
        ("other points", r"coordinate 'x' goes from 0\.015625 to 1\.01562; expected: as in the task, from 0"),
        (
            "twice",
            r"'index' neither increases nor has every number from 0 to 4 once; expected: samples in the",
        ),
    ],
)
def test_orders_that_a_file_names_are_those_of_the_task(data, pressure, way, message, tmp_path):
    made = as_dataset(pressure, way)
    made.to_netcdf(tmp_path / "mine.nc", engine="h5netcdf")
    made.to_zarr(tmp_path / "mine.zarr", zarr_format=3, consolidated=False)
    if not message:
        record = judge(str(tmp_path / "mine.nc"), "darcy-v0", tmp_path / "out", data=data)
        assert record["rows"][0]["mean"] < 1e-6
        return
    for name in ("mine.nc", "mine.zarr"):
        with pytest.raises(EvaluationError, match=message):
            judge(str(tmp_path / name), "darcy-v0", tmp_path / "out", data=data)


def test_predictions_with_x_before_y_are_remarked_on(data, pressure, tmp_path):
    np.savez(tmp_path / "mine.npz", n33=pressure.swapaxes(1, 2))
    record = judge(str(tmp_path / "mine.npz"), "darcy-v0", tmp_path / "out", data=data)
    (remark,) = record["remarks"]
    assert re.search(
        r"n33 are closer to the labels with x and y exchanged \(0\.00 instead of 0\.\d+\)", remark
    )
    np.savez(tmp_path / "right.npz", n33=1.1 * pressure)
    assert not judge(str(tmp_path / "right.npz"), "darcy-v0", tmp_path / "right", data=data)["remarks"]


def test_pdebench_has_x_before_y(data, pressure, tmp_path):
    with h5py.File(tmp_path / "n33.h5", "w") as file:
        file["tensor"] = pressure.swapaxes(1, 2)[:, None]
        file["x-coordinate"] = file["y-coordinate"] = np.arange(33) / 32
    with pytest.raises(EvaluationError, match="'tensor' has the axes sample, x, y; expected: sample, y, x"):
        judge(str(tmp_path / "n33.h5"), "darcy-v0", tmp_path / "out", data=data)
    with h5py.File(tmp_path / "mine.h5", "w") as file:  # a group for each sample says nothing of axes
        for number, values in enumerate(pressure):
            file[f"{number}/predictions"] = values
    assert judge(str(tmp_path / "mine.h5"), "darcy-v0", tmp_path / "out", data=data)["rows"][0]["mean"] < 1e-6


def test_chunks_that_were_never_written_are_remarked_on(data, pressure, tmp_path):
    store = zarr.create_array(tmp_path / "n33.zarr", shape=(5, 33, 33), chunks=(1, 33, 33), dtype="f8")
    store[:4] = pressure[:4]
    record = judge(str(tmp_path / "n33.zarr"), "darcy-v0", tmp_path / "out", data=data)
    assert record["remarks"] == ["'array' lacks 1 of 5 chunks, which are read as 0.0"]
    assert f"Remark: {record['remarks'][0]}." in list(in_words(record))
    assert "lacks 1 of 5 chunks" in (tmp_path / "out/index.html").read_text()
    assert list(record["files"]) == ["n33.zarr"]
    store[4:] = pressure[4:]  # other predictions of the same name
    with pytest.raises(FileError, match="has the results of other predictions"):
        judge(str(tmp_path / "n33.zarr"), "darcy-v0", tmp_path / "out", data=data)


def test_a_judgement_is_not_replaced_by_one_of_another_task(data, tmp_path, monkeypatch):
    (tmp_path / "zeros.py").write_text("class Model:\n    def predict(self, inputs, _): return 0 * inputs\n")
    monkeypatch.syspath_prepend(tmp_path)
    judge("zeros:Model", "burgers-v0", tmp_path / "out", data=data)
    judge("zeros:Model", "burgers-v0", tmp_path / "out", data=data)
    with pytest.raises(FileError, match="has the results of other predictions"):
        judge("zeros:Model", "darcy-v0", tmp_path / "out", data=data)


def test_complex_predictions_are_refused_as_such(tmp_path):
    np.save(tmp_path / "n64.npy", np.ones((5, 64), dtype=complex))
    refused = pytest.raises(DatasetError, match="variable 'array' is complex; expected: an array of real")
    with refused, predictor(str(tmp_path / "n64.npy"), ["n64"]):
        pass


def test_a_model_may_change_its_inputs_and_reuse_its_output(tmp_path, monkeypatch):
    (tmp_path / "in_place.py").write_text(
        "import numpy as np\n"
        "class Plain:\n    def predict(self, inputs, _): return 1e-3 * (inputs - 7)\n"
        "class Model:\n    out = np.empty((2, 33, 33))\n"
        "    def predict(self, inputs, _):\n"
        "        inputs -= 7\n"
        "        out = self.out[: len(inputs)]\n"
        "        out[:] = 1e-3 * inputs\n"
        "        return out\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("resolvent.judging.models.BATCH", 2)
    inputs = np.random.default_rng(0).normal(size=(5, 33, 33))
    samples = Samples(Grid("nodes", 33, dimension=2), inputs, inputs)
    plain, changing = (
        in_batches(loaded(f"in_place:{name}"), name, samples, "n33")[0] for name in ("Plain", "Model")
    )
    np.testing.assert_array_equal(changing, plain)


def test_the_time_of_a_model_does_not_include_its_first_call(data, tmp_path, monkeypatch):
    (tmp_path / "compiles.py").write_text(
        "import time\n"
        "class Model:\n"
        "    def __init__(self): self.called = False\n"
        "    def predict(self, inputs, _):\n"
        "        time.sleep(0 if self.called else 0.5)\n"
        "        self.called = True\n"
        "        return 0 * inputs\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    record = judge("compiles:Model", "burgers-v0", tmp_path / "out", data=data)
    assert record["seconds_per_sample"]["n64"] < 0.05


@pytest.mark.parametrize("layout", ["channels last", "no channels", "channels first"])
def test_a_program_without_an_axis_of_channels_is_not_transposed(place, layout, tmp_path):
    class Shears(torch.nn.Module):
        def forward(self, functions):
            found = functions + torch.arange(33.0)[:, None]  # adds x
            if layout == "no channels":
                return found[..., 0]
            return found.movedim(-1, 1) if layout == "channels first" else found

    torch.export.save(torch.export.export(Shears(), (torch.zeros(5, 33, 33, 1),)), tmp_path / "m.pt2")
    zeros = np.zeros((5, 33, 33))
    samples = Samples(Grid("nodes", 33, dimension=2), zeros, zeros)
    found, _ = in_batches(loaded(str(tmp_path / "m.pt2")), "m.pt2", samples, "n33")
    np.testing.assert_array_equal(found, zeros + np.arange(33))


def test_a_program_of_a_fixed_size_is_judged_on_the_grid_that_it_takes(place, data, tmp_path, monkeypatch):
    """A model must take the first grid alone: what it says of others is a remark."""

    class Same(torch.nn.Module):
        def forward(self, functions):
            return functions + 0

    torch.export.save(torch.export.export(Same(), (torch.zeros(2, 64, 1),)), tmp_path / "m.pt2")
    content = yaml.safe_load((place / "burgers-v0.yaml").read_text())
    (tmp_path / "tasks").mkdir()
    monkeypatch.setattr(tasks, "FOLDER", tmp_path / "tasks")
    for grids in ([64, 128], [128, 64]):
        (tmp_path / "tasks/burgers-v0.yaml").write_text(yaml.safe_dump(content | {"tested": grids}))
        arguments = str(tmp_path / "m.pt2"), "burgers-v0", tmp_path / f"out{grids[0]}"
        if grids[0] == 128:
            with pytest.raises(EvaluationError, match=r"m\.pt2 failed on n128: "):
                judge(*arguments, data=data)
            continue
        record = judge(*arguments, data=data)
        assert record["not_evaluated_on"] == ["n128"]
        assert any("m.pt2 failed on n128: " in remark for remark in record["remarks"])


def test_an_array_belongs_to_the_grid_of_its_name_of_its_file_or_of_its_points(tmp_path):
    np.savez(tmp_path / "n64.npz", n64=np.ones((5, 64)), n128=np.ones((5, 128)))
    torch.save(torch.ones(5, 64), tmp_path / "mine.pt")
    np.save(tmp_path / "predictions.npy", np.ones((5, 128)))
    both = ["n64", "n128"]
    for name, groups, expected in (
        ("n64.npz", both, both), ("mine.pt", ["n64"], ["n64"]), ("predictions.npy", both[::-1], ["n128"])
    ):  # fmt: skip
        with predictor(str(tmp_path / name), groups) as found:
            assert found.groups == expected


def test_a_file_in_the_place_of_a_folder_is_one_line(place, tmp_path):
    (tmp_path / "file").touch()
    np.savez(tmp_path / "mine.npz", n64=np.ones((5, 64)))
    with pytest.raises(FileError, match="file is a file: choose another folder"):
        give("burgers-v0", tmp_path / "file")
    with pytest.raises(FileError, match="file is a file: choose another --out"):
        judge(str(tmp_path / "mine.npz"), "burgers-v0", tmp_path / "file")


def test_other_files_in_a_folder_of_predictions_are_ignored(tmp_path, monkeypatch):
    np.save(tmp_path / "n64.npy", np.ones((5, 64)))
    (tmp_path / "README.md").write_text("How these were made")
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    with predictor(".", ["n64"]) as found:
        pass
    assert (found.words, list(found.files)) == (tmp_path.name, ["n64.npy"])
