"""Burgers and Darcy files of others: names, axes, times and lengths are stated, labels are checked."""

import numpy as np
import pytest
from array_files import write_hdf5, write_npz
from dataset_fixtures import make_dataset
from public_files import darcy_variables

from resolvent.common.norms import relative_l2
from resolvent.datasets.errors import DatasetError
from resolvent.datasets.loading import load_samples, read_card
from resolvent.datasets.tasks.registry import build_task, settings_of
from resolvent.solvers.burgers.cole_hopf import cole_hopf
from resolvent.solvers.common.fourier import coefficients_of, observe
from resolvent.solvers.common.grid import Grid

COUNT, POINTS, VISCOSITY = 40, 64, 0.1
TIMES = np.linspace(0, 0.5, 6)
SAMPLES = {"train": 28, "validation": 4, "test": 8}


@pytest.fixture(scope="module")
def evolution() -> np.ndarray:
    """Return velocities (samples, times, x) on [-1, 1), cell centres, as PDEBench has them."""
    rng, x = np.random.default_rng(0), -1 + (np.arange(POINTS) + 0.5) / POINTS * 2
    amplitude, phase = rng.normal(size=(2, COUNT, 3, 1))
    initial = (amplitude * np.sin(np.pi * np.arange(1, 4)[:, None] * x + phase)).sum(axis=1)
    later = [cole_hopf(coefficients_of(initial), VISCOSITY, time, length=2.0) for time in TIMES[1:]]
    return np.stack([initial, *(observe(one, POINTS) for one in later)], axis=1)


def burgers(path, **changes):
    given = {
        "equation": "burgers", "source": str(path), "finest": POINTS, "resolutions": [POINTS],
        "viscosity": VISCOSITY, "final_time": 0.5, "samples": SAMPLES, "samples_per_shard": 20,
    }  # fmt: skip
    return settings_of(given | changes).with_contents()


def test_an_evolution_on_a_longer_circle_is_checked(evolution, tmp_path):
    x = -1 + (np.arange(POINTS) + 0.5) / POINTS * 2
    path = write_hdf5(
        tmp_path / "nu0.1.hdf5", {"tensor": evolution, "x-coordinate": x, "t-coordinate": TIMES}
    )
    named = {"input": "tensor", "target": "tensor", "axes": ["sample", "time", "x"]}
    with pytest.raises(
        DatasetError, match=r"'x-coordinate' go from .*; as periodic they have length: 2, orig"
    ):
        burgers(path, **named)
    settings = burgers(path, **named, length=2.0)
    card = make_dataset(tmp_path / "made", settings)
    found = read_card(card)["error_budget"]
    assert found["labels_against_our_solver"]["largest_relative_l2"] < 1e-8
    assert set(found["by_convention"]) <= {"the public file's", "Cao's text", "Li et al.'s text"}
    samples = load_samples(card, POINTS, "test", 8)
    assert samples.grid == Grid("periodic", POINTS, 2.0)
    np.testing.assert_array_equal(samples.targets, evolution[-8:, -1])
    answer = build_task(settings).baselines()["coarse_solve"](evolution[:, 0], samples.grid)
    assert relative_l2(answer, evolution[:, -1]).max() < 1e-3
    assert "length L = 2" in read_card(card)["equation"]["in_words"]


def test_another_time_of_other_names_is_the_target(evolution, tmp_path):
    path = write_npz(tmp_path / "burgers.npz", {"input": evolution[:, 0], "output": evolution.swapaxes(1, 2)})
    named = {"input": "input", "target": "output", "target_times": [2], "length": 2.0, "final_time": 0.2}
    axes = {"input": ["sample", "x"], "output": ["sample", "x", "time"]}
    card = make_dataset(tmp_path / "made", burgers(path, **named, axes=axes))
    assert read_card(card)["error_budget"]["labels_against_our_solver"]["largest_relative_l2"] < 1e-8
    assert read_card(card)["imported"]["files"][0]["variables"]["output"] == f"{COUNT} × {POINTS} × 6"


def test_darcy_on_another_square_with_a_time_is_checked(tmp_path):
    variables = darcy_variables(COUNT, 17)
    path = write_hdf5(
        tmp_path / "darcy.h5", {"nu": variables["coeff"], "tensor": 4 * variables["sol"][:, None]}
    )
    given = {
        "source": str(path), "finest": 17, "samples": SAMPLES, "length": 2.0,
        "axes": {"nu": ["sample", "y", "x"], "tensor": ["sample", "time", "y", "x"]},
    }  # fmt: skip
    settings = settings_of(
        given | {"equation": "darcy", "resolutions": [17, 9], "input": "nu", "target": "tensor"}
    ).with_contents()
    card = make_dataset(tmp_path / "made", settings)
    assert read_card(card)["error_budget"]["labels_against_our_solver"]["largest_relative_l2"] < 1e-6
    samples = load_samples(card, 17, "train", 4)
    assert samples.grid == Grid("cell_centres", 17, 2.0, 2)
    answer = build_task(settings).baselines()["coarse_solve"](samples.inputs, samples.grid)
    assert relative_l2(answer, samples.targets).max() < 1e-5
