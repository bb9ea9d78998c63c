"""A lock is held by one job, names it, and ends with it."""

import errno
import fcntl
import os
import subprocess
import sys

import pytest

from resolvent.common.errors import FileError
from resolvent.common.locks import sole_writer

HOLDER = """
import sys, time
from resolvent.common.locks import sole_writer
with sole_writer(sys.argv[1], "it"):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_lock_names_its_holder_and_ends_when_that_is_killed(tmp_path):
    lock = tmp_path / "folder" / "lock"
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, lock], stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"held\n"
        said = rf"^it is being written by another job \(process {holder.pid} on {os.uname().nodename}\); wait"
        with pytest.raises(FileError, match=said):
            sole_writer(lock, "it").__enter__()
    finally:
        holder.kill()
        holder.communicate()
    with sole_writer(lock, "it"):
        assert f"process {os.getpid()} on" in lock.read_text()
    assert not lock.exists()


def test_a_job_that_fails_ends_its_lock_and_a_folder_in_its_place_is_named(tmp_path):
    with pytest.raises(KeyError), sole_writer(tmp_path / "lock", "it"):
        raise KeyError
    with sole_writer(tmp_path / "lock", "it"):
        pass
    with pytest.raises(FileError, match=rf"the lock file {tmp_path} is a folder; remove it"):
        sole_writer(tmp_path, "it").__enter__()


def test_a_lock_that_its_holder_removes_while_another_waits_locks_nothing(tmp_path, monkeypatch):
    lock, flock = tmp_path / "lock", fcntl.flock

    def late(file, how):
        monkeypatch.setattr(fcntl, "flock", flock)
        lock.unlink()  # the holder ends, between the opening and the locking
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with sole_writer(lock, "it"), pytest.raises(FileError, match="is being written"):
        sole_writer(lock, "it").__enter__()


@pytest.mark.parametrize("reason", [errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK])
def test_a_file_system_without_locks_is_written_without(tmp_path, monkeypatch, reason):
    def none(file, how):
        raise OSError(reason, os.strerror(reason))

    monkeypatch.setattr(fcntl, "flock", none)
    with sole_writer(tmp_path / "lock", "it"):
        assert str(os.getpid()) in (tmp_path / "lock").read_text()
    assert not (tmp_path / "lock").exists()
