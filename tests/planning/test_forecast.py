"""The forecast counts what is not done; that it lists Snakemake's own jobs is a test of the pipeline."""

from dataclasses import replace

from resolvent.planning.prediction.costs import Need
from resolvent.planning.prediction.forecast import HEADER, Job, forecast, hours, shortages


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


def test_processes_take_as_many_hours_as_they_are():
    job = Job("train", ("not there",), Need(3600.0, 1e9), gpu=True, processes=3)
    assert hours([job]) == (0.0, 3.0)
