"""Latent basis functions of a trained encoder: Figure 13 of Cao 2021 (arXiv:2105.14995, section D.2).

The output of an encoder layer is a matrix y of n_c² points by `width` columns, each a function on the coarse
grid. The next layer's Q, K and V are affine in y, so only the span of the columns and the constants matters,
not single columns: the next layer's weights can undo any rotation of the columns. We therefore take as "basis
functions" of a layer the leading left singular vectors of y minus the columns' means: the functions,
orthonormal in L2, that carry most of the layer's output for this sample. (The paper shows columns and does
not say which.)

The roughness of a function v is ‖∇v‖/‖v - ∫v‖ of its bilinear interpolant: at least π on the unit square,
and larger the faster v oscillates. It quantifies the paper's remark that the fourth layer's functions are
smoother than the first layer's. It is measured for every column of every layer, with trained and with initial
weights, to show the effect of training.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from resolvent.common.digests import save_arrays
from resolvent.datasets.loading import load_arrays, load_samples, read_card
from resolvent.datasets.storage.layout import group_name
from resolvent.evaluation.conditions import shown_samples
from resolvent.models.build import build
from resolvent.models.cao2021.settings import CoarseEncoderSettings
from resolvent.models.registry import settings_class
from resolvent.solvers.common.grid import Grid
from resolvent.solvers.darcy import eigenfunctions as darcy
from resolvent.training import checkpoints
from resolvent.training.errors import TrainingError
from resolvent.training.normalisation import NormalisedOperator, restored
from resolvent.training.settings import TrainingSettings
from resolvent.training.tensors import coordinate_tensor, function_tensor

VERSION = 1  # raised whenever the numbers change (docs/jobs.md)
LAYERS = (1, 4)  # as in the paper; for shorter encoders the last layer
FUNCTIONS = 2  # number of functions of each layer, and of eigenfunctions
COEFFICIENT = "coefficient"
NEGLIGIBLE = 1e-6  # relative to a layer's largest column: smaller columns are only rounding


def write_latent_basis(
    card: Path, folder: Path, *, resolution: int, seed: int, test_samples: int, grids: str, threads: int
) -> None:
    """Write latent_basis.npz, the latent functions of the run in `folder` for the first shown test sample.

    sample                          index in the test split
    layers (layers)                 numbers of the layers shown, from 1
    basis (layers, 2, n_c, n_c)     leading singular functions, ‖·‖ = 1, ∫ = 0
    share (layers, 2)               share of Σ‖column - mean‖² of each function
    basis_roughness (layers, 2)
    roughness (num_layers, width)   of every column; NaN for a column that is constant
    initial_roughness               the same for the initial weights of `seed`
    coefficient (n_c - 1, n_c - 1)  of the equation, in the elements of the coarse grid
    eigenvalues (2), eigenfunctions (2, n_c, n_c), eigenfunction_roughness (2)
                                    of -∇·(a∇·), `solvers.darcy.eigenfunctions`. On cell centres the
                                    outermost points, half a fine cell inside, stand for the boundary

    `test_samples` is the experiment's number of test samples, `grids` as in
    `resolvent.datasets.loading.load_samples`. The input has no noise. The latent functions of a diverged run
    are NaN.

    Raises `TrainingError` for an architecture without an encoder on a coarse grid, and for data without a
    coefficient on nodes or cell centres.
    """
    torch.set_num_threads(threads)
    checkpoint = checkpoints.load_run(folder)
    if not issubclass(settings_class(checkpoint["architecture"]), CoarseEncoderSettings):
        raise TrainingError(
            f"{folder}: {checkpoint['architecture']} has no encoder on a coarse grid and no latent basis"
        )
    sample = int(shown_samples(test_samples, read_card(card)["seed"])[0])
    samples = load_samples(card, resolution, "test", sample + 1, grids=grids)
    u = function_tensor(samples.inputs[-1:], samples.grid)  # (1, n, n, 1)
    trained, initial = _latent_of_run(checkpoint, seed, u, coordinate_tensor(samples.grid))
    group = read_card(card)["groups"][group_name(resolution)]
    if COEFFICIENT not in group["variables"] or group["grid"]["kind"] not in ("nodes", "cell_centres"):
        raise TrainingError(
            f"{card} has no {COEFFICIENT} on {resolution} nodes or cell centres, as eigenfunctions need"
        )
    stored = load_arrays(card, group_name(resolution), "test", sample + 1, [COEFFICIENT])[COEFFICIENT]
    coefficient = darcy.element_means(stored[sample].astype(float), trained.shape[-1] - 1)
    eigenvalues, functions = darcy.eigenfunctions(coefficient, FUNCTIONS)
    layers = sorted({min(layer, len(trained)) for layer in LAYERS})
    bases, shares = zip(*(leading_functions(trained[layer - 1], FUNCTIONS) for layer in layers), strict=True)
    arrays = {
        "sample": np.array(sample),
        "layers": np.array(layers),
        "basis": np.stack(bases),
        "share": np.stack(shares),
        "basis_roughness": np.stack([roughness(basis) for basis in bases]),
        "roughness": np.stack([roughness(layer) for layer in trained]),
        "initial_roughness": np.stack([roughness(layer) for layer in initial]),
        "coefficient": coefficient,
        "eigenvalues": eigenvalues,
        "eigenfunctions": functions,
        "eigenfunction_roughness": roughness(functions),
    }
    save_arrays(folder / "latent_basis.npz", arrays)


@torch.no_grad()
def latent_functions(transformer: nn.Module, u: Tensor, x: Tensor) -> np.ndarray:
    """Return the output of each encoder layer for one input, (num_layers, width, n_c, n_c), [y, x].

    `u` (1, n, n, 1) is in the units of the transformer: normalised if it was trained so.
    """
    kept = []
    hooks = [
        layer.register_forward_hook(lambda _layer, _given, y: kept.append(y))
        for layer in transformer.get_submodule("encoder.encoder.layers").children()
    ]
    try:
        coarse, _ = transformer.eval().get_submodule("encoder")(u, x)
    finally:
        for hook in hooks:
            hook.remove()
    sequences = torch.cat(kept).unflatten(1, coarse.shape[1:3])
    return sequences.permute(0, 3, 1, 2).numpy().astype(np.float64)


def leading_functions(columns: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the leading left singular vectors of `columns` (width, n, n) minus means, and their shares.

    The vectors are orthonormal in the inner product of the trapezoidal rule. All shares add up to 1.
    """
    if not np.isfinite(columns).all():
        return np.full((count, *columns.shape[1:]), np.nan), np.full(count, np.nan)
    weights = Grid("nodes", columns.shape[-1], dimension=2).weights
    means = (columns * weights).sum(axis=(1, 2), keepdims=True)
    weighted = ((columns - means) * np.sqrt(weights)).reshape(len(columns), -1)
    _, sizes, vectors = np.linalg.svd(weighted, full_matrices=False)
    functions = vectors[:count].reshape(count, *columns.shape[1:]) / np.sqrt(weights)
    return darcy.with_fixed_sign(functions), sizes[:count] ** 2 / (sizes**2).sum()


