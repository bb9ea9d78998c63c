"""ViT-NO and FANO against their formulas written out, and what is theirs: patches, extension, memory."""

import math

import pytest
import torch
from model_variants import SMALL, band_limited, grid, scrambled
from patched_cross import PatchedCross, PatchedCrossSettings

from resolvent.models.calvello2024.patched_neural_operators import (
    InverseLaplacianSmoother,
    LearnedSmoother,
    join,
    split,
)

HEADS = 2


def small(architecture, **settings):
    """Build a small operator away from its initialisation, so that attention matters."""
    return scrambled(architecture, 0.2, **{"smoother": "none"} | settings).train()


def convolved(weight, patch, extended):
    """Definition 20 on one patch (p1, p2, channels): full FFT, one frequency after another."""
    p1, p2, _ = patch.shape
    if extended:
        patch = torch.cat([patch, patch.flip(0)], 0)
        patch = torch.cat([patch, patch.flip(1)], 1)
    n1, n2, _ = patch.shape
    coefficients, weight = torch.fft.rfft2(patch, dim=(0, 1)), torch.view_as_complex(weight)
    out = torch.zeros(*coefficients.shape[:2], weight.shape[3], dtype=coefficients.dtype)
    modes = weight.shape[1]
    for k1 in range(-modes, modes):
        for k2 in range(modes):
            if -n1 <= 2 * k1 < n1 and 2 * k2 <= n2:
                out[k1, k2] = coefficients[k1, k2] @ weight[k1, k2]
    return torch.fft.irfft2(out, s=(n1, n2), dim=(0, 1))[:p1, :p2]


def normed(y, norm):
    mean, variance = y.mean(-1, keepdim=True), y.var(-1, keepdim=True, correction=0)
    return (y - mean) / torch.sqrt(variance + 1e-5) * norm.weight + norm.bias


def written_out(operator, u, x, extended=False):
    """Sections 4.3 and 4.4 and their appendices for one sample (n1, n2, channels), patch by patch."""
    n1, n2, _ = u.shape
    g, _ = operator.patches
    p1, p2 = n1 // g, n2 // g
    u = torch.cat([u, x], -1)
    where = [(slice(i * p1, (i + 1) * p1), slice(j * p2, (j + 1) * p2)) for i in range(g) for j in range(g)]

    def apply(map_, patch):
        if hasattr(map_, "convolution"):
            return convolved(map_.convolution.weight, patch, extended)
        return patch @ map_.weight.T + map_.bias

    y = torch.stack([apply(operator.lifting, u[place]) for place in where])
    for layer in operator.layers:
        qkv = torch.stack([apply(layer.projections, patch) for patch in y])
        q, k, v = qkv.reshape(*qkv.shape[:3], 3, HEADS, -1).unbind(3)
        integrand = torch.einsum("jxyhe,kxyhe->hjkxye", q, k)
        weights = torch.exp(integrand.sum((3, 4, 5)) / (n1 * n2))  # no 1/√e
        weights = weights / weights.sum(-1, keepdim=True)
        z = torch.einsum("hjk,kxyhe->jxyhe", weights, v).flatten(3)
        y = normed(y + apply(layer.output, z), layer.attention_norm)
        first, _, _, last = layer.feedforward
        hidden = apply(first, y)
        hidden = 0.5 * hidden * (1 + torch.erf(hidden / math.sqrt(2)))
        y = normed(y + apply(last, hidden), layer.feedforward_norm)
    out = torch.zeros(n1, n2, operator.projection.out_features, dtype=u.dtype)
    for place, patch in zip(where, y, strict=True):
        out[place] = apply(operator.projection, patch)
    return out


