"""Experiments on the inverse problem: what runs are given."""

from merged_configuration import loaded, planned


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
        plan.description(f"darcy_inverse_{name}", "fno2d_fine", 43, seed=1)["config_hash"]
        for name in ("clean", "noise1")
    )
    assert clean != noisy


def test_the_default_is_to_test_with_the_noise_of_training():
    configuration = loaded({"experiments": {"darcy_inverse_noise10": {"test_noise": None}}})
    assert configuration.experiments["darcy_inverse_noise10"].tested_noise == [0.1]
