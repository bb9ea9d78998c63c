"""A small dataset that several files of tests train on."""

import os

import pytest
from training_fixtures import CODE, SQUARE_COUNTS

from resolvent.datasets.storage.card import finalise
from resolvent.datasets.storage.generation import generate_shard
from resolvent.datasets.tasks.registry import build_task, settings_of


@pytest.fixture(scope="session")
def card(tmp_path_factory):
    """Return the card of Darcy data at 17 and 33 points a side."""
    folder = tmp_path_factory.mktemp("darcy")
    task = build_task(
        settings_of(
            {"equation": "darcy", "finest": 33, "resolutions": [33, 17], "samples": SQUARE_COUNTS}
            | {"samples_per_shard": sum(SQUARE_COUNTS.values())}
        )
    )
    store, card, receipt = folder / "darcy.zarr", folder / "darcy.json", folder / "receipt.json"
    generate_shard(task, store, 0, receipt, CODE)
    finalise(task, store, [receipt], card, CODE)
    return card


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
