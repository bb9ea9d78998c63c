"""What every registered architecture must do; a new entry joins by its line in VARIANTS."""

import copy
import math
from itertools import pairwise

import pytest
import torch
from jaxtyping import TypeCheckError
from model_variants import SMALL, VARIANTS, band_limited, grid, relative_error

from models.build import build
from models.settings import ARCHITECTURES, resolve


def small(variant, seed=0, **more):
    architecture, settings = variant
    return build(architecture, {**SMALL[architecture], **settings, **more}, seed)


def count(operator):
    return sum(parameter.numel() for parameter in operator.parameters())


def fno1d_count(s):
    spectral_layer = s.width**2 + s.width + 2 * s.modes * s.width**2
    lifting = (s.in_channels + 1) * s.width + s.width
    projection = (s.width + 1) * s.projection_width + (s.projection_width + 1) * s.out_channels
    return lifting + s.num_layers * spectral_layer + projection


def transformer1d_count(s):
    d, f, c = s.width, s.feedforward_width, s.decoder_width
    layer = 3 * (d**2 + d) + (d + s.num_heads) * d + d + 2 * d * f + f + d + 4 * d
    spectral = sum(a * c + c + 2 * s.modes * a * c for a in [d] + [c] * (s.decoder_layers - 1))
    lifting = (s.in_channels + s.input_coordinates) * d + d
    return lifting + s.num_layers * layer + spectral + (c + 1) * c + (c + 1) * s.out_channels


COUNTS = {"fno1d": (549_569, fno1d_count), "transformer1d": (530_305, transformer1d_count)}


def test_every_registered_architecture_is_tested():
    assert {architecture for architecture, _ in VARIANTS} == set(ARCHITECTURES) == set(COUNTS)


def test_parameter_count_of_the_paper(variant):
    assert count(build(*variant, seed=0)) == COUNTS[variant[0]][0]


def test_parameter_count_follows_the_closed_formula(variant):
    more = {"in_channels": 3, "out_channels": 2}
    if variant[0] == "transformer1d":
        more |= {"input_coordinates": True, "decoder_layers": 3}
    settings = resolve(variant[0], {**SMALL[variant[0]], **variant[1], **more})
    assert count(small(variant, **more)) == COUNTS[variant[0]][1](settings)


def test_any_number_of_points(variant):
    operator = small(variant, in_channels=3, out_channels=2)
    for n in (17, 32, 45, 128):
        assert operator(torch.randn(2, n, 3), grid(n)).shape == (2, n, 2)


def test_gradient_reaches_every_parameter(variant):
    operator = small(variant)
    u = torch.randn(3, 32, 1)
    operator(u, grid(32)).square().sum().backward()
    dead = [
        name for name, p in operator.named_parameters() if p.grad is None or not p.grad.abs().max().item() > 0
    ]
    assert not dead


def test_gradient_in_the_input_is_that_of_differences(variant):
    operator = small(variant).double()
    x, direction = grid(24, torch.float64), band_limited(grid(24, torch.float64), 1, 1, seed=1)
    u = band_limited(x, 1, 1).requires_grad_()
    (gradient,) = torch.autograd.grad(operator(u, x).sum(), u)
    with torch.no_grad():
        difference = (operator(u + 1e-6 * direction, x) - operator(u - 1e-6 * direction, x)).sum() / 2e-6
    assert torch.isclose((gradient * direction).sum(), difference, rtol=1e-5, atol=1e-8)


