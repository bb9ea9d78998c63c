"""Two Snakemake processes that want the same files: one makes them, the other says who does."""

import os
import re

import pytest
from small_pipeline import EXPERIMENT, NAME, wait

pytestmark = pytest.mark.faults


def test_a_second_run_in_one_folder_ends_with_one_line(project, fault):
    project.forget("data", EXPERIMENT, f"results/{NAME}/datasets")
    first = project.start_build()
    wait(first, lambda: project.jobs(first, "solve_dataset"))
    fault("a second run in the same folder")
    output = project.build(succeeds=False)
    message = f"this folder is being written by another job (process {first.pid} on {os.uname().nodename})"
    assert f"{message}; wait for it, or stop it" in output
    assert "Traceback" not in output
    assert re.search(r"About .* hours on \d+ core", project.build("plan"))  # it writes nothing
    printed, _ = first.communicate()
    assert first.returncode == 0, printed[-3000:]
    project.assert_undisturbed()


def test_a_job_that_outlives_snakemake_is_named_to_the_next_run(project, fault):
    project.forget("data")
    first = project.start_build("datasets")
    wait(first, lambda: len(list((project.folder / "data").rglob("shard-*.lock"))) == 2)
    jobs = project.jobs(first, "solve_dataset")
    for job in jobs:
        job.suspend()
    first.kill()
    fault("SIGKILL of Snakemake alone")
    output = project.build("datasets", succeeds=False)
    assert re.search(rf"is being written by another job \(process {jobs[0].pid} on", output), output[-3000:]
    for job in jobs:
        job.resume()
    first.communicate()  # its jobs have its terminal: this waits for them
    project.build(*project.whole_data)
    project.assert_undisturbed()
