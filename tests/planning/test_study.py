"""The plan of a study, which its front page compares with what is there, has every run, dataset and item."""

from unittest.mock import Mock

import merged_configuration
import pytest
from pipeline_project import ROOT

from resolvent.common.errors import FileError
from resolvent.figures.front import page
from resolvent.figures.front.study import read_study, write_study
from resolvent.figures.papers.registry import PAPERS
from resolvent.planning.pages import PaperPlan, planned_study, show_what_there_is


def planned(overlay, folder):
    plan = merged_configuration.planned(overlay)
    papers = {key: PaperPlan(plan, key) for key in PAPERS}
    write_study(folder / "study.json", planned_study(plan, papers), command="snakemake", provenance={})
    return plan, read_study(folder)


def test_it_has_every_run_of_a_paper_s_configuration(tmp_path):
    plan, study = planned("cao2021", tmp_path)
    for name in plan.configuration.experiments:
        folders = [folder for row in study.experiments[name].rows for folder in row.runs.values()]
        assert [f"{plan.results}/{folder}" for folder in folders] == plan.run_folders(name)
    assert sum(len(row.runs) for one in study.experiments.values() for row in one.rows) == 788
    assert study.experiments["burgers"].papers == ["cao2021"]
    assert study.papers["calvello2024"].page == ""
    assert set(study.papers["cao2021"].made) <= set(study.papers["cao2021"].items)


def test_paths_are_seen_from_the_folder_of_the_study(tmp_path):
    plan, study = planned("demo", tmp_path)
    assert set(study.datasets) == {"burgers", "darcy_cao", "lorenz63_yz", "kolmogorov"}
    for name, dataset in study.datasets.items():
        assert (plan.results / dataset.card).resolve() == (ROOT / plan.datasets[name].card).resolve()
    assert study.experiments["burgers"].finest == 128
    assert study.command == "snakemake --cores 2"


@pytest.mark.parametrize("failed", [False, True])
def test_after_a_failure_no_command_is_recommended(failed, tmp_path, monkeypatch, capsys):
    plan = merged_configuration.planned("demo")
    plan.results = tmp_path
    monkeypatch.setenv("RESOLVENT_COMMAND", "snakemake")
    error = FileError("cost.json is missing", remedy="make it with `snakemake cost.json`")
    message = str(error)
    monkeypatch.setattr(page, "write_front_page", Mock(side_effect=error))
    show_what_there_is(plan, {}, tmp_path / "study.json", failed=failed)
    expected = "cost.json is missing" if failed else message
    assert capsys.readouterr().err == f"no front page: {expected}\n"


def test_a_plan_is_written_only_where_it_is_another(tmp_path):
    path = tmp_path / "study.json"
    study = {"name": "mine", "experiments": {}, "datasets": {}, "papers": {}}
    first, second, third = (f"snakemake --cores 2 --configfile {name}.yaml" for name in ("a", "b", "c"))
    write_study(path, study, command=first, provenance={"machine": "one"})
    write_study(path, study, command=second, provenance={})
    assert (read_study(tmp_path).command, read_study(tmp_path).provenance) == (first, {"machine": "one"})
    single = "snakemake datasets --cores 8 --configfile c.yaml -R solve_burgers"
    write_study(path, study | {"name": "other"}, command=single, provenance={})
    assert (read_study(tmp_path).command, read_study(tmp_path).name) == (third, "other")
