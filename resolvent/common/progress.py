"""One progress bar for every long job: rate and ETA on a terminal, a line now and then in a log."""

import sys

from tqdm import tqdm

from resolvent.common.watchdog import alive


class _Bar(tqdm):
    def update(self, n: float = 1) -> bool | None:
        alive()
        return super().update(n)


def progress_bar(total: int, what: str, unit: str, done: int = 0) -> tqdm:
    """Return a bar of `total` steps of which `done` are behind us; each shows that the job is alive."""
    interval = 0.5 if sys.stderr.isatty() else 20
    return _Bar(total=total, initial=done, desc=what, unit=f" {unit}", mininterval=interval, leave=False)
