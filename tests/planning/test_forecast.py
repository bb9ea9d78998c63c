"""The forecast counts what is not done; that it lists Snakemake's own jobs is a test of the pipeline."""

import json
from dataclasses import replace
from types import SimpleNamespace

from merged_configuration import DEFAULT, merged

from resolvent.planning.configuration.load import load_configuration
from resolvent.planning.plan import Plan
from resolvent.planning.prediction.costs import Need
from resolvent.planning.prediction.forecast import HEADER, Job, forecast, hours, shortages
from resolvent.planning.prediction.needs import Needs, Step


def test_hours_are_those_of_jobs_that_are_not_done(tmp_path):
    one, other = (Job("train", (str(tmp_path / name),), Need(3600.0, 1e9), gpu=True) for name in "ab")
    solve = Job("solve", (str(tmp_path / "c"),), Need(1800.0, 2e9, disk=3e9))
    assert hours([one, other, solve]) == (0.5, 2.0)
    (tmp_path / "a").touch()
    assert hours([one, other, solve]) == (0.5, 1.0)
    rule, *_, total, _, summary = forecast([one, other, solve], cores=2, gpus=4).splitlines()
    assert rule.split() == " ".join(HEADER).split()
    assert total.split() == ["total", "3", "1", "0.50", "1.00", "2.0", "3.00"]
    assert summary.startswith("About 0.2 hours on 2 cores and 4 GPUs")


def test_a_disk_and_a_memory_that_are_too_small_are_warned_of(tmp_path):
    solve = Job("solve", (str(tmp_path / "data/x"),), Need(1.0, 1e18, disk=2e17))
    more = Job("solve", (str(tmp_path / "data/y"),), Need(1.0, 1e6, disk=1e17))
    disk, memory = forecast([solve, more], cores=1, gpus=0).splitlines()[-2:]
    assert disk.startswith("Warning: 300,000,000.0 GB are to be written and ")
    assert disk.endswith(f"GB are free on the disk of {tmp_path}; name another in data_root or results_root")
    assert memory.startswith("Warning: a job of solve needs 1,000,000,000.0 GB and this machine has ")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/x").touch()
    (disk,) = shortages([solve, more])
    assert disk.startswith("100,000,000.0 GB are to be written")
    assert list(shortages([replace(more, need=Need(1.0, 1e6, disk=1.0))])) == []


STEP = Step(
    name="burgers/gt/n512", architecture="transformer1d", settings="{}", points=512, batch=8,
    precision="float32", processes=1, guess=2e8, samples=1e6,
)  # fmt: skip


def test_a_step_larger_than_the_gpu_is_warned_of_and_taken_in_parts(monkeypatch):
    """Predict some 82 MB for its 8 samples, and 45 MB for four."""
    memory = {"GPU": None}
    monkeypatch.setattr("resolvent.planning.prediction.forecast.smallest_memory", lambda: memory["GPU"])
    job = Job("train", ("not there",), Need(1.0, 1e6), gpu=True, step=STEP)
    assert list(shortages([job])) == []  # no GPU is known
    memory["GPU"] = 5e7
    (warning,) = shortages([job, replace(job, outputs=("another",))])  # of two seeds one is named
    start, _, end = warning.partition(" GB for 8 samples and ")
    assert start.startswith("a step of burgers/gt/n512 needs 0.")
    assert end == "a GPU here has 0.1 GB; they are taken 4 at a time"
    memory["GPU"] = 5e6
    (warning,) = shortages([job])
    assert warning.endswith("not even one fits: choose a smaller model")
    memory["GPU"] = 4e8  # too small by the formula, but not by what is counted
    assert list(shortages([job])) == []


def test_the_trainings_of_a_plan_have_their_steps_and_processes():
    change = {"experiments": {"burgers": {"processes": 2, "processes_of": {"fno": 4}}}}
    plan = Plan(load_configuration(merged(DEFAULT, change)))
    needs = Needs(plan, gpu=True)
    for model in plan.configuration.experiments["burgers"].models:
        step = needs.step(SimpleNamespace(experiment="burgers", model=model, group="n128"))
        assert step.processes == (4 if model == "fno" else 2)
        assert step.guess > 0
        assert step.samples > 0
        assert json.loads(step.settings)["in_channels"] == 1


def test_processes_take_as_many_hours_as_they_are():
    job = Job("train", ("not there",), Need(3600.0, 1e9), gpu=True, processes=3)
    assert hours([job]) == (0.0, 3.0)
