"""The configuration for the public files, config/public_data.yaml, here on small ones."""

import numpy as np
import pytest
import yaml
from pipeline_project import ROOT, Project
from public_files import burgers_variables, darcy_variables, write_mat

from resolvent.common.files import read_json
from resolvent.common.records import CostRecord, RunRecord, read_record
from resolvent.figures.published.reported_numbers import differences, example_of
from resolvent.planning.configuration.read import merged
from resolvent.solvers.darcy.direct import solve_direct

SMALL = {
    "datasets": {
        "burgers_public": {
            "finest": 128, "resolutions": [64, 128], "samples": {"train": 16, "validation": 4, "test": 6},
        },
        "darcy_public": {
            "finest": 33, "resolutions": [33, 17], "samples": {"train": 12, "validation": 3, "test": 4},
        },
    },
    "experiments": {
        "burgers_public": {
            "models": ["fno"], "resolutions": [64], "seeds": [1], "samples": {"train": 16},
            "training": {"epochs": 1, "batch_size": 8},
        },
        "darcy_public": {
            "models": ["fno2d"], "resolutions": [33], "test_resolutions": [33], "seeds": [1],
            "training": {"epochs": 1},
        },
    },
}  # fmt: skip
RESULTS = "results/public_data"
# What a report adds to the records of its runs is seen in one.
TARGETS = [
    f"{RESULTS}/{file}"
    for file in (
        "darcy_public/report.html", "datasets/darcy_public.html",
        "burgers_public/fno/n64/seed1/errors.csv", "burgers_public/baselines/errors.csv",
    )
]  # fmt: skip
CONFIG = "small.yaml"


def shipped() -> dict:
    """Return config/public_data.yaml with the experiments that train on the public files alone."""
    content = yaml.safe_load((ROOT / "config/public_data.yaml").read_text(encoding="utf-8"))
    content["experiments"].pop("burgers_tested_on_public")
    content["build"]["experiments"].remove("burgers_tested_on_public")
    return content


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Return a copy of the project with the files and the configuration."""
    project = Project(tmp_path_factory.mktemp("public") / "project")
    content = merged(shipped(), SMALL)
    (project.folder / CONFIG).write_text(yaml.safe_dump(content))
    files = [content["datasets"]["burgers_public"]["source"], *content["datasets"]["darcy_public"]["source"]]
    (project.folder / "public").mkdir()
    write_mat(project.folder / files[0], burgers_variables(40))
    for file, split, version in zip(files[1:], ("train", "test"), ("MAT 5", "MAT 7.3"), strict=True):
        variables = darcy_variables(20, split=split)
        other = np.where(variables["coeff"] > 5, 19.0, 1.0)
        variables["sol"] = solve_direct(other, grid="cell_centres")
        write_mat(project.folder / file, variables, version)
    return project


@pytest.fixture(scope="module")
def project(prepared):
    prepared.output = prepared.build(*TARGETS, config=CONFIG)
    return prepared


def test_the_configuration_is_planned_and_a_missing_file_is_one_line_before_anything_runs(prepared):
    """Runs before those that build what is planned here."""
    planned = prepared.planned(*TARGETS, config=CONFIG)
    assert planned["solve_burgers_public"] == planned["solve_darcy_public"] == 1
    assert planned["train"] == 2
    content = yaml.safe_load((prepared.folder / CONFIG).read_text())
    content["datasets"]["burgers_public"]["source"] = "public/other.mat"
    (prepared.folder / "missing.yaml").write_text(yaml.safe_dump(content))
    output = prepared.build(*TARGETS, config="missing.yaml", succeeds=False)
    assert "datasets.burgers_public.source: the file public/other.mat does not exist" in output
    assert "Traceback" not in output


@pytest.mark.slow
def test_models_are_trained_and_tested_on_the_files(project):
    for experiment, resolution in (("burgers_public/fno", 64), ("darcy_public/fno2d", 33)):
        folder = project.folder / RESULTS / experiment / f"n{resolution}" / "seed1"
        errors = np.genfromtxt(folder / "errors.csv", delimiter=",", names=True)
        assert np.all(errors["relative_l2"] > 0)
        record = read_record(folder / "run.json", RunRecord)
        cost = read_record(folder / "cost.json", CostRecord)
        assert record.dataset_settings["source"]
        assert example_of(record).source.name == "Cao 2021"
        known = ("source", "sha256", "accuracy", "imported")
        of_data = [words for words in differences(record, cost) if words.startswith(known)]
        assert bool(of_data) == (resolution == 33), of_data  # what the check of the Darcy file remarks on
        assert (folder.parents[2] / "baselines/errors.csv").exists()


@pytest.mark.slow
def test_what_the_check_found_stands_on_the_terminal_the_page_and_the_report(project):
    words = "differ from our solver&#39;s (cell centres, arithmetic mean)"
    for page in ("datasets/darcy_public", "darcy_public/report"):
        text = (project.folder / RESULTS / f"{page}.html").read_text(encoding="utf-8")
        assert "Imported; labels checked against our solver: relative L² difference" in text
        assert words in text
        assert "takes 2 values" not in text  # its pattern is that of the stated distribution
    (card,) = (project.folder / "data/burgers_public").glob("*.json")
    assert read_json(card, "card")["imported"]["warnings"] == []  # of which a page then shows none
    assert "finalise_darcy_public: warning: The pressures in the file differ" in project.output
    assert "finalise_burgers_public: warning" not in project.output


@pytest.mark.slow
def test_nothing_runs_again_until_the_content_of_a_file_changes(project):
    assert project.planned(*TARGETS, config=CONFIG) == {}
    file = project.folder / "public/burgers_data_R10.mat"
    file.touch()
    assert project.planned(*TARGETS, config=CONFIG) == {}
    (card,) = (project.folder / "data/burgers_public").glob("*.json")
    assert read_json(card, "card")["imported"]["files"][0]["file"] == file.name
    write_mat(file, burgers_variables(40, seed=2))
    planned = project.planned(*TARGETS, config=CONFIG)
    assert planned["solve_burgers_public"] == planned["finalise_burgers_public"] == planned["train"] == 1
    assert "solve_darcy_public" not in planned
