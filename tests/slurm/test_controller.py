"""What happens to SLURM's controller, and to what is asked of it.

One run of three trainings, on a cluster whose `sacct` always fails. The controller is away when the first of
them are to be submitted, then takes none, because the user has as many jobs as are allowed, and then takes
them without an answer in time. It is restarted while they end.
"""

import os
import re
import shutil
from itertools import pairwise
from pathlib import Path

import cluster
import pytest
from runs import (
    CONFIGURED,
    ON_CPUS,
    QUICK,
    SEEDS,
    Run,
    checkpoints_of,
    first_epochs,
    run_folder,
    submissions_of,
)

pytestmark = pytest.mark.timeout(900)

# SLURM's controller stops just when it gets a submission, once a file says so; it goes on later.
LATE = """#!/bin/sh
if rm {folder}/once 2> /dev/null; then
    kill -STOP $(cat {controller})
fi
exec {sbatch} "$@"
"""


@pytest.fixture(scope="module")
def run(study, tmp_path_factory):
    folder = study.copied_to(tmp_path_factory.mktemp("controller") / "project")
    late = late_submission(tmp_path_factory.mktemp("late"))
    path = f"{late}:{os.environ['PATH']}"
    other = cluster.submit("sleep 600")
    cluster.limit_jobs(True)
    cluster.stop_controller()
    run = Run.start(
        folder, *checkpoints_of(*SEEDS), *QUICK, *ON_CPUS, *CONFIGURED, environment={"PATH": path}
    )
    try:
        let_it_happen(run, other, late)
        assert run.ended() == 0, run.output[-6000:]
    finally:
        cluster.thaw_controller()
        cluster.limit_jobs(False)
        run.kill()
    return run


def late_submission(folder: Path) -> Path:
    program = folder / "sbatch"
    program.write_text(
        LATE.format(folder=folder, controller=cluster.controller_file(), sbatch=shutil.which("sbatch"))
    )
    program.chmod(0o755)
    return folder


def let_it_happen(run: Run, other: str, late: Path) -> None:
    """Start the controller, lift the limit, let it be late, and restart it while they end."""
    run.says("SLURM does not answer; submissions wait up to an hour")
    cluster.start_controller()
    run.says("job submit limit")
    (late / "once").touch()
    cluster.cancel(other)
    cluster.limit_jobs(False)
    run.says("Socket timed out")
    cluster.thaw_controller()
    run.says("SLURM had already accepted the job")
    stopped = run.suspended(*SEEDS)
    cluster.stop_controller()
    run.says("SLURM reports no job states")
    for training in stopped:
        training.process.resume()
    for training in stopped:
        training.process.wait(60)
    cluster.start_controller()


def test_a_submission_waits_for_a_controller_that_is_away(run, fault):
    fault("the controller away at a submission")
    assert run.output.index("SLURM does not answer") < run.output.index("SLURM answers again")


def test_a_job_that_was_taken_without_an_answer_is_not_submitted_again(run, fault):
    fault("sbatch without an answer")
    for taken in re.findall(r"SLURM had already accepted the job as (\d+)", run.output):
        assert f"submitted with SLURM jobid {taken} " in run.output
    for seed in SEEDS:
        for job, again in pairwise(submissions_of(seed, run.folder)):
            assert job["EndTime"] <= again["SubmitTime"]


def test_jobs_end_while_the_controller_is_restarted(run, fault):
    fault("the controller restarted")
    assert "SLURM reports job states again" in run.output
    for training in run.trainings:
        (job,) = submissions_of(training.seed, run.folder)
        assert job["JobState"] == "COMPLETED"
        assert first_epochs(run.folder / run_folder(training.seed)) == [1]


def test_what_is_above_the_limit_of_submissions_waits(run, fault):
    fault("a limit of submissions")
    assert "SLURM sbatch failed" not in run.output
    assert {submissions_of(seed, run.folder)[-1]["JobState"] for seed in SEEDS} == {"COMPLETED"}


def test_squeue_is_asked_where_sacct_fails(run, fault):
    fault("sacct failing")
    assert run.output.count("`sacct` fails; using `squeue` for job states") == 1
    assert "Unable to retrieve reason" not in run.output


def test_all_end_with_the_same_weights(run, study):
    study.assert_same(run.folder, *SEEDS)
