"""What every registered architecture must do; a new one joins by its line in the registry."""

import copy
import re

import pytest
import torch
from jaxtyping import TypeCheckError
from model_variants import (
    SINGLE_PRECISION,
    SMALL,
    dimension,
    grid,
    points,
    refused,
    relative_error,
    sides,
)

from resolvent.models.build import build, parameter_counts
from resolvent.models.layers.grid_sizes import downsampled_sizes
from resolvent.models.registry import ARCHITECTURES, resolve, settings_class

# Cao 2021, table 5: 550k, 2.37m, 530k, 2.22m, 2.38m, whatever the attention and the norm. Calvello et al.
# 2024, table 1: 5.98e5, 6.04e5 and, a complex parameter counted once, 5.70e6; the rest at width 128.
OF_PAPERS = {
    "fno1d": 549_569, "fno2d": 2_368_001, "transformer1d": 530_305, "transformer2d": 2_220_829,
    "transformer2d_coarse": 2_383_873, "tno2d": 598_145, "galerkin_encoder2d": 604_289,
    "neuraloperator2d": 5_705_089, "vit_no": 716_417, "fano": 48_084_865, "afno": 1_088_640,
}  # fmt: skip
COMPLEX_ONCE = {"neuraloperator2d", "vit_no", "fano"}
# For what depends on neither attention, norm nor smoother: its examples alone.
EXAMPLES = [(name, {}) for name in ARCHITECTURES]
of_every_architecture = pytest.mark.parametrize("variant", EXAMPLES, ids=ARCHITECTURES)


def small(variant, seed=0, **more):
    architecture, settings = variant
    return build(architecture, {**SMALL[architecture], **settings, **more}, seed)


def sample(variant, batch=2, channels=1, n=None, dtype=torch.float32):
    """Noise on a grid, and the grid."""
    x = points(variant[0], n, dtype)
    return torch.randn(batch, *x.shape[:-1], channels, dtype=dtype), x


def accepts(variant, setting):
    return setting in settings_class(variant[0]).model_fields


def several_channels(variant):
    """More than one in and out; CODANO has as many outputs for every input."""
    return {"in_channels": 3, "out_channels": 3 if variant[1].get("model") == "CODANO" else 2}


@pytest.mark.parametrize("architecture", OF_PAPERS)
def test_parameter_count_of_the_paper(architecture):
    counted = parameter_counts(build(architecture, {}, seed=0))
    assert counted[architecture not in COMPLEX_ONCE] == OF_PAPERS[architecture]


@pytest.mark.parametrize(
    ("architecture", "modes", "expected"),
    [("neuraloperator2d", 12, 6), ("fno1d", 16, 16), ("fno2d", 12, 12), ("fano", 4, None)],
)
def test_what_a_fourier_neural_operator_cuts_off(architecture, modes, expected):
    assert resolve(architecture, {"modes": modes}).cut_off() == expected


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


def is_invariant(variant):
    if variant[1].get("quadrature") == "none" or variant[1].get("model") == "CODANO":
        return False
    if variant[1].get("public_code_scaling") or variant == ("neuraloperator2d", {"model": "UNO"}):
        return False
    return not variant[0].startswith(("transformer2d", "afno", "unet"))


def test_claims_of_invariance(variant):
    assert small(variant).discretisation_invariant == is_invariant(variant)


@of_every_architecture
def test_weights_depend_on_the_seed_alone(variant):
    state = torch.random.get_rng_state()
    one = small(variant, seed=3)
    assert torch.equal(torch.random.get_rng_state(), state)
    torch.manual_seed(99)
    same, other = small(variant, seed=3), small(variant, seed=4)
    for p, q in zip(one.parameters(), same.parameters(), strict=True):
        assert torch.equal(p, q)
    assert any(not torch.equal(p, q) for p, q in zip(one.parameters(), other.parameters(), strict=True))


@pytest.mark.parametrize(
    "architecture", [name for name in ARCHITECTURES if "equal_layers" in settings_class(name).model_fields]
)
def test_equal_layers_start_as_copies_of_one_and_part_in_training(architecture):
    settings = SMALL[architecture] | {"num_layers": 3}
    plain, equal = (build(architecture, settings | {"equal_layers": copies}, 0) for copies in (False, True))
    drawn, copied = (
        [dict(layer.named_parameters()) for layer in part.layers]
        for operator in (plain, equal)
        for part in operator.modules()
        if len(getattr(part, "layers", ())) == 3
    )
    for other in copied[1:]:
        assert all(torch.equal(other[name], copied[0][name]) for name in other)
        assert all(other[name] is not copied[0][name] for name in other)
    assert all(torch.equal(drawn[0][name], copied[0][name]) for name in drawn[0])  # drawn as without copies
    assert any(not torch.equal(drawn[1][name], drawn[0][name]) for name in drawn[0])


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


@of_every_architecture
def test_state_dict_round_trip(variant, tmp_path):
    operator, other = small(variant, seed=0), small(variant, seed=1)
    torch.save(operator.state_dict(), tmp_path / "weights.pt")
    other.load_state_dict(torch.load(tmp_path / "weights.pt", weights_only=True))
    u, x = sample(variant)
    assert torch.equal(operator(u, x), other(u, x))
    assert torch.equal(operator(u, x), copy.deepcopy(operator)(u, x))
    assert all(not parameter.is_complex() for parameter in operator.parameters())


@of_every_architecture
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


@of_every_architecture
def test_shapes_are_checked(variant):
    u, x = sample(variant)
    with pytest.raises(TypeCheckError):
        small(variant)(u, x[1:])


SIDES = (4, 5, 6, 7, 8, 9, 12, 13, 14, 16)  # on both sides of what the small architectures can take
# Attention and norms take any grid.
ONE_OF_EACH = [*EXAMPLES, ("neuraloperator2d", {"model": "UNO"}), ("vit_no", {"smoother": "none"})]


@pytest.mark.parametrize(("architecture", "changes"), ONE_OF_EACH)
def test_grids_are_refused_before_training_and_by_the_operator_alike(architecture, changes):
    settings = resolve(architecture, SMALL[architecture] | changes)
    operator = build(architecture, SMALL[architecture] | changes, seed=0).eval()
    early = [n for n in SIDES if refused(settings.check_grid, (n,) * settings.dimension)]
    late = []
    with torch.no_grad():
        for n in SIDES:
            x = grid(n, dim=dimension(architecture))
            if said := refused(operator, torch.zeros(1, *x.shape[:-1], 1), x):
                late.append(n)
                assert re.search(rf"\b{n}\b", said), said
    if settings.one_grid:
        assert late == [n for n in SIDES if n != settings.points]  # which the data give
    else:
        assert early == late
