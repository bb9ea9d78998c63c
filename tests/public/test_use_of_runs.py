"""Trained runs found by name, held to the range of their data, and given away."""

import shutil
import warnings
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
import xarray
from array_files import POINTS, SAMPLES, SETTINGS, arrays, write_npz
from dataset_fixtures import make_dataset
from safetensors.torch import load_file
from training_fixtures import RUN, finished_run

import resolvent
from resolvent.common.errors import FileError
from resolvent.common.files import read_json, write_json
from resolvent.datasets.loading import load_samples
from resolvent.datasets.tasks.registry import settings_of
from resolvent.judging.models import loaded
from resolvent.public import model_card
from resolvent.public.export import write_program
from resolvent.public.inputs import OutsideTraining, quantities, regridded
from resolvent.public.weights import read_weights
from resolvent.solvers.common.grid import Grid
from resolvent.training.errors import TrainingError
from resolvent.training.normalisation import NormalisedOperator, Normaliser
from resolvent.training.tensors import coordinate_tensor


@pytest.fixture
def velocity(here):
    return resolvent.open_dataset("burgers", "test", 128)["initial_velocity"].load()


@pytest.fixture(scope="module")
def exported(study, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(study)
        run = resolvent.load_run("tiny/burgers/fno")
        return run.export(tmp_path_factory.mktemp("given") / "away", licence="MIT")


@pytest.mark.parametrize("name", ["tiny/burgers/fno", "tiny/burgers/fno/n64", "tiny", RUN])
def test_a_run_is_found_by_its_name(here, name):
    assert resolvent.load_run(name).directory.as_posix() == RUN


def test_a_run_says_what_it_is_in_a_line_and_in_a_notebook(here):
    run = resolvent.load_run("tiny/burgers/fno")
    assert repr(run) == f"<TrainedRun burgers/fno/n64/seed{run.record.seed}: finished, in {RUN}>"
    page = run._repr_html_()
    assert f"<th>parameters</th><td>{run.cost.parameters:,}</td>" in page
    assert page.startswith("<table><caption>Tiny: burgers, seed")


def test_several_runs_of_a_name_are_listed(here, tmp_path):
    shutil.copytree(RUN, tmp_path / "tiny/burgers/fno/n64/seed3")
    shutil.copytree(RUN, tmp_path / "tiny/burgers/fno/n64/seed4")
    message = (
        "tiny/burgers/fno has 2 runs: choose one of tiny/burgers/fno/n64/seed3, tiny/burgers/fno/n64/seed4"
    )
    with pytest.raises(FileError, match=message):
        resolvent.load_run("tiny/burgers/fno", results=tmp_path)
    with pytest.raises(FileError, match="finished in results: tiny/burgers/fno"):
        resolvent.load_run("tiny/burgers/net")


def test_numpy_torch_and_xarray_give_the_same_without_a_warning(velocity):
    run = resolvent.load_run("tiny/burgers/fno")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = run.predict(velocity.values, velocity["x"].values)
        labelled = run.predict(velocity)
        tensor = run.predict(torch.tensor(velocity.values, dtype=torch.float32))
    assert isinstance(labelled, xarray.DataArray)
    assert labelled.attrs == {"long_name": "prediction of the velocity at time 0.159155", "units": "1"}
    np.testing.assert_array_equal(labelled, expected)
    assert tensor.dtype == torch.float32
    np.testing.assert_array_equal(tensor, expected.astype(np.float32))


def test_a_value_outside_of_the_training_data_is_warned_of_with_its_range(velocity):
    run = resolvent.load_run("tiny/burgers/fno")
    (known,) = run.inputs
    assert (known.name, known.units) == ("initial_velocity", "1")
    assert known.low <= velocity.min() + 1e-5 < velocity.max() <= known.high
    other = velocity.values.copy()
    other[2, 5] = known.high + 1
    words = rf"has the value {known.high + 1:.4g}, outside the range \[.*, {known.high:.4g}\].* in 1 of 6"
    with pytest.warns(OutsideTraining, match=words) as caught:
        run.predict(other)
    (warned,) = (one for one in caught if one.category is OutsideTraining)  # others may be of garbage
    assert warned.filename == __file__


def test_an_unknown_range_is_said(velocity, tmp_path):
    run = resolvent.load_run("tiny/burgers/fno", data=tmp_path)
    with pytest.warns(OutsideTraining, match="not checked against the range of the training data"):
        run.predict(velocity.values)


def test_noise_in_training_widens_the_range(here):
    card = resolvent.load_run(RUN).card
    (clean,), (noisy,) = quantities(card, "inputs"), quantities(card, "inputs", 0.1)
    deviation = card["statistics"]["n64/initial_velocity"]["std"]
    assert noisy.high - clean.high == pytest.approx(0.4 * deviation, rel=0.02)


UNFIT = {
    r"must be real numbers, got complex128 .*; give values on a grid": lambda u: u + 1j,
    "must be real numbers, got <U": lambda u: u.astype(str),
    "inputs are not finite: samples ": lambda u: np.where(u > 1, np.nan, u),
    "inputs are not finite: samples 0, 1": lambda u: np.ma.masked_less(u, 0),
    r"inputs of shape \(0, 128\) have no samples: give at least one": lambda u: u[:0],
    r"inputs of shape \(128,\) do not fit fno: give \(samples, n\)": lambda u: u[0],
    r"shape \(6, 2, 128\) do not fit fno: give \(samples, n\)": lambda u: np.stack([u] * 2, axis=1),
    r"shape \(6, 1, 1, 128\) do not fit fno: give \(samples, n\)": lambda u: u[:, None, None],
    r"fno cannot predict on 45 points: .* even number": lambda u: u[:, :45],
    "cannot predict on 8 points: 6 modes need at least 10 points": lambda u: u[:, :8],
    r"\(x, sample\) does not end in \(x\): transpose": lambda u: xarray.DataArray(u, dims=("x", "sample")),
}


@pytest.mark.parametrize("message", UNFIT)
def test_inputs_that_do_not_fit_are_one_line(velocity, message):
    with pytest.raises(TrainingError, match=message):
        resolvent.load_run(RUN).predict(UNFIT[message](velocity.values))


def test_positions_are_held_to_the_grid(velocity):
    run = resolvent.load_run(RUN)
    moved = velocity.assign_coords(x=velocity["x"] * 2)
    for given in ((velocity.values, np.linspace(0, 1, 128)), (moved,)):
        with pytest.raises(TrainingError, match=r"x of the inputs has .*periodic.* from 0 to 0.992"):
            run.predict(*given)
    with pytest.raises(TrainingError, match="has its own coordinates: omit x"):
        run.predict(velocity, velocity["x"].values)


def test_an_exported_run_loads_by_itself_and_predicts_the_same(velocity, exported, monkeypatch, tmp_path):
    expected = resolvent.load_run(RUN).predict(velocity.values)
    monkeypatch.chdir(tmp_path)
    run = resolvent.load_run(exported)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(run.predict(velocity.values), expected)
    assert run.errors["relative_l2"].notna().all()
    run.operator.load_state_dict(load_file(exported / "model.safetensors"))


def test_an_exported_run_without_a_card_may_be_in_any_folder(velocity, exported, monkeypatch):
    monkeypatch.chdir(exported.parent)
    with TemporaryDirectory() as folder:  # fewer folders are above it than above a run of a study
        shutil.copytree(exported, place := Path(folder) / "run")
        (place / "dataset.json").unlink()
        run = resolvent.load_run(place)
        assert len(place.resolve().parents) <= 3
        assert run.card is None
        with pytest.warns(OutsideTraining, match="was not found"):
            run.predict(velocity.values)


def test_the_model_card_states_errors_data_recipe_and_licence(exported):
    run = resolvent.load_run(exported)
    text = (exported / "README.md").read_text(encoding="utf-8")
    assert text.startswith('---\nlicense: "mit"\n')
    errors = run.errors.query("resolution == 128")["relative_l2"]
    assert f"| relative L² error | 128 | 0 | 6 | {errors.mean():.6g} |" in text
    for words in (
        "∂u/∂t + u ∂u/∂x",
        run.record.dataset_hash,
        "| learning_rate | 0.001 |",
        "@software{resolv",
    ):
        assert words in text


def test_the_program_of_torch_export_gives_the_same(here, tmp_path):
    """No tensor of the tracer stays in a cache: on these points nothing was predicted before."""
    run = resolvent.load_run(RUN)
    out = run.export(tmp_path / "away", formats=["torch_export"], points=32, samples=2)
    inputs = np.random.default_rng(0).uniform(size=(2, 32))
    with warnings.catch_warnings(action="ignore"):
        expected = run.predict(inputs)
    program = torch.export.load(out / "model.pt2").module()
    computed = program(torch.tensor(inputs, dtype=torch.float32)[..., None], torch.arange(32.0)[:, None] / 32)
    np.testing.assert_allclose(computed[..., 0].detach(), expected, rtol=1e-4, atol=1e-6)


def test_programs_of_data_far_from_zero_keep_their_digits(here, tmp_path):
    run = resolvent.load_run(RUN)
    mean, deviation = torch.tensor([101325.0], dtype=torch.float64), torch.tensor([1e-2], dtype=torch.float64)
    normaliser = Normaliser(mean, deviation)
    operator = NormalisedOperator(run.operator, input=normaliser, output=normaliser, zero_boundary=False)
    write_program(run.record, operator, tmp_path / "model.pt2", None, 2)
    samples = load_samples("data/burgers/burgers.json", run.record.grid["points"], "test", 4)
    samples = replace(samples, inputs=101325.0 + 1e-2 * samples.inputs)
    answers = loaded(str(tmp_path / "model.pt2"))(samples, "n64")
    with torch.no_grad():
        given = torch.from_numpy(samples.inputs)[..., None]
        expected = operator(given, coordinate_tensor(samples.grid))[..., 0]
    np.testing.assert_allclose(answers, expected, rtol=0, atol=1e-2 * 1e-4)


def test_what_cannot_be_exported_is_one_line(here, exported, tmp_path):
    run = resolvent.load_run(RUN)
    with pytest.raises(TrainingError, match="unknown format 'onnx'; accepted: torch_export"):
        run.export(tmp_path / "none", formats=["onnx"])
    with pytest.raises(TrainingError, match="fno cannot predict on 8 points"):
        run.export(tmp_path / "none", formats=["torch_export"], points=8)
    assert not list(tmp_path.iterdir())
    with pytest.raises(FileError, match="exists already"):
        run.export(exported)


def test_damaged_weights_and_others_cards_are_refused(exported, tmp_path):
    folder = shutil.copytree(exported, tmp_path / "copy")
    weights = folder / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-3] ^= 1
    weights.write_bytes(content)
    with pytest.raises(TrainingError, match=r"model\.safetensors are damaged \(SHA-256\)"):
        read_weights(weights)
    weights.write_bytes(b"nothing")
    with pytest.raises(TrainingError, match=r"model\.safetensors are damaged"):
        read_weights(weights)
    card = read_json(folder / "dataset.json", "the card")
    write_json(folder / "dataset.json", card | {"content_hash": "another"})
    with pytest.raises(FileError, match=r"dataset\.json is not the card of the dataset that"):
        _ = resolvent.load_run(folder).card


