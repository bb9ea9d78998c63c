"""What is shared: the cluster, by two runs at once, and a file system that shows files late.

The jobs of one of the two runs see another folder of results than Snakemake does, to which what they wrote is
copied seconds after Snakemake has missed it. Snakemake of the other run finds no `sacct`.
"""

import shutil
import time
from pathlib import Path

import cluster
import pytest
from runs import CONFIGURED, ON_CPUS, QUICK, Run, checkpoints_of, overlap, run_folder, submissions

pytestmark = pytest.mark.timeout(900)

LATE_BY = 5  # seconds
LATE, OTHER = 1, 2  # seeds


@pytest.fixture(scope="module")
def runs(study, tmp_path_factory):
    late = study.copied_to(tmp_path_factory.mktemp("late") / "project")
    other = study.copied_to(tmp_path_factory.mktemp("other") / "project")
    written, shown = late.with_name("written"), late / "results"
    for folder in (written, shown):
        folder.mkdir()
    cluster.end_node()
    cluster.start_node(f"mount --bind '{written}' '{shown}'")
    without_sacct = {"PATH": str(all_commands_but("sacct", tmp_path_factory.mktemp("commands")))}
    started = [Run.start(late, *checkpoints_of(LATE), *QUICK[:2], *ON_CPUS, *CONFIGURED)]
    try:
        started.append(
            Run.start(other, *checkpoints_of(OTHER), *QUICK, *ON_CPUS, *CONFIGURED, environment=without_sacct)
        )
        started[0].says("Waiting at most 60 seconds for missing files", 200)
        time.sleep(LATE_BY)
        assert not list(shown.iterdir())
        shutil.copytree(written, shown, dirs_exist_ok=True)
        for run in started:
            assert run.ended(120) == 0, run.output[-6000:]
    finally:
        for run in started:
            run.kill()
        cluster.end_node()
        cluster.start_node()
    return started


def all_commands_but(hidden: str, folder: Path) -> Path:
    for place in ("/usr/sbin", "/usr/bin"):
        for command in Path(place).iterdir():
            if command.name != hidden and not (folder / command.name).is_symlink():
                (folder / command.name).symlink_to(command)
    return folder


def states(folder: Path) -> list[str]:
    return [job["JobState"] for job in submissions("rule_train_", folder)]


def test_files_that_are_seen_late_are_waited_for(runs, study, fault):
    fault("files seen seconds after the job's end")
    late, _ = runs
    assert states(late.folder) == ["COMPLETED"]
    study.assert_same(late.folder, LATE)


def test_two_runs_at_once_do_not_meet(runs, study, fault):
    fault("two runs at once on one cluster")
    late, other = runs
    first, second = (submissions("rule_train_", run.folder)[0] for run in (late, other))
    assert overlap(first, second)
    assert first["JobName"] != second["JobName"]
    study.assert_same(other.folder, OTHER)
    assert not (late.folder / run_folder(OTHER)).exists()
    assert not (other.folder / run_folder(LATE)).exists()


def test_squeue_is_asked_where_there_is_no_sacct(runs, fault):
    fault("no sacct")
    _, other = runs
    assert "sacct" not in other.output
    assert states(other.folder) == ["COMPLETED"]
