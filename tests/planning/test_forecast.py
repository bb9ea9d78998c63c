"""The forecast counts what is not done; that it lists Snakemake's own jobs is a test of the pipeline."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from merged_configuration import DEFAULT, ROOT, merged

from resolvent.figures.papers.registry import PAPERS
from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.paper_plan import PaperPlan
from resolvent.planning.plan import Plan
from resolvent.planning.prediction.costs import Need
from resolvent.planning.prediction.forecast import Job, forecast, hours, jobs, shortages
from resolvent.planning.prediction.needs import Needs
from resolvent.planning.prediction.steps import Step


@pytest.fixture
def listed(tmp_path, monkeypatch):
    """The jobs of config/test.yaml in an empty folder, training on the CPU and on a GPU."""
    monkeypatch.chdir(tmp_path)
    overlay = yaml.safe_load((ROOT / "config/test.yaml").read_text())
    plan = Plan(load_configuration(merged(DEFAULT, overlay)))
    papers = [PaperPlan(plan, key) for key in PAPERS]
    return [list(jobs(plan, papers, Needs(plan, gpu=gpu))) for gpu in (False, True)]


def test_hours_are_those_of_jobs_that_are_not_done(tmp_path):
    one, other = (Job("train", str(tmp_path / name), Need(3600.0, 1e9), gpu=True) for name in "ab")
    solve = Job("solve", str(tmp_path / "c"), Need(1800.0, 2e9), disk=3e9)
    assert hours([one, other, solve]) == (0.5, 2.0)
    Path(one.output).touch()
    assert hours([one, other, solve]) == (0.5, 1.0)
    rule, *_, total, _, summary = forecast([one, other, solve], cores=2, gpus=4).splitlines()
    assert rule.split() == [
        "rule",
        "jobs",
        "done",
        "core-hours",
        "GPU-hours",
        "GB",
        "of",
        "a",
        "job",
        "GB",
        "on",
        "disk",
    ]
    assert total.split() == ["total", "3", "1", "0.50", "1.00", "2.0", "3.00"]
    assert summary.startswith("About 0.2 hours on 2 cores and 4 GPUs")


def test_a_disk_and_a_memory_that_are_too_small_are_warned_of(tmp_path):
    solve = Job("solve", str(tmp_path / "data/x"), Need(1.0, 1e18), disk=2e17)
    more = Job("solve", str(tmp_path / "data/y"), Need(1.0, 1e6), disk=1e17)
    disk, memory = forecast([solve, more], cores=1, gpus=0).splitlines()[-2:]
    assert disk.startswith("Warning: 300,000,000.0 GB are to be written and ")
    assert disk.endswith(f"GB are free on the disk of {tmp_path}; name another in data_root or results_root")
    assert memory.startswith("Warning: a job of solve needs 1,000,000,000.0 GB and this machine has ")
    Path(solve.output).parent.mkdir()
    Path(solve.output).touch()
    (disk,) = shortages([solve, more])
    assert disk.startswith("100,000,000.0 GB are to be written")
    assert list(shortages([replace(more, disk=1.0)])) == []


STEP = Step(
    name="burgers/gt/n512", architecture="transformer1d", settings="{}", points=512, batch=8,
    precision="float32", processes=1, guess=2e8, samples=1e6,
)  # fmt: skip


def test_a_step_larger_than_the_gpu_is_warned_of_and_taken_in_parts(monkeypatch):
    """Predict some 82 MB for its 8 samples, and 45 MB for four."""
    memory = {"GPU": None}
    monkeypatch.setattr("resolvent.planning.prediction.steps.smallest_memory", lambda: memory["GPU"])
    job = Job("train", "not there", Need(1.0, 1e6), gpu=True, step=STEP)
    assert list(shortages([job])) == []  # no GPU is known
    memory["GPU"] = 5e7
    (warning,) = shortages([job, replace(job, output="another")])  # of two seeds one is named
    start, _, end = warning.partition(" GB for 8 samples and ")
    assert start.startswith("a step of burgers/gt/n512 needs 0.")
    assert end == "a GPU here has 0.1 GB; they are taken 4 at a time"
    memory["GPU"] = 5e6
    (warning,) = shortages([job])
    assert warning.endswith("not even one fits: choose a smaller model")
    memory["GPU"] = 4e8  # too small by the formula, but not by what is counted
    assert list(shortages([job])) == []


def test_the_trainings_of_a_plan_have_their_steps(listed):
    steps = {job.step for job in listed[1] if job.rule == "train"}
    assert None not in steps
    assert all(step.guess > 0 and step.samples > 0 and step.batch > 0 for step in steps)
    assert {json.loads(step.settings)["in_channels"] for step in steps} >= {1}


def test_processes_take_as_many_hours_as_they_are():
    job = Job("train", "not there", Need(3600.0, 1e9), gpu=True, processes=3)
    assert hours([job]) == (0.0, 3.0)


def test_a_training_has_the_processes_of_its_experiment_and_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    change = {"experiments": {"burgers": {"processes": 2, "processes_of": {"fno": 4}}}}
    plan = Plan(load_configuration(merged(DEFAULT, change)))
    found = {
        job.output: job.processes for job in jobs(plan, [], Needs(plan, gpu=True)) if job.rule == "train"
    }
    of_burgers = {Path(file).parts[-4]: found[file] for file in found if "/burgers/" in file}
    assert of_burgers.pop("fno") == 4
    assert set(of_burgers.values()) == {2}
    assert {count for file, count in found.items() if "/burgers" not in file} == {
        1
    }  # others are like burgers


def test_jobs_of_operators_are_counted_where_they_run(listed):
    on_cpu, on_gpu = listed
    assert hours(on_cpu)[1] == 0
    of_operators = ("train", "evaluate", "inference", "measure_cost")
    counted = sum(job.need.seconds for job in on_gpu if job.rule in of_operators) / 3600
    assert hours(on_gpu)[1] == pytest.approx(counted)


def test_every_job_is_identified_by_what_it_leaves(listed):
    outputs = [(job.rule, job.output) for job in listed[0]]
    assert len(set(outputs)) == len(outputs)
    assert all(job.need.seconds > 0 and job.need.bytes > 0 for job in listed[0])
    stores = sum(job.disk for job in listed[0] if job.rule.startswith("solve_"))
    assert stores > 0
