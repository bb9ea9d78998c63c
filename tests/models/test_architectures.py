"""What every registered architecture must do; a new entry joins by its line in VARIANTS."""

import copy
import math
import re
from itertools import pairwise
from typing import get_args

import pytest
import torch
from jaxtyping import TypeCheckError
from model_variants import (
    ANY_NUMBER,
    COMPLEX_ONCE,
    FORMULAS,
    NAMES,
    NO_PAPER,
    PAPER,
    SINGLE_PRECISION,
    SMALL,
    SMOOTHER,
    TOO_FEW,
    VARIANTS,
    band_limited,
    dimension,
    grid,
    points,
    relative_error,
    sides,
)

from resolvent.models.build import build
from resolvent.models.layers.grid_sizes import downsampled_sizes
from resolvent.models.parameter_counts import parameter_counts
from resolvent.models.registry import ARCHITECTURES, resolve, settings_class


def small(variant, seed=0, **more):
    architecture, settings = variant
    return build(architecture, {**SMALL[architecture], **settings, **more}, seed)


def sample(variant, batch=2, channels=1, n=None, dtype=torch.float32):
    """Noise on a grid, and the grid."""
    x = points(variant[0], n, dtype)
    return torch.randn(batch, *x.shape[:-1], channels, dtype=dtype), x


def count(operator):
    return sum(parameter.numel() for parameter in operator.parameters())


def accepts(variant, setting):
    return setting in settings_class(variant[0]).model_fields


def selected(condition):
    """Parametrisation by the variants of which `condition` holds."""
    chosen = [(n, v) for n, v in zip(NAMES, VARIANTS, strict=True) if condition(v)]
    return pytest.mark.parametrize("variant", [v for _, v in chosen], ids=[n for n, _ in chosen])


def several_channels(variant):
    """More than one in and out; CODANO has as many outputs for every input."""
    return {"in_channels": 3, "out_channels": 3 if variant[1].get("model") == "CODANO" else 2}


def test_every_registered_architecture_is_tested():
    assert {architecture for architecture, _ in VARIANTS} == set(ARCHITECTURES) == set(FORMULAS)
    assert set(PAPER) | NO_PAPER == set(ARCHITECTURES)
    assert not set(PAPER) & NO_PAPER


def test_every_layer_norm_of_an_architecture_is_tested():
    for architecture in ARCHITECTURES:
        if norm := settings_class(architecture).model_fields.get("layer_norm"):
            tested = {settings["layer_norm"] for name, settings in VARIANTS if name == architecture}
            assert tested == set(get_args(norm.annotation)), architecture


def is_fno(variant):
    """Return whether it is FNO, the package's model whose parameters the paper and a formula count."""
    return variant[1].get("model", "FNO") == "FNO"


@selected(lambda variant: variant[0] in PAPER and is_fno(variant))
def test_parameter_count_of_the_paper(variant):
    operator = build(*variant, seed=0)
    if variant[1].get("attention") == "none":
        assert count(operator) < PAPER[variant[0]]
    else:
        without = SMOOTHER if variant[1].get("smoother", "learned") != "learned" else 0
        counted = parameter_counts(operator)[variant[0] not in COMPLEX_ONCE]
        assert counted == PAPER[variant[0]] - without


def test_complex_parameters_are_counted_once_and_twice(variant):
    once, twice = parameter_counts(small(variant))
    assert twice == count(small(variant))
    assert (once < twice) == (accepts(variant, "modes"))


def test_complex_parameters_of_the_fourier_neural_operator():
    """Cao counts 2,368,001: 4 layers of 2·12·12 complex 32 × 32 matrices, and the real rest."""
    assert parameter_counts(build("fno2d", {}, 0)) == (2_368_001 - 4 * 288 * 32**2, 2_368_001)


