"""The workflow as a module of another one: `module resolvent: ...`."""

from pipeline_project import ROOT, job_counts
from planning_forks import dry_run

SNAKEFILE = f"""\
module resolvent:
    snakefile: "{ROOT}/Snakefile"
    config: {{config}}

use rule * from resolvent as resolvent_*

rule own:
    input: "results/{{name}}/burgers/report.html"
    output: "own.txt"
    shell: "wc -c {{{{input}}}} > {{{{output}}}}"
"""
SMALL = {
    "name": "mine",
    "build": {"experiments": ["burgers"]},
    "experiments": {"burgers": {"models": ["fno"], "seeds": [1]}},
}


def planned(folder, config: dict, name: str) -> dict[str, int]:
    (folder / "Snakefile").write_text(SNAKEFILE.format(config=config, name=name))
    status, output = dry_run(folder, "own", "--cores", "1")
    assert status == 0, output
    return job_counts(output)


def test_a_workflow_imports_this_one_with_changes_of_its_own(tmp_path):
    jobs = planned(tmp_path, SMALL, "mine")
    assert jobs["own"] == jobs["resolvent_report_burgers"] == jobs["resolvent_train"] == 1
    assert jobs["resolvent_solve_burgers"] == 5
    assert not any("darcy" in rule for rule in jobs)


def test_the_snakefile_of_the_catalogue_is_the_whole_workflow(tmp_path):
    snakefile, config = ROOT / "workflow/Snakefile", ROOT / "config/test.yaml"
    status, output = dry_run(tmp_path, "--cores", "1", "--snakefile", snakefile, "--configfile", config)
    assert status == 0, output
    jobs = {"everything", "report_burgers", "paper_page", "front_page", "solve_controlled_ode"}
    assert jobs <= set(job_counts(output))
