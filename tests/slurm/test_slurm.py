"""The real Snakefile through the profile for SLURM, on a real SLURM, with what happens to jobs there.

One run, in which two trainings start on the two GPUs, the node is drained, one training is cancelled, the
other runs out of wall time, and the node comes back. Both are stopped first, so that they cannot finish.
"""

import csv
import re
from dataclasses import dataclass, field
from pathlib import Path

import cluster
import pytest
from runs import BY_SQUEUE, CONFIGURED, QUICK, Run, Training, first_epochs, project_with, submissions

pytestmark = pytest.mark.timeout(1500)

EPOCHS = 30
MODELS = ("fno", "galerkin", "softmax")
OVERLAY = {
    "name": "slurm",
    "build": {"experiments": ["burgers"], "datasets": []},
    "datasets": {"burgers": {"samples_per_shard": 26}},
    "experiments": {
        "burgers": {
            "models": list(MODELS),
            "training": {"epochs": EPOCHS, "record_test_error": False, "learning_rate": 1e-4},
            "shows": {"cao2021": []},
        }
    },
}  # fmt: skip
RUN = "results/slurm/burgers/{}/n64/seed1127802"


@dataclass
class Record:
    folder: Path
    trainings: list[Training]
    output: str = ""
    returncode: int = -1
    while_drained: list[dict[str, str]] = field(default_factory=list)
    jobs: list[dict[str, str]] = field(default_factory=list)

    def of(self, what: str) -> list[dict[str, str]]:
        return [job for job in self.jobs if what in job["Comment"]]

    def folder_of(self, model: str) -> Path:
        return self.folder / RUN.format(model)


@pytest.fixture(scope="module")
def record(tmp_path_factory) -> Record:
    project = project_with(tmp_path_factory.mktemp("slurm") / "project", OVERLAY)
    run = Run.start(project.folder, *QUICK, *BY_SQUEUE, *CONFIGURED)
    record = Record(project.folder, run.trainings)
    try:
        let_it_happen(record, run)
        record.returncode = run.ended(900)
    finally:
        run.kill()
    record.output = run.output
    record.jobs = submissions("", project.folder)
    return record


def let_it_happen(record: Record, run: Run) -> None:
    """Stop two trainings on their way, drain, cancel one, let the other run out of time, resume."""
    cluster.wait_until(lambda: stop_trainings(record, run) == cluster.GPUS, 400, "no trainings on their way")
    cancelled, late = record.trainings
    cluster.drain()
    cluster.cancel(cancelled.job)
    cluster.limit_time(late.job, 1)
    cluster.wait_until(lambda: cluster.state_of(late.job) == "TIMEOUT", 240, "no end of wall time")
    cluster.wait_until(lambda: len(waiting_trainings()) == len(MODELS), 240, "no retries submitted")
    record.while_drained = [*waiting_trainings(), {"Node": cluster.node_state()}]
    cluster.resume()


def stop_trainings(record: Record, run: Run) -> int:
    """Stop every training of the project that has saved an epoch; returns how many there are so far."""
    for training in run.find_trainings():
        folder = record.folder_of(training.model)
        if (folder / "resume.pt").exists():
            training.process.suspend()
            assert not (folder / "checkpoint.pt").exists(), "the training was too short"
            run.trainings.append(training)
    return len(run.trainings)


def waiting_trainings() -> list[dict[str, str]]:
    return [job for job in cluster.jobs() if "rule_train" in job["Comment"] and job["JobState"] == "PENDING"]


def megabytes(job: dict[str, str]) -> float:
    number, unit = re.fullmatch(r"([\d.]+)([MG])", job["MinMemoryNode"]).groups()
    return float(number) * {"M": 1, "G": 1024}[unit]


def minutes(job: dict[str, str]) -> int:
    days, _, clock = job["TimeLimit"].rpartition("-")
    hours, minutes, _ = map(int, clock.split(":"))
    return (int(days or 0) * 24 + hours) * 60 + minutes


