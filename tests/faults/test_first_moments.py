"""The first moments of a job: Ctrl-C while packages are imported."""

import os
import signal
import subprocess
import sys

import pytest
from pipeline_project import ROOT

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
