"""Sizes in the plan: every model at each of them is a model of its own."""

import pytest
from merged_configuration import DEFAULT, merged

from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.pages import given_to_report
from resolvent.planning.plan import Plan

SIZES = {"samples": [32, 64], "width": [16, 32]}


def planned(scaling=SIZES, **changes) -> Plan:
    burgers = {"models": ["fno", "galerkin"], "resolutions": [128], "seeds": [7], "scaling": scaling}
    overlay = {"build": {"experiments": ["burgers"]}, "experiments": {"burgers": burgers | changes}}
    overlay["models"] = {"galerkin": {"settings": {"num_heads": 2}}}
    return Plan(load_configuration(merged(DEFAULT, overlay)))


def problems(scaling, **changes) -> str:
    with pytest.raises(ConfigurationError) as error:
        planned(scaling, **changes)
    return str(error.value)


def test_every_model_is_trained_at_every_size():
    plan = planned(training_of={"fno": {"epochs": 3}}, shown="fno")
    experiment = plan.experiment("burgers")
    names = [f"fno_n{samples}_w{width}" for samples in (32, 64) for width in (16, 32)]
    assert experiment.models[:4] == names
    assert experiment.shown == names[-1]
    for name, model in zip(experiment.models, 2 * [(32, 16), (32, 32), (64, 16), (64, 32)], strict=True):
        run = plan.training("burgers", name, 128)
        assert (run.counts["train"], run.settings.width) == model
        assert (run.training.epochs == 3) == name.startswith("fno")
        label = plan.configuration.models[name].label
        assert label.endswith(f", {model[0]} samples, width {model[1]}")
    assert given_to_report(plan, "burgers")["scaled"]
    own = planned({"samples": [32, 64]})
    assert own.experiment("burgers").models[:2] == ["fno_n32", "fno_n64"]
    assert not given_to_report(Plan(load_configuration(DEFAULT)), "burgers")["scaled"]


def test_a_run_at_a_size_is_that_of_a_model_with_these_settings():
    own = {"training": {"train_samples": 64}, "settings": {"width": 32}}
    other = {
        "experiments": {"burgers": {"models": ["fno"], "resolutions": [128], "seeds": [7]}},
        "models": {"fno": own},
    }
    plain = Plan(load_configuration(merged(DEFAULT, other | {"build": {"experiments": ["burgers"]}})))
    hashes = [
        plan.training("burgers", name, 128).config_hash
        for plan, name in ((plain, "fno"), (planned(), "fno_n64_w32"))
    ]
    assert hashes[0] == hashes[1]


@pytest.mark.parametrize(
    ("scaling", "words"),
    [
        ({"samples": [32]}, "at least 2"),
        ({"samples": [32, 32]}, "scaling.samples: 32 is named twice"),
        ({"samples": [32, 10**6]}, "scaling.samples: 1000000 asked for; the experiment has"),
        ({"samples": [2, 32]}, "is more than the 2 training samples"),
        ({"samples": [32, 64], "width": [15]}, "width 15 is not divisible by num_heads"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(scaling, words):
    assert words in problems(scaling)