def test_a_run_tested_on_another_dataset_has_the_range_of_its_training_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cards = {}
    for name, size in (("own", 1), ("shifted", 3)):
        values = {key: size * one for key, one in arrays().items()}
        source = write_npz(tmp_path / f"{name}.npz", values)
        settings = settings_of({**SETTINGS, "source": str(source)}).with_contents()
        cards[name] = make_dataset(tmp_path / "data" / name, settings, name=name)
    folder = finished_run(
        cards["own"], tmp_path / "results/tiny/own/fno/n16/seed3", POINTS, (POINTS,), counts=SAMPLES,
        test_card=cards["shifted"],
    )  # fmt: skip
    run = resolvent.load_run(folder, data="data/shifted/shifted.json")
    assert run.card["dataset"] == "shifted"
    (known,) = quantities(read_json(cards["own"], "the card"), "inputs")
    assert run.inputs == (known,)
    with pytest.warns(OutsideTraining, match="outside the range"):
        run.predict(resolvent.open_dataset("shifted", "test", POINTS)["a"])
    assert "Trained on the dataset `own`; tested on `shifted`" in model_card.text(run, [], None)

    shutil.rmtree(cards["own"].parent)
    with pytest.warns(OutsideTraining, match="the card of the dataset own was not found"):
        resolvent.load_run(folder).predict(np.ones((1, POINTS)))


def test_after_training_on_every_kth_cell_centre_other_points_are_of_the_same_cells_where_they_can_be():
    file = Grid("cell_centres", 421, dimension=2)
    trained = file.restricted(141)
    assert regridded(trained, (211, 211)) == file.restricted(211)
    assert regridded(trained, (421, 421)) == file
    assert regridded(trained, (100, 100)) == Grid("cell_centres", 100, dimension=2)
    assert regridded(file, (141, 141)) == Grid("cell_centres", 141, dimension=2)
