"""Sizes and sweeps in the plan: every model with each combination of values is a model of its own."""

import merged_configuration
import pytest
from merged_configuration import DEFAULT

from resolvent.planning.configuration.load import check, load_configuration
from resolvent.planning.configuration.read import read_configuration
from resolvent.planning.pages import sources_of_report
from resolvent.planning.plan import Plan

SIZES = {"samples": [32, 64], "width": [16, 32]}


def change(scaling=SIZES, **changes) -> dict:
    burgers = {"models": ["fno", "galerkin"], "resolutions": [128], "seeds": [7], "scaling": scaling}
    overlay = {"build": {"experiments": ["burgers"]}, "experiments": {"burgers": burgers | changes}}
    overlay["models"] = {"galerkin": {"settings": {"num_heads": 2}}}
    return overlay


def planned(*scaling, **changes) -> Plan:
    return merged_configuration.planned(change(*scaling, **changes))


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
    assert sources_of_report(plan, "burgers")["scaled"]
    own = planned({"samples": [32, 64]})
    assert own.experiment("burgers").models[:2] == ["fno_n32", "fno_n64"]
    assert not sources_of_report(merged_configuration.planned(), "burgers")["scaled"]


def test_a_run_at_a_size_is_that_of_a_model_with_these_settings():
    own = {"training": {"train_samples": 64}, "settings": {"width": 32}}
    other = {
        "experiments": {"burgers": {"models": ["fno"], "resolutions": [128], "seeds": [7]}},
        "models": {"fno": own},
    }
    plain = merged_configuration.planned(other, {"build": {"experiments": ["burgers"]}})
    hashes = [
        plan.training("burgers", name, 128).config_hash
        for plan, name in ((plain, "fno"), (planned(), "fno_n64_w32"))
    ]
    assert hashes[0] == hashes[1]


