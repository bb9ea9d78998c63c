"""A small dataset that several files of tests train on."""

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