@selected(is_fno)
def test_parameter_count_follows_the_closed_formula(variant):
    more = {"in_channels": 3, "out_channels": 2}
    if accepts(variant, "input_coordinates"):
        more |= {"input_coordinates": True}
    if accepts(variant, "decoder_layers"):
        more |= {"decoder_layers": 3}
    settings = resolve(variant[0], {**SMALL[variant[0]], **variant[1], **more})
    assert count(small(variant, **more)) == FORMULAS[variant[0]](settings)


def test_any_number_of_points(variant):
    channels = several_channels(variant)
    operator = small(variant, **channels)
    for n in sides(variant[0]):
        u, x = sample(variant, channels=3, n=n)
        shape = x.shape[:-1]
        if settings_class(variant[0]).coarse_output:
            shape = tuple(downsampled_sizes(m, 0.7)[1] for m in shape)
        assert operator(u, x).shape == (2, *shape, channels["out_channels"])


def cancels(variant, name):
    """Whether a bias has a gradient of zero, up to rounding.

    A softmax over points takes out what all keys share; the normalisation of CODANO, what a channel gains.
    """
    settings = variant[1]
    if settings.get("model") == "CODANO":
        return re.search(r"attention_layers\..*(convs\.\d|fcs\.1|normalizer)\.bias$", name)
    softmax = settings.get("attention") in ("softmax", "linear") and settings.get("layer_norm") == "regular"
    return softmax and name.endswith("projections.1.bias")


def test_gradient_reaches_every_parameter(variant):
    operator = small(variant)
    operator(*sample(variant, batch=3)).square().sum().backward()
    dead = [
        name for name, p in operator.named_parameters() if p.grad is None or not p.grad.abs().max().item() > 0
    ]
    assert not [name for name in dead if not cancels(variant, name)]


def test_gradient_in_the_input_is_that_of_differences(variant):
    operator = small(variant).double()
    x = points(variant[0], dtype=torch.float64)
    direction = band_limited(x, 1, 1, seed=1)
    u = band_limited(x, 1, 1).requires_grad_()
    (gradient,) = torch.autograd.grad(operator(u, x).sum(), u)
    step, tolerance = (1e-2, 1e-2) if variant[0] in SINGLE_PRECISION else (1e-6, 1e-5)
    with torch.no_grad():
        difference = (operator(u + step * direction, x) - operator(u - step * direction, x)).sum() / (
            2 * step
        )
    assert torch.isclose((gradient * direction).sum(), difference, rtol=tolerance, atol=1e-8)


def scramble(operator):
    """Leave the initialisation, where attention is a small perturbation, so that its quadrature matters."""
    generator = torch.Generator().manual_seed(1)
    for parameter in operator.parameters():
        parameter.data += 0.1 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)