@pytest.mark.parametrize(
    ("scaling", "words"),
    [
        ({"samples": [32]}, "at least 2"),
        ({"samples": [32, 32]}, "scaling.samples: 32 is named 2 times"),
        ({"samples": [32, 10**6]}, "scaling.samples: 1000000 asked for; the experiment has"),
        ({"samples": [2, 32]}, "is more than the 2 training samples"),
        ({"samples": [32, 64], "width": [15]}, "width 15 is not divisible by num_heads"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(scaling, words):
    assert words in "\n".join(merged_configuration.problems(change(scaling)))


def test_models_with_one_label_are_not_fitted_by_one_curve():
    alike = change()
    alike["models"]["fno"] = {"label": DEFAULT["models"]["galerkin"]["label"]}
    assert "experiments.burgers.scaling: several models" in "\n".join(merged_configuration.problems(alike))


SWEEP = {"galerkin": {"settings": {"width": [64, 96]}, "training": {"learning_rate": [1.0e-3, 3.0e-3]}}}


def swept(sweep=SWEEP, **changes) -> Plan:
    return planned(None, sweep=sweep, **changes)


def test_every_combination_of_a_sweep_is_a_model_with_all_seeds():
    plan = swept(seeds=[7, 8, 9], shown="galerkin", training_of={"galerkin": {"epochs": 3}})
    experiment = plan.experiment("burgers")
    names = [f"galerkin_w{width}_learning_rate_{rate}" for width in (64, 96) for rate in ("0_001", "0_003")]
    assert experiment.models == ["fno", *names]
    assert experiment.shown == names[-1]
    for name, expected in zip(names, [(64, 1e-3), (64, 3e-3), (96, 1e-3), (96, 3e-3)], strict=True):
        run = plan.training("burgers", name, 128)
        assert (run.settings.width, run.training.learning_rate, run.training.epochs) == (*expected, 3)
        label = plan.configuration.models[name].label
        assert label.endswith(", width {}, learning rate {}".format(*expected))
    assert len(plan.run_folders("burgers")) == 5 * 3
    assert not sources_of_report(plan, "burgers")["scaled"]


def test_a_sweep_is_the_same_as_models_written_by_hand():
    """Values go before settings at a resolution, and decide what the recipe brings."""
    by = {"fourier": {"training": {"weight_decay": 0.25}}}
    recipes = {"transformer1d": {"code": {"settings_at": {128: {"width": 32}}, "by": {"attention": by}}}}
    models = {"galerkin": {"recipe": "code"}}
    by_hand = {"recipe": "code", "like": "galerkin", "label": "By hand"}
    by_hand |= {"settings": {"attention": "fourier", "width": 64}, "settings_at": {128: {"width": 64}}}
    burgers = {"models": ["galerkin", "hand"], "resolutions": [128], "seeds": [7]}
    burgers["sweep"] = {"galerkin": {"settings": {"attention": ["fourier", "softmax"], "width": [64, 96]}}}
    overlay = {"build": {"experiments": ["burgers"]}, "experiments": {"burgers": burgers}}
    overlay |= {"recipes": recipes, "models": models | {"hand": by_hand}}
    plan = merged_configuration.planned(overlay)
    ours = plan.training("burgers", "galerkin_attention_fourier_w64", 128)
    assert (ours.settings.attention, ours.settings.width, ours.training.weight_decay) == ("fourier", 64, 0.25)
    assert ours.config_hash == plan.training("burgers", "hand", 128).config_hash
    assert plan.training("burgers", "galerkin_attention_softmax_w64", 128).training.weight_decay != 0.25


def test_a_sweep_at_several_sizes_has_both():
    plan = planned({"samples": [32, 64]}, sweep={"galerkin": {"settings": {"num_layers": [1, 2]}}})
    of_galerkin = [f"galerkin_num_layers_{layers}_n{samples}" for layers in (1, 2) for samples in (32, 64)]
    assert plan.experiment("burgers").models == ["fno_n32", "fno_n64", *of_galerkin]
    label = plan.configuration.models[of_galerkin[-1]].label
    assert label.endswith(", num layers 2, 64 samples")


@pytest.mark.parametrize(
    ("sweep", "changes", "words"),
    [
        ({"galerkn": {}}, {}, "sweep: unknown model of the experiment 'galerkn'; did you mean 'galerkin'"),
        ({"galerkin": {"setings": {}}}, {}, "sweep.galerkin.setings: unknown key 'setings'; did you mean"),
        ({"galerkin": {"settings": {"width": 64}}}, {}, "galerkin.settings.width: expected a list, got 64"),
        ({"galerkin": {"settings": {"width": [8, 8]}}}, {}, "settings.width: 8 is named 2 times"),
        ({"galerkin": {"settings": {"width": [15]}}}, {}, "sweep.galerkin: transformer1d: width 15 is not"),
        (
            {"galerkin": {"training": {"learning_rat": [1, 2]}}},
            {},
            "sweep.galerkin.training.learning_rat: unknown key 'learning_rat'; did you mean 'learning_rate'",
        ),
        (
            {"galerkin": {"training": {"train_samples": [10**6, "x"]}}},
            {},
            "sweep.galerkin.training.train_samples: 1000000 asked for; the experiment has 256",
        ),
        (
            SWEEP,
            {"tuning": {"learning_rate": [1e-3, 2e-3], "epochs": 1}},
            "sweep.galerkin.training.learning_rate: `tuning` chooses this setting for every",
        ),
        (SWEEP, {"scaling": SIZES}, "sweep.galerkin.settings.width: `scaling` lists values of this setting"),
        ({"galerkin": {"settings": {"loss": ["a" * 300]}}}, {}, "characters; accepted: at most 128"),
        ({"galerkin": {"settings": {"width": [64, "64"]}}}, {}, "'galerkin_w64' exists already"),
    ],
)  # fmt: skip
def test_a_slip_in_a_sweep_is_one_line(sweep, changes, words):
    found = merged_configuration.problems(change(**{"scaling": None, "sweep": sweep} | changes))
    (line,) = (one for one in found if words in one)
    assert line.startswith("experiments.burgers.sweep")


def test_a_slip_in_a_sweep_has_its_file_and_line(tmp_path, capsys):
    file = tmp_path / "mine.yaml"
    file.write_text(
        "experiments:\n  burgers:\n    sweep:\n      galerkin:\n        settings: {width: [64, 96]}\n"
        "        training: {learning_rate: [1.0e-3, -1]}\n"
    )
    assert check([file]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    key = "experiments.burgers.sweep.galerkin.training.learning_rate"
    assert line.startswith(f"{file}, line 6: {key}: input should be greater than or equal to ")
    file.write_text(file.read_text().replace("-1", "3.0e-3"))
    assert check([file]) == 0
    configuration = load_configuration(read_configuration([file]))
    assert (
        len(configuration.experiments["burgers"].models)
        == len(DEFAULT["experiments"]["burgers"]["models"]) + 3
    )
    inherited = configuration.experiments["burgers_tuned"].models  # is `like` burgers, without its sweep
    assert inherited == DEFAULT["experiments"]["burgers_tuned"]["models"]
