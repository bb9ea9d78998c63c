"""How a configuration is put together: what is built, entries like others, recipes, and what wins."""

import re

import pytest
from merged_configuration import DEFAULT, ROOT, loaded, problems

from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.settings import model_settings, training_settings

BURGERS = {"experiments": ["burgers"]}
RECIPE = {
    "settings": {"num_heads": 2, "num_layers": 3, "feedforward_width": 50, "width": 48},
    "settings_at": {128: {"feedforward_width": 60, "decoder_width": 70}},
    "training": {"epochs": 3, "batch_size": 5, "learning_rate": 0.03},
    "by": {"attention": {"linear": {"settings": {"num_layers": 4}, "training": {"learning_rate": 0.04}}}},
}


def test_config_yaml_is_read_in_two_minutes():
    text = (ROOT / "config.yaml").read_text()
    assert len(text.splitlines()) <= 80
    assert not re.search(r"(^|[\s\[{,])[&*]\w|<<", text)


def test_everything_is_built_by_default():
    found = loaded()
    assert list(found.experiments) == list(DEFAULT["experiments"])
    assert list(found.datasets) == list(DEFAULT["datasets"])


@pytest.mark.parametrize(
    ("build", "experiments", "datasets"),
    [
        ({"experiments": ["kolmogorov", "burgers"]}, ["burgers", "kolmogorov"], ["burgers", "kolmogorov"]),
        ({"datasets": ["darcy_cao"]}, [], ["darcy_cao"]),
        ({"experiments": ["burgers"], "datasets": ["darcy_cao"]}, ["burgers"], ["burgers", "darcy_cao"]),
        ({"experiments": []}, [], []),
    ],
)
def test_what_is_listed_is_built_and_what_it_needs(build, experiments, datasets):
    found = loaded({"build": build})
    assert list(found.experiments) == experiments
    assert list(found.datasets) == datasets


def test_a_test_dataset_is_needed():
    change = {
        "datasets": {"more": {"like": "darcy_lognormal"}},
        "experiments": {"darcy_lognormal": {"test_dataset": "more"}},
    }
    found = loaded(change, {"build": {"experiments": ["darcy_lognormal"]}})
    assert list(found.datasets) == ["darcy_lognormal", "more"]


def test_what_is_not_built_need_not_fit_but_has_no_unknown_keys():
    misfit = {
        "datasets": {"kolmogorov": {"resolutions": [65]}},
        "experiments": {"darcy": {"resolutions": [9]}},
    }
    assert loaded({"build": BURGERS}, misfit).name == "laptop"
    with pytest.raises(ConfigurationError, match=r"datasets.kolmogorov: a periodic grid"):
        loaded(misfit)
    with pytest.raises(ConfigurationError, match=r"experiments.darcy.epochs: unknown key 'epochs'"):
        loaded({"build": BURGERS}, {"experiments": {"darcy": {"epochs": 3}}})
    with pytest.raises(ConfigurationError, match=r"experiments.burger.title: required, but absent"):
        loaded({"build": BURGERS}, {"experiments": {"burger": {"training": {"epochs": 3}}}})


def test_an_entry_is_like_another_with_all_overlays():
    change = {
        "models": {
            "wide": {"like": "wider", "label": "Wide", "settings": {"width": 192}},
            "wider": {"like": "galerkin", "label": "Wider", "settings": {"width": 288, "num_layers": 2}},
        },
        "experiments": {"burgers": {"models": ["galerkin", "wide", "wider"], "samples": {"train": 64}}},
    }
    found = loaded(change)
    assert found.models["wide"].settings == {**found.models["wider"].settings, "width": 192}
    assert found.models["wider"].settings == {
        **found.models["galerkin"].settings,
        "width": 288,
        "num_layers": 2,
    }
    assert found.experiments["burgers_seeds"].samples.train == 64
    assert found.experiments["burgers_seeds"].models == ["galerkin"]


def test_a_model_without_a_label_is_for_others_to_be_like_it():
    assert "transformer1d" in DEFAULT["models"]
    assert "transformer1d" not in loaded().models
    with pytest.raises(ConfigurationError, match=r"models.lonely.label: required, but absent"):
        loaded({"models": {"lonely": {"architecture": "fno1d"}}})


def test_what_entries_have_from_another_is_reported_where_it_is_said():
    (line,) = problems({"experiments": {"burgers": {"training": {"epochs": 0}}}})
    assert line.startswith("experiments.burgers.training.epochs: input should be greater")


def settings_with(*changes):
    mine = {"label": "Mine", "architecture": "transformer1d", "settings": {"attention": "linear"}}
    found = loaded(
        {
            "build": BURGERS,
            "recipes": {"transformer1d": {"code": None}},
            "models": {"mine": mine},
            "experiments": {"burgers": {"models": ["mine"], "shown": None, "training": {"epochs": 2}}},
        },
        {"recipes": {"transformer1d": {"code": RECIPE}}},
        *changes,
    )
    model, experiment = found.models["mine"], found.experiments["burgers"]
    settings = model_settings(model, 128, found.datasets["burgers"])
    return settings, training_settings(experiment, "mine", model, 128)


def test_settings_of_a_model_win_over_its_recipe_and_the_recipe_over_the_defaults():
    keys = ("num_heads", "num_layers", "feedforward_width", "width", "decoder_width")
    defaults, _ = settings_with()
    found = lambda *changes: [getattr(settings_with(*changes)[0], key) for key in keys]  # noqa: E731
    assert found() == [getattr(defaults, key) for key in keys]
    of_recipe = {"models": {"mine": {"recipe": "code"}}}
    assert found(of_recipe) == [2, 4, 60, 48, 70]  # num_layers by attention
    own = {"models": {"mine": {"settings": {"num_heads": 1, "num_layers": 1, "feedforward_width": 7}}}}
    assert found(of_recipe, own) == [1, 1, 60, 48, 70]  # at a resolution the recipe's word goes before
    at = {"models": {"mine": {"settings_at": {128: {"feedforward_width": 8, "num_heads": 4}}}}}
    assert found(of_recipe, own, at) == [4, 1, 8, 48, 70]


def test_training_is_the_experiments_then_its_resolutions_the_recipes_the_models_and_the_models_there():
    keys = ("epochs", "batch_size", "learning_rate", "weight_decay")
    found = lambda *changes: [getattr(settings_with(*changes)[1], key) for key in keys]  # noqa: E731
    changes = [{"experiments": {"burgers": {"training": {"weight_decay": 0.5}}}}]
    assert found(*changes) == [2, 8, 1e-3, 0.5]
    at = {128: {"epochs": 9, "weight_decay": 0.6, "batch_size": 6}}
    changes.append({"experiments": {"burgers": {"training_at": at}}})
    assert found(*changes) == [9, 6, 1e-3, 0.6]
    changes.append({"models": {"mine": {"recipe": "code"}}})
    assert found(*changes) == [3, 5, 0.04, 0.6]  # the learning rate by attention
    changes.append({"models": {"mine": {"training": {"epochs": 10, "batch_size": 7}}}})
    assert found(*changes) == [10, 7, 0.04, 0.6]
    changes.append({"experiments": {"burgers": {"training_of": {"mine": {"epochs": 11}}}}})
    assert found(*changes) == [11, 7, 0.04, 0.6]