def test_same_function_on_two_grids_is_the_same_function_out(variant):
    """First order: the coordinates jump across the period, so the rectangle rule is no better than O(h)."""
    operator = small(variant).double().eval()
    assert operator.discretisation_invariant
    # Off the initialisation, where attention is a small perturbation, so that its quadrature matters.
    generator = torch.Generator().manual_seed(1)
    for parameter in operator.parameters():
        parameter.data += 0.1 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)

    def output(n):
        x = grid(n, torch.float64)
        with torch.no_grad():
            return operator(band_limited(x, 2, 1), x)[:, :: n // 32]

    finest = output(4096)
    sizes = [32, 64, 128, 256]
    errors = [relative_error(output(n), finest) for n in sizes]
    orders = [math.log2(a / b) for a, b in pairwise(errors)]
    assert sum(orders) / len(orders) > 0.9, (errors, orders)
    assert errors[-1] < 0.02, errors


def test_public_code_scaling_of_linear_attention_claims_no_invariance():
    scaled = {"attention": "linear", "public_code_scaling": True}
    assert not build("transformer1d", SMALL["transformer1d"] | scaled, 0).discretisation_invariant
    assert build(
        "transformer1d", SMALL["transformer1d"] | scaled | {"attention": "fourier"}, 0
    ).discretisation_invariant


def test_weights_depend_on_the_seed_alone(variant):
    state = torch.random.get_rng_state()
    one = small(variant, seed=3)
    assert torch.equal(torch.random.get_rng_state(), state)
    torch.manual_seed(99)
    same, other = small(variant, seed=3), small(variant, seed=4)
    for p, q in zip(one.parameters(), same.parameters(), strict=True):
        assert torch.equal(p, q)
    assert any(not torch.equal(p, q) for p, q in zip(one.parameters(), other.parameters(), strict=True))


def test_evaluation_is_deterministic_and_training_dropout_is_not(variant):
    rates = {} if variant[0] == "fno1d" else {"residual_dropout": 0.1, "feedforward_dropout": 0.1}
    operator = small(variant, **rates)
    u, x = torch.randn(2, 32, 1), grid(32)
    operator.eval()
    assert torch.equal(operator(u, x), operator(u, x))
    operator.train()
    assert torch.equal(operator(u, x), operator(u, x)) == (not rates)


def test_samples_do_not_see_each_other(variant):
    operator = small(variant).double().eval()
    u, x = torch.randn(4, 32, 1, dtype=torch.float64), grid(32, torch.float64)
    torch.testing.assert_close(operator(u, x)[2:3], operator(u[2:3], x), rtol=1e-12, atol=1e-12)


def test_state_dict_round_trip(variant, tmp_path):
    operator, other = small(variant, seed=0), small(variant, seed=1)
    torch.save(operator.state_dict(), tmp_path / "weights.pt")
    other.load_state_dict(torch.load(tmp_path / "weights.pt", weights_only=True))
    u, x = torch.randn(2, 32, 1), grid(32)
    assert torch.equal(operator(u, x), other(u, x))
    assert torch.equal(operator(u, x), copy.deepcopy(operator)(u, x))
    assert all(not parameter.is_complex() for parameter in operator.parameters())


def test_bfloat16_autocast(variant):
    operator = small(variant)
    u, x = torch.randn(2, 32, 1), grid(32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        v = operator(u, x)
    v.float().square().sum().backward()
    assert torch.isfinite(v).all()
    assert all(torch.isfinite(parameter.grad).all() for parameter in operator.parameters())
    assert relative_error(v.float(), operator(u, x)) < 0.05


def test_linspace_coordinates_end_at_the_right_end(variant):
    operator, linspace = small(variant), small(variant, coordinates="linspace")
    u = torch.randn(2, 32, 1)
    ends_included = torch.linspace(0, 1, 32)[:, None]
    torch.testing.assert_close(linspace(u, grid(32)), operator(u, ends_included))
    assert not torch.allclose(linspace(u, grid(32)), operator(u, grid(32)))


def test_shapes_are_checked(variant):
    with pytest.raises(TypeCheckError):
        small(variant)(torch.randn(2, 32, 1), grid(31))


def test_too_few_points(variant):
    with pytest.raises(ValueError, match=r"^8 modes need at least 14 points; got n=13$"):
        small(variant)(torch.randn(1, 13, 1), grid(13))
