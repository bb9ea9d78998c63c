"""Settings: defaults, and messages of one line."""

import subprocess
import sys

import pytest

from resolvent.models.build import build
from resolvent.models.registry import ARCHITECTURES, resolve, settings_class

OR_YOUR_OWN = "or module:SettingsClass of your own"


@pytest.mark.parametrize(
    ("architecture", "settings", "message"),
    [
        (
            "transformer_1d",
            {},
            "unknown architecture 'transformer_1d'; did you mean 'transformer1d'? "
            f"accepted: {', '.join(ARCHITECTURES)}; {OR_YOUR_OWN}",
        ),
        (
            "mlp",
            {},
            f"unknown architecture 'mlp'; accepted: {', '.join(ARCHITECTURES)}; {OR_YOUR_OWN}",
        ),
        (
            "fno1d",
            {"widht": 64},
            "fno1d: unknown setting 'widht'; did you mean 'width'? accepted: in_channels, out_channels, "
            "width, num_layers, modes, projection_width, coordinates",
        ),
        ("fno1d", {"width": "64"}, "fno1d: width: Input should be a valid integer, got '64'"),
        ("fno1d", {"modes": 0}, "fno1d: modes: Input should be greater than or equal to 1, got 0"),
        (
            "transformer1d",
            {"attention": "cosine"},
            "transformer1d: attention: Input should be 'galerkin', 'fourier', 'softmax', 'linear' or 'none', "
            "got 'cosine'",
        ),
        (
            "transformer1d",
            {"width": 96, "num_heads": 5},
            "transformer1d: width 96 is not divisible by num_heads 5",
        ),
        (
            "transformer1d",
            {"attention": "none", "attention_dropout": 0.1},
            "transformer1d: attention 'none' has no matrix for attention_dropout 0.1",
        ),
        ("transformer2d", {"width": 130}, "transformer2d: width 130 is not divisible by num_heads 4"),
        (
            "transformer2d",
            {"width": 2, "num_heads": 1},
            "transformer2d: width: Input should be greater than or equal to 3, got 2",
        ),
        (
            "transformer2d",
            {"downsampling_factor": 1.2},
            "transformer2d: downsampling_factor: Input should be less than or equal to 1, got 1.2",
        ),
        (
            "transformer2d_coarse",
            {"layer_norm_epsilon": 0},
            "transformer2d_coarse: layer_norm_epsilon: Input should be greater than 0, got 0",
        ),
        ("vit_no", {"width": 100}, "vit_no: width 100 is not divisible by num_heads 8"),
        (
            "fano",
            {"smoother": "laplacian"},
            "fano: smoother: Input should be 'none', 'learned' or 'inverse_laplacian', got 'laplacian'",
        ),
        ("afno", {"num_blocks": 7}, "afno: width 128 is not divisible by num_blocks 7"),
        (
            "transformer1d",
            {"attention": "galerkin", "contraction": "quadratic"},
            "transformer1d: contraction 'quadratic' is for attention 'fourier' only, got 'galerkin'",
        ),
        (
            "tno1d",
            {"in_channels": 2, "initial_channels": 2},
            "tno1d: initial_channels 2 leave no function among in_channels 2",
        ),
        ("tno2d", {"width": 100}, "tno2d: width 100 is not divisible by num_heads 8"),
        (
            "neuraloperator1d",
            {"model": "CODANO"},
            "neuraloperator1d: model: Input should be 'FNO', 'TFNO' or 'UNO', got 'CODANO'",
        ),
        (
            "neuraloperator2d",
            {"model": "CODANO", "in_channels": 2},
            "neuraloperator2d: CODANO gives every input channel as many output channels; "
            "out_channels 1 is not a multiple of in_channels 2",
        ),
        (
            "transformer1d",
            {"feedforward_dropout": 1.0},
            "transformer1d: feedforward_dropout: Input should be less than 1, got 1.0",
        ),
        (
            "transformer1d",
            {"input_coordinates": "0", "num_layers": 1.5},
            "transformer1d: num_layers: Input should be a valid integer, got 1.5; "
            "input_coordinates: Input should be a valid boolean, got '0'",
        ),
    ],
)
def test_bad_settings_are_refused_in_one_line(architecture, settings, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole message is compared
        resolve(architecture, settings)
    assert str(caught.value) == message
    with pytest.raises(ValueError):  # noqa: PT011
        build(architecture, settings, 0)


def test_yaml_numbers_without_a_dot_are_text_and_accepted():
    assert resolve("transformer1d", {"projection_gain": "1e-3"}).projection_gain == 1e-3
    assert resolve("transformer2d", {"layer_norm_epsilon": "1e-5"}).layer_norm_epsilon == 1e-5
    assert resolve("fano", {"smoother_epsilon": "1e-4"}).smoother_epsilon == 1e-4


def test_every_setting_is_described():
    for architecture in ARCHITECTURES:
        for name, field in settings_class(architecture).model_fields.items():
            assert field.description, name
            assert not field.is_required(), name


def test_settings_need_no_torch():
    code = (
        "import sys, resolvent.models.registry; sys.exit('torch' in sys.modules or 'neuralop' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_building_one_architecture_imports_no_other():
    others = {
        "fno1d": ("transformer1d", "encoder", "fno2d", "spectral_convolution_2d"),
        "fno2d": ("transformer2d", "encoder", "resampling", "fno1d"),
        "transformer2d": ("transformer1d", "fno1d", "fno2d"),
        "tno1d": ("encoder", "universal_approximator", "neuraloperator", "spectral_convolution"),
        "galerkin_encoder2d": ("transformer_neural_operator", "neuraloperator", "transformer2d"),
        "neuraloperator1d": ("fno1d", "spectral_convolution", "continuum_attention"),
        "vit_no": ("encoder", "fno2d", "fourier_attention_neural_operator", "afno"),
        "afno": ("patches", "spectral_convolution_2d"),
    }
    code = f"""
import os, sys
from resolvent.models.build import build
for architecture, others in {others}.items():
    if os.fork() == 0:
        operator = build(architecture, {{}}, 0)
        parts = [name.split(".") for name in sys.modules]
        imported = {{names[-1] for names in parts if names[:2] == ["resolvent", "models"]}}
        assert type(operator).__module__.split(".")[-1] in imported
        os._exit(any(other in imported for other in others))
    if os.wait()[1]:
        sys.exit(architecture)
"""
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