def roughness(functions: np.ndarray) -> np.ndarray:
    """Return ‖∇v‖/‖v - ∫v‖ of the bilinear interpolants v of (count, n, n) functions; NaN for a constant."""
    elements = functions.shape[-1] - 1
    flat = functions.reshape(len(functions), -1).T
    mass = darcy.mass_matrix(elements)
    centred = flat - mass.sum(axis=0) @ flat
    below = np.sqrt((centred * (mass @ centred)).sum(axis=0))
    above = np.sqrt((flat * (darcy.stiffness(np.ones((elements, elements))) @ flat)).sum(axis=0))
    size = np.sqrt((flat * (mass @ flat)).sum(axis=0)).max()
    return np.divide(above, below, out=np.full(len(below), np.nan), where=below > NEGLIGIBLE * size)


def _latent_of_run(checkpoint: dict, seed: int, u: Tensor, x: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Return the latent functions with trained and with initial weights, for the same input."""
    made_of = checkpoint["architecture"], checkpoint["settings"], seed
    initial, training = build(*made_of), TrainingSettings.model_validate(checkpoint["training"])
    if checkpoint["operator"] is None:  # diverged
        lost = np.full_like(latent_functions(initial, u, x), np.nan)
        return lost, lost
    operator = restored(build(*made_of), training, checkpoint["operator"])
    if isinstance(operator, NormalisedOperator):
        u = u if operator.input is None else operator.input.normalise(u)
        operator = operator.operator
    return latent_functions(operator, u, x), latent_functions(initial, u, x)