def refined(operator, dim, sizes):
    """Outputs for the same functions on grids of these sizes, at the points of the first."""
    scramble(operator)
    for n in sizes:
        x = grid(n, torch.float64, dim)
        with torch.no_grad():
            out = operator(band_limited(x, 2, 1), x)
        yield out[(slice(None), *[slice(None, None, n // sizes[0])] * dim)]


# Attention of all points to all: the finest grid cannot be as fine.
ALL_PAIRS = {"tno1d", "tno2d", "universal_approximator1d", "universal_approximator2d"}


def is_invariant(variant):
    if variant[1].get("quadrature") == "none" or variant[1].get("model") == "CODANO":
        return False
    if (variant[0], variant[1].get("model")) == ("neuraloperator2d", "UNO"):
        return False
    return not variant[0].startswith(("transformer2d", "afno", "unet"))


def test_claims_of_invariance(variant):
    assert small(variant).discretisation_invariant == is_invariant(variant)


def stays_on_its_grid(variant):
    return not settings_class(variant[0]).coarse_output


@selected(lambda variant: is_invariant(variant) and stays_on_its_grid(variant))
def test_same_function_on_two_grids_is_the_same_function_out(variant):
    """First order: the coordinates jump across the period, so the rectangle rule is no better than O(h).

    On patches everything jumps across theirs, and h is large against them.
    """
    operator, dim = small(variant).double().eval(), dimension(variant[0])
    sizes = [32, 64, 128, 256, 4096] if dim == 1 else [16, 32, 64, 128, 512]
    if variant[0] in ALL_PAIRS and dim == 2:
        sizes = [8, 16, 32, 64]
    *outputs, finest = refined(operator, dim, sizes)
    errors = [relative_error(output, finest) for output in outputs]
    orders = [math.log2(a / b) for a, b in pairwise(errors)]
    assert sum(orders) / len(orders) > 0.9, (errors, orders)
    assert errors[-1] < (0.05 if hasattr(operator, "patches") else 0.02), errors


@pytest.mark.parametrize("attention", ["galerkin", "none"])
def test_interpolating_cnns_claim_no_invariance(attention):
    """Their convolutions reach half as far on twice as fine a grid."""
    operator = small(("transformer2d", {"attention": attention})).double().eval()
    assert not operator.discretisation_invariant
    assert not small(("transformer2d_coarse", {"attention": attention})).discretisation_invariant
    coarse, fine = refined(operator, 2, [24, 48])
    assert relative_error(coarse, fine) > 0.05


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
    dropouts = ("residual_dropout", "feedforward_dropout", "dropout")
    rates = {name: 0.1 for name in dropouts if accepts(variant, name)}
    operator = small(variant, **rates)
    u, x = sample(variant)
    operator.eval()
    assert torch.equal(operator(u, x), operator(u, x))
    operator.train()
    assert torch.equal(operator(u, x), operator(u, x)) == (not rates)


def test_samples_do_not_see_each_other(variant):
    operator = small(variant).double().eval()
    u, x = sample(variant, batch=4, dtype=torch.float64)
    tolerance = 1e-5 if variant[0] in SINGLE_PRECISION else 1e-12
    torch.testing.assert_close(operator(u, x)[2:3], operator(u[2:3], x), rtol=tolerance, atol=tolerance)


def test_state_dict_round_trip(variant, tmp_path):
    operator, other = small(variant, seed=0), small(variant, seed=1)
    torch.save(operator.state_dict(), tmp_path / "weights.pt")
    other.load_state_dict(torch.load(tmp_path / "weights.pt", weights_only=True))
    u, x = sample(variant)
    assert torch.equal(operator(u, x), other(u, x))
    assert torch.equal(operator(u, x), copy.deepcopy(operator)(u, x))
    assert all(not parameter.is_complex() for parameter in operator.parameters())


def test_bfloat16_autocast(variant):
    operator = small(variant)
    u, x = sample(variant)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        v = operator(u, x)
    v.float().square().sum().backward()
    assert torch.isfinite(v).all()
    assert all(torch.isfinite(parameter.grad).all() for parameter in operator.parameters())
    assert relative_error(v.float(), operator(u, x)) < 0.05


@pytest.mark.parametrize("architecture", ["fno1d", "transformer1d"])
def test_linspace_coordinates_end_at_the_right_end(architecture):
    variant = (architecture, {})
    operator, linspace = small(variant), small(variant, coordinates="linspace")
    u = torch.randn(2, 32, 1)
    ends_included = torch.linspace(0, 1, 32)[:, None]
    torch.testing.assert_close(linspace(u, grid(32)), operator(u, ends_included))
    assert not torch.allclose(linspace(u, grid(32)), operator(u, grid(32)))


def test_shapes_are_checked(variant):
    u, x = sample(variant)
    with pytest.raises(TypeCheckError):
        small(variant)(u, x[1:])


def test_every_architecture_has_a_least_number_of_points_or_takes_any():
    assert set(TOO_FEW) | ANY_NUMBER == set(ARCHITECTURES)


@selected(lambda variant: variant[0] in TOO_FEW and variant[1].get("quadrature") != "none")
def test_too_few_points(variant):
    n, message = TOO_FEW[variant[0]]
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole message is compared
        small(variant)(*sample(variant, n=n))
    assert str(caught.value) == message
