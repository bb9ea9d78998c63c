"""Scripts that Snakemake starts see the GPUs that they lease, through `resolvent.planning.job`."""

import os
from pathlib import Path

import pytest
from planning_forks import build

from resolvent.planning.gpus import SLOTS

ROOT = Path(__file__).resolve().parents[2]
SNAKEFILE = f"""
import sys
from types import SimpleNamespace

sys.path.insert(0, {str(ROOT)!r})
from resolvent.planning.job import prepare_environment

prepare_environment(SimpleNamespace(stall_minutes=5, samples_gb=None, gpu_jobs_per_device=2))

rule all:
    input: "timed", "blind", "unasked", "shared", "refused"
"""
RULE = """
rule {name}:
    {details}
    output: "{name}"
    log: "{name}.log"
    script: "script.py"
"""
DETAILS = {
    "first": "resources: gpu=1",
    "second": "resources: gpu=1",
    "timed": "input: 'first', 'second'\n    resources: gpu=1",
    "blind": "resources: gpu=0",
    "unasked": "threads: 1",
    "shared": "input: 'first', 'second'\n    resources: gpu=2",
    "refused": "resources: gpu=3",
}
# Writes the devices that the job sees, and how many slots of each name it. The first and the second wait
# until both have their devices. Of the shared one each process leaves what it sees.
SCRIPT = """
import os
import sys
import time
from pathlib import Path

from resolvent.planning.job import job

with job(snakemake, alone=snakemake.rule == "timed"):
    slots = [path.name[0] for path in Path("leases").glob("*.slot") if path.read_text() == str(os.getpid())]
    held = [f"{slots.count(device)} of {device}" for device in sorted(set(slots))]
    if snakemake.rule in ("first", "second"):
        Path(f"{snakemake.rule}.runs").touch()
        deadline = time.monotonic() + 60
        while not (Path("first.runs").exists() and Path("second.runs").exists()):
            assert time.monotonic() < deadline, "the other one never ran"
            time.sleep(0.01)
    if snakemake.rule == "shared":
        from resolvent.training.distributed.launch import launch, visible_devices

        sys.path.append(os.getcwd())
        launch("task:leave", 2, visible_devices(), {"folder": os.getcwd()})
    Path(snakemake.output[0]).write_text(" ".join([os.environ["CUDA_VISIBLE_DEVICES"], *held]))
"""
TASK = """
import os
from pathlib import Path

def leave(group, folder):
    group.largest(0)  # waits for the others
    Path(folder, f"rank{group.rank}").write_text(os.environ["CUDA_VISIBLE_DEVICES"])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpu_jobs")
    rules = [RULE.format(name=name, details=details) for name, details in DETAILS.items()]
    (folder / "Snakefile").write_text(SNAKEFILE + "".join(rules))
    (folder / "script.py").write_text(SCRIPT)
    (folder / "task.py").write_text(TASK)
    given = {"RESOLVENT_GPUS": "a,b", "CUDA_VISIBLE_DEVICES": "1,0", "RESOLVENT_LEASES": f"{folder}/leases"}
    environment = {name: value for name, value in os.environ.items() if name != "SLURM_JOB_ID"} | given
    words = ("--cores", "4", "--resources", "gpu=5", "--keep-going")
    status, output = build(folder, *words, environment=environment)
    assert status == 1, output  # for one job is refused
    return folder


def test_jobs_at_once_see_a_device_each_and_leave_room_for_another(folder):
    assert {(folder / name).read_text() for name in ("first", "second")} == {"b 1 of b", "a 1 of a"}


def test_a_job_that_measures_time_is_alone(folder):
    everything = {f"{device} {SLOTS} of {device}" for device in "ab"}
    assert (folder / "timed").read_text() in everything  # "shared" may give back b, then a


def test_a_job_of_no_gpu_sees_none(folder):
    assert (folder / "blind").read_text() == ""


def test_a_job_whose_rule_does_not_speak_of_gpus_sees_what_there_is(folder):
    assert (folder / "unasked").read_text() == "1,0"


def test_processes_that_share_a_job_see_a_device_each(folder):
    assert (folder / "shared").read_text() == "b,a 1 of a 1 of b"
    assert [(folder / f"rank{rank}").read_text() for rank in range(2)] == ["b", "a"]


def test_too_many_devices_end_the_job_with_one_line(folder):
    assert (folder / "refused.log").read_text() == "refused: asks for 3 GPUs, but only b, a are visible\n"
    assert not (folder / "refused").exists()
