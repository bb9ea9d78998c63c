"""Experiments on the inverse problem: the paper's setting, one line for each fault, what runs are given."""

import re

import pytest
import yaml
from merged_configuration import DEFAULT, ROOT, merged

from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.configuration.settings import model_settings, training_settings
from resolvent.planning.plan import Plan

EXPERIMENTS = {"darcy_inverse_clean": 0.0, "darcy_inverse_noise1": 0.01, "darcy_inverse_noise10": 0.1}


def configuration(change=None, overlay=None):
    """config.yaml with an overlay of config/ and a change on top."""
    overlay = yaml.safe_load((ROOT / f"config/{overlay}.yaml").read_text()) if overlay else {}
    return load_configuration(merged(merged(DEFAULT, overlay), change or {}))


def test_the_papers_inverse_setting_is_what_the_paper_says():
    loaded = configuration(overlay="cao2021")
    dataset = loaded.datasets["darcy_cao_inverse"]
    assert list(zip(dataset.resolutions, dataset.coarse, strict=True)) == [(141, 36), (211, 71)]
    for name, noise in EXPERIMENTS.items():
        experiment, rows = loaded.experiments[name], {}
        assert experiment.resolutions == [141, 211]
        assert experiment.samples.train == 1024
        assert noise in experiment.tested_noise
        for key in experiment.models:
            model = loaded.models[key]
            if model.recipe == "code":
                continue
            for n_f in (141, 211):
                training = training_settings(experiment, key, model, n_f)
                assert (experiment.noise, training.epochs, training.batch_size) == (noise, 100, 4)
                assert (training.normalisation, training.boundary) == ("pointwise", "free")
                assert (training.gradient_weight, training.record_test_error) == (0, True)
                settings = model_settings(model, n_f, dataset).model_dump()
                half = settings.get("attention") in ("fourier", "softmax")
                assert training.learning_rate == (5e-4 if half else 1e-3)
                rows[
                    model.architecture, model.grids, settings.get("attention"), settings.get("layer_norm")
                ] = settings
        attentions = ("fourier", "galerkin", "softmax", "linear")
        assert set(rows) == {
            ("fno2d", "fine", None, None),
            ("fno2d", "coarse", None, None),
            ("transformer2d_coarse", "stored", "none", "projection"),
            *(
                ("transformer2d_coarse", "stored", a, n)
                for a in attentions
                for n in ("regular", "projection")
            ),
        }
        rates = {"feedforward": 0.05, "downsampling": 0.05, "decoder": 0.05}
        rates |= {"residual": 0.0, "upsampling": 0.0, "hidden": 0.0}
        for (architecture, *_), settings in rows.items():
            if architecture == "transformer2d_coarse":  # table 7
                assert {part: settings[f"{part}_dropout"] for part in rates} == rates
                assert settings["attention_dropout"] == (0.0 if settings["attention"] == "none" else 0.05)
                assert (settings["width"], settings["num_heads"], settings["num_layers"]) == (192, 4, 6)
                assert settings["downsampling_activation"] == "silu"


def test_the_description_of_a_run_says_what_to_train_and_test_on():
    plan = Plan(configuration())
    given = plan.description("darcy_inverse_noise1", "galerkin2d_coarse", 43, seed=1)
    assert (given["resolution"], given["test_resolutions"], given["grids"]) == (43, [43], "stored")
    assert (given["training"]["noise"], given["test_noise"]) == (0.01, [0.01, 0.0, 0.02, 0.05])
    assert given["noise_realisations"] == 4
    assert plan.training("darcy_inverse_noise1", "fno2d_coarse", 43).grids == "coarse"
    assert plan.baseline_resolutions("darcy_inverse_noise1") == [43]
    plain = plan.description("darcy", "galerkin2d", 43, seed=1)
    assert (plain["test_resolutions"], plain["test_noise"]) == ([43, 61, 85], [0.0])
    assert [one["coarse_points"] for one in (given, plain)] == [15, 12]
    clean, noisy = (
        plan.description(name, "fno2d_fine", 43, seed=1)["config_hash"] for name in list(EXPERIMENTS)[:2]
    )
    assert clean != noisy


