"""What happens to jobs: a requeue, too little memory, a full disk, and a node that dies with all of them.

One run of three trainings at once. That of seed 1 is requeued, and later on the node when
it dies. That of seed 2 asks for too little memory the first time. That of seed 3 has a disk on which its
state cannot be saved twice, so that it fails every time; with room the same command goes on.
"""

import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import cluster
import pytest
import yaml
from runs import (
    BY_SQUEUE,
    CONFIGURED,
    ON_CPUS,
    PROFILE,
    QUICK,
    Run,
    checkpoints_of,
    first_epochs,
    run_folder,
    submissions_of,
)

pytestmark = pytest.mark.timeout(900)

REQUEUED, FORGETFUL, CRAMPED = 1, 2, 3
DISK = 12 * 2**20  # bytes; a state of the training takes more than half of them


@dataclass
class Record:
    folder: Path
    returncode: int
    output: str
    after_the_disk_was_full: list[dict[str, str]]
    again: Run

    def states(self, seed: int) -> list[str]:
        return [job["JobState"] for job in submissions_of(seed, self.folder)]


@pytest.fixture(scope="module")
def record(study, tmp_path_factory):
    folder = study.copied_to(tmp_path_factory.mktemp("jobs") / "project")
    ask_for_too_little_memory(folder / PROFILE / "config.yaml")
    disk = folder / run_folder(CRAMPED)
    disk.mkdir(parents=True)
    mount(disk, f"size={DISK}")
    words = (*checkpoints_of(REQUEUED, FORGETFUL, CRAMPED), *QUICK, *ON_CPUS, *BY_SQUEUE, *CONFIGURED)
    try:
        run = Run.start(folder, *words, "--retries", "1")
        try:
            let_it_happen(run)
            returncode = run.ended()
        finally:
            run.kill()
        left = [path.name for path in disk.iterdir()]
        mount(disk, f"remount,size={2**26}")
        again = Run.start(folder, *words)
        try:
            assert again.ended() == 0, again.output[-3000:]
        finally:
            again.kill()
        yield Record(folder, returncode, run.output, left, again)
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def ask_for_too_little_memory(profile):
    settings = yaml.safe_load(profile.read_text())
    needed = f"4000 if wildcards.seed != '{FORGETFUL}' or attempt > 1 else 300"
    settings["set-resources"]["train"]["mem_mb"] = needed
    profile.write_text(yaml.safe_dump(settings))


def mount(folder, options):
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True)


def let_it_happen(run: Run) -> None:
    (first,) = run.suspended(REQUEUED)
    cluster.requeue(first.job)
    (second,) = run.suspended(REQUEUED)
    assert second.job == first.job
    cluster.kill_node()
    cluster.start_node()
    time.sleep(5)  # the controller first ends what it takes for lost, and would end this, too
    cluster.start_requeued()


def test_a_requeued_training_goes_on_from_its_last_epoch(record, fault):
    fault("a job requeued by scontrol")
    first, second, *_ = first_epochs(record.folder / run_folder(REQUEUED))
    assert first == 1 < second


def test_a_training_on_a_node_that_died_goes_on_from_its_last_epoch(record, fault):
    fault("a node that dies with its jobs")
    *_, second, third = first_epochs(record.folder / run_folder(REQUEUED))
    assert 1 < second <= third
    assert record.states(REQUEUED) == ["COMPLETED"]  # SLURM itself has queued it again, both times


def test_a_training_killed_for_memory_is_submitted_with_more(record, fault):
    fault("a job killed for memory")
    killed, last = record.states(FORGETFUL)
    assert killed in ("FAILED", "OUT_OF_MEMORY")  # the kernel has killed the script, or the whole job
    log = Path(submissions_of(FORGETFUL, record.folder)[0]["StdOut"])
    assert re.search("oom-kill event|memory limit", log.read_text())
    assert last == "COMPLETED"


def test_a_full_disk_is_said_in_one_line(record, fault):
    fault("a full disk")
    assert record.returncode == 1
    assert re.search(
        rf"^train: cannot write {run_folder(CRAMPED)}/\S+: no space left on the device", record.output, re.M
    )
    assert "Traceback" not in record.output
    assert record.states(CRAMPED) == ["FAILED", "FAILED", "COMPLETED"]
    assert "resume.pt" in record.after_the_disk_was_full
    assert first_epochs(record.folder / run_folder(CRAMPED))[-1] > 1


def test_all_end_with_the_same_weights(record, study):
    study.assert_same(record.folder, REQUEUED, FORGETFUL, CRAMPED)


def test_the_second_run_does_again_only_what_had_failed(record):
    assert len(re.findall(r"has been submitted with SLURM jobid", record.again.output)) == 1


def test_no_job_arrays_are_needed(record, fault):
    fault("a cluster without job arrays")
    with pytest.raises(cluster.ClusterError, match="Invalid job array"):
        cluster.submit("true", "--array=0-1")
