"""Training never waits for its device: its steps run on "meta", whose tensors have no numbers to wait for."""

import sys
from collections import Counter

import numpy as np
import pytest
import torch
from dataset_fixtures import small
from model_variants import OF_EACH_FAMILY
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from training_fixtures import ON_THE_SQUARE, kind_of, small_trainer

from resolvent.datasets.loading import Samples
from resolvent.solvers.common.grid import Nodes, product
from resolvent.training.interruption import Interruption

META = torch.device("meta")


def uneven_samples(count, seed=0):
    """Random functions on uneven points of an interval times uneven points of a circle."""
    grid = product([Nodes((0.0, 0.1, 0.4, 1.0)), Nodes((0.0, 0.2, 0.5), period=1.0)])
    inputs, targets = np.random.default_rng(seed).normal(size=(2, count, *grid.shape))
    return Samples(grid, inputs, targets)


ENERGY = {"loss": "energy", "gradient_weight": 0.0, "gradient_coefficient": "one"}
LOSSES = {
    "norms with the input's gradient": ON_THE_SQUARE,
    "squared norms": {"loss": "squared_norms", "gradient_weight": 0.1},
    "norms without the ends": {"target_gradient": "public_code", "gradient_weight": 0.1},
    "relative H1 on nodes": ON_THE_SQUARE | {"loss": "h1", "gradient_weight": 0.0},
    "relative H1 on a circle": {"loss": "h1", "gradient_weight": 0.0},
    "relative H1 on uneven points": kind_of("deeponet2d")
    | {"samples": uneven_samples, "normalisation": "none", "boundary": "free"}
    | {"loss": "h1", "gradient_weight": 0.0},
    "differences of neighbours": {"loss": "h1_unit_spacing", "gradient_weight": 0.0},
    "standardised": {"loss_units": "standardised", "normalisation": "scalar", "batch_reduction": "sum"},
    "clipped by value": {"gradient_clip_by": "value", "schedule": "plateau"},
    "tf32": {"precision": "tf32"},
    "energy on nodes": ON_THE_SQUARE | ENERGY | {"equation": small("darcy")},
    "energy on every third cell centre": ON_THE_SQUARE
    | ENERGY
    | {"equation": small("darcy", finest=37, resolutions=[13], grid="cell_centres")},
}


class Reads(TorchFunctionMode):
    """Answer what asks a tensor on "meta" for its number, and note it. Other questions are errors there."""

    def __init__(self, noted):
        super().__init__()
        self.noted = noted

    def __torch_function__(self, function, types, args=(), kwargs=None):
        asks = function in (torch.Tensor.item, torch.Tensor.__float__, torch.Tensor.__bool__)
        if asks and args[0].is_meta:
            self.noted["read"] += 1
            return 0.5
        return function(*args, **(kwargs or {}))


class Copies(TorchDispatchMode):
    """Note copies between devices, but for numbers, which go there as arguments of a kernel."""

    def __init__(self, noted):
        super().__init__()
        self.noted = noted

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        tensors = [value for value in tree_leaves((args, result)) if isinstance(value, torch.Tensor)]
        if len({one.device for one in tensors if one.ndim or one.is_meta}) > 1:
            self.noted["copied"] += 1
        return result


@pytest.fixture
def fused_adam_anywhere(monkeypatch):
    """Let the fused Adam, which torch has for devices that compute, run on "meta", too."""
    optimizer = sys.modules["torch.optim.optimizer"]  # torch deletes the name of the module
    monkeypatch.setattr(optimizer, "_get_fused_kernels_supported_devices", lambda: ["cpu", "cuda", "meta"])


def waits_of_an_epoch(trainer):
    """Count what makes the host wait in the second epoch; the first puts constants on the device."""
    noted = Counter()
    with Reads(noted), Copies(noted):
        trainer._steps(1, Interruption())
        noted.clear()
        trainer._steps(2, Interruption())
        trainer._mean_error(trainer.validation)
    return noted


# Loss and error of an epoch, and the error of the validation samples, are read; the order of the samples is
# copied, of either split.
AN_EPOCH = {"read": 3, "copied": 2}


@pytest.mark.parametrize("architecture", OF_EACH_FAMILY)
def test_a_step_of_every_architecture_never_waits(tmp_path, architecture, fused_adam_anywhere):
    trainer = small_trainer(tmp_path, device=META, batch_size=8, **kind_of(architecture))
    assert trainer.steps_per_epoch == 2  # what is read in each step would be counted twice
    assert waits_of_an_epoch(trainer) == AN_EPOCH


def test_samples_mapped_by_symmetries_never_wait(tmp_path, fused_adam_anywhere):
    kind = {"augment": "symmetries", "equation": small("burgers")}
    waits = waits_of_an_epoch(small_trainer(tmp_path, device=META, batch_size=8, **kind))
    assert waits == AN_EPOCH | {"copied": AN_EPOCH["copied"] + 1}  # the choices of the epoch


@pytest.mark.parametrize("kind", LOSSES.values(), ids=LOSSES)
def test_a_step_with_every_loss_never_waits(tmp_path, kind, fused_adam_anywhere):
    assert waits_of_an_epoch(small_trainer(tmp_path, device=META, batch_size=8, **kind)) == AN_EPOCH
