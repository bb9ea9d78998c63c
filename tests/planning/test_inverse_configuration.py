"""Experiments on the inverse problem: the paper's setting, one line for each fault, what runs are given."""

from merged_configuration import loaded, planned

from resolvent.planning.configuration.settings import model_settings, training_settings

EXPERIMENTS = {"darcy_inverse_clean": 0.0, "darcy_inverse_noise1": 0.01, "darcy_inverse_noise10": 0.1}


def test_the_papers_inverse_setting_is_what_the_paper_says():
    configuration = loaded("cao2021")
    dataset = configuration.datasets["darcy_cao_inverse"]
    assert list(zip(dataset.resolutions, dataset.coarse, strict=True)) == [(141, 36), (211, 71)]
    for name, noise in EXPERIMENTS.items():
        experiment, rows = configuration.experiments[name], {}
        assert experiment.resolutions == [141, 211]
        assert experiment.samples.train == 1024
        assert noise in experiment.tested_noise
        for key in experiment.models:
            model = configuration.models[key]
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
    plan = planned()
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
    configuration = loaded({"experiments": {"darcy_inverse_noise10": {"test_noise": None}}})
    assert configuration.experiments["darcy_inverse_noise10"].tested_noise == [0.1]
