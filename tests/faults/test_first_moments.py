"""The first moments of a job and of a plan: Ctrl-C while packages are imported, and a folder with braces."""

import os
import shutil
import signal
import subprocess
import sys

import pytest
from pipeline_project import NOT_COPIED, ROOT
from planning_forks import dry_run

pytestmark = pytest.mark.faults

INTERRUPTED = """
import os
from types import SimpleNamespace
from resolvent.planning.job import job
os.environ["RESOLVENT_STALL_SECONDS"] = "600"
with job(SimpleNamespace(log=["train.log"], input=[], output=[], rule="train", resources={})):
    print("importing", flush=True)
    import torch
    import resolvent.training.fit
    print("imported", flush=True)
    import time
    time.sleep(600)
"""


@pytest.mark.parametrize("seconds", [0.0, 2.0])
def test_control_c_while_a_job_imports_is_one_line(seconds, tmp_path, fault):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    job = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], cwd=tmp_path, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert job.stdout.readline() == "importing\n"
    with pytest.raises(subprocess.TimeoutExpired):
        job.wait(seconds)
    fault("Ctrl-C in an import")
    job.send_signal(signal.SIGINT)
    said = job.communicate()[1]
    assert job.returncode == 1
    assert said == "train: interrupted\n" == (tmp_path / "train.log").read_text()


def test_a_folder_with_braces_is_refused_in_one_line(tmp_path, fault):
    folder = tmp_path / "a{config}b"
    shutil.copytree(ROOT, folder, ignore=NOT_COPIED, symlinks=True)
    fault("a folder with braces")
    words = ("--cores", "1", "--configfile", folder / "config/test.yaml")
    environment = os.environ | {"PYTHONPATH": str(folder)}
    status, output = dry_run(folder, *words, environment=environment)
    assert status != 0
    assert f"the folder {folder} has braces in its path, wildcards to Snakemake; rename it" in output
    assert "NameError" not in output
    assert "Traceback" not in output