def test_the_default_is_to_test_with_the_noise_of_training():
    loaded = configuration({"experiments": {"darcy_inverse_noise10": {"test_noise": None}}})
    assert loaded.experiments["darcy_inverse_noise10"].tested_noise == [0.1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"experiments": {"darcy": {"noise": 0.01}}},
            "experiments.darcy.noise: noise is for equation darcy_inverse; dataset 'darcy_cao' "
            "solves darcy; accepted: 0",
        ),
        (
            {"experiments": {"burgers": {"test_noise": [0.0, 0.1]}}},
            "experiments.burgers.test_noise: noise is for equation darcy_inverse; dataset 'burgers' solves "
            "burgers; accepted: 0",
        ),
        (
            {"experiments": {"darcy_inverse_noise1": {"noise": -0.01}}},
            "experiments.darcy_inverse_noise1.noise: input should be greater than or equal to 0, got -0.01",
        ),
        (
            {"experiments": {"darcy_inverse_noise1": {"test_noise": [0.0, 0.1]}}},
            "experiments.darcy_inverse_noise1.test_noise: [0.0, 0.1] lacks the noise of training, 0.01",
        ),
        (
            {"experiments": {"darcy_inverse_noise1": {"test_noise": [0.01, 0.1, 0.1]}}},
            "experiments.darcy_inverse_noise1.test_noise: 0.1 is named twice",
        ),
        (
            {"experiments": {"darcy_inverse_noise1": {"noise_realisations": 0}}},
            "experiments.darcy_inverse_noise1.noise_realisations: input should be greater than or equal "
            "to 1, got 0",
        ),
        (
            {"experiments": {"darcy_inverse_noise1": {"test_resolutions": [43]}}},
            "experiments.darcy_inverse_noise1.test_resolutions: an inverse problem is tested on the grids of "
            "training; leave it out",
        ),
        (
            {"experiments": {"darcy_inverse_noise1": {"training": {"gradient_weight": 0.1}}}},
            "experiments.darcy_inverse_noise1: gradient_weight 0.1 is not for a coefficient that jumps; "
            "accepted: 0.0",
        ),
        (
            {"experiments": {"darcy_inverse_clean": {"training": {"boundary": "zero"}}}},
            "experiments.darcy_inverse_clean: boundary 'zero' is not for a coefficient that jumps; accepted: "
            "'free'",
        ),
        (
            {"experiments": {"darcy_inverse_clean": {"training_at": {43: {"noise": 0.5}}}}},
            "experiments.darcy_inverse_clean.training_at.43.noise: the noise is the experiment's, for all "
            "its models: `experiments.<name>.noise`",
        ),
        (
            {"models": {"fno2d_fine": {"grids": "stored"}}},
            "models.fno2d_fine.grids: 'stored' is not for fno2d on dataset 'darcy_cao_inverse' (equation "
            "darcy_inverse); accepted: fine, coarse",
        ),
        (
            {"models": {"galerkin2d_coarse": {"grids": "fine"}}},
            "models.galerkin2d_coarse.grids: 'fine' is not for transformer2d_coarse on dataset "
            "'darcy_cao_inverse' (equation darcy_inverse); accepted: stored",
        ),
        (
            {"experiments": {"darcy": {"models": ["fno2d_fine"]}}},
            "models.fno2d_fine.grids: 'fine' is not for fno2d on dataset 'darcy_cao' (equation darcy); "
            "accepted: stored",
        ),
        (
            {"datasets": {"darcy_cao_inverse": {"resolutions": [43, 15], "coarse": [15, 8]}}},
            "datasets.darcy_cao_inverse: resolutions [43, 15] and coarse [15, 8] name a grid twice",
        ),
        (
            {"datasets": {"darcy_cao_inverse": {"coarse": [15, 36]}}},
            "datasets.darcy_cao_inverse: coarse gives one grid for each of resolutions",
        ),
        (
            {"models": {"fno2d_fine": {"grids": "finest"}}},
            "models.fno2d_fine.grids: input should be 'stored', 'fine' or 'coarse', got 'finest'",
        ),
        (
            {"models": {"linear2d_coarse": {"settings_at": {43: {"downsampling_factor": 0.51}}}}},
            "models.linear2d_coarse: downsampling_factor 0.51 leads from 43 points a side to 10; dataset "
            "'darcy_cao_inverse' has 15; accepted: 0.6",
        ),
        (
            {"models": {"linear2d_coarse": {"settings_at": {43: {"downsampling_factor": 0.01}}}}},
            "models.linear2d_coarse: downsampling_factor 0.01 leads from 43 points a side to 0; dataset "
            "'darcy_cao_inverse' has 15; accepted: 0.6",
        ),
    ],
)
def test_a_fault_is_one_line_however_many_experiments_have_it(change, message):
    with pytest.raises(ConfigurationError, match=re.escape(message)) as caught:
        configuration(change)
    assert len(str(caught.value).splitlines()) == 1
