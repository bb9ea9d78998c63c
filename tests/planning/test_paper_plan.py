"""The plan gathers what experiments say they show of the paper, in the paper's order."""

import merged_configuration
import pytest
from merged_configuration import DEFAULT

from resolvent.planning.configuration.errors import ConfigurationError
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.pages import PaperPlan, caption_facts
from resolvent.planning.plan import Plan

RUN = "results/laptop/burgers/galerkin_layer_scale/n128/seed1127802"


def planned(shows: dict[str, list[str]], **changes) -> PaperPlan:
    """The default configuration with these experiments alone, each showing these items."""
    experiments = {
        name: {**DEFAULT["experiments"][name], "shows": {"cao2021": items} if items else {}, **changes}
        for name, items in shows.items()
    }
    return PaperPlan(Plan(load_configuration({**DEFAULT, "experiments": experiments})), "cao2021")


def test_items_are_gathered_in_the_order_of_the_paper():
    paper = planned({"darcy": ["table6", "table2b"], "burgers": ["figure9", "table6"]})
    assert paper.experiments == {
        "table1": [],
        "table2b": ["darcy"],
        "table5": ["darcy"],
        "table6": ["darcy", "burgers"],
        "figure9": ["burgers"],
    }
    assert list(paper.experiments) == ["table1", "table2b", "table5", "table6", "figure9"]
    assert paper.shown == ["results/laptop/cao2021.html"] + [
        f"results/laptop/cao2021/{file}"
        for file in ("table1.html", "table2b.html", "table5.html", "table6.html", "figure9.svg")
    ]


def test_experiments_that_show_something_link_to_the_page():
    paper = planned({"burgers": ["table2a"], "darcy": []})
    assert (paper.link("burgers"), paper.link("darcy")) == ("../cao2021.html", None)
    paper = planned({"burgers": [], "darcy": []})
    assert (paper.experiments, paper.shown, paper.link("burgers")) == ({}, [], None)


def test_table_5_takes_the_runs_of_every_table_of_errors_once():
    paper = planned({"burgers": ["table2a"], "darcy": ["table2b"], "burgers_ablation": ["table8"]})
    assert paper.experiments["table5"] == ["burgers", "darcy"]


def test_what_each_kind_of_item_is_made_from():
    paper = planned({"burgers": ["table2a", "table6", "figure9"], "darcy": ["figure13"]})
    runs = paper.plan.run_folders("burgers")
    assert paper.given("table1") == {"cost_file": "results/laptop/cao2021/cost.csv"}
    assert paper.inputs("table1") == ["results/laptop/cao2021/cost.csv"]
    assert paper.given("table2a")["comparison_files"] == ["results/laptop/burgers/comparison.csv"]
    assert {"results/laptop/burgers/comparison.csv", "results/laptop/burgers/models.csv"} < set(
        paper.inputs("table2a")
    )
    assert paper.given("table6")["run_folders"] == [runs]
    assert "results/laptop/burgers/comparison.csv" not in paper.inputs("table6")
    assert set(paper.inputs("table6")) >= {f"{folder}/cost.json" for folder in runs}
    (shown,) = paper.given("figure9")["candidates"]
    assert shown[0] == RUN
    assert sorted(shown) == sorted(runs)
    assert set(paper.inputs("figure9")) >= {f"{folder}/run.json" for folder in runs}
    each = planned({"burgers": ["figure11"], "burgers_ablation": ["figure11"]})
    other = RUN.replace("burgers/galerkin_layer_scale", "burgers_ablation/galerkin")
    assert [folders[0] for folders in each.given("figure11")["candidates"]] == [RUN, other]


def test_latent_functions_are_of_every_run_that_has_some():
    paper = planned({"darcy": ["figure13"]})
    (shown,) = paper.given("figure13")["candidates"]
    assert shown[0] == "results/laptop/darcy/galerkin2d/n43/seed1127802"
    without = {"fno2d", "deeponet2d", "unet2d", "transolver2d"}
    assert set(shown) == {one for one in paper.plan.run_folders("darcy") if one.split("/")[3] not in without}
    latents = {file for file in paper.inputs("figure13") if file.endswith("/latent_basis.npz")}
    assert latents == {f"{folder}/latent_basis.npz" for folder in shown}


def test_the_configured_run_is_on_the_finest_grid_and_all_runs_are_candidates():
    plan = planned({"burgers": ["figure9"]}, resolutions=[128, 512], seeds=[3, 4]).plan
    first, *others = plan.shown_candidates("burgers")
    assert first == "results/laptop/burgers/galerkin_layer_scale/n512/seed3"
    assert sorted([first, *others]) == sorted(plan.run_folders("burgers"))


@pytest.mark.parametrize("chosen", [None, "fno2d"])  # fno2d is a model, but none of this experiment's
def test_the_shown_model_is_the_last_by_default(chosen):
    paper = planned({"burgers": ["figure9"]}, shown=chosen)
    assert paper.given("figure9")["candidates"][0][0] == RUN.replace("galerkin_layer_scale", "transolver")
    assert caption_facts(paper.plan, "burgers")["model"] == "Transolver"


@pytest.mark.parametrize(("count", "words"), [(3, "3 test samples"), (40, "four of the 40 test samples")])
def test_the_caption_of_samples_counts_those_that_there_are(count, words):
    plan = planned({"burgers": []}, samples={"test": count}).plan
    assert caption_facts(plan, "burgers")["chosen"] == f"The same {words} for every model."


@pytest.mark.parametrize(
    ("shows", "message"),
    [
        ({"burgers": ["table9"]}, "unknown item 'table9'; did you mean 'table"),
        ({"burgers": ["table1"]}, "unknown item 'table1'; did you mean"),  # needs no experiment
        (
            {"burgers": ["table2a"], "burgers_seeds": ["table2a"]},
            "experiments.burgers_seeds.shows.cao2021: table2a can be shown once, and 'burgers' shows it",
        ),
    ],
)
def test_items_that_cannot_be_shown(shows, message):
    with pytest.raises(ConfigurationError) as caught:
        planned(shows)
    (line,) = str(caught.value).splitlines()
    assert message in line
    assert "accepted: table2a, table2b, table3" in line or "can be shown once" in line


@pytest.mark.parametrize("overlay", [(), ("calvello2024",)])
def test_the_film_of_a_rollout_is_of_the_shown_run(overlay):
    plan = merged_configuration.planned(*overlay)
    assert plan.test_dataset_of("kolmogorov").settings.frames > 1
    assert plan.rolled_out("kolmogorov") == plan.shown_candidates("kolmogorov")[0]
    assert plan.rolled_out("darcy_lognormal") is None
