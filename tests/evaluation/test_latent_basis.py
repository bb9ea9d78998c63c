"""Latent functions of a run: whose they are, what is singled out of them, how rough they are."""

import numpy as np
import pytest
import torch
from dataset_fixtures import made_once, make_dataset
from training_fixtures import DARCY_LIKE, SMALL_FNO_2D, SMALL_TRANSFORMER_2D, rough_samples, save_checkpoint

from resolvent.datasets.loading import load_arrays, load_samples, read_card
from resolvent.datasets.tasks.registry import settings_of
from resolvent.evaluation.conditions import shown_samples
from resolvent.evaluation.latent_basis import (
    latent_functions,
    leading_functions,
    roughness,
    write_latent_basis,
)
from resolvent.models.build import build
from resolvent.models.cao2021.encoder import Encoder
from resolvent.solvers.darcy.eigenfunctions import eigenfunctions, element_means
from resolvent.training.errors import TrainingError
from resolvent.training.normalisation import in_physical_units
from resolvent.training.settings import TrainingSettings
from resolvent.training.tensors import coordinate_tensor, function_tensor

SEED = 11
COUNTS = {"train": 3, "validation": 1, "test": 6}
SETTINGS = SMALL_TRANSFORMER_2D | {"num_layers": 5, "residual_dropout": 0.3}


@pytest.fixture(scope="module")
def make_card(tmp_path_factory):
    """A small Darcy dataset, or the inverse one."""

    def make(equation, **settings):
        common = {"equation": equation, "finest": 33, "samples": COUNTS, "samples_per_shard": 10}
        return make_dataset(tmp_path_factory.mktemp(equation), settings_of(common | settings))

    return make


@pytest.fixture(scope="module")
def card(make_card):
    return make_card("darcy", resolutions=[33, 17])


def save_run(folder, operator, architecture, settings, training):
    state = None if operator is None else operator.state_dict()
    saved = {"operator": state, "architecture": architecture, "settings": settings, "training": training}
    save_checkpoint(folder, saved)


def written(card, folder, resolution=17, **options):
    options = {"seed": SEED, "test_samples": COUNTS["test"], "grids": "stored", "threads": 1} | options
    write_latent_basis(card, folder, resolution=resolution, **options)
    with np.load(folder / "latent_basis.npz") as stored:
        return dict(stored)


@pytest.fixture
def trained(tmp_path):
    """A run folder, and its operator: weights that no seed gives, normalised and with a zero boundary."""
    training = TrainingSettings(**DARCY_LIKE)
    operator = in_physical_units(build("transformer2d", SETTINGS, seed=0), training, rough_samples(12, 17))
    generator = torch.Generator().manual_seed(5)
    for parameter in operator.parameters():
        parameter.data += 0.05 * torch.randn(parameter.shape, generator=generator)
    save_run(tmp_path, operator, "transformer2d", SETTINGS, training.model_dump(mode="json"))
    return tmp_path, operator


def test_what_is_written_is_of_the_trained_run_and_its_first_shown_sample(card, trained):
    folder, operator = trained
    stored = written(card, folder)
    sample = shown_samples(COUNTS["test"], read_card(card)["seed"])[0]
    assert stored["sample"] == sample
    arrays = load_arrays(card, "n17", "test", COUNTS["test"])
    grid = rough_samples(1, 17).grid
    u = operator.input.normalise(function_tensor(arrays["coefficient"][[sample]], grid))
    x = coordinate_tensor(grid)
    latent = latent_functions(operator.operator, u, x)
    assert latent.shape == (5, 12, 10, 10)
    assert stored["layers"].tolist() == [1, 4]
    for row, layer in enumerate((0, 3)):
        expected, share = leading_functions(latent[layer], 2)
        np.testing.assert_array_equal(stored["basis"][row], expected)
        np.testing.assert_array_equal(stored["share"][row], share)
        np.testing.assert_array_equal(stored["basis_roughness"][row], roughness(expected))
    np.testing.assert_array_equal(stored["roughness"], [roughness(one) for one in latent])
    initial = latent_functions(build("transformer2d", SETTINGS, SEED), u, x)
    np.testing.assert_array_equal(stored["initial_roughness"], [roughness(one) for one in initial])
    elements = element_means(arrays["coefficient"][sample].astype(float), 9)
    values, functions = eigenfunctions(elements)
    np.testing.assert_array_equal(stored["coefficient"], elements)
    np.testing.assert_array_equal(stored["eigenvalues"], values)
    np.testing.assert_array_equal(stored["eigenfunctions"], functions)


def test_the_latent_functions_are_what_the_encoder_hands_on():
    operator = build("transformer2d", SETTINGS, seed=2).eval()
    samples = rough_samples(1, 17)
    u, x = function_tensor(samples.inputs, samples.grid), coordinate_tensor(samples.grid)
    latent = latent_functions(operator, u, x)
    with torch.no_grad():
        last, _ = operator.encoder(u, x)
        features = operator.encoder.downsampler(u)
        place = torch.stack(torch.meshgrid(*[torch.linspace(0, 1, 10)] * 2, indexing="xy"), dim=-1)
        first = operator.encoder.encoder.layers[0](features.flatten(1, 2), place.flatten(0, 1))
    np.testing.assert_allclose(latent[-1], last[0].permute(2, 0, 1), rtol=1e-6)
    np.testing.assert_allclose(latent[0], first[0].T.unflatten(1, (10, 10)), rtol=1e-4, atol=1e-6)
    assert not any(layer._forward_hooks for layer in operator.encoder.encoder.layers)
    assert isinstance(operator.encoder.encoder, Encoder)


