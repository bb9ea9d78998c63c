"""Settings: defaults, and messages of one line."""

import re
import subprocess
import sys

import pytest

from resolvent.models.build import build
from resolvent.models.registry import ARCHITECTURES, resolve, settings_class


@pytest.mark.parametrize(
    ("architecture", "settings", "key", "accepted"),
    [
        ("transformer_1d", {}, "'transformer_1d'; did you mean 'transformer1d'?", ", ".join(ARCHITECTURES)),
        ("mlp", {}, "'mlp'", "module:SettingsClass of your own"),
        ("fno1d", {"widht": 64}, "'widht'; did you mean 'width'?", "num_layers, modes, projection_width"),
        ("fno1d", {"width": "64"}, "width", "a valid integer"),
        ("fno1d", {"modes": 0}, "modes", "greater than or equal to 1"),
        ("transformer1d", {"attention": "cosine"}, "attention", "'softmax', 'linear' or 'none'"),
        ("transformer1d", {"width": 96, "num_heads": 5}, "width 96", "num_heads 5"),
        ("transformer1d", {"attention": "none", "attention_dropout": 0.1}, "'none'", "attention_dropout"),
        (
            "transformer1d",
            {"attention": "none", "attention_layer_scale": 1.0},
            "'none'",
            "attention_layer_scale",
        ),
        ("transformer2d", {"width": 130}, "width 130", "num_heads 4"),
        ("transformer2d", {"width": 2, "num_heads": 1}, "width", "greater than or equal to 3"),
        ("transformer2d", {"downsampling_factor": 1.2}, "downsampling_factor", "less than or equal to 1"),
        ("transformer2d_coarse", {"layer_norm_epsilon": 0}, "layer_norm_epsilon", "greater than 0"),
        ("vit_no", {"width": 100}, "width 100", "num_heads 8"),
        ("fano", {"smoother": "laplacian"}, "smoother", "'none', 'learned' or 'inverse_laplacian'"),
        ("afno", {"num_blocks": 7}, "width 128", "num_blocks 7"),
        ("transformer1d", {"contraction": "quadratic"}, "contraction 'quadratic'", "'fourier'"),
        ("tno1d", {"in_channels": 2, "initial_channels": 2}, "initial_channels 2", "in_channels 2"),
        ("tno2d", {"width": 100}, "width 100", "num_heads 8"),
        ("neuraloperator1d", {"model": "CODANO"}, "model", "'FNO', 'TFNO' or 'UNO'"),
        ("neuraloperator2d", {"model": "CODANO", "in_channels": 2}, "out_channels 1", "in_channels 2"),
        ("transformer1d", {"feedforward_dropout": 1.0}, "feedforward_dropout", "less than 1"),
        ("transformer1d", {"input_coordinates": "0"}, "input_coordinates", "a valid boolean, got '0'"),
        ("transformer1d", {"num_layers": 1.5, "modes": 0}, "num_layers", "got 1.5; modes"),
    ],
)
def test_bad_settings_are_refused_in_one_line_with_what_is_accepted(architecture, settings, key, accepted):
    with pytest.raises(ValueError, match=re.escape(key)) as caught:
        resolve(architecture, settings)
    assert accepted in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=re.escape(key)):
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
        "fno1d": ("transformer1d", "encoder", "neuraloperator"),
        "transformer2d": ("transformer1d", "fno"),
        "tno1d": ("encoder", "universal_approximator", "neuraloperator"),
        "neuraloperator1d": ("fno", "continuum_attention"),
        "vit_no": ("encoder", "fno", "afno"),
        "afno": ("patched_neural_operators", "deeponet"),
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
