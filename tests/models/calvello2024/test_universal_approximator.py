"""The operator of theorem 22 (Calvello et al. 2024); the proof's layer is measured in tests/theory."""

import numpy as np
import torch
from model_variants import SMALL
from torch.nn import functional

from resolvent.models.build import build
from resolvent.models.layers.continuum_attention import trapezoid_log_weights


def uneven_points(dim):
    """Points of [0, 1]^dim, the ends included, whose spacing grows along an axis, and NumPy's nodes."""
    axes = [torch.linspace(0, 1, n, dtype=torch.float64) ** 1.5 for n in (9, 12)[:dim]]
    return torch.stack(torch.meshgrid(*axes, indexing="ij"), dim=-1), [axis.numpy() for axis in axes]


def test_the_general_layer_is_equation_34():
    operator, (x, axes) = (
        build("universal_approximator1d", SMALL["universal_approximator1d"], 0),
        uneven_points(1),
    )
    operator = operator.double()
    width = SMALL["universal_approximator1d"]["width"]
    v = 2 * torch.randn(2, len(x), width, dtype=torch.float64)
    q, k, values = (v @ weight.T for weight in operator.attention.weight.split(width))
    kernel = torch.exp(q @ k.mT / width**0.5)
    numerator = np.trapezoid((kernel[..., None] * values[:, None]).detach().numpy(), axes[0], axis=2)
    mean = numerator / np.trapezoid(kernel.detach().numpy(), axes[0], axis=2)[..., None]
    v34a = v @ operator.attention_skip.weight.T + torch.from_numpy(mean)
    first, _, second = operator.feedforward
    v34b = v34a @ operator.feedforward_skip.weight.T + second(functional.gelu(first(v34a)))
    found = operator.encode(v, trapezoid_log_weights(x))
    torch.testing.assert_close(found, v34b, rtol=1e-12, atol=1e-12)


def test_coordinates_enter_both_networks():
    """Eqs. 32 and 33: with the layer's output at zero, x alone is left in the output network."""
    operator = build("universal_approximator1d", SMALL["universal_approximator1d"], 0).double()
    x, _ = uneven_points(1)
    with torch.no_grad():
        for parameter in (*operator.feedforward[2].parameters(), operator.feedforward_skip.weight):
            parameter.zero_()
        v = operator(torch.randn(2, len(x), 1, dtype=torch.float64), x)
    torch.testing.assert_close(v[0], v[1], rtol=1e-12, atol=0)
    assert len(v[0].unique()) == len(x)
