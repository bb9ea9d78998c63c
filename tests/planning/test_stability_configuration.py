"""The study of stability in the configuration: what its jobs depend on, and slips in it."""

import pytest
from merged_configuration import change_of, planned, problems


def test_the_study_has_every_form_at_three_rates_and_ours_from_ten_seeds():
    studied = planned("stability")
    study = studied.configuration.stability
    forms = {model: studied.stability(study, model) for model in study.models}
    assert len(forms) == 2 * 2 * 4 + 1
    assert all(len(set(form["seeds"])) >= 5 and len(form["learning_rates"]) == 3 for form in forms.values())
    ours = forms["galerkin_layer_scale"]
    assert len(set(ours["seeds"])) == 10
    assert {1e-3, 3e-3, 6e-3} <= set(ours["learning_rates"])
    settings = [tuple(sorted(form["run"]["settings"].items())) for form in forms.values()]
    assert len(set(settings)) == len(settings)
    coded, undropped = (forms[f"galerkin_{name}"]["run"]["settings"] for name in ("public_code", "undropped"))
    differing = {name for name in coded if coded[name] != undropped[name]}
    assert differing == {"attention_dropout", "attention_dropout_in_evaluation"}


def test_the_page_names_the_settings_of_every_model():
    """The FNO as coded trains with batches of 20."""
    studied = planned("stability")
    facts = studied.stability_facts(studied.configuration.stability)
    assert (facts["epochs"], facts["batch_size"]) == ("10", "8")
    panels = {"stability": {"panels": {"Mine": {"as coded": "fno_public_code"}}}}
    studied = planned("stability", panels)
    assert studied.stability_facts(studied.configuration.stability)["batch_size"] == "8 and 20"


def test_a_job_depends_on_nothing_of_other_models():
    change = {"models": {"fourier": {"settings": {"num_layers": 2}}}}
    before, after = planned("stability"), planned("stability", change)
    galerkin, fourier = (
        [plan.stability(plan.configuration.stability, model) for plan in (before, after)]
        for model in ("galerkin", "fourier")
    )
    assert galerkin[0] == galerkin[1]
    assert fourier[0] != fourier[1]


@pytest.mark.parametrize(
    "case",
    [
        ("dataset", "burger", "did you mean 'burgers'"),
        ("resolution", 32, ("32", "'burgers'", "64")),
        ("panels.Mine.as printed", "galerkn", "did you mean 'galerkin'", "panels"),
        ("learning_rates", [0.001, 0.002, 0.001], "0.001"),
        ("learning_rates", [0.0], ("0", "0.0"), "learning_rates.0"),
        ("seeds", [3, 3], "3"),
        ("seeds_of.galerkin", [3, 3], "3"),
        ("seeds_of.galerkn", [3], "did you mean 'galerkin'", "seeds_of"),
        ("samples.train", 513, ("513", "'burgers'", "512")),
        ("training.schedule", "plateau", "'1cycle'"),
        ("learning_rate", [0.001], "'learning_rate'"),
    ],
)
def test_a_slip_in_the_study_is_one_line_that_names_the_key(case):
    path, value, words, key = (*case, case[0])[:4]
    (line,) = problems("stability", change_of(f"stability.{path}", value))
    assert line.startswith(f"stability.{key}:")
    for word in [words] if isinstance(words, str) else words:
        assert word in line


def test_no_experiment_takes_the_folder_of_the_study():
    line, *_ = problems({"experiments": {"stability": {"like": "burgers"}}})
    assert line.startswith("experiments.stability: 'stability' is reserved for a folder")
