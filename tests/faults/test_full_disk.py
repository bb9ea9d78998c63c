"""A disk that is full: one line that names the path and the remedy, and nothing half-written."""

import re
import shutil
import subprocess

import pytest
from small_pipeline import RUN

from resolvent.training import checkpoints

pytestmark = pytest.mark.faults


class SmallDisk:
    def __init__(self, folder, size):
        self.folder = folder
        folder.mkdir(parents=True)
        self._mount(f"size={size}")

    def resize(self, size):
        self._mount(f"remount,size={size}")

    @property
    def used(self):
        return shutil.disk_usage(self.folder).used

    def _mount(self, options):
        words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.folder)]
        mounted = subprocess.run(words, capture_output=True, text=True)
        if mounted.returncode:
            pytest.fail(
                f"a small disk could not be mounted ({mounted.stderr.strip()}): run these tests as root, "
                "or in a namespace of your own, `unshare --map-root-user --mount make test-faults`"
            )

    def unmount(self):
        subprocess.run(["umount", "--lazy", str(self.folder)], check=True)


@pytest.fixture
def small_disk(project):
    """Mount a file system of so many bytes at a folder of the project, which is emptied."""
    mounted = []

    def mount(folder, size):
        project.forget(folder)
        mounted.append(SmallDisk(project.folder / folder, size))
        return mounted[-1]

    yield mount
    for disk in mounted:
        disk.unmount()


def assert_reported(output, job, path):
    message = rf"^{job}: cannot write {path}: no space left on the device: free some, or move data_root"
    assert re.search(message, output, re.MULTILINE), output[-3000:]
    assert "Traceback" not in output


def test_a_full_disk_while_the_state_of_a_training_is_written(project, small_disk, fault):
    disk = small_disk(RUN, 12 * 2**20)  # one fits, a second one beside it does not
    fault("disk full while resume.pt is written")
    assert_reported(project.build(f"{RUN}/checkpoint.pt", succeeds=False), "train", rf"{RUN}/resume\.pt")
    assert len(checkpoints.load(project.folder / RUN / "resume.pt")["progress"]["history"]) == 1
    assert list(disk.folder.rglob("*.partial")) == []
    disk.resize(2**26)
    project.build(f"{RUN}/errors.csv")
    project.assert_undisturbed()
