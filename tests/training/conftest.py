"""A small dataset that several files of tests train on."""

import os

import pytest
from dataset_fixtures import make_dataset
from training_fixtures import SQUARE_COUNTS

from resolvent.datasets.tasks.registry import settings_of


@pytest.fixture(scope="session")
def card(tmp_path_factory):
    """Return the card of Darcy data at 17 and 33 points a side."""
    content = {"equation": "darcy", "finest": 33, "resolutions": [33, 17], "samples": SQUARE_COUNTS}
    content["samples_per_shard"] = sum(SQUARE_COUNTS.values())
    return make_dataset(tmp_path_factory.mktemp("darcy"), settings_of(content))


@pytest.fixture
def slurm_of_this_host(tmp_path, monkeypatch):
    """A SLURM job in which what srun starts on other nodes runs here. Return the file of srun's options."""
    srun, asked_for = tmp_path / "bin/srun", tmp_path / "srun_options"
    srun.parent.mkdir()
    srun.write_text(
        f'#!/bin/bash\necho "$@" > {asked_for}\nwhile [[ "$1" == --* ]]; do shift; done\nexec "$@"\n'
    )
    srun.chmod(0o755)
    monkeypatch.setenv("PATH", f"{srun.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    monkeypatch.delenv("SLURM_JOB_NUM_NODES", raising=False)
    monkeypatch.setattr("socket.gethostname", lambda: "localhost")
    return asked_for
