"""The wrapped models are the package's own, with real parameters."""

import contextlib
import io

import pytest
import torch
from model_variants import SMALL, band_limited, points
from neuralop import models as package

from resolvent.models.build import build

SETTINGS = SMALL["neuraloperator2d"]
KEYWORDS = {"n_modes": (8, 8), "hidden_channels": 8, "n_layers": 3}


def packages_own(model):
    """The package's class, called as its documentation has it."""
    with contextlib.redirect_stdout(io.StringIO()):
        if model == "CODANO":
            return package.CODANO(
                n_modes=[[8, 8]] * 3, n_layers=3, hidden_variable_codimension=8, static_channel_dim=2,
                n_heads=[1] * 3, per_layer_scaling_factors=[[1, 1]] * 3, attention_scaling_factors=[1] * 3,
            )  # fmt: skip
        if model == "UNO":
            return package.UNO(
                3, 1, 8, n_layers=3, uno_out_channels=[8] * 3, uno_n_modes=[[8, 8]] * 3,
                uno_scalings=[[1, 1], [0.5, 0.5], [2, 2]], channel_mlp_skip="linear",
                positional_embedding=None,
            )  # fmt: skip
        return getattr(package, model)(in_channels=3, out_channels=1, positional_embedding=None, **KEYWORDS)


@pytest.mark.parametrize("model", ["FNO", "TFNO", "UNO", "CODANO"])
def test_it_is_the_packages_model_and_building_it_says_nothing(model, capfd):
    operator = build("neuraloperator2d", {**SETTINGS, "model": model}, 0)
    assert capfd.readouterr().out == ""
    reference = packages_own(model)
    pairs = {name.replace("/", "."): pair for name, pair in operator.complex_weights.items()}
    with torch.no_grad():
        for name, parameter in reference.named_parameters():
            if name in pairs:
                parameter.copy_(torch.view_as_complex(pairs.pop(name)))
            else:
                parameter.copy_(operator.operator.get_parameter(name))
        assert not pairs
        x = points("neuraloperator2d")
        u = band_limited(x, 2, 1)
        channels = u.movedim(-1, 1), x.expand(2, *x.shape).movedim(-1, 1)
        expected = reference(*channels) if model == "CODANO" else reference(torch.cat(channels, dim=1))
        torch.testing.assert_close(operator(u, x), expected.movedim(1, -1))


def test_options_reach_the_package():
    plain = build("neuraloperator2d", SETTINGS, 0)
    tensorised = build(
        "neuraloperator2d", {**SETTINGS, "options": {"factorization": "tucker", "rank": 0.2}}, 0
    )
    assert sum(w.numel() for w in tensorised.parameters()) < sum(w.numel() for w in plain.parameters()) / 2


@pytest.mark.parametrize(
    ("model", "options"),
    [("FNO", {"rnk": 1, "widht": 3}), ("TFNO", {"n_modes": [8]}), ("UNO", {"non_linearity": "gelu"}),
     ("CODANO", {"norm": "group"})],
)  # fmt: skip
def test_unknown_options_are_refused_with_those_accepted(model, options):
    said = rf"^unknown options of {model}: {', '.join(options)}; accepted: lifting_channel(s|_ratio), .*$"
    with pytest.raises(ValueError, match=said):
        build("neuraloperator2d", {**SETTINGS, "model": model, "options": options}, 0)
