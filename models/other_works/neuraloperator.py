"""Models of the package neuraloperator, in one and two dimensions."""

import contextlib
import inspect
import io
from copy import deepcopy
from functools import partial
from typing import Literal

import torch
from neuralop import models as package
from tensorly.plugins import use_default_einsum
from torch import nn
from torch.func import functional_call

from resolvent.models.layers.common import Input, Output, Points, without_autocast
from resolvent.models.settings import check_points

# Keywords of the package that are code rather than values, or that would change the input.
NO_OPTIONS = {
    "non_linearity", "conv_module", "integral_operator", "operator_block", "complex_data", "verbose",
}  # fmt: skip

# By default the package contracts by opt_einsum, which reads its thread id and cannot be traced by the
# compiler.
use_default_einsum()


class NeuralOperator(nn.Module):
    """FNO, TFNO, UNO or CODANO of the PyPI package neuraloperator (Kossaifi et al. 2024, arXiv:2412.10354).

    `width`, `modes` and `num_layers` are common settings; `options` are further keywords of the model.

    Modes are counted as in the package: `modes` is the number of wavenumbers along an axis with both signs,
    so 12 are k₁ = -6..5 and, along the last axis of a real function, k₂ = 0..6: 12·7 matrices. In
    `models.other_works.fno` 12 are k₁ = -12..11 and k₂ = 0..11, twice the band: 24·12 matrices.

    The coordinates x are concatenated to u, as in the public code of Calvello et al. (arXiv:2406.06486), and
    the package's own grid on [0, 1] is disabled. CODANO treats every channel of u as a variable and the
    coordinates as static channels. UNO halves the grid in its second layer and doubles it in its last, unless
    `options` have `uno_scalings`.

    The package's complex parameters are stored as real pairs (`complex_weights`), as fused optimisers and
    checkpoints require. Its Fourier coefficients are in single precision for any input.

    FNO, width 128, 12 modes, 4 layers, one input and output channel in two dimensions: 5,705,089 parameters,
    counting complex parameters once (the 5.70e6 of Calvello et al., table 1), or 11,210,113 counting them
    twice.
    """

    def __init__(
        self,
        *,
        in_channels: int,
        out_channels: int,
        dimension: int,
        model: Literal["FNO", "TFNO", "UNO", "CODANO"],
        width: int,
        modes: int,
        num_layers: int,
        options: dict,
    ) -> None:
        super().__init__()
        self.modes, self.coordinates_are_static = modes, model == "CODANO"
        # CODANO's scores are sums over points divided by the root of their number. When UNO doubles a
        # two-dimensional grid, the package (2.0) places negative wavenumbers of the first axis n/2 too high.
        self.discretisation_invariant = model != "CODANO" and (model, dimension) != ("UNO", 2)
        fixed, defaults = _keywords(model, in_channels, out_channels, [modes] * dimension, width, num_layers)
        signature = inspect.signature(package.FNO if model == "TFNO" else getattr(package, model))
        accepted = [name for name in signature.parameters if name not in fixed and name not in NO_OPTIONS]
        if unknown := [name for name in options if name not in accepted]:
            raise ValueError(
                f"unknown options of {model}: {', '.join(unknown)}; accepted: {', '.join(accepted)}"
            )
        with contextlib.redirect_stdout(io.StringIO()):  # the package prints while it builds
            self.operator = getattr(package, model)(**fixed, **defaults | deepcopy(options))
        self.register_state_dict_post_hook(_drop_metadata)
        self.complex_weights = _taken_out(self.operator)

    def forward(self, u: Input, x: Points) -> Output:
        """Return the output function at the same points, in the weights' precision regardless of autocast.

        Raises `ValueError` if an axis has fewer points than `modes`. (On the coarser grids inside UNO the
        package keeps the available modes.)
        """
        check_points(self.modes, x.shape[:-1], self.modes)
        weights = {n.replace("/", "."): torch.view_as_complex(w) for n, w in self.complex_weights.items()}
        dtype = next(self.parameters()).dtype
        u, place = (t.to(dtype).movedim(-1, 1) for t in (u, x.expand(len(u), *x.shape)))
        with without_autocast(u.device):
            static = {"static_channel": place} if self.coordinates_are_static else {}
            given = u if static else torch.cat([u, place], dim=1)
            return functional_call(self.operator, weights, (given,), static).movedim(1, -1)


NeuralOperator1d = partial(NeuralOperator, dimension=1)
NeuralOperator2d = partial(NeuralOperator, dimension=2)


def _keywords(
    model: str, in_channels: int, out_channels: int, modes: list[int], width: int, num_layers: int
) -> tuple[dict, dict]:
    """Return the package's keywords fixed by the settings, and the keywords that options may override."""
    plain = [1.0] * len(modes)
    if model == "CODANO":  # the package documents None for these defaults, and fails on it
        return {
            "output_variable_codimension": out_channels // in_channels,
            "n_modes": [modes] * num_layers,
            "hidden_variable_codimension": width,
            "n_layers": num_layers,
            "static_channel_dim": len(modes),
        }, {
            "n_heads": [1] * num_layers,
            "per_layer_scaling_factors": [plain] * num_layers,
            "attention_scaling_factors": [1.0] * num_layers,
        }
    fixed = {
        "in_channels": in_channels + len(modes),
        "out_channels": out_channels,
        "hidden_channels": width,
        "n_layers": num_layers,
        "positional_embedding": None,
    }
    if model != "UNO":
        return fixed | {"n_modes": tuple(modes)}, {}
    scalings = [plain] * num_layers
    if num_layers > 2:
        scalings[1], scalings[-1] = [0.5] * len(modes), [2.0] * len(modes)
    return fixed | {"uno_n_modes": [modes] * num_layers}, {
        "uno_out_channels": [width] * num_layers,
        "uno_scalings": scalings,
        "channel_mlp_skip": "linear",  # the package's default fails where a layer changes the width
    }


def _taken_out(operator: nn.Module) -> nn.ParameterDict:
    """Replace the complex parameters by real pairs; return these by name, with "/" for dots."""
    pairs = nn.ParameterDict()
    for name, weight in list(operator.named_parameters()):
        if weight.is_complex():
            pairs[name.replace(".", "/")] = nn.Parameter(torch.view_as_real(weight.detach()))
            owner, _, attribute = name.rpartition(".")
            delattr(operator.get_submodule(owner), attribute)
    return pairs


def _drop_metadata(operator: nn.Module, state: dict, prefix: str, local_metadata: dict) -> None:
    """Remove the keywords (including functions) that the package stores in the state of its weights."""
    state.pop("_metadata", None)
