"""Two users of one cluster, each with a study in a folder that nobody else may enter.

They are Debian's own, which no one logs in as. This checkout has to be readable by all.
"""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import cluster
import pytest
from runs import CONFIGURED, QUICK, Run, checkpoints_of, overlap, submissions

pytestmark = pytest.mark.timeout(600)

USERS = {"games": 1, "daemon": 2}  # the seed of the training of each


@pytest.fixture(scope="module")
def runs(study):
    place = Path(tempfile.mkdtemp(prefix="resolvent-users-"))
    place.chmod(0o755)
    started: dict[str, Run] = {}
    cluster.end_node()
    cluster.start_node(cluster.reach_python())
    try:
        for user, seed in USERS.items():
            folder = private_folder(study, place / user, user)
            run = Run.start(
                folder,
                *checkpoints_of(seed),
                *QUICK,
                *CONFIGURED,
                environment={"HOME": str(folder.parent)},
                user=user,
            )
            started[user] = run
        cluster.wait_until(lambda: all_train(started.values()), 200, "not all trainings have been seen")
        for run in started.values():
            assert run.ended(120) == 0, run.output[-6000:]
        yield started
    finally:
        for run in started.values():
            run.kill()
        shutil.rmtree(place)


def all_train(runs: Iterable[Run]) -> bool:
    for run in runs:
        run.trainings += run.find_trainings()
    return all(run.trainings for run in runs)


def private_folder(study, home: Path, user: str) -> Path:
    command = [*cluster.as_user(user, Path("/")), sys.executable, "-c", "import resolvent"]
    try:
        subprocess.run(command, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise AssertionError(f"{user} cannot run {os.path.realpath(sys.executable)}: {error}") from None
    home.mkdir(mode=0o700)
    folder = study.copied_to(home / "project")
    account = pwd.getpwnam(user)
    for path in (home, *home.rglob("*")):
        os.lchown(path, account.pw_uid, account.pw_gid)
    return folder


def test_two_users_at_once_train_as_one_does_alone(runs, study, fault):
    fault("two users at once on one cluster")
    jobs = {user: submissions("rule_train_", run.folder) for user, run in runs.items()}
    (first,), (second,) = jobs.values()
    assert overlap(first, second)
    for user, seed in USERS.items():
        (job,) = jobs[user]
        assert job["UserId"].startswith(f"{user}(")
        assert job["JobState"] == "COMPLETED"
        study.assert_same(runs[user].folder, seed)


def test_each_has_a_gpu_of_their_own(runs):
    trainings = [training for run in runs.values() for training in run.trainings]
    assert sorted(training.devices for training in trainings) == ["0", "1"]


def test_what_a_user_writes_is_theirs(runs):
    for user, run in runs.items():
        owners = {path.owner() for path in run.folder.rglob("*") if path != run.file}  # the test opened that
        assert owners == {user}
