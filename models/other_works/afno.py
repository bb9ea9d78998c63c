"""Adaptive Fourier neural operator."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from resolvent.models.layers.common import Input, Output, Points, with_coordinates, without_autocast
from resolvent.models.settings import pair

SHRINKAGE = 0.01  # λ of the soft threshold
INITIAL_STD = 0.02


class BlockDiagonalSpectralNetwork(nn.Module):
    """y ← y + F⁻¹ S_λ(W₂ ρ(W₁ ŷ + b₁) + b₂), the same network at every Fourier coefficient.

    W₁ and W₂ are complex and block-diagonal, with `num_blocks` blocks of channels. ρ (ReLU) and S_λ (soft
    threshold with λ = 0.01) act on real and imaginary parts. The transform is `rfft2` with norm "ortho", so
    that the meaning of b and λ depends on the grid. Parameters: 4·(width²/num_blocks + width).
    """

    def __init__(self, *, width: int, num_blocks: int) -> None:
        super().__init__()
        block = width // num_blocks
        self.weights = nn.Parameter(torch.empty(2, num_blocks, block, block, 2))
        self.biases = nn.Parameter(torch.empty(2, num_blocks, block, 2))
        nn.init.normal_(self.weights, std=INITIAL_STD)
        nn.init.normal_(self.biases, std=INITIAL_STD)

    def forward(self, y: Float[Tensor, "batch n1 n2 width"]) -> Float[Tensor, "batch n1 n2 width"]:
        """Add the network's output, in the weights' precision regardless of autocast."""
        sides, num_blocks = tuple(y.shape[1:3]), self.weights.shape[1]
        with without_autocast(y.device):
            y = y.to(self.weights.dtype)
            weights, biases = torch.view_as_complex(self.weights), torch.view_as_complex(self.biases)
            coefficients = torch.fft.rfft2(y, dim=(1, 2), norm="ortho").unflatten(-1, (num_blocks, -1))
            hidden = torch.einsum("bklni,nio->bklno", coefficients, weights[0]) + biases[0]
            hidden = torch.view_as_complex(torch.relu(torch.view_as_real(hidden)))
            out = torch.einsum("bklni,nio->bklno", hidden, weights[1]) + biases[1]
            out = torch.view_as_complex(functional.softshrink(torch.view_as_real(out), SHRINKAGE))
            return y + torch.fft.irfft2(out.flatten(-2), s=sides, dim=(1, 2), norm="ortho")


class AFNOLayer(nn.Module):
    """y ← y + N(LN(y)), y ← y + F(LN(y)): N the spectral network, F affine, GELU, affine at each point."""

    def __init__(self, width: int, num_blocks: int, feedforward_width: int) -> None:
        super().__init__()
        self.spectral_norm, self.feedforward_norm = (nn.LayerNorm(width, eps=1e-6) for _ in range(2))
        self.spectral = BlockDiagonalSpectralNetwork(width=width, num_blocks=num_blocks)
        first, second = nn.Linear(width, feedforward_width), nn.Linear(feedforward_width, width)
        _initialise(first)
        _initialise(second)
        self.feedforward = nn.Sequential(first, nn.GELU(), second)

    def forward(self, y: Float[Tensor, "batch n1 n2 width"]) -> Float[Tensor, "batch n1 n2 width"]:
        y = y + self.spectral(self.spectral_norm(y))
        return y + self.feedforward(self.feedforward_norm(y))


class AFNO(nn.Module):
    """Adaptive Fourier neural operator (Guibas et al. 2022, arXiv:2111.13587), with patches of one point.

    (u, x) → affine to `width`, plus a learned position embedding → `num_layers` layers → linear, without
    bias. A baseline of Calvello et al. (2024, arXiv:2406.06486, table 1), as in NVIDIA's PhysicsNeMo. The
    embedding has one entry for each grid point, `points` along each axis, so the operator works only on this
    grid. Width 128, 4 layers, 8 blocks, 64 points: 1,088,640 parameters.
    """

    discretisation_invariant = False

    def __init__(
        self,
        *,
        in_channels: int,
        out_channels: int,
        points: int | list[int],
        width: int,
        num_layers: int,
        num_blocks: int,
        feedforward_width: int,
    ) -> None:
        super().__init__()
        self.lifting = nn.Linear(in_channels + 2, width)
        self.positions = nn.Parameter(torch.empty(*pair(points), width))
        nn.init.trunc_normal_(self.positions, std=INITIAL_STD)
        self.layers = nn.Sequential()
        for _ in range(num_layers):
            self.layers.append(AFNOLayer(width, num_blocks, feedforward_width))
        self.projection = nn.Linear(width, out_channels, bias=False)
        _initialise(self.projection)

    def forward(self, u: Input, x: Points) -> Output:
        """Return the output function. Raises `ValueError` for any other grid."""
        sides, points = tuple(u.shape[1:3]), tuple(self.positions.shape[:2])
        if sides != points:
            raise ValueError(
                f"the table of positions is for {points[0]} x {points[1]} points (setting points); "
                f"got {sides[0]} x {sides[1]}"
            )
        y = self.lifting(with_coordinates(u, x)) + self.positions
        return self.projection(self.layers(y))


def _initialise(layer: nn.Linear) -> None:
    nn.init.trunc_normal_(layer.weight, std=INITIAL_STD)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
