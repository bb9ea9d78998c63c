"""Settings: defaults, and messages of one line."""

import re
from importlib.metadata import version

import pytest

from resolvent.models import registry
from resolvent.models.build import build
from resolvent.models.registry import ARCHITECTURES, examples, resolve, settings_class


@pytest.mark.parametrize(
    ("architecture", "settings", "key", "accepted"),
    [
        ("transformer_1d", {}, "'transformer_1d'; did you mean 'transformer1d'?", ", ".join(ARCHITECTURES)),
        ("mlp", {}, "'mlp'", "module:SettingsClass of your own"),
        ("fno1d", {"widht": 64}, "'widht'; did you mean 'width'?", "num_layers, modes, projection_width"),
        ("fno1d", {"modes": 0}, "modes", "greater than or equal to 1"),
        ("transformer1d", {"width": 96, "num_heads": 5}, "width 96", "num_heads 5"),
        (
            "transformer1d",
            {"attention": "none", "attention_layer_scale": 1.0},
            "'none'",
            "attention_layer_scale",
        ),
        ("transformer2d", {"width": 2, "num_heads": 1}, "width", "greater than or equal to 3"),
        ("afno", {"num_blocks": 7}, "width 128", "num_blocks 7"),
        ("transformer1d", {"contraction": "quadratic"}, "contraction 'quadratic'", "'fourier'"),
        ("tno1d", {"in_channels": 2, "initial_channels": 2}, "initial_channels 2", "in_channels 2"),
        ("neuraloperator2d", {"model": "CODANO", "in_channels": 2}, "out_channels 1", "in_channels 2"),
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


def test_every_setting_is_described():
    for architecture in ARCHITECTURES:
        for name, field in settings_class(architecture).model_fields.items():
            assert field.description, name
            assert not field.is_required(), name


def test_an_architecture_of_a_package_that_is_not_installed_says_how_it_is(monkeypatch):
    monkeypatch.setattr(registry, "version", lambda name: version(f"{name}-that-is-missing"))
    listed = {architecture for architecture, *_ in examples()}
    assert listed == set(ARCHITECTURES) - {"neuraloperator1d", "neuraloperator2d"}
    words = (
        "'neuraloperator1d' needs what is not installed: pip install -c constraints.txt -e '.[neuraloperator]"
    )
    with pytest.raises(ValueError, match=re.escape(words)):
        build("neuraloperator1d", {}, 0)
    build("fno1d", settings_class("fno1d").example, 0)