def test_the_whole_run_finishes(record):
    assert record.returncode == 0, record.output[-6000:]
    assert (record.folder / "results/slurm/burgers/report.html").exists()
    for model in MODELS:
        with (record.folder_of(model) / "history.csv").open() as file:
            assert [row["epoch"] for row in csv.DictReader(file)] == [str(k + 1) for k in range(EPOCHS)]


def test_trainings_at_the_same_time_have_different_gpus(record):
    assert sorted(training.devices for training in record.trainings) == ["0", "1"]


@pytest.mark.parametrize(
    ("number", "state", "kind"),
    [(0, "CANCELLED", "a job cancelled by scancel"), (1, "TIMEOUT", "a job at its time limit")],
)
def test_a_training_that_was_ended_goes_on_from_its_last_epoch(record, fault, number, state, kind):
    fault(kind)
    model = record.trainings[number].model
    states = [job["JobState"] for job in record.of(f"rule_train_wildcards_burgers_{model}_")]
    assert states == [state, "COMPLETED"]
    assert first_epochs(record.folder_of(model))[-1] > 1


def test_the_training_that_nothing_happened_to_starts_with_epoch_1(record):
    (model,) = set(MODELS) - {training.model for training in record.trainings}
    assert [job["JobState"] for job in record.of(f"rule_train_wildcards_burgers_{model}_")] == ["COMPLETED"]
    assert first_epochs(record.folder_of(model)) == [1]


def test_a_drained_node_gets_no_job_until_it_is_resumed(record, fault):
    fault("a node drained mid-run")
    *waiting, node = record.while_drained
    assert node["Node"].startswith("drain")
    assert len({job["Comment"] for job in waiting}) == len(MODELS)
    assert all(job["RunTime"] == "00:00:00" for job in waiting)


def test_a_retry_asks_for_twice_the_memory_and_twice_the_time(record):
    first, second = record.of(f"rule_train_wildcards_burgers_{record.trainings[0].model}_")
    assert megabytes(second) == pytest.approx(2 * megabytes(first))
    assert minutes(second) == 2 * minutes(first) == 20


def test_jobs_of_operators_go_to_the_partition_with_gpus_and_all_else_to_the_other(record):
    rules = ("train", "evaluate", "inference", "estimates")
    of_operators = [job for rule in rules for job in record.of(f"rule_{rule}")]
    assert {(job["Partition"], job["TresPerJob"]) for job in of_operators} == {("gpu", "gres:gpu:1")}
    others = [job for job in record.jobs if job not in of_operators]
    assert {job["Partition"] for job in others} == {"cpu"}


def test_small_jobs_share_submissions(record):
    """Those that are alone: pages of runs, which need no report and do not wait for operators to be timed;
    and inference, whose times no other job may disturb, so that estimates are alone too.
    """
    shared = ("dataset_page", "baselines", "report")
    assert [len(record.of(f"rule_{group}_")) for group in shared] == [1] * len(shared)
    alone = ("solve_burgers", "finalise_burgers", "inference", "estimates", "run_pages_burgers")
    assert [len(record.of(f"rule_{rule}")) for rule in alone] == [1] * len(alone)
    trained_and_evaluated, retried = 2 * len(MODELS), 2
    assert len(record.jobs) == len(shared) + len(alone) + trained_and_evaluated + retried


def test_logs_of_killed_jobs_are_kept_where_the_profile_says(record):
    logs = sorted((record.folder / "logs/slurm").rglob("*.log"))
    assert {log.stem for log in logs} == {training.job for training in record.trainings}


def test_a_second_cluster_is_refused(record):
    with pytest.raises(cluster.ClusterError, match="exists"):
        cluster.start()


def test_nothing_of_a_killed_job_is_left_running(record):
    assert not any(training.process.is_running() for training in record.trainings)
