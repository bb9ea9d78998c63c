"""Equal tuning in the plan: the same short runs for every model, and nothing of experiments without it."""

import merged_configuration
import pytest
from merged_configuration import merged

from resolvent.planning.plan import Plan
from resolvent.planning.prediction.needs import Needs

RATES = {"learning_rate": [5.0e-4, "2e-3"], "epochs": 4}


def change(tuning=RATES, **changes) -> dict:
    """`burgers` with two models, two resolutions and two seeds; `changes` of the experiment."""
    burgers = {
        "models": ["fno", "galerkin"], "resolutions": [128, 512], "seeds": [7, 8], "tuning": tuning,
        "training": {"record_test_error": True}, **changes,
    }  # fmt: skip
    return {"build": {"experiments": ["burgers"]}, "experiments": {"burgers": burgers}}


def planned(*tuning, **changes) -> Plan:
    return merged_configuration.planned(change(*tuning, **changes))


def problems(tuning, **changes) -> list[str]:
    return merged_configuration.problems(change(tuning, **changes))


def test_every_model_tries_the_same_at_every_resolution():
    plan = planned({"learning_rate": [5.0e-4, "2e-3"], "gradient_clip": [1.0, None], "epochs": 4})
    tried = [
        [one["settings"] for one in plan.short_runs("burgers", model, resolution).values()]
        for model in ("fno", "galerkin")
        for resolution in (128, 512)
    ]
    combinations = [(5e-4, 1.0), (5e-4, None), (2e-3, 1.0), (2e-3, None)]
    assert tried == 4 * [[{"learning_rate": rate, "gradient_clip": clip} for rate, clip in combinations]]


def test_a_short_run_has_the_candidate_its_own_length_the_first_seed_and_no_test_sample():
    plan = planned()
    first, second = plan.short_runs("burgers", "fno", 128)
    assert first == "results/laptop/burgers/fno/n128/tuning/learning_rate_0.0005/seed7"
    assert second.endswith("/tuning/learning_rate_0.002/seed7")
    run = plan.training("burgers", "fno", 128, "learning_rate_0.002").parameters
    assert (run["training"]["learning_rate"], run["training"]["epochs"]) == (2e-3, 4)
    assert not run["training"].get("record_test_error")
    assert set(run["samples"]) == {"train", "validation"}
    assert run["training"]["gradient_weight"] == 0.0  # of its recipe


def test_the_value_of_a_recipe_reruns_nothing_of_a_tuned_experiment():
    def everything(rate):
        models = {"fno": {"training": {"learning_rate": rate}}}
        experiments = {"burgers_tuned": {"seeds": [7], "tuning": RATES}}
        plan = merged_configuration.planned({"models": models, "experiments": experiments})
        run = ("burgers_tuned", "fno", 128)
        return plan.short_runs(*run), plan.training(*run).parameters, plan.description(*run, seed=7)

    assert everything(1e-4) == everything(1e-2)


def test_another_candidate_leaves_the_others_as_they_are():
    before = planned().short_runs("burgers", "fno", 128)
    after = planned(merged(RATES, {"learning_rate": [5.0e-4, 1.0e-3, 2.0e-3]})).short_runs(
        "burgers", "fno", 128
    )
    assert {folder: after[folder] for folder in before} == before
    assert len(after) == 3
    longer = planned(merged(RATES, {"epochs": 5})).short_runs("burgers", "fno", 128)
    assert longer.keys() == before.keys()
    assert all(longer[folder]["config_hash"] != before[folder]["config_hash"] for folder in before)


def test_the_run_lacks_what_is_tuned_and_the_description_has_the_run():
    plan = planned()
    run = plan.training("burgers", "galerkin", 128).parameters
    assert "learning_rate" not in run["training"]
    assert plan.description("burgers", "galerkin", 128, 8)["run"] == run
    assert plan.tuned("burgers", "galerkin", 128) == "results/laptop/burgers/galerkin/n128/tuned.json"


def test_without_tuning_nothing_is_tuned():
    plan = planned(None)
    assert plan.training("burgers", "galerkin", 128).training.learning_rate == 1e-3
    assert "run" not in plan.description("burgers", "galerkin", 128, 8)
    assert plan.tuned("burgers", "galerkin", 128) is None
    assert not plan.short_runs("burgers", "galerkin", 128)


def test_the_forecast_counts_short_runs_by_their_length(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = planned({"batch_size": [2, 16], "epochs": 4})
    needs = Needs(plan, gpu=False)
    run = "burgers", "fno", 128
    small, large = (needs.train_short(*run, f"batch_size_{size}") for size in (2, 16))
    assert small.seconds > large.seconds
    assert small.bytes < large.bytes
    whole = needs.train(*run)
    assert whole.seconds > small.seconds  # it has more epochs
    assert whole.bytes >= large.bytes  # whatever is chosen


@pytest.mark.parametrize(
    ("tuning", "message"),
    [
        ({"learning_rate": [], "epochs": 1}, "tuning.learning_rate: list should have at least 2 items"),
        ({"learning_rate": [1e-3, -1], "epochs": 1}, "tuning.learning_rate.1: input should be greater than"),
        ({"learning_rat": [1e-3, 2e-3], "epochs": 1}, "tuning.learning_rat: unknown key 'learning_rat'; did"),
        ({"learning_rate": [1e-3, "1e-3"], "epochs": 1}, "tuning.learning_rate: 0.001 is named 2 times"),
        ({"learning_rate": [1e-3, 2e-3]}, "tuning.epochs: required, but absent"),
        ({"epochs": 1}, "tuning: no setting to choose; accepted: a list of values of batch_size, schedule,"),
        ({"batch_size": [8, 4000], "epochs": 1}, ": batch_size 4000 is more than the 256 training samples"),
    ],
)
def test_a_slip_is_one_line(tuning, message):
    found = problems(tuning)
    assert f"experiments.burgers{'' if message[0] == ':' else '.'}{message}" in "\n".join(found)
    assert all(line.startswith("experiments.burgers") for line in found)


@pytest.mark.parametrize("given", [{"training_of": {"fno": {}}}, {"training_at": {128: {}}}])
def test_what_is_tuned_is_not_given_for_a_model_or_resolution(given):
    ((key, parts),) = given.items()
    (part,) = parts
    found = problems(RATES, **{key: {part: {"learning_rate": 1e-3}}})
    where = f"experiments.burgers.{key}.{part}.learning_rate"
    assert f"{where}: `tuning` chooses this setting for every model; remove it" in "\n".join(found)
    planned(RATES, **{key: {part: {"weight_decay": 1e-3}}})
