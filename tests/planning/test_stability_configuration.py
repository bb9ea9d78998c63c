"""The study of stability in the configuration: what its jobs depend on, and slips in it."""

import re

import pytest
import yaml
from merged_configuration import DEFAULT, ROOT, change_of, merged

from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.plan import Plan

STUDY = yaml.safe_load((ROOT / "config/stability.yaml").read_text())


def plan(*changes: dict) -> Plan:
    content = merged(DEFAULT, STUDY)
    for change in changes:
        content = merged(content, change)
    return Plan(load_configuration(content))


def test_the_study_has_every_form_at_four_rates_and_ours_from_twenty_seeds():
    studied = plan()
    study = studied.configuration.stability
    forms = {model: studied.stability(study, model) for model in study.models}
    assert len(forms) == 2 * 2 * 4 + 1
    assert all(len(set(form["seeds"])) >= 8 and len(form["learning_rates"]) == 4 for form in forms.values())
    ours = forms["galerkin_layer_scale"]
    assert len(set(ours["seeds"])) == 20
    assert {1e-3, 3e-3, 6e-3} <= set(ours["learning_rates"])
    settings = [tuple(sorted(form["run"]["settings"].items())) for form in forms.values()]
    assert len(set(settings)) == len(settings)
    coded, undropped = (forms[f"galerkin_{name}"]["run"]["settings"] for name in ("public_code", "undropped"))
    differing = {name for name in coded if coded[name] != undropped[name]}
    assert differing == {"attention_dropout", "attention_dropout_in_evaluation"}


def test_a_job_depends_on_nothing_of_other_models():
    change = {"models": {"fourier": {"settings": {"num_layers": 2}}}}
    before, after = plan(), plan(change)
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
    with pytest.raises(ConfigurationError) as caught:
        plan(change_of(f"stability.{path}", value))
    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"stability.{key}:")
    for word in [words] if isinstance(words, str) else words:
        assert word in line


def test_no_experiment_takes_the_folder_of_the_study():
    with pytest.raises(ConfigurationError, match=re.escape("experiments.stability: 'stability' is a folder")):
        load_configuration(merged(DEFAULT, {"experiments": {"stability": {"like": "burgers"}}}))