def test_leading_functions_are_found_in_any_mixture():
    """Columns that mix two functions: an orthonormal basis of them comes out, and nothing else is shared."""
    x = np.linspace(0, 1, 21)
    along, across = (
        np.cos(np.pi * x)[None, :] * np.ones((21, 1)),
        np.cos(2 * np.pi * x)[:, None] * np.ones(21),
    )
    random = np.random.default_rng(0)
    mixture = random.normal(size=(9, 2)) * [3.0, 0.5]
    columns = np.einsum("ci,iyx->cyx", mixture, np.stack([along, across])) + random.normal(size=(9, 1, 1))
    functions, shares = leading_functions(columns, 2)
    assert shares.sum() == pytest.approx(1)
    weights = np.outer(*[np.pad(np.full(19, 1 / 20), 1, constant_values=1 / 40)] * 2)
    gram = np.einsum("iyx,jyx,yx->ij", functions, functions, weights)
    np.testing.assert_allclose(gram, np.eye(2), atol=1e-12)
    np.testing.assert_allclose((functions * weights).sum(axis=(1, 2)), 0, atol=1e-12)
    span = np.stack([along, across]).reshape(2, -1)
    left = functions.reshape(2, -1)
    rest = left.T - span.T @ np.linalg.lstsq(span.T, left.T, rcond=None)[0]
    assert np.abs(rest).max() < 1e-12
    rotation, _ = np.linalg.qr(random.normal(size=(9, 9)))
    rotated, same = leading_functions(np.einsum("dc,cyx->dyx", rotation, columns), 2)
    np.testing.assert_allclose(rotated, functions, atol=1e-10)
    np.testing.assert_allclose(same, shares)


def test_roughness_of_waves():
    """cos(kπx) has roughness kπ, whatever its size and mean; π is the least that there is."""
    x = np.linspace(0, 1, 121)
    waves = np.stack(
        [3 + c * np.cos(k * np.pi * x)[:, None] * np.ones(121) for k, c in [(1, 2), (2, 0.1), (6, 1)]]
    )
    np.testing.assert_allclose(roughness(waves), np.pi * np.array([1, 2, 6]), rtol=2e-3)
    noise = np.random.default_rng(0).normal(size=(4, 12, 12))
    assert roughness(noise).min() > np.pi
    constant = np.stack([waves[0], np.full((121, 121), 0.3)])
    assert np.isnan(roughness(constant)).tolist() == [False, True]


def test_a_diverged_run_has_eigenfunctions_only(card, tmp_path):
    training = TrainingSettings(**DARCY_LIKE).model_dump(mode="json")
    save_run(tmp_path, None, "transformer2d", SETTINGS, training)
    stored = written(card, tmp_path)
    for name in ("basis", "share", "roughness", "initial_roughness"):
        assert np.isnan(stored[name]).all()
    assert stored["basis"].shape == (2, 2, 10, 10)
    assert (stored["eigenvalues"] > 0).all()


@pytest.mark.parametrize(("grids", "factor", "nodes"), [("stored", 0.73, 17), ("coarse", 0.8, 10)])
def test_the_inverse_problem_is_given_pressures_and_shows_its_coefficient(
    make_card, tmp_path, grids, factor, nodes
):
    """33 → 24 → 17 points, or from 17 already, 17 → 13 → 10."""
    card = make_card("darcy_inverse", resolutions=[33], coarse=[17])
    settings = {"width": 12, "num_layers": 1, "num_heads": 2, "feedforward_width": 12, "decoder_width": 4}
    settings |= {"downsampling_factor": factor}
    operator = build("transformer2d_coarse", settings, seed=1)
    save_run(tmp_path, operator, "transformer2d_coarse", settings, {})
    stored = written(card, tmp_path, resolution=33, grids=grids)
    sample = int(stored["sample"])
    coefficient = load_arrays(card, "n33", "test", COUNTS["test"])["coefficient"][sample]
    np.testing.assert_array_equal(stored["coefficient"], element_means(coefficient.astype(float), nodes - 1))
    pressure = load_samples(card, 33, "test", COUNTS["test"], grids=grids)
    u, x = function_tensor(pressure.inputs[[sample]], pressure.grid), coordinate_tensor(pressure.grid)
    np.testing.assert_array_equal(stored["roughness"], [roughness(latent_functions(operator, u, x)[0])])


def test_other_data_and_other_models_are_refused(card, tmp_path, tmp_path_factory):
    save_run(tmp_path, build("transformer2d", SETTINGS, 0), "transformer2d", SETTINGS, {})
    flow = made_once(tmp_path_factory, "kolmogorov")
    points = read_card(flow)["settings"]["resolutions"][0]
    with pytest.raises(TrainingError, match=f"has no coefficient on {points} nodes or cell centres"):
        written(flow, tmp_path, resolution=points)
    save_run(tmp_path, build("fno2d", SMALL_FNO_2D, 0), "fno2d", SMALL_FNO_2D, {})
    with pytest.raises(TrainingError, match="fno2d has no encoder on a coarse grid"):
        written(card, tmp_path)