@pytest.mark.parametrize("extended", [False, True])
@pytest.mark.parametrize(("n1", "n2", "patches"), [(16, 12, 2), (15, 12, 3)])
@pytest.mark.parametrize("architecture", ["vit_no", "fano"])
def test_is_the_formulas_written_out(architecture, n1, n2, patches, extended):
    """Patches of 8 x 6 points, which carry the 3 modes, and of 5 x 4, which do not."""
    operator = small(
        architecture, patches=patches, periodic_extension=extended, in_channels=2, out_channels=3
    )
    x = grid(16, torch.float64, dim=2)[:n1, :n2]
    u = torch.randn(2, n1, n2, 2, dtype=torch.float64)
    with torch.no_grad():
        expected = torch.stack([written_out(operator, sample, x, extended) for sample in u])
        torch.testing.assert_close(operator(u, x), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("architecture", ["vit_no", "fano"])
def test_checkpointing_gives_the_same_gradients_and_keeps_less(architecture):
    x = grid(16, torch.float64, dim=2)
    u = torch.randn(2, 16, 16, 1, dtype=torch.float64)
    gradients, kept = [], []
    for checkpointing in (False, True):
        operator = small(architecture, checkpointing=checkpointing, dropout=0.2, num_layers=4)
        torch.manual_seed(3)
        sizes = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t: sizes.append(t.numel()) or t, lambda t: t):  # noqa: B023
            loss = operator(u, x).square().sum()
        loss.backward()
        gradients.append([parameter.grad for parameter in operator.parameters()])
        kept.append(sum(sizes))
    for plain, recomputed in zip(*gradients, strict=True):
        assert torch.equal(plain, recomputed)
    assert kept[1] < 0.3 * kept[0]
    with torch.no_grad():
        assert operator.eval()(u, x).shape == u.shape


def test_a_model_of_the_parts_has_cross_attention_between_patches():
    """Definitions 17 and 18 written out, one head, one layer: every patch of the output by itself."""
    settings = {**SMALL["vit_no"], "width": 6, "num_heads": 1, "num_layers": 1, "smoother": "none"}
    settings = PatchedCrossSettings(**settings).model_dump()
    operator = PatchedCross(**settings).double()
    generator = torch.Generator().manual_seed(1)
    for parameter in operator.parameters():
        parameter.data += 0.3 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    x = grid(12, torch.float64, 2)
    u, (layer,) = band_limited(x, 1, 1), operator.layers
    y = operator.queries(split(x[None], (2, 2)))[0]
    w = operator.lifting(split(torch.cat([u, x[None]], dim=-1), (2, 2)))[0]
    q, k, v = (layer.projections(f)[..., 6 * i : 6 * i + 6] for i, f in enumerate((y, w, w)))
    attended = []
    for j in range(4):
        weights = torch.stack([((q[j] * k[o]).sum() / 12**2).exp() for o in range(4)])
        attended.append(sum(weight * one for weight, one in zip(weights / weights.sum(), v, strict=True)))
    y = layer.attention_norm(y + layer.output(torch.stack(attended)))
    expected = operator.projection(layer.feedforward_norm(y + layer.feedforward(y)))
    torch.testing.assert_close(operator(u, x), join(expected[None], (2, 2)), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("length", [1.0, 2 * math.pi])
@pytest.mark.parametrize("wave", [(0, 0), (1, 0), (0, 3), (2, -3), (-5, 4), (8, 0), (0, 7)])
@pytest.mark.parametrize("boundary", ["periodic", "even"])
def test_a_wave_is_damped_by_its_symbol(wave, length, boundary):
    """The k are integers on [0, 2π]², as in figure 18, and 2π times integers on the unit square.

    With even boundary the waves are cosines of half of them, at cell centres: their own mirror images.
    """
    sides = torch.tensor([1, 16 / 14], dtype=torch.float64)
    x = length * grid(16, torch.float64, dim=2)[:, :14] * sides
    k = 2 * math.pi / length * torch.tensor(wave, dtype=torch.float64)
    if boundary == "even":
        x, k = x + length * sides / 32, k.abs() / 2
        z = torch.cos(k[0] * x[..., 0]) * torch.cos(k[1] * x[..., 1])
    else:
        z = torch.cos(x @ k + (0.3 if max(map(abs, wave)) < 7 else 0.0))
    expected = (1 + 1e-3 * float(k @ k)) ** -1.001 * z[None, ..., None]
    smoother = InverseLaplacianSmoother(epsilon=1e-3, exponent=1.001, boundary=boundary)
    torch.testing.assert_close(smoother(z[None, ..., None], x), expected, rtol=1e-12, atol=1e-12)
    # The spacing is that between neighbours, whichever component of x changes.
    assert torch.equal(smoother(expected, x), smoother(expected, x.flip(-1)))


def test_learned_smoother_adds_its_convolution():
    torch.manual_seed(0)
    smoother = LearnedSmoother(channels=1, modes=3)
    weight = smoother.convolution.weight
    assert weight.numel() == 2 * 2 * 3 * 3
    assert 0 <= weight.min() < 0.5 < weight.max()
    z = torch.randn(2, 12, 12, 1)
    assert torch.equal(smoother(z, grid(12, dim=2)), z + smoother.convolution(z))
