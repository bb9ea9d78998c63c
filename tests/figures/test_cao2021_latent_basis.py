"""Figure 13 of Cao 2021: functions of two layers and of the operator, and how rough all columns are."""

import numpy as np
import pytest
from exhibits import of_paper, words_of
from run_files import save_arrays

from resolvent.common.errors import FileError
from resolvent.figures.papers.cao2021.latent_basis import draw_latent_basis, smoothing, turned

NODES, WIDTH = 9, 16


def latent(layers=(1, 4), depth=6, diverged=False):
    """What `resolvent.evaluation.latent_basis` writes, smoother by a tenth from layer to layer."""
    random = np.random.default_rng(0)
    roughness = np.exp(random.normal(size=(1, WIDTH)) * 0.2) * 12 * 0.9 ** np.arange(depth)[:, None]
    lost = np.nan if diverged else 1.0
    return {
        "sample": np.array(4),
        "layers": np.array(layers),
        "basis": random.normal(size=(len(layers), 2, NODES, NODES)) * lost,
        "share": np.full((len(layers), 2), 0.4) * lost,
        "basis_roughness": np.full((len(layers), 2), 11.0) * lost,
        "roughness": roughness * lost,
        "initial_roughness": roughness[:1].repeat(depth, axis=0) * lost,
        "coefficient": np.where(random.normal(size=(NODES - 1, NODES - 1)) > 0, 12.0, 3.0),
        "eigenvalues": np.array([80.0, 190.0]),
        "eigenfunctions": random.normal(size=(2, NODES, NODES)),
        "eigenfunction_roughness": np.array([5.0, 8.0]),
    }


@pytest.fixture
def drawn(make_run):
    """Draw the latent functions of a run."""
    run = make_run("galerkin2d")

    def draw(found):
        save_arrays(run / "latent_basis.npz", **found)
        return of_paper(draw_latent_basis, [[run]])

    return draw


def test_every_function_is_an_image_below_the_name_of_its_layer(drawn):
    figure = drawn(latent())
    assert {"Encoder layer 1", "Encoder layer 4", "Eigenfunctions of -∇·(a∇)"} <= set(words_of(figure))
    assert sum(len(panel.get_images()) for panel in figure.axes) == 3 * 2 + 1  # and the coefficient


def test_a_short_encoder_and_a_diverged_run_are_drawn(drawn):
    assert "Encoder layer 1" in words_of(drawn(latent(layers=(1,), depth=1)))
    assert words_of(drawn(latent(diverged=True))).count("diverged") == 2 * 2


def test_the_paper_s_remark_is_a_number():
    found = latent()
    first, fourth = np.median(found["roughness"][0]), np.median(found["roughness"][3])
    assert smoothing(found) == f"Median roughness: {first:.3g} in layer 1, {fourth:.3g} in layer 4"
    found["roughness"][0, :3] = np.nan  # columns without a roughness do not count
    assert smoothing(found).startswith(f"Median roughness: {np.median(found['roughness'][0, 3:]):.3g} in")
    assert smoothing(latent(diverged=True)) == "Roughness: the run diverged"


def test_signs_are_those_of_the_first_layer():
    functions = latent()["basis"][0]
    assert (turned(functions * [[[-2.0]], [[3.0]]], functions) == functions * [[[2.0]], [[3.0]]]).all()


def test_a_missing_file_names_itself(make_run):
    with pytest.raises(FileError, match=r"latent_basis\.npz is missing: make it with `snakemake"):
        of_paper(draw_latent_basis, [[make_run("galerkin2d")]])
