"""Lock files that end with the process that holds them, however it ends."""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from resolvent.common.errors import FileError
from resolvent.common.files import readable_disk_errors

# Of flock on a shared file system that is mounted without locks; docs/cluster.md says what follows.
LOCKLESS = (errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK)


@contextmanager
def sole_writer(path: Path, what: str):
    """Hold the lock file `path` while `what` is written; the lock ends with the process, however it ends.

    Raises
    ------
    FileError
        When another process holds it.
    """
    path = Path(path)
    with _locked(path, what) as file:
        file.truncate(0)
        file.write(f"process {os.getpid()} on {os.uname().nodename}")
        file.flush()
        yield
        path.unlink(missing_ok=True)


def _locked(path: Path, what: str) -> TextIO:
    """The file `path`, open and locked. One that its holder has removed meanwhile locks nothing."""
    while True:
        with readable_disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            file = open(path, "a+", encoding="utf-8")  # noqa: SIM115  (the caller closes it)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                return file
        except FileNotFoundError:
            pass
        except BlockingIOError:
            with file:
                file.seek(0)
                raise FileError(
                    f"{what} is being written by another job ({file.read().strip() or 'unknown'}); "
                    "wait for it, or stop it"
                ) from None
        except OSError as error:
            if error.errno not in LOCKLESS:
                raise
            return file
        file.close()
