"""Lock files. A lock is released when its process ends, even if it is killed."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from resolvent.common.errors import FileError
from resolvent.common.files import readable_disk_errors

# Errors of flock on a shared file system mounted without locks (see docs/cluster.md).
LOCKLESS = (errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK)


@contextmanager
def sole_writer(path: Path, what: str) -> Iterator[None]:
    """Hold the lock file `path` while `what` is written. Raises `FileError` if another process holds it."""
    path = Path(path)
    # A soft lock (existence of the file) would outlive a killed process.
    lock = FileLock(path, blocking=False, fallback_to_soft=False)
    with readable_disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _acquire(lock, path, what)
        path.write_text(f"process {os.getpid()} on {os.uname().nodename}", encoding="utf-8")
    try:
        yield
        path.unlink(missing_ok=True)  # while still held: a process that has it open notices the removal
    finally:
        lock.release()


def _acquire(lock: FileLock, path: Path, what: str) -> None:
    while True:
        try:
            lock.acquire()
            return
        except Timeout:
            try:
                holder = path.read_text(encoding="utf-8").strip() or "unknown"
            except FileNotFoundError:  # the holder has just ended
                continue
            raise FileError(
                f"{what} is being written by another job ({holder}); wait for it, or stop it"
            ) from None
        except IsADirectoryError:
            raise FileError(f"the lock file {path} is a folder; remove it") from None
        except OSError as error:
            if error.errno not in LOCKLESS:
                raise
            return
