"""A job without progress ends and shows where it hung; one with progress does not."""

import signal
import subprocess
import sys

from resolvent.common.progress import progress_bar

SCRIPT = """
import sys, time
from resolvent.common.progress import progress_bar
from resolvent.common.progress import watched

def hang():
    time.sleep(60)

with open(sys.argv[1], "w") as log, watched(1.0, log):
    with progress_bar(4, "steps", "steps") as bar:
        for _ in range(4):
            time.sleep(0.3)
            bar.set_postfix(loss="1", refresh=False)
            bar.update()
    print("alive", flush=True)
    {last}
"""


def run(tmp_path, last):
    log = tmp_path / "log"
    words = [sys.executable, "-c", SCRIPT.format(last=last), str(log)]
    return subprocess.run(words, capture_output=True, text=True), log.read_text()


def test_a_job_that_hangs_ends_with_the_stacks_of_its_threads(tmp_path):
    finished, log = run(tmp_path, "hang()")
    assert finished.returncode == 1
    assert finished.stdout == "alive\n"  # 1.2 seconds, a step in each third of one
    assert log.startswith("Timeout (0:00:01)!")
    assert "in hang" in log


def test_a_fault_in_a_library_leaves_the_stacks_in_the_log(tmp_path):
    (tmp_path / "shard").write_bytes(bytes(20_000))
    last = (
        "import mmap, os; os.chdir(os.path.dirname(sys.argv[1])); file = open('shard', 'r+b')\n"
        "    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)\n"
        "    os.truncate('shard', 0)\n"
        "    mapped[10_000]"
    )
    finished, log = run(tmp_path, last)
    assert finished.returncode == -signal.SIGBUS
    assert log.startswith("Fatal Python error: Bus error")


def test_a_job_that_ends_in_time_leaves_no_trace(tmp_path):
    finished, log = run(tmp_path, "pass")
    assert (finished.returncode, log) == (0, "")
    # Where there is no terminal, the bar is a line now and then.
    assert finished.stderr.count("\n") == 1
    assert finished.stderr.startswith("steps:   0%")
    assert "\r" not in finished.stderr


def test_the_log_of_a_resumed_training_says_after_which_epoch(capsys):
    with progress_bar(10, "burgers/fno", "epochs", done=4):
        pass
    assert capsys.readouterr().err.startswith("burgers/fno: resumed after 4 of 10 epochs\n")
