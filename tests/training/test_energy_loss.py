"""The energy of Darcy flow as a loss: the gradients of supervised training, without labels."""

import numpy as np
import pandas
import pytest
import torch
from training_fixtures import CODE, SQUARE_COUNTS, SQUARE_RUN, Killed, killed_after

from resolvent.datasets.storage.reading import StoredArray
from resolvent.datasets.tasks.darcy import Darcy
from resolvent.datasets.tasks.registry import EQUATIONS, build_task, settings_class, settings_of
from resolvent.solvers.common.grid import Grid
from resolvent.solvers.darcy.bounds import residual
from resolvent.solvers.darcy.direct import solve_direct
from resolvent.training import checkpoints
from resolvent.training.errors import TrainingError
from resolvent.training.losses import UNIT_ENERGY, EnergyLoss, build_loss
from resolvent.training.settings import TrainingSettings
from resolvent.training.train import train_run

POINTS = 9
SCHEMES = {
    "nodes": ("nodes", "arithmetic", 1),
    "nodes, harmonic": ("nodes", "harmonic", 1),
    "cell centres": ("cell_centres", "arithmetic", 1),
    "cell centres, harmonic": ("cell_centres", "harmonic", 1),
    "every third cell centre": ("cell_centres", "harmonic", 3),
}
of_every_scheme = pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
ENERGY = {"loss": "energy", "gradient_weight": 0.0, "gradient_coefficient": "one"}
RUN = SQUARE_RUN | {
    "training": SQUARE_RUN["training"] | ENERGY | {"epochs": 12, "learning_rate": 1e-2},
}


def coefficients() -> np.ndarray:
    return np.exp(np.random.default_rng(0).standard_normal((3, POINTS, POINTS)))


def matrices(coefficient: np.ndarray, scheme) -> np.ndarray:
    """Return A of every sample, column by column from the residual of the error bounds."""
    size, columns = POINTS**2, []
    zero = residual(coefficient, np.zeros_like(coefficient), 1.0, *scheme)
    for unit in np.eye(size).reshape(size, 1, POINTS, POINTS):
        column = zero - residual(coefficient, np.repeat(unit, len(coefficient), axis=0), 1.0, *scheme)
        columns.append(column.reshape(len(coefficient), size))
    return np.stack(columns, axis=-1)


@of_every_scheme
def test_its_gradients_are_those_of_the_supervised_error_in_the_energy_norm(scheme):
    a = coefficients()
    u = solve_direct(a, 1.0, *scheme)
    factors = np.exp(np.log(a).mean(axis=(1, 2))) / UNIT_ENERGY
    of_matrix = torch.from_numpy(factors[:, None, None] * matrices(a, scheme))
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Linear(POINTS**2, 12), torch.nn.Tanh(), torch.nn.Linear(12, POINTS**2)
    ).double()
    given = torch.from_numpy(a)
    prediction = network(given.flatten(1))
    error = prediction - torch.from_numpy(u).flatten(1)
    supervised = torch.einsum("bi,bij,bj->b", error, of_matrix, error).mean()
    loss = EnergyLoss(POINTS, *scheme)(prediction.reshape(given.shape), None, None, given)
    parameters = list(network.parameters())
    wanted = torch.autograd.grad(supervised, parameters, retain_graph=True)
    for computed, expected in zip(torch.autograd.grad(loss, parameters), wanted, strict=True):
        assert expected.abs().max() > 1e-3
        assert (computed - expected).abs().max() <= 1e-12 * expected.abs().max()


@of_every_scheme
def test_it_is_stationary_at_the_solution_and_as_large_as_the_energy_of_the_error(scheme):
    a = coefficients()
    u = solve_direct(a, 1.0, *scheme)
    loss, given = EnergyLoss(POINTS, *scheme), torch.from_numpy(a)
    gradients = []
    for values in (np.zeros_like(u), u):
        prediction = torch.from_numpy(values).requires_grad_()
        loss(prediction, None, None, given).backward()
        gradients.append(float(prediction.grad.abs().max()))
    assert gradients[1] < 1e-12 * gradients[0]
    # At the solution it is -‖u‖²_A of each sample in units of nearly this number.
    assert -2 < float(loss(torch.from_numpy(u), None, None, given)) < -0.5


def train(card, folder, run=RUN):
    train_run(card, folder, 17, seed=3, run=run, code_versions=CODE, threads=1, gpus=0)
    return checkpoints.load(folder / "checkpoint.pt")


def test_a_training_never_reads_labels_of_training_samples(card, tmp_path, monkeypatch):
    pressures, read = [], StoredArray.read

    def watched(self, places, dtype=None):
        if self.name.endswith("pressure"):
            pressures.extend(np.atleast_1d(places))
        return read(self, places, dtype)

    monkeypatch.setattr(StoredArray, "read", watched)
    train(card, tmp_path)
    first = SQUARE_COUNTS["train"]
    assert sorted(set(pressures)) == [first, first + 1]  # the validation samples select the checkpoint
    history = pandas.read_csv(tmp_path / "history.csv")
    assert history["train_relative_l2"].isna().all()
    losses, errors = (history[name].to_numpy() for name in ("train_loss", "validation_relative_l2"))
    assert losses[-1] < losses[0]
    assert errors[-1] < 0.8 * errors[0]


def test_new_inputs_are_not_solved_and_a_resumed_run_ends_with_the_same_bytes(card, tmp_path, monkeypatch):
    def refuse(self, drawn):
        raise AssertionError("solved")

    monkeypatch.setattr(Darcy, "solve", refuse)
    run = RUN | {"training": RUN["training"] | {"fresh_samples": True, "epochs": 2}}
    undisturbed = train(card, tmp_path / "a", run)
    with killed_after(1), pytest.raises(Killed):
        train(card, tmp_path / "b", run)
    weights = train(card, tmp_path / "b", run)["operator"]
    assert all(torch.equal(value, weights[name]) for name, value in undisturbed["operator"].items())


def test_only_equations_with_an_energy_have_the_loss_and_then_the_guess_of_its_units():
    settings = TrainingSettings(**ENERGY)
    having = []
    for equation in EQUATIONS:
        dataset = settings_of({"equation": equation, **settings_class(equation).example})
        if isinstance(dataset.resolutions[0], int) and dataset.five_point(dataset.resolutions[0]):
            having.append(equation)
            assert "constant_coefficient" in build_task(dataset).baselines()
    assert having == ["darcy"]
    with pytest.raises(TrainingError, match="only for Darcy flow that is solved here"):
        build_loss(Grid("nodes", POINTS, dimension=2), settings)
