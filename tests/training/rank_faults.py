"""Ways in which the second of two processes fails while the first waits for it. Quickly imported."""

import os
import signal
import time

WAYS = {
    "raises": lambda: 1 / 0,
    "is killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "hangs": lambda: time.sleep(3600),
}


def fail_in_the_second(group, way):
    group.largest(0)
    if not group.first:
        WAYS[way]()
    group.largest(0)


def wait_for_ever(group):
    """Reports that it has begun."""
    os.write(1, f"{group.rank}\n".encode())
    time.sleep(3600)
