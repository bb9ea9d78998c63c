"""The forecast counts what is not done; that it lists Snakemake's own jobs is a test of the pipeline."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from resolvent.planning.prediction import forecast as module
from resolvent.planning.prediction.costs import Need
from resolvent.planning.prediction.forecast import HEADER, Job, forecast, hours, shortages, usable_gpus


def test_hours_are_those_of_jobs_that_are_not_done(tmp_path):
    one, other = (Job("train", (str(tmp_path / name),), Need(3600.0, 1e9), gpu=True) for name in "ab")
    solve = Job("solve", (str(tmp_path / "c"),), Need(1800.0, 2e9, disk=3e9))
    assert hours([one, other, solve]) == (0.5, 2.0)
    (tmp_path / "a").touch()
    assert hours([one, other, solve]) == (0.5, 1.0)
    rule, *_, total, _, summary = forecast([one, other, solve], cores=2, gpus=4).splitlines()
    assert rule.split() == " ".join(HEADER).split()
    assert total.split() == ["total", "3", "1", "0.50", "1.00", "1.0", "h", "2.0", "3.00"]
    assert summary.startswith("About 0.2 hours on 2 cores and 4 GPUs")


def test_a_disk_and_a_memory_that_are_too_small_are_warned_of(tmp_path):
    solve = Job("solve", (str(tmp_path / "data/x"),), Need(1.0, 1e18, disk=2e17))
    more = Job("solve", (str(tmp_path / "data/y"),), Need(1.0, 1e6, disk=1e17))
    disk, memory = forecast([solve, more], cores=1, gpus=0).splitlines()[-2:]
    assert disk.startswith("Warning: 300,000,000.0 GB will be written, but ")
    assert disk.endswith(
        f"GB are free on the disk of {tmp_path}; set data_root or results_root to another disk"
    )
    assert memory.startswith(
        "Warning: a job of solve needs 1,000,000,000.0 GB of memory, but this machine has "
    )
    (tmp_path / "data").mkdir()
    (tmp_path / "data/x").touch()
    (disk,) = shortages([solve, more])
    assert disk.startswith("100,000,000.0 GB will be written")
    assert list(shortages([replace(more, need=Need(1.0, 1e6, disk=1.0))])) == []


def test_trainings_that_split_their_batches_are_not_warned_of(tmp_path):
    more = Job("solve", (str(tmp_path / "x"),), Need(1.0, 1e18))
    for rule in ("train", "train_short"):
        assert list(shortages([replace(more, rule=rule)])) == []
        assert len(list(shortages([replace(more, rule=rule, gpu=True)]))) == 1


@pytest.mark.parametrize(
    ("there", "visible", "gpus"), [("", None, 0), ("a,b", None, 6), ("a,b", "1", 3), ("a", "7", 0)]
)
def test_only_gpus_of_this_host_are_counted(there, visible, gpus, monkeypatch):
    monkeypatch.setenv("RESOLVENT_GPUS", there)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert usable_gpus(3) == gpus


@pytest.mark.parametrize(
    ("nodes", "asked", "words"),
    [
        (None, "", "on 2 cores for"),
        (None, "--resources gpu=1", "on 2 cores and 1 GPU for"),  # of another host
        (100, "", "on 2 cores and 1 GPU for"),
    ],
)
def test_without_a_gpu_a_forecast_is_for_the_cpu(nodes, asked, words, monkeypatch, tmp_path, capsys):
    """The default profile allows one GPU, whether or not there is one."""
    monkeypatch.setenv("RESOLVENT_GPUS", "")
    monkeypatch.setattr(sys, "argv", ["snakemake", *asked.split()])
    monkeypatch.setattr(module, "jobs", lambda workflow, gpu: [Job("train", ("x",), Need(3600.0, 1e9), gpu)])
    monkeypatch.setattr(module, "remarks", lambda configuration: [])
    limits = {"gpu": SimpleNamespace(value=1)}
    needs = SimpleNamespace(plan=SimpleNamespace(configuration=SimpleNamespace(gpu_jobs_per_device=1)))
    workflow = SimpleNamespace(global_resources=limits, nodes=nodes, cores=2)
    module.print_forecast(workflow, needs, tmp_path / "table.csv")
    assert words in capsys.readouterr().out
    assert needs.gpu == ("GPU" in words)


def test_processes_take_as_many_hours_as_they_are():
    job = Job("train", ("not there",), Need(3600.0, 1e9), gpu=True, processes=3)
    assert hours([job]) == (0.0, 3.0)
